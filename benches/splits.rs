//! Cost of splitting, checking and converting a large data set: time and memory.
//!
//! `cargo bench --bench splits` makes a data set of 100,000 samples of 8 KB or more, in both languages, with conversations, scenes
//! and characters, then splits it, checks it and writes it as JSON Lines, each in its own process.
//! `cargo bench --bench splits -- 20000` uses another number of samples.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod process;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use dramaturg::dataset;
use dramaturg::dataset::TableFormat;
use dramaturg::dataset::split::{DEFAULT_SIMILARITY, Params, Part, Relation, Size};
use dramaturg::dataset::{SplitOptions, TableConversion};
use dramaturg::schema::{
    Attribute, Candidate, CastMember, Character, CharacterType, Conversation, EndedBy, Language, Line, Message, Sample,
    Scene, SceneCharacter, Turn, TurnKind, Visibility,
};
use dramaturg::seed::seeded;
use dramaturg::stages::export;
use dramaturg::stages::export::{CardMetadata, ExportError, Params as ExportParams, QuoteLimits, Table, TableRow};
use dramaturg::store::{DatasetLocation, LineLimits, NewDataset, SHARD_BYTES, StoreError};
use process::{cpu_seconds, peak_megabytes};
use rand::Rng as _;

/// Samples per conversation.
const SAMPLES: usize = 5;
/// Turns per conversation.
const LINES: usize = 20;
/// Conversations per scene.
const CONVERSATIONS: usize = 10;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [what, folder] = &arguments[..] {
        measure(what, Path::new(folder));
        return;
    }
    let count: usize = arguments.first().map_or(100_000, |count| count.parse().expect("the argument is a number"));
    let folder = std::env::temp_dir().join(format!("dramaturg-splits-{}", std::process::id()));
    let begun = Instant::now();
    let bytes = make(&folder.join("dataset"), count);
    println!("made {count} samples, {} bytes each as Arrow, in {:.1} s", bytes / count, begun.elapsed().as_secs_f64());
    let mut all = 0.0;
    for what in ["split", "check", "export"] {
        let begun = Instant::now();
        let this = std::env::current_exe().expect("the executable has a path");
        let status = Command::new(this).arg(what).arg(&folder).status().expect("the process starts");
        assert!(status.success(), "{what} failed");
        all += begun.elapsed().as_secs_f64();
    }
    println!("all three: {all:.1} s");
    fs::remove_dir_all(&folder).expect("the temporary folder is writable");
}

fn measure(what: &str, folder: &Path) {
    let (begun, before) = (Instant::now(), cpu_seconds());
    let place = DatasetLocation { dataset: folder.join("dataset"), run: None };
    let result = match what {
        "split" => {
            let report = dataset::split_dataset(&split_options(place)).expect("the split succeeds").report;
            format!("{:?}, {} families, largest {}", report.rows, report.families, report.largest_family)
        }
        "check" => {
            let audit = dataset::audit(&place).expect("the check succeeds");
            let first = audit.findings.first().map_or("none", |finding| finding.message.as_str());
            format!("{} findings ({first}), {:?}", audit.findings.len(), audit.notes)
        }
        _ => {
            let limits = LineLimits { bytes: SHARD_BYTES, lines: u64::MAX };
            let (configs, model, out) = (vec!["samples".to_owned()], String::new(), folder.join("jsonl"));
            let conversion =
                TableConversion { dataset: place.dataset, format: TableFormat::Jsonl, configs, model, out, limits };
            format!("{:?}", dataset::convert_tables(&conversion).expect("the data set is written"))
        }
    };
    println!(
        "{what}: {:.1} s, {:.1} s of CPU, {:.0} MB peak: {result}",
        begun.elapsed().as_secs_f64(),
        cpu_seconds() - before,
        peak_megabytes()
    );
}

fn split_options(location: DatasetLocation) -> SplitOptions {
    let part = |name: &str, share| Part { name: name.to_owned(), size: Size::Share(share) };
    let params = Params {
        splits: vec![part("test", 0.2), part("dev", 0.1)],
        remainder: "train".into(),
        by: None,
        hold_out: Vec::new(),
        stratify: vec!["dimension".into(), "language".into(), "character_type".into()],
        group_by: Relation::ALL.to_vec(),
        similarity: DEFAULT_SIMILARITY,
        seed: 7,
    };
    SplitOptions { location, config: "samples".into(), params, out: None, shard_bytes: SHARD_BYTES, dry_run: false }
}

/// Draws words with a realistic frequency distribution.
struct Words {
    draws: rand_chacha::ChaCha8Rng,
    language: Language,
}

impl Words {
    fn new(language: Language, id: &str) -> Self {
        Self { draws: seeded(7, &["bench", "splits", id]), language }
    }

    fn word(&mut self) -> u64 {
        let draw = self.draws.next_u64();
        let bits = draw % 14 + 1;
        (draw >> 20) % (1 << bits)
    }

    /// Returns a text with a number of words, or twice as many Chinese characters.
    fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for number in 0..words {
            let word = self.word();
            match self.language {
                Language::En => {
                    text.push_str(if number == 0 { "" } else { " " });
                    let syllables = ["ka", "ro", "men", "ti", "sol", "ver", "an", "dis"];
                    let mut rest = word + 8;
                    while rest > 0 {
                        text.push_str(syllables[usize::try_from(rest % 8).expect("the value is below 8")]);
                        rest /= 8;
                    }
                }
                Language::Zh => {
                    let of = |at: u64| {
                        char::from_u32(0x4e00 + u32::try_from(at % 6000).expect("the value is below 6,000"))
                            .expect("the character is valid")
                    };
                    text.extend([of(word), of(word / 7 + 31)]);
                }
            }
        }
        text.push(if self.language == Language::Zh { '。' } else { '.' });
        text
    }
}

/// Writes a data set and returns the size of its samples in bytes.
fn make(path: &Path, count: usize) -> usize {
    let mut dataset = NewDataset::beside(path, SHARD_BYTES).expect("the folder is new");
    let conversations = count.div_ceil(SAMPLES);
    let mut ids: Vec<usize> = (0..conversations).collect();
    ids.sort_by_key(|number| conversation_id(*number));
    let mut tables: Vec<Option<Table>> = Vec::new();
    let mut bytes = 0;
    tables.push(write(
        &mut dataset,
        ids.iter().flat_map(|number| {
            let samples = samples(*number);
            bytes += samples
                .iter()
                .map(|sample| serde_json::to_vec(sample).expect("a sample can be serialized").len())
                .sum::<usize>();
            samples
        }),
    ));
    tables.push(write(&mut dataset, ids.iter().map(|number| conversation(*number))));
    let mut scenes: Vec<Scene> = (0..conversations.div_ceil(CONVERSATIONS)).map(scene).collect();
    scenes.sort_by(|a, b| a.id.cmp(&b.id));
    tables.push(write(&mut dataset, scenes));
    let mut characters: Vec<Character> = (0..20).map(character).collect();
    characters.sort_by(|a, b| a.id.cmp(&b.id));
    tables.push(write(&mut dataset, characters));
    let tables: Vec<Table> = tables.into_iter().flatten().collect();
    let metadata = CardMetadata { name: "bench".into(), ..CardMetadata::default() };
    dataset.finish(&export::card(&ExportParams::default(), &metadata, &tables)).expect("the data set is written");
    bytes
}

/// Error while writing a table.
#[derive(Debug)]
enum Fault {
    Export { _source: ExportError },
    Store { _source: StoreError },
}

impl From<ExportError> for Fault {
    fn from(source: ExportError) -> Self {
        Self::Export { _source: source }
    }
}

fn write<T: TableRow>(dataset: &mut NewDataset, rows: impl IntoIterator<Item = T>) -> Option<Table> {
    let mut file = dataset.table(T::CONFIG, T::SPLIT);
    let quote_limits = QuoteLimits::new(&ExportParams::default(), 0);
    let table = export::table(&quote_limits, rows.into_iter().map(Ok), |group| {
        file.write(group).map_err(|source| Fault::Store { _source: source })
    });
    dataset.end(file).expect("the data set is written");
    table.expect("the rows are valid")
}

fn language(scene: usize) -> Language {
    Language::ALL[scene % 2]
}

fn scene_of(conversation: usize) -> usize {
    conversation / CONVERSATIONS
}

fn scene_id(scene: usize) -> String {
    format!("book-{}@{}", scene % 180, scene * 1000)
}

fn character_of(conversation: usize) -> usize {
    // A character has the language of its scenes.
    (conversation % 10) * 2 + scene_of(conversation) % 2
}

fn conversation_id(conversation: usize) -> String {
    format!("character-{}/source-{}/{conversation}", character_of(conversation), conversation % 21)
}

fn attribute(words: &mut Words, key: &str, count: usize, visibility: Visibility) -> Attribute {
    Attribute { key: key.into(), value: words.text(count), visibility }
}

fn profile(words: &mut Words) -> Vec<Attribute> {
    let keys = ["persona", "appearance", "background", "relationships", "speech pattern", "hobbies"];
    let visibility = |at| if at < 3 { Visibility::Public } else { Visibility::Private };
    keys.iter().enumerate().map(|(at, key)| attribute(words, key, 18, visibility(at))).collect()
}

fn character(number: usize) -> Character {
    let id = format!("character-{number}");
    let language = Language::ALL[number % 2];
    Character {
        name: format!("Character {number}"),
        aliases: Vec::new(),
        language,
        kind: if number % 4 < 2 { CharacterType::Established } else { CharacterType::Synthesized },
        book: None,
        worldview: None,
        profile: profile(&mut Words::new(language, &id)),
        lines: Vec::new(),
        model: None,
        id: id.into(),
    }
}

fn scene(number: usize) -> Scene {
    let id = scene_id(number);
    let mut words = Words::new(language(number), &id);
    let cast = (0..4).map(|at| SceneCharacter {
        name: format!("Name {at}"),
        aliases: Vec::new(),
        profile: profile(&mut Words::new(language(number), &format!("{id}/{at}"))),
    });
    Scene {
        book: id.split('@').next().expect("an id is not empty").to_owned(),
        language: language(number),
        chapter: String::new(),
        start: None,
        end: None,
        summary: words.text(30),
        salience: None,
        worldview: words.text(40),
        situation: words.text(50),
        motivations: Vec::new(),
        characters: cast.collect(),
        dialogue: Vec::new(),
        grounding: None,
        model: None,
        id: id.into(),
    }
}

fn line(conversation: usize, at: usize) -> Line {
    let is_test = at % 4 == 3;
    let speaker =
        if is_test { format!("Character {}", character_of(conversation)) } else { format!("Name {}", at % 4) };
    let mut words = Words::new(language(scene_of(conversation)), &format!("{conversation}/{at}"));
    Line { speaker, content: words.text(18), is_test }
}

fn conversation(number: usize) -> Conversation {
    let turns = (0..LINES).map(|at| {
        let said = line(number, at);
        let judged = said.is_test.then(|| judged(number, at));
        Turn {
            index: u32::try_from(at).expect("the value is small"),
            kind: if said.is_test { TurnKind::Test } else { TurnKind::Scene },
            speaker: said.speaker,
            source_reply: said.is_test.then(|| said.content.clone()),
            content: said.content,
            target: None,
            dimension: said.is_test.then(|| dimension(number, at)),
            score: said.is_test.then_some(2),
            kept_reply: said.is_test.then_some(Candidate::Source),
            rationale: judged.as_ref().map(|judged| judged.rationale.clone()),
            base_reply: judged.map(|judged| judged.baseline),
            faults: Vec::new(),
            score_source_first: None,
            score_base_first: None,
            verdicts: Vec::new(),
        }
    });
    Conversation {
        id: conversation_id(number).into(),
        language: language(scene_of(number)),
        test_character: format!("Character {}", character_of(number)),
        character_id: format!("character-{}", character_of(number)).into(),
        source_model: format!("source-{}", number % 21),
        base_model: "base".into(),
        judge_model: "judge".into(),
        scene_id: scene_id(scene_of(number)).into(),
        batch: 0,
        ended_by: EndedBy::MaxTurns,
        quality: None,
        quality_rationale: None,
        kept: true,
        turns: turns.collect(),
    }
}

/// The verdict on a turn.
struct Judged {
    criteria: String,
    baseline: String,
    rationale: String,
}

fn judged(conversation: usize, at: usize) -> Judged {
    let id = format!("{}#{at}", conversation_id(conversation));
    let mut words = Words::new(language(scene_of(conversation)), &id);
    Judged { criteria: words.text(60), baseline: words.text(18), rationale: words.text(60) }
}

fn dimension(conversation: usize, at: usize) -> String {
    ["CR", "FR", "RR", "CA", "PA"][(conversation + at / 4) % 5].to_owned()
}

/// Returns the samples of a conversation, sorted by id.
fn samples(number: usize) -> Vec<Sample> {
    let (scene, character) = (scene(scene_of(number)), character(character_of(number)));
    let lines: Vec<Line> = (0..LINES).map(|at| line(number, at)).collect();
    let mut samples: Vec<Sample> =
        (0..SAMPLES).map(|at| sample(number, at * 4 + 3, &scene, &character, &lines)).collect();
    samples.sort_by(|a, b| a.id.cmp(&b.id));
    samples
}

fn sample(number: usize, at: usize, scene: &Scene, character: &Character, lines: &[Line]) -> Sample {
    let id = format!("{}#{at}", conversation_id(number));
    let Judged { criteria, baseline, rationale } = judged(number, at);
    let public = |profile: &[Attribute]| dramaturg::schema::public(profile);
    let cast: Vec<CastMember> = scene
        .characters
        .iter()
        .map(|member| CastMember { name: member.name.clone(), profile: public(&member.profile) })
        .collect();
    let mut system = format!("{}\n{}\n", scene.worldview, scene.situation);
    for attribute in character.profile.iter().chain(cast.iter().flat_map(|member| &member.profile)) {
        let _ = writeln!(system, "{}: {}", attribute.key, attribute.value);
    }
    let mut messages = vec![Message::system(system)];
    messages.extend(lines[..at].iter().map(|line| Message::user(format!("{}: {}", line.speaker, line.content))));
    Sample {
        language: scene.language,
        dimension: dimension(number, at),
        target: None,
        test_character: character.name.clone(),
        character_id: character.id.clone(),
        character_type: character.kind,
        profile: character.profile.clone(),
        book: scene.book.clone(),
        scene_id: scene.id.clone(),
        worldview: scene.worldview.clone(),
        situation: scene.situation.clone(),
        scene_characters: cast,
        history: lines[..at].to_vec(),
        messages,
        strategy: "Show it.".into(),
        criteria,
        reference: lines[at].content.clone(),
        baseline,
        score: 2,
        rationale,
        source_model: format!("source-{}", number % 21),
        base_model: "base".into(),
        judge_model: "judge".into(),
        conversation_id: conversation_id(number).into(),
        turn: u32::try_from(at).expect("the value is small"),
        verdicts: Vec::new(),
        edit_reason: None,
        id: id.into(),
    }
}
