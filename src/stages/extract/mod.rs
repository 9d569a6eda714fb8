//! The stage `extract`: finds the scenes of a chunk.
//!
//! The chunks of a book are processed in order. The model is asked for the scenes of each chunk, then for a description
//! of each scene. Every utterance is searched for in the book, and a scene with too few utterances from the book is
//! rejected. A scene cut off at the end of a chunk is carried over to the next one. The stage reads and writes no file;
//! the rule-based analysis of the book is in `attribution` and `facts`.

mod acts;
mod answer_checks;
pub(crate) mod asks;
pub(crate) mod book_index;
#[cfg(test)]
pub(crate) mod fixtures;
pub(crate) mod grounding;
pub(crate) mod lexicon;
mod naming;
mod repair;
pub(crate) mod scenes;

pub use acts::acts;
pub use asks::{DescribeScene, FindScenes, FoundLine, FoundScene, FoundScenes, Profile, SceneDescription};
pub use book_index::BookFacts;
pub use grounding::ground;
pub use repair::{RepairLines, RepairedLine, RepairedLines};

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::asks::{CarriedHint, CastHint, CastNotes, DialogueHint, ParagraphHint, QuotationHint, SentenceHint};
use self::book_index::narration::Sentence;
use self::grounding::Ground;
use self::lexicon::Key;
use self::scenes::Draft;
use crate::llm::{AskError, Model};
use crate::schema::{Attribute, Chunk, Draw, Language, Reject, RejectReason, Scene, Stage};

/// The stage's prompt templates, as (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("extract/scenes.en", include_str!("prompts/scenes.en.jinja")),
    ("extract/scenes.zh", include_str!("prompts/scenes.zh.jinja")),
    ("extract/repair.en", include_str!("prompts/repair.en.jinja")),
    ("extract/repair.zh", include_str!("prompts/repair.zh.jinja")),
    ("extract/describe.en", include_str!("prompts/describe.en.jinja")),
    ("extract/describe.zh", include_str!("prompts/describe.zh.jinja")),
];

/// Settings of the stage (the table `[extract]`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Folder of the scene pool.
    pub pool: String,
    /// Minimum share of a scene's utterances that must be found in the book, 0 to 1; scenes below it are rejected.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_grounding: f64,
    /// Minimum similarity at which an utterance counts as found in the book, 0 to 1. The default 0.6 is what CoSER uses
    /// to map sentences back to the text.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_similarity: f64,
    /// How many times the model is asked again for the utterances of a scene that are not in the book; 0 turns this
    /// off. Utterances that are still not found are dropped.
    #[schemars(range(max = 8))]
    pub max_repairs: u32,
    /// Minimum number of utterances in a scene.
    #[schemars(range(min = 1))]
    pub min_utterances: u32,
    /// Maximum number of utterances in a scene made by the offline engine; longer conversations are split.
    #[schemars(range(min = 4))]
    pub max_utterances: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            pool: "scene_pool".to_owned(),
            min_grounding: 0.5,
            min_similarity: 0.6,
            max_repairs: 1,
            min_utterances: 4,
            max_utterances: 40,
        }
    }
}

/// State that is passed from one chunk of a book to the next.
#[derive(Debug, Clone, Default)]
pub struct Carry {
    /// The worldview of the book, once a scene description has provided it.
    worldview: Option<String>,
    /// The current profile of each character, by name.
    profiles: BTreeMap<String, Vec<Attribute>>,
    /// The scene that the end of the chunk cut off.
    unfinished: Option<Draft>,
}

impl Carry {
    /// Whether a scene is still incomplete. If so, [`finish`] must be called after the last chunk of the book.
    #[must_use]
    pub const fn holds_scene(&self) -> bool {
        self.unfinished.is_some()
    }
}

/// The result of one chunk.
#[derive(Debug, Clone, Default)]
pub struct Extracted {
    /// The scenes, in book order.
    pub scenes: Vec<Scene>,
    /// What was dropped, with reasons.
    pub rejects: Vec<Reject>,
    /// The state for the next chunk of the book.
    pub carry: Carry,
}

/// Extracts the scenes of a chunk.
///
/// Makes one call per chunk, a second one if the first answer is unusable, and one or two calls per scene. Calls run in
/// sequence because the profiles of a scene build on those of earlier scenes. If a call fails for one item only, the
/// item is rejected; errors that end the run are returned.
pub async fn extract(
    model: &Model,
    params: &Params,
    book: &BookFacts,
    chunk: &Chunk,
    carry: Carry,
) -> Result<Extracted, AskError> {
    let mut extracted = Extracted { carry, ..Extracted::default() };
    let carried = extracted.carry.unfinished.take();
    let ask = find_scenes(params, book, chunk, carried.as_ref());
    let answer = find(model, ask, chunk, &mut extracted.rejects).await?;
    let failed = !extracted.rejects.is_empty();
    let ground = Ground::new(book, carried.as_ref().map_or(chunk.start, |carried| carried.stretch.0), chunk.end);
    let mut drafts = scenes::drafts(answer, params, book, chunk, &ground, carried.as_ref());
    if drafts.is_empty() && carried.is_none() && !failed {
        let detail =
            format!("no conversation between two or more people in “{}”, {} tokens", chunk.chapter, chunk.tokens);
        extracted.rejects.push(Reject::new(Stage::Extract, chunk.id(), RejectReason::NoScene, detail));
    }
    resume(carried, &mut drafts, book.language);
    let goes_on = chunk.continues || book.goes_on(chunk.end);
    if goes_on && drafts.last().is_some_and(|draft| draft.unfinished || runs_on(draft, chunk)) {
        extracted.carry.unfinished = drafts.pop();
    }
    let mut starts = BTreeSet::new();
    for draft in drafts {
        let Some(draft) = settle(model, params, book, &ground, draft, &mut extracted.rejects).await? else { continue };
        if !starts.insert(draft.start()) {
            let detail = "another scene begins with the same utterance".to_owned();
            extracted.rejects.push(Reject::new(Stage::Extract, draft.id(book), RejectReason::Duplicate, detail));
            continue;
        }
        describe(model, book, chunk.start, draft, &mut extracted).await?;
    }
    Ok(extracted)
}

/// Completes a book: the scene that the last chunk cut off is used as it is. Makes no call if there is none.
pub async fn finish(model: &Model, params: &Params, book: &BookFacts, carry: Carry) -> Result<Extracted, AskError> {
    let mut extracted = Extracted { carry, ..Extracted::default() };
    if let Some(draft) = extracted.carry.unfinished.take() {
        let (start, end) = draft.stretch;
        let ground = Ground::new(book, start.min(draft.start()), end.max(draft.end()));
        if let Some(draft) = settle(model, params, book, &ground, draft, &mut extracted.rejects).await? {
            describe(model, book, start, draft, &mut extracted).await?;
        }
    }
    Ok(extracted)
}

/// Asks for the scenes of a chunk, and once more if the answer is unusable.
async fn find(
    model: &Model,
    ask: FindScenes,
    chunk: &Chunk,
    rejects: &mut Vec<Reject>,
) -> Result<FoundScenes, AskError> {
    let draw = |is_second| Draw::Scenes { chunk: chunk.id(), is_second };
    let mut answer = match model.ask(&ask, &draw(false)).await {
        Ok(answer) => answer,
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => {
            rejects.push(Reject::new(Stage::Extract, chunk.id(), error.reason(), error.detail()));
            return Ok(FoundScenes::default());
        }
    };
    let Some(first) = answer_checks::doubt(&ask, &answer) else { return Ok(answer) };
    let again = FindScenes { doubt: Some(first.told.clone()), ..ask.clone() };
    match model.ask(&again, &draw(true)).await {
        Ok(second) => answer = second,
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => rejects.push(Reject::new(Stage::Extract, chunk.id(), error.reason(), error.detail())),
    }
    if let Some(doubt) = answer_checks::doubt(&ask, &answer) {
        rejects.push(Reject::new(Stage::Extract, chunk.id(), doubt.reason, doubt.detail));
        answer_checks::cut(&ask, &mut answer);
    }
    Ok(answer)
}

/// Repairs a draft and drops the utterances that are not in the book. Returns `None` if the rest is not a valid scene.
async fn settle(
    model: &Model,
    params: &Params,
    book: &BookFacts,
    ground: &Ground<'_>,
    mut draft: Draft,
    rejects: &mut Vec<Reject>,
) -> Result<Option<Draft>, AskError> {
    rejects.extend(repair::repair(model, params, book, ground, &mut draft).await?);
    rejects.extend(draft.rejects(book));
    if draft.grounding() >= params.min_grounding {
        rejects.extend(repair::leave_out(&mut draft, params, book, ground));
    }
    if let Some(reject) = draft.fault(params, book) {
        rejects.push(reject);
        return Ok(None);
    }
    Ok(Some(draft))
}

/// Whether the chunk boundary cuts a scene and `draft` is that scene, i.e. reaches the end of the chunk.
fn runs_on(draft: &Draft, chunk: &Chunk) -> bool {
    let near = if chunk.language == Language::Zh { 80 } else { 250 };
    chunk.continues && chunk.end.saturating_sub(draft.stretch.1.max(draft.end())) <= near
}

/// Joins the carried scene with the first draft if that draft continues it; otherwise the carried scene stands by
/// itself.
fn resume(carried: Option<Draft>, drafts: &mut Vec<Draft>, language: Language) {
    let Some(mut carried) = carried else { return };
    // A draft that repeats the last utterances continues the scene, whether or not the model says so.
    if drafts.first().is_some_and(|first| first.continues || first.seam > 0) {
        let blank = if language == Language::En { " " } else { "" };
        carried.join(drafts.remove(0), blank);
    } else {
        carried.unfinished = false;
    }
    drafts.insert(0, carried);
}

/// Describes a draft and adds the scene, or rejects it.
async fn describe(
    model: &Model,
    book: &BookFacts,
    opening: u32,
    draft: Draft,
    extracted: &mut Extracted,
) -> Result<(), AskError> {
    let id = draft.id(book);
    let ask = describe_scene(book, opening, &draft, &extracted.carry);
    match model.ask(&ask, &Draw::SceneDescription { scene: id.clone() }).await {
        Ok(mut answer) => {
            let foreign = scenes::leave_foreign_out(&mut answer, book.language);
            if !foreign.is_empty() {
                let detail = format!("dropped from its description: {}", foreign.join(", "));
                extracted.rejects.push(Reject::new(Stage::Extract, &id, RejectReason::OtherLanguage, detail));
            }
            let strangers = scenes::strangers(&ask, &answer, book);
            if !strangers.is_empty() {
                let detail = format!("its description mentions {}, not in its cast", strangers.join(", "));
                extracted.rejects.push(Reject::new(Stage::Extract, &id, RejectReason::UnknownCharacter, detail));
            }
            let scene = scenes::scene(draft, &ask, &answer, book, model.id());
            if !scene.worldview.is_empty() {
                extracted.carry.worldview = Some(scene.worldview.clone());
            }
            for character in &scene.characters {
                extracted.carry.profiles.insert(character.name.clone(), character.profile.clone());
            }
            extracted.scenes.push(scene);
        }
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => extracted.rejects.push(Reject::new(Stage::Extract, id, error.reason(), error.detail())),
    }
    Ok(())
}

pub(crate) fn find_scenes(params: &Params, book: &BookFacts, chunk: &Chunk, carried: Option<&Draft>) -> FindScenes {
    let quotations = book.quotations(chunk.start, chunk.end);
    let mut lines: BTreeMap<usize, u32> = BTreeMap::new();
    for speaker in quotations.iter().filter_map(|quotation| quotation.speaker) {
        *lines.entry(speaker).or_default() += 1;
    }
    let mut cast: Vec<CastHint> = lines
        .into_iter()
        .map(|(person, lines)| {
            let person = book.person(person);
            let (name, aliases) = (person.name.clone(), person.aliases.clone());
            CastHint { name, aliases, lines, all_lines: person.lines }
        })
        .collect();
    cast.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
    let first_words = |text: &str| match book.language {
        Language::En => text.split_whitespace().take(6).collect::<Vec<_>>().join(" "),
        Language::Zh => text.chars().take(12).collect(),
    };
    let quotations = quotations
        .iter()
        .map(|quotation| QuotationHint {
            speaker: quotation.speaker.map(|person| book.person(person).name.clone()),
            opening: first_words(&quotation.text),
            text: quotation.text.clone(),
            action: quotation.action.clone(),
            start: quotation.start,
            end: quotation.end,
        })
        .collect();
    let paragraphs = book
        .attribution
        .paragraphs
        .iter()
        .skip(book.attribution.paragraphs.partition_point(|paragraph| paragraph.end <= chunk.start))
        .take_while(|paragraph| paragraph.start < chunk.end)
        .map(|paragraph| ParagraphHint { start: paragraph.start, end: paragraph.end, border: paragraph.border })
        .collect();
    FindScenes {
        language: book.language,
        title: book.title.clone(),
        chapter: chunk.chapter.clone(),
        text: chunk.text.clone(),
        carried: carried.map(|draft| CarriedHint {
            summary: draft.summary.clone(),
            characters: draft.speakers().into_iter().map(str::to_owned).collect(),
            lines: u32::try_from(draft.dialogue.len()).unwrap_or(u32::MAX),
            last_lines: last_lines(draft),
        }),
        cast,
        quotations,
        min_utterances: params.min_utterances,
        max_utterances: params.max_utterances,
        goes_on: chunk.continues || book.goes_on(chunk.end),
        doubt: None,
        continues: chunk.continues,
        start: chunk.start,
        end: chunk.end,
        paragraphs,
        narration: book.narration(chunk.start, chunk.end).iter().map(|sentence| hint(book, sentence)).collect(),
        script: book.script(),
        teller: book.teller().map(str::to_owned),
        lines_by_rank: book.lines_by_rank().to_vec(),
    }
}

fn last_lines(draft: &Draft) -> Vec<String> {
    let from = draft.dialogue.len().saturating_sub(3);
    draft.dialogue[from..].iter().map(|line| format!("{}: {}", line.speaker, line.content())).collect()
}

fn hint(book: &BookFacts, sentence: &Sentence) -> SentenceHint {
    let name = |person: &usize| book.person(*person).name.clone();
    let after =
        sentence.subject.and_then(|person| book.after_name(&sentence.text, person)).unwrap_or_default().to_owned();
    SentenceHint {
        start: sentence.start,
        end: sentence.end,
        text: sentence.text.clone(),
        people: sentence.people.iter().map(name).collect(),
        subject: sentence.subject.as_ref().map(name),
        after,
        alone: sentence.alone,
        first_person: sentence.first_person,
    }
}

pub(crate) fn describe_scene(book: &BookFacts, opening: u32, draft: &Draft, carry: &Carry) -> DescribeScene {
    let end = draft.stretch.1.max(draft.end());
    let cast = draft
        .characters
        .iter()
        .map(|name| {
            let person = book.owner(name);
            CastNotes {
                name: name.clone(),
                aliases: person.map_or_else(Vec::new, |person| book.person(person).aliases.clone()),
                // An unnamed person may be someone else than in the previous scene.
                known: match person {
                    Some(person) if book.is_passing(person) => Vec::new(),
                    _ => carry.profiles.get(name).cloned().unwrap_or_default(),
                },
                notes: person.map_or_else(Vec::new, |person| book.notes(person, end)),
            }
        })
        .collect();
    let keys = |public: bool| {
        let keys = Key::all().filter(|key| (key.visibility() == crate::schema::Visibility::Public) == public);
        keys.map(|key| key.word(book.script())).collect()
    };
    let hints = |start: u32, end: u32| book.narration(start, end).iter().map(|sentence| hint(book, sentence)).collect();
    let first = draft.start();
    let begin = draft.stretch.0.min(first);
    let before: Vec<SentenceHint> = hints(begin, first);
    // A passage that begins with dialogue does not say where it takes place; the narration just before it may.
    let lead = if before.iter().any(|sentence| sentence.alone) { Vec::new() } else { book.lead(begin) };
    let told: Vec<SentenceHint> = lead.iter().map(|sentence| hint(book, sentence)).collect();
    DescribeScene {
        language: book.language,
        title: book.title.clone(),
        chapter: draft.chapter.clone(),
        worldview: carry.worldview.clone(),
        opening: if carry.worldview.is_none() { book.opening(opening) } else { Vec::new() },
        counted: book.world().filter(|_| carry.worldview.is_none()).map(str::to_owned),
        cast,
        lead: lead.into_iter().map(|sentence| sentence.text.clone()).collect(),
        text: book.slice(begin, end).to_owned(),
        dialogue: draft
            .dialogue
            .iter()
            .map(|line| DialogueHint {
                speaker: line.speaker.clone(),
                content: line.content(),
                speech: line.speech.clone().unwrap_or_default(),
            })
            .collect(),
        public_keys: keys(true),
        private_keys: keys(false),
        script: book.script(),
        teller: book.teller().map(str::to_owned),
        before: told.into_iter().chain(before).collect(),
        after: hints(first, end),
        earlier: book.earlier(begin).map(|sentence| hint(book, sentence)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures::future::BoxFuture;

    use super::*;
    use crate::llm::{Answered, Budget, Journal, JournalError, OfflineOptions, Record, Session};
    use crate::prompt::Prompts;
    use crate::schema::Grounded;
    use crate::stages::extract::fixtures::{
        EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, attribution, chunk, facts, length,
    };

    #[derive(Default)]
    struct Memory(Mutex<Vec<Record>>);

    impl Journal for Memory {
        fn find(&self, _: &str) -> Result<Option<Answered>, JournalError> {
            Ok(None)
        }

        fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
            self.0.lock().expect("not poisoned").push(record);
            Box::pin(async { Ok(()) })
        }
    }

    fn model(memory: Arc<Memory>) -> Model {
        let prompts =
            Prompts::new(PROMPTS.iter().copied(), &BTreeMap::new()).expect("the templates are embedded and tested");
        Model::offline(
            "rules",
            OfflineOptions::default(),
            Arc::new(Session::new(7, prompts, memory, Budget::default(), false)),
        )
    }

    fn book(language: Language) -> (&'static str, BookFacts) {
        let (text, people) = if language == Language::En { (EN, EN_PEOPLE) } else { (ZH, ZH_PEOPLE) };
        (text, facts(language, text, attribution(text, people, EN_SPEAKERS)))
    }

    async fn whole(language: Language, params: &Params) -> (Extracted, Vec<Record>) {
        let (text, book) = book(language);
        let memory = Arc::new(Memory::default());
        let chunk = chunk(language, text, 0, 0, length(text));
        let extracted =
            extract(&model(memory.clone()), params, &book, &chunk, Carry::default()).await.expect("extracts");
        let records = memory.0.lock().expect("not poisoned").clone();
        (extracted, records)
    }

    #[tokio::test]
    async fn an_english_scene_is_made_of_the_books_own_words() {
        let (extracted, records) = whole(Language::En, &Params::default()).await;
        assert!(extracted.rejects.is_empty(), "{:?}", extracted.rejects);
        let [scene] = &extracted.scenes[..] else { panic!("{:?}", extracted.scenes) };
        let lines: Vec<(&str, &str)> =
            scene.dialogue.iter().map(|line| (line.speaker.as_str(), line.speech.as_deref().unwrap_or(""))).collect();
        assert_eq!(lines.len(), 6);
        // The tag that interrupts a speech is removed, and the two parts are one utterance.
        assert_eq!(lines[0], ("Anna", "Is anybody there? I must see the miller before dark."));
        assert_eq!(lines[1], ("Boris", "There is nobody here but me."));
        assert_eq!(
            (scene.id.clone(), scene.model.as_deref()),
            (format!("a-book@{}", scene.start.expect("a place in the book")), Some("offline:plain"))
        );
        assert!(scene.worldview.starts_with("On the first of March"), "{}", scene.worldview);
        assert!(
            scene.situation.contains("knocked at the mill") && scene.situation.ends_with("Present: Anna and Boris.")
        );
        assert!(scene.summary.contains("Anna"), "{}", scene.summary);
        assert_eq!(
            scene.motivations[0].motivation,
            "Anna wanted the stones back more than she could say. In so many words: “I must see the miller before dark.”"
        );
        let profile: Vec<(&str, &str)> = scene.characters[0]
            .profile
            .iter()
            .map(|attribute| (attribute.key.as_str(), attribute.value.as_str()))
            .collect();
        assert_eq!(profile[0], ("gender", "female"));
        assert!(profile.iter().any(|(_, value)| value.contains("a tall woman in a grey coat")), "{profile:?}");
        assert_eq!(scene.grounding, Some(1.0));
        let draws: Vec<&str> = records.iter().map(|record| record.draw.as_str()).collect();
        assert_eq!(draws, ["a-book/0/scenes".to_owned(), format!("{}/describe", scene.id)]);
        assert!(records.iter().all(|record| !record.request.messages[1].content.contains("\n\n\n")));
    }

    #[tokio::test]
    async fn a_chinese_scene_is_made_of_the_books_own_words() {
        let (extracted, _) = whole(Language::Zh, &Params::default()).await;
        let [scene] = &extracted.scenes[..] else { panic!("{extracted:?}") };
        let speech = scene.dialogue[0].speech.as_deref();
        assert_eq!(speech, Some("里头有人么？天黑之前，我要见一见磨坊的主人。"));
        assert_eq!((scene.dialogue.len(), scene.dialogue[1].speaker.as_str()), (6, "周老七"));
        assert!(scene.worldview.starts_with("三月初一，渠县城外起了大雾"), "{}", scene.worldview);
        assert!(scene.situation.ends_with("在场的有陆平和周老七。"), "{}", scene.situation);
        assert!(
            scene.motivations[0].motivation.starts_with("陆平打算把磨盘要回来。自己说："),
            "{:?}",
            scene.motivations
        );
        let profile: Vec<(&str, &str)> = scene.characters[0]
            .profile
            .iter()
            .map(|attribute| (attribute.key.as_str(), attribute.value.as_str()))
            .collect();
        assert_eq!(&profile[..2], [("性别", "男"), ("年龄", "三十岁")]);
        // No gender is given when the text does not show it.
        assert!(scene.characters[1].profile.iter().all(|attribute| attribute.key != "性别"));
    }

    #[tokio::test]
    async fn a_chunk_without_talk_leaves_a_reject() {
        let (extracted, records) = whole(Language::En, &Params { min_utterances: 9, ..Params::default() }).await;
        assert!(extracted.scenes.is_empty());
        assert_eq!((extracted.rejects[0].id.as_str(), extracted.rejects[0].reason.name()), ("a-book/0", "no_scene"));
        assert_eq!(records.len(), 1);
    }

    #[tokio::test]
    async fn a_scene_cut_off_by_a_chunk_goes_on_in_the_next() {
        for language in Language::ALL {
            let (text, book) = book(language);
            let cut = book.attribution.paragraphs[5].start;
            let memory = Arc::new(Memory::default());
            let (model, params) = (model(memory.clone()), Params { min_utterances: 2, ..Params::default() });
            let first = chunk(language, text, 0, 0, cut);
            let second = chunk(language, text, 1, cut, length(text));
            let begun = extract(&model, &params, &book, &first, Carry::default()).await.expect("extracts");
            assert!(begun.scenes.is_empty() && begun.carry.holds_scene(), "{language}: {begun:?}");
            let left = finish(&model, &params, &book, begun.carry.clone()).await.expect("finishes");
            assert_eq!((left.scenes.len(), left.scenes[0].dialogue.len()), (1, 2));
            let ended = extract(&model, &params, &book, &second, begun.carry).await.expect("extracts");
            assert_eq!(ended.scenes[0].dialogue.len(), 6, "{language}: {ended:?}");
            assert!(!ended.carry.holds_scene());
        }
    }

    fn line(speaker: &str, speech: &str) -> FoundLine {
        FoundLine { speaker: speaker.to_owned(), speech: Some(speech.to_owned()), ..FoundLine::default() }
    }

    fn drafts(language: Language, dialogue: Vec<FoundLine>) -> (BookFacts, Draft) {
        let (text, book) = book(language);
        let chunk = chunk(language, text, 0, 0, length(text));
        let ground = Ground::new(&book, 0, chunk.end);
        let answer = FoundScenes { scenes: vec![FoundScene { dialogue, ..FoundScene::default() }] };
        let draft = scenes::drafts(answer, &Params::default(), &book, &chunk, &ground, None).remove(0);
        (book, draft)
    }

    #[test]
    fn invented_lines_are_told_from_true_ones() {
        let true_en =
            ["Is anybody there?", "There is nobody here but me.", "Then you are the miller.", "Ask the mayor."];
        let true_zh = ["里头有人么？", "只有我一个。", "那你便是主人了。", "你去问知县。"];
        for (language, names, lines) in
            [(Language::En, ["Anna Reed", "boris"], true_en), (Language::Zh, ["陆巡检", "老七"], true_zh)]
        {
            let said = |line_of: &dyn Fn(usize) -> String| {
                (0..4).map(|at| line(names[at % 2], &line_of(at))).collect::<Vec<_>>()
            };
            let (book, draft) = drafts(language, said(&|at| lines[at].to_owned()));
            assert_eq!(draft.fault(&Params::default(), &book), None);
            // Aliases are replaced by the book's main name for the character.
            assert_eq!(draft.characters, [book.person(0).name.clone(), book.person(1).name.clone()]);
            assert_eq!(draft.id(&book), format!("a-book@{}", book.attribution.quotations[0].start));
            let invented = ["I have never been so happy in all my life.", "还请王爷高抬贵手饶过小人这一回。"];
            let (book, draft) = drafts(
                language,
                said(&|at| {
                    if at == 0 {
                        lines[0].to_owned()
                    } else {
                        format!("{}{at}", invented[usize::from(language == Language::Zh)])
                    }
                }),
            );
            let reject = draft.fault(&Params::default(), &book).expect("ungrounded");
            assert_eq!(reject.reason, RejectReason::Ungrounded);
            assert!(reject.detail.starts_with("1 of 4"), "{}", reject.detail);
            assert_eq!(draft.dialogue[1].grounded, Some(Grounded::Absent));
        }
    }

    #[test]
    fn what_is_no_scene_has_its_reason() {
        let reason = |dialogue| {
            let (book, draft) = drafts(Language::En, dialogue);
            draft.fault(&Params::default(), &book).map(|reject| reject.reason)
        };
        let (first, second) = (line("Anna", "Is anybody there?"), line("Boris", "There is nobody here but me."));
        assert_eq!(reason(Vec::new()), Some(RejectReason::NoDialogue));
        assert_eq!(reason(vec![first.clone(), second]), Some(RejectReason::TooShort));
        let four =
            ["Is anybody there?", "I must see the miller before dark.", "Then you are the miller.", "Who took them?"];
        assert_eq!(reason(four.map(|speech| line("Anna", speech)).to_vec()), Some(RejectReason::OneSpeaker));
        // An utterance can be used only as many times as the book has it.
        assert_eq!(reason(vec![first.clone(); 4]), Some(RejectReason::TooShort));
        let wind = FoundLine {
            speaker: "Narrator".to_owned(),
            action: Some("(the wind rises)".to_owned()),
            ..FoundLine::default()
        };
        let (_, draft) = drafts(Language::En, vec![wind, first]);
        assert_eq!(draft.dialogue[0].speaker, "Environment");
        assert_eq!(draft.dialogue[0].content(), "(the wind rises)");
        assert_eq!(draft.characters, ["Anna"]);
    }

    #[test]
    fn a_description_may_shorten_names_and_tell_of_strangers() {
        let told = |language, cast: &[&str], names: &[&str]| {
            let (book, mut draft) = drafts(language, Vec::new());
            draft.characters = cast.iter().map(|&name| name.to_owned()).collect();
            let ask = describe_scene(&book, 0, &draft, &Carry::default());
            let motivation =
                |name: &&str| crate::schema::Motivation { character: (*name).to_owned(), motivation: "m".to_owned() };
            let answer =
                SceneDescription { motivations: names.iter().map(motivation).collect(), ..SceneDescription::default() };
            let strangers = scenes::strangers(&ask, &answer, &book).join(" ");
            let scene = scenes::scene(draft, &ask, &answer, &book, "m");
            let found: Vec<String> = scene.motivations.into_iter().map(|motivation| motivation.character).collect();
            (found.join(" "), strangers)
        };
        let pair = |found: &str, strangers: &str| (found.to_owned(), strangers.to_owned());
        let cast = ["Anna", "Captain Grey", "Old Tom", "Tom Reed"];
        let names = ["Anna Reed", "Grey", "Tom", "Captain Grey (retired)", "Boris", "Gre"];
        assert_eq!(told(Language::En, &cast, &names), pair("Anna Captain Grey", "Tom Boris Gre"));
        let cast = ["陆平", "林黛玉"];
        let names = ["陆巡检", "黛玉（颦儿）", "玉", "周老七"];
        assert_eq!(told(Language::Zh, &cast, &names), pair("陆平 林黛玉", "玉 周老七"));
    }

    #[test]
    fn what_is_known_is_not_noted_again() {
        use crate::llm::Ask as _;
        let prompts = crate::prompt::Prompts::new(crate::stages::prompts(), &BTreeMap::new())
            .expect("the templates are embedded and tested");
        for (language, name) in [(Language::En, "Anna"), (Language::Zh, "陆平")] {
            let (book, mut draft) = drafts(language, Vec::new());
            draft.characters = vec![name.to_owned()];
            let count = |carry: &Carry| {
                let ask = describe_scene(&book, 0, &draft, carry);
                let prompt = ask.messages(&prompts).expect("renders").remove(1).content;
                let lines =
                    prompt.lines().filter(|line| line.contains("noted by rule") || line.contains("规则摘记")).count();
                (ask.cast[0].notes.clone(), lines)
            };
            let (notes, all) = count(&Carry::default());
            assert!(all > 1 && all == notes.len(), "{notes:?}");
            let known = Attribute {
                key: notes[0].key.clone(),
                value: notes[0].text.clone(),
                visibility: crate::schema::Visibility::Public,
            };
            let carry = Carry { profiles: BTreeMap::from([(name.to_owned(), vec![known])]), ..Carry::default() };
            assert_eq!(count(&carry), (notes, all - 1));
        }
    }

    #[tokio::test]
    async fn prompts_read_as_they_did() {
        for language in Language::ALL {
            let (_, records) = whole(language, &Params::default()).await;
            let rendered: Vec<String> = records
                .iter()
                .flat_map(|record| &record.request.messages)
                .map(|message| format!("[{}]\n{}", message.role.name(), message.content))
                .collect();
            insta::assert_snapshot!(format!("prompts_{language}"), rendered.join("\n\n"));
        }
    }
}
