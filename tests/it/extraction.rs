//! Extraction with scripted replies over the included books, in both languages: planted inventions, invalid answers, scenes over
//! chunk boundaries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use dramaturg::attribution;
use dramaturg::llm::{Answered, Budget, Journal, JournalError, Model, OfflineOptions, Record, Session};
use dramaturg::prompt::Prompts;
use dramaturg::schema::{Chunk, Grounded, Language, Reject, RejectReason, Scene};
use dramaturg::stages::extract;
use dramaturg::stages::extract::{BookIndex, FoundLine, FoundScene, FoundScenes, RepairedLine, RepairedLines};
use dramaturg::stages::{chunk, prompts};
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// Turns an offline reply into the scripted one: (draw, reply).
pub(super) type Rule = dyn Fn(&str, &str, Value) -> Value + Send + Sync;

/// A journal that stores replies changed by a rule, which thereby acts as the model.
struct Script {
    rule: Box<Rule>,
    records: Mutex<BTreeMap<String, Record>>,
    /// Keys of the replies that were passed to the rule.
    said: Mutex<BTreeSet<String>>,
}

impl Journal for Script {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        Ok(self.records.lock().expect("not poisoned").get(key).map(Answered::from))
    }

    fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        self.records.lock().expect("not poisoned").insert(record.key.clone(), record);
        Box::pin(async { Ok(()) })
    }
}

impl Script {
    /// Asks by way of the journal: a first pass fills it, the second reads what the rule made of it. A pass ends where the rule
    /// changes nothing any more.
    fn rewrite(&self) -> bool {
        let mut said = self.said.lock().expect("not poisoned");
        let before = said.len();
        for (key, record) in self.records.lock().expect("not poisoned").iter_mut() {
            if said.insert(key.clone()) {
                let reply = serde_json::from_str(&record.reply.text).unwrap_or(Value::Null);
                record.reply.text = (self.rule)(&record.ask, &record.draw, reply).to_string();
            }
        }
        said.len() > before
    }
}

/// A book, prepared for the stage.
pub(super) struct Read {
    pub(super) language: Language,
    pub(super) chunks: Vec<Chunk>,
    facts: BookIndex,
    text: String,
}

pub(super) fn read(name: &str, bytes: &[u8], max_tokens: Option<u32>) -> Read {
    let book = chunk::read(name, bytes, None).expect("reads");
    let mut params = chunk::Params::default();
    if let Some(max_tokens) = max_tokens {
        params.max_tokens = max_tokens;
    }
    let (chunks, _) = chunk::chunk(&book, &chunk::chapters(&book), &params);
    let language = book.language;
    let attribution = attribution::attribute(&book.text, language, book.script);
    let facts = BookIndex::new(&book, language, book.text.as_str().into(), attribution);
    Read { language, chunks, facts, text: book.text.clone() }
}

fn shipped(name: &str) -> Read {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("books").join(name);
    read(name, &std::fs::read(path).expect("the book is shipped"), None)
}

/// Extracts a book with a rule as the model.
pub(super) async fn extracted(
    read: &Read,
    params: &extract::Params,
    rule: impl Fn(&str, &str, Value) -> Value + Send + Sync + 'static,
) -> (Vec<Scene>, Vec<Reject>, Vec<Record>) {
    let script = Arc::new(Script { rule: Box::new(rule), records: Mutex::default(), said: Mutex::default() });
    let journal: Arc<dyn Journal> = Arc::clone(&script) as _;
    let templates = Prompts::new(prompts(), &BTreeMap::new()).expect("the templates parse");
    let session = Arc::new(Session::new(7, templates, journal, Budget::default(), false));
    let model = Model::offline("rules", OfflineOptions::default(), session);
    let (mut scenes, mut rejects) = (Vec::new(), Vec::new());
    let mut carry = extract::Carry::default();
    for (at, chunk) in read.chunks.iter().enumerate() {
        // A call depends only on earlier calls, so a chunk is done when there is no new call.
        let mut done = None;
        for _ in 0..200 {
            let whole = async {
                let mut made = extract::extract(&model, params, &read.facts, chunk, carry.clone()).await?;
                if read.chunks.get(at + 1).is_none_or(|next| next.start != chunk.end) {
                    let left = extract::finish(&model, params, &read.facts, made.carry.clone()).await?;
                    made.scenes.extend(left.scenes);
                    made.rejects.extend(left.rejects);
                    made.carry = left.carry;
                }
                Ok::<_, dramaturg::llm::AskError>(made)
            };
            done = Some(whole.await.expect("extracts"));
            if !script.rewrite() {
                break;
            }
        }
        let done = done.expect("was extracted");
        scenes.extend(done.scenes);
        rejects.extend(done.rejects);
        carry = done.carry;
    }
    let records = script.records.lock().expect("not poisoned").values().cloned().collect();
    (scenes, rejects, records)
}

/// A generator whose output does not depend on a crate's version.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(count.max(1)).expect("small")).expect("small")
    }

    fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_zh(read: &Read) -> bool {
    read.language == Language::Zh
}

/// Changes that keep the meaning of a line.
const FAITHFUL: [&str; 5] = ["as it stands", "marks", "case or script", "a slip", "an interjection or a contraction"];
/// Changes that alter the meaning of a line.
const PLANTED: [&str; 7] = ["known name", "strange name", "number", "negation", "paraphrase", "other book", "invented"];

/// Changes a line without altering its meaning; `None` if the change does not apply.
fn faithful(kind: &str, line: &str, language: Language, dice: &mut Dice) -> Option<String> {
    let zh = language == Language::Zh;
    let words: Vec<&str> = line.split(' ').collect();
    let written = match kind {
        "as it stands" => return Some(line.to_owned()),
        "marks" if zh => format!("「{}」", line.replace('，', ",").replace('。', "．").replace('？', "?")),
        "marks" => format!("\"{}", line.replace('—', " - ").replace('’', "'").replace(", ", " ").replace(';', ",")),
        "case or script" if zh => {
            let scripts: toml::Table =
                include_str!("../../src/attribution/words/scripts.toml").parse().expect("the table");
            let row = |key: &str| {
                let row = scripts[key].as_str().expect("a row");
                row.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>()
            };
            let (full, simple) = (row("traditional"), row("simplified"));
            line.chars().map(|c| simple.iter().position(|s| *s == c).map_or(c, |at| full[at])).collect()
        }
        "case or script" => line.to_uppercase(),
        "a slip" if zh => {
            const SLIPS: [(char, char); 8] = [
                ('的', '地'),
                ('得', '的'),
                ('在', '再'),
                ('那', '哪'),
                ('他', '她'),
                ('坐', '座'),
                ('着', '住'),
                ('账', '帐'),
            ];
            let (from, to) = SLIPS.into_iter().find(|(from, _)| line.contains(*from))?;
            (line.chars().count() > 8).then(|| line.replacen(from, &to.to_string(), 1))?
        }
        "a slip" => {
            let long = |word: &&str| word.len() > 5 && word.chars().all(|c| c.is_ascii_lowercase());
            let at: Vec<usize> = (0..words.len()).filter(|at| long(&words[*at])).collect();
            let at = *at.get(dice.below(at.len()))?;
            let letter = 2 + dice.below(words[at].len() - 4);
            let (head, tail) = words[at].split_at(letter);
            let slip = if dice.below(2) == 0 {
                format!("{head}{}", &tail[1..])
            } else {
                format!("{head}{}{tail}", &tail[..1])
            };
            (words.len() > 3).then(|| {
                let mut words: Vec<&str> = words.clone();
                words[at] = &slip;
                words.join(" ")
            })?
        }
        _ if zh => {
            const CALLS: [&str; 8] = ["哎哟，", "啊，", "唉，", "哎，", "嗯，", "呢", "吧", "啊"];
            line.replacen(CALLS.iter().find(|call| line.contains(**call))?, "", 1)
        }
        _ => {
            const OUT: [(&str, &str); 9] = [
                ("Oh, ", ""),
                ("Well, ", ""),
                ("I’m", "I am"),
                ("n’t ", " not "),
                ("’ll ", " will "),
                ("’ve ", " have "),
                ("’re ", " are "),
                ("It’s ", "It is "),
                ("that’s ", "that is "),
            ];
            let occasion =
                |(from, _): &&(&str, &str)| line.contains(*from) && !line.contains("an’t ") && !line.contains("on’t ");
            let (from, to) = OUT.iter().find(occasion)?;
            line.replacen(from, to, 1)
        }
    };
    (written != line).then_some(written)
}

/// Alters the meaning of a line; `None` if the change does not apply.
fn planted(
    kind: &str,
    line: &str,
    read: &Read,
    names: &[String],
    others: &[String],
    dice: &mut Dice,
) -> Option<String> {
    let zh = is_zh(read);
    let words: Vec<&str> = line.split(' ').collect();
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let whole = |word: &str| {
        line.match_indices(word).map(|(at, _)| at).find(|at| {
            zh || !letter(line[..*at].chars().next_back()) && !letter(line[at + word.len()..].chars().next())
        })
    };
    let swapped = |from: &str, to: &str| {
        let at = whole(from)?;
        Some(format!("{}{to}{}", &line[..at], &line[at + from.len()..]))
    };
    match kind {
        "known name" | "strange name" => {
            let from = names.iter().filter(|name| whole(name).is_some()).max_by_key(|name| name.len())?;
            let strange =
                if zh { ["郭怀礼", "庞守义", "谷二娘"] } else { ["Percival", "Mrs. Gatacre", "Josephine"] };
            let known: Vec<&String> =
                names.iter().filter(|name| !name.contains(from.as_str()) && !from.contains(name.as_str())).collect();
            let to = if kind == "known name" { dice.one_of(&known).as_str() } else { *dice.one_of(&strange) };
            swapped(from, to)
        }
        "number" if zh => {
            const DIGITS: [&str; 12] = ["二", "三", "四", "五", "六", "七", "八", "九", "十", "百", "千", "两"];
            let from = DIGITS.iter().find(|digit| line.contains(**digit))?;
            let to = loop {
                let to = dice.one_of(&DIGITS);
                if to != from && !(matches!(*from, "二" | "两") && matches!(*to, "二" | "两")) {
                    break to;
                }
            };
            swapped(from, to)
        }
        "number" => {
            const NUMBERS: [&str; 14] = [
                "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty",
                "thirty", "forty",
            ];
            let from = NUMBERS.iter().find(|number| whole(number).is_some())?;
            swapped(from, NUMBERS.iter().rev().find(|to| *to != from && dice.below(3) == 0).unwrap_or(&"ninety"))
        }
        "negation" if zh => {
            for no in ["不", "没", "未", "莫"] {
                if line.contains(no) && dice.below(2) == 0 {
                    return Some(line.replacen(no, "", 1));
                }
            }
            let verb = ["是", "要", "有", "去", "能", "会", "在", "来"].into_iter().find(|verb| line.contains(verb))?;
            Some(line.replacen(verb, &format!("{}{verb}", if verb == "有" { "没" } else { "不" }), 1))
        }
        "negation" => {
            for (from, to) in [
                (" not ", " "),
                (" never ", " "),
                ("n’t ", " "),
                ("is ", "is not "),
                ("was ", "was never "),
                ("will ", "will not "),
                ("have ", "have never "),
                ("can ", "cannot "),
            ] {
                if line.contains(from) {
                    return Some(line.replacen(from, to, 1));
                }
            }
            None
        }
        "paraphrase" if zh => {
            const POOL: &str = "天下风云出我辈一入江湖岁月催书山有路勤为径学海无涯苦作舟春眠觉晓处闻啼鸟";
            let pool: Vec<char> = POOL.chars().collect();
            let chars: Vec<char> = line.chars().filter(|c| c.is_alphanumeric()).collect();
            let kept = chars.len() * 2 / 5;
            let from = dice.below(chars.len() - kept);
            let put = |(at, c): (usize, char)| if (from..from + kept).contains(&at) { c } else { *dice.one_of(&pool) };
            (chars.len() >= 10).then(|| chars.iter().copied().enumerate().map(put).collect())
        }
        "paraphrase" => {
            const POOL: [&str; 24] = [
                "perhaps",
                "somebody",
                "really",
                "ought",
                "consider",
                "morning",
                "carefully",
                "trouble",
                "quietly",
                "another",
                "window",
                "supposed",
                "question",
                "certain",
                "matter",
                "people",
                "happened",
                "usually",
                "remember",
                "together",
                "afterwards",
                "beautiful",
                "country",
                "reason",
            ];
            let count = words.len() * 2 / 5;
            let from = dice.below(words.len() - count);
            let put = |(at, word): (usize, &&str)| {
                if (from..from + count).contains(&at) { (*word).to_owned() } else { (*dice.one_of(&POOL)).to_owned() }
            };
            (words.len() >= 6).then(|| words.iter().enumerate().map(put).collect::<Vec<_>>().join(" "))
        }
        "other book" => Some(dice.one_of(others).clone()),
        _ if zh => {
            let who = ["这位客官", "老掌柜", "诸位乡亲", "这孩子", "小二哥"];
            let what = [
                "昨夜里梦见一条白龙",
                "把家里的牛卖给了庙里",
                "要到京城去考武举",
                "从前在海上做过水手",
                "专会看人的手相",
            ];
            let then = ["你说奇怪不奇怪", "我可真替他高兴", "往后的事谁知道呢", "街坊们都笑他傻", "连皇上也听说了"];
            Some(format!("{}{}，{}。", dice.one_of(&who), dice.one_of(&what), dice.one_of(&then)))
        }
        _ => {
            let who = ["My grandmother", "The archbishop", "Every sailor", "That violinist", "Your tailor"];
            let what = [
                "dreamed of white elephants",
                "sold the family silver",
                "was raised by gypsies",
                "collects stuffed owls",
                "sailed round the Horn",
            ];
            let then = [
                "and laughed about it until Easter",
                "which surprised the whole regiment",
                "so I bought a telescope",
                "or so the newspapers claim",
            ];
            Some(format!("{} {}, {}.", dice.one_of(&who), dice.one_of(&what), dice.one_of(&then)))
        }
    }
}

/// Names in the gold character lists that can occur in lines.
fn gold_names(text: &str) -> Vec<String> {
    let rows = text.lines().skip(1).filter_map(|row| row.split_once('\t'));
    let names = rows.flat_map(|(name, rest)| {
        let aliases = rest.split('\t').next().unwrap_or_default().split('|');
        std::iter::once(name).chain(aliases).map(str::to_owned).collect::<Vec<_>>()
    });
    let fits = |name: &String| {
        let han = name.chars().all(|c| !c.is_ascii());
        if han { name.chars().count() > 1 } else { name.len() > 3 && name.starts_with(char::is_uppercase) }
    };
    names.filter(fits).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Lines that are in no included Chinese book.
const OTHER_ZH: &[&str] = &[
    "姑娘莫要心急，这盏灯笼我明日便给你糊好。",
    "将军，西门的守军已经三日没有领到粮草了。",
    "他把钥匙丢进井里，转身就走了，连头也没有回。",
    "奶奶说，下雪的时候不可以数屋檐上的麻雀。",
    "这出戏唱到第三折，班主便病倒了。",
    "师父，山下来了一个骑驴的书生，要借宿一晚。",
    "你那只风筝挂在学堂的槐树上，先生不许人爬。",
    "火车误了点，月台上只剩下卖橘子的老汉。",
    "陛下若肯听臣一句，便先放了那些铁匠。",
    "我在南洋开过药铺，见过会下蛋的石头。",
];

/// Number of lines of a kind, and how many of them were found in the book.
type Tally = BTreeMap<&'static str, (u32, u32)>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planted_inventions_are_rejected() {
    let books = [
        ("a_penny_either_way.txt", include_str!("../fixtures/gold/a_penny_either_way.characters.tsv")),
        (
            "forty_kilos_short.fountain",
            "name\taliases\nWick\tMr. Gander|Gander|Joss|Dray|Sergeant Dray|Dorcas|Miss Fell\n",
        ),
        ("lian_wen_ji.txt", include_str!("../fixtures/gold/lian_wen_ji.characters.tsv")),
    ];
    let mut reads: Vec<(Arc<Read>, Vec<String>)> = Vec::new();
    for (name, gold) in books {
        reads.push((Arc::new(shipped(name)), gold_names(gold)));
    }
    // The lines of the script are planted into the novel and the other way round.
    let params = extract::Params { max_repairs: 0, min_grounding: 0.0, ..extract::Params::default() };
    let mut own: Vec<Vec<String>> = Vec::new();
    for (read, _) in &reads {
        let (scenes, ..) = extracted(read, &params, |_, _, reply| reply).await;
        let lines = scenes.iter().flat_map(|scene| &scene.dialogue).filter_map(|line| line.speech.clone());
        own.push(lines.filter(|line| plain(line).chars().count() >= if is_zh(read) { 4 } else { 12 }).collect());
    }
    for language in Language::ALL {
        let mut tally = Tally::new();
        let mut wrong: Vec<String> = Vec::new();
        for (at, (read, names)) in reads.iter().enumerate().filter(|(_, (read, _))| read.language == language) {
            let others: Vec<String> = match language {
                Language::En => own[1 - at].clone(),
                Language::Zh => OTHER_ZH.iter().map(|line| (*line).to_owned()).collect(),
            };
            let text = plain(&read.text);
            for seed in 0..4 {
                let truth: Arc<Mutex<BTreeMap<String, &'static str>>> = Arc::default();
                let (seen, scripted, names, others, text) =
                    (Arc::clone(&truth), Arc::clone(read), names.clone(), others.clone(), text.clone());
                let rule = move |ask: &str, draw: &str, reply: Value| {
                    if ask != "extract/scenes" {
                        return reply;
                    }
                    let mut dice = Dice(seed * 1000 + u64::try_from(draw.len()).expect("short") + at as u64);
                    (0..20).for_each(|_| {
                        dice.below(2);
                    });
                    let mut found: FoundScenes = serde_json::from_value(reply).expect("scenes");
                    let mut truth = seen.lock().expect("not poisoned");
                    for line in found.scenes.iter_mut().flat_map(|scene| &mut scene.dialogue) {
                        let Some(speech) = line.speech.clone() else { continue };
                        let mut change = (FAITHFUL[0], speech.clone());
                        if dice.below(5) == 0 {
                            for _ in 0..12 {
                                let kind = *dice.one_of(&PLANTED);
                                let other = planted(kind, &speech, &scripted, &names, &others, &mut dice);
                                // A line that is in the book is not an invention.
                                if let Some(other) = other.filter(|other| !text.contains(&plain(other))) {
                                    change = (kind, other);
                                    break;
                                }
                            }
                        } else if dice.below(2) == 0 {
                            let kind = *dice.one_of(&FAITHFUL);
                            if let Some(other) = faithful(kind, &speech, scripted.language, &mut dice) {
                                change = (kind, other);
                            }
                        }
                        // A text shared by two lines identifies neither.
                        if truth.insert(change.1.clone(), change.0).is_some_and(|before| before != change.0) {
                            truth.insert(change.1.clone(), "");
                        }
                        line.speech = Some(change.1);
                    }
                    json!(found)
                };
                let (scenes, rejects, _) = extracted(read, &params, rule).await;
                let quoted = |reject: &Reject| {
                    let rest = reject.detail.split_once('“')?.1;
                    let end = rest.find("”; ").or_else(|| rest.find("” is said "))?;
                    Some(plain(&rest[..end]))
                };
                let left_out: BTreeSet<String> = rejects
                    .iter()
                    .filter(|reject| matches!(reject.reason.name(), "not_in_book" | "repeated_line"))
                    .filter_map(quoted)
                    .collect();
                for (line, kind) in truth.lock().expect("not poisoned").iter().filter(|(_, kind)| !kind.is_empty()) {
                    let is_left_out = left_out.contains(&plain(line));
                    let counts = tally.entry(*kind).or_default();
                    counts.0 += 1;
                    counts.1 += u32::from(!is_left_out);
                    if PLANTED.contains(kind) != is_left_out {
                        let told = rejects.iter().find(|reject| reject.detail.contains(line.trim_matches(['“', '"'])));
                        let told = told.map(|reject| format!("{}: {}", reject.reason, reject.detail));
                        let lines = scenes.iter().flat_map(|scene| &scene.dialogue);
                        let found = lines
                            .filter(|said| said.speech.as_deref().is_some_and(|speech| plain(speech) == plain(line)));
                        let found: Vec<String> = found
                            .filter_map(|said| {
                                let (start, end) = (said.start? as usize, said.end? as usize);
                                Some(read.text.chars().skip(start).take(end - start).collect())
                            })
                            .collect();
                        wrong.push(format!("{kind}: {line}\n    {told:?} {found:?}"));
                    }
                }
            }
        }
        let sum = |kinds: &[&str]| {
            let counts = tally.iter().filter(|(kind, _)| kinds.contains(kind)).map(|(_, counts)| counts);
            counts.fold((0, 0), |all, counts| (all.0 + counts.0, all.1 + counts.1))
        };
        let ((planted, kept), (faithful, found)) = (sum(&PLANTED), sum(&FAITHFUL));
        let caught = planted - kept;
        let precision = f64::from(caught) / f64::from(caught + faithful - found);
        let recall = f64::from(caught) / f64::from(planted);
        let figures = format!(
            "{language}: precision {precision:.4}, recall {recall:.4}, {planted} planted of {}; found of each kind {tally:?}",
            planted + faithful
        );
        assert!(planted > 150 && tally.len() == PLANTED.len() + FAITHFUL.len(), "{figures}");
        assert!(precision >= 0.98 && recall >= 0.98, "{figures}\n{}", wrong.join("\n"));
    }
}

/// Lines of the shipped books altered by hand, as people would who want to get past the check: numbers in words and figures,
/// denials by contraction or a single character, one name for another, parts of names, paraphrases. `T` begins a line that says
/// what the book says, `F` one that does not.
#[test]
fn manually_altered_lines_are_detected() {
    for (name, cases) in [
        ("a_penny_either_way.txt", include_str!("../fixtures/altered/a_penny_either_way.txt")),
        ("lian_wen_ji.txt", include_str!("../fixtures/altered/lian_wen_ji.txt")),
    ] {
        let read = shipped(name);
        let end = u32::try_from(read.text.chars().count()).expect("a book");
        let (mut altered, mut caught, mut told, mut wrong) = (0_u32, 0_u32, 0_u32, Vec::new());
        for (is_true, line) in cases.lines().map(|case| (case.starts_with("T "), &case[2..])) {
            let found = extract::ground(&read.facts, 0..end, &[line.to_owned()], 0.6);
            let is_absent = found[0].0 == Grounded::Absent;
            altered += u32::from(!is_true);
            told += u32::from(is_absent);
            caught += u32::from(is_absent && !is_true);
            if is_absent == is_true {
                wrong.push(format!("{found:?} {line}"));
            }
        }
        let (precision, recall) = (f64::from(caught) / f64::from(told), f64::from(caught) / f64::from(altered));
        assert!(altered >= 80 && precision >= 0.98 && recall >= 0.98, "{name}: {precision} {recall} {wrong:#?}");
    }
}

/// Returns an uninterrupted dialogue of two people, as lines of (speaker, speech) and as a book.
pub(super) fn talk(language: Language, count: usize) -> (Vec<(String, String)>, Arc<Read>, u32) {
    let (lines, told) = crate::support::talk(language, count);
    let tokens = dramaturg::llm::estimate_tokens(&told);
    let read = read("a_book.txt", told.as_bytes(), (count > 30).then_some(tokens * 2 / 5));
    assert_eq!(read.language, language);
    (lines, Arc::new(read), tokens)
}

/// Returns a scene as a model writes it.
pub(super) fn scene(lines: &[(String, String)]) -> FoundScene {
    let line = |(speaker, speech): &(String, String)| FoundLine {
        speaker: speaker.clone(),
        speech: Some(speech.clone()),
        ..FoundLine::default()
    };
    FoundScene {
        first_words: lines[0].1.clone(),
        last_words: lines[lines.len() - 1].1.clone(),
        characters: vec![lines[0].0.clone(), lines[1].0.clone()],
        dialogue: lines.iter().map(line).collect(),
        ..FoundScene::default()
    }
}

/// Extracts a book of one chunk; the model answers `first`, and `second` when it is asked again.
async fn answered(read: &Read, first: FoundScenes, second: FoundScenes) -> (Vec<Scene>, Vec<Reject>, Vec<Record>) {
    let rule = move |ask: &str, draw: &str, reply: Value| match ask {
        "extract/scenes" if draw.ends_with("/again") => json!(second),
        "extract/scenes" => json!(first),
        _ => reply,
    };
    extracted(read, &extract::Params::default(), rule).await
}

pub(super) fn reasons(rejects: &[Reject]) -> Vec<&str> {
    rejects.iter().map(|reject| reject.reason.name()).collect()
}

#[tokio::test]
async fn invalid_answers_are_requested_again_and_rejected() {
    for language in Language::ALL {
        let (lines, read, _) = talk(language, 12);
        let whole = || FoundScenes { scenes: vec![scene(&lines)] };
        let nothing = FoundScenes::default;
        // An empty answer, then a complete one; then two empty ones.
        let (scenes, rejects, records) = answered(&read, nothing(), whole()).await;
        assert_eq!((scenes.len(), reasons(&rejects)), (1, vec![]), "{language}: {rejects:?}");
        let again = records.iter().find(|record| record.draw.ends_with("/again")).expect("asked again");
        let prompt = &again.request.messages[1].content;
        assert!(
            prompt.trim_end().ends_with(if language == Language::En { "in the stretch." } else { "在交谈。" }),
            "{prompt}"
        );
        let (scenes, rejects, _) = answered(&read, nothing(), nothing()).await;
        assert_eq!((scenes.len(), rejects[0].reason.name()), (0, "no_scene"), "{rejects:?}");
        // The same lines repeated many times.
        let mut looped = whole();
        looped.scenes[0].dialogue = std::iter::repeat_n(looped.scenes[0].dialogue.clone(), 40).flatten().collect();
        let (scenes, rejects, _) = answered(&read, looped.clone(), looped).await;
        assert_eq!((scenes[0].dialogue.len(), rejects[0].reason.name()), (12, "too_much"), "{language}");
        assert!(rejects.len() > 1, "{rejects:?}");
        assert!(rejects[1..].iter().all(|reject| reject.reason == RejectReason::RepeatedLine), "{rejects:?}");
        // A summary in another language, then the complete scene.
        let mut foreign = whole();
        let (own, other) = ("Anna and Boris count the stones by the weir.", "陆平和周七在坝上数石头，各说各的。");
        foreign.scenes[0].summary = if language == Language::En { other } else { own }.to_owned();
        let (scenes, rejects, _) = answered(&read, foreign.clone(), foreign.clone()).await;
        assert_eq!((scenes[0].summary.as_str(), scenes[0].dialogue.len()), ("", 12));
        assert_eq!(reasons(&rejects), ["other_language"; 2], "{rejects:?}");
        for line in &mut foreign.scenes[0].dialogue {
            line.speech = Some(if language == Language::En { other } else { own }.to_owned());
        }
        let (scenes, rejects, records) = answered(&read, foreign.clone(), foreign).await;
        assert!(scenes.is_empty() && !rejects.is_empty(), "{rejects:?}");
        assert!(rejects.iter().all(|reject| reject.reason == RejectReason::OtherLanguage), "{rejects:?}");
        assert!(records.iter().all(|record| record.ask != "extract/repair"));
    }
}

#[tokio::test]
async fn omitted_empty_keys_are_accepted() {
    fn bare(value: Value) -> Value {
        match value {
            Value::Object(object) => object
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, bare(value)))
                .collect(),
            Value::Array(items) => items.into_iter().map(bare).collect(),
            value => value,
        }
    }
    for language in Language::ALL {
        let (lines, read, _) = talk(language, 12);
        let found = FoundScenes { scenes: vec![scene(&lines)] };
        let (whole, rejects, records) = answered(&read, found.clone(), found.clone()).await;
        assert_eq!((whole.len(), rejects.len()), (1, 0), "{language}: {rejects:?}");
        let found = json!(found);
        let rule = move |ask: &str, _: &str, reply: Value| {
            let given = if ask == "extract/scenes" { found.clone() } else { reply };
            let bare = bare(given.clone());
            assert!(ask != "extract/scenes" || bare != given, "it has nulls: {given}");
            bare
        };
        let (scenes, rejects, bare) = extracted(&read, &extract::Params::default(), rule).await;
        assert_eq!((scenes, rejects.len(), bare.len()), (whole, 0, records.len()), "{language}: {rejects:?}");
    }
}

#[tokio::test]
async fn misspelt_names_are_corrected_or_rejected() {
    for language in Language::ALL {
        let (lines, read, _) = talk(language, 12);
        let mut wrong = FoundScenes { scenes: vec![scene(&lines)] };
        let names = match language {
            Language::En => ["ANNA", "Borris", "Captain Zorg", "Boris (the mason)"],
            Language::Zh => ["陸平", "周七（石匠）", "王五郎", "周七"],
        };
        for (line, name) in wrong.scenes[0].dialogue.iter_mut().zip(names) {
            line.speaker = name.to_owned();
        }
        wrong.scenes[0].characters = names.map(str::to_owned).to_vec();
        let (scenes, rejects, _) = answered(&read, wrong.clone(), wrong).await;
        let [scene] = &scenes[..] else { panic!("{language}: {rejects:?}") };
        let cast: Vec<&str> = scene.characters.iter().map(|character| character.name.as_str()).collect();
        assert_eq!(cast, [&lines[0].0, &lines[1].0], "{language}");
        assert_eq!((scene.dialogue.len(), reasons(&rejects)), (11, vec!["unknown_speaker"]), "{rejects:?}");
        assert!(rejects[0].detail.contains(names[2]) && scene.id == rejects[0].id.as_str(), "{rejects:?}");
    }
}

#[tokio::test]
async fn a_line_that_is_not_in_the_book_is_repaired_or_left_out() {
    for language in Language::ALL {
        let (lines, read, _) = talk(language, 12);
        let mut altered = FoundScenes { scenes: vec![scene(&lines)] };
        let speech = lines[5].1.replace("25", "99");
        altered.scenes[0].dialogue[5].speech = Some(speech.clone());
        for repaired in [Some(lines[5].1.clone()), Some(lines[4].1.clone()), Some(speech.clone()), None] {
            let (answer, said) = (json!(altered), repaired.clone());
            let rule = move |ask: &str, _: &str, reply: Value| match ask {
                "extract/scenes" => answer.clone(),
                "extract/repair" => {
                    json!(RepairedLines { lines: vec![RepairedLine { number: 1, speech: said.clone() }] })
                }
                _ => reply,
            };
            let (scenes, rejects, records) = extracted(&read, &extract::Params::default(), rule).await;
            let [scene] = &scenes[..] else { panic!("{language}: {rejects:?}") };
            let asked: Vec<&Record> = records.iter().filter(|record| record.ask == "extract/repair").collect();
            assert_eq!((asked.len(), asked[0].draw.as_str()), (1, format!("{}/repair", scene.id).as_str()));
            let prompt = &asked[0].request.messages[1].content;
            assert!(prompt.contains("99") && prompt.contains("\"99\"") == (language == Language::En), "{prompt}");
            if repaired.as_deref() == Some(lines[5].1.as_str()) {
                assert_eq!((scene.dialogue.len(), scene.grounding, reasons(&rejects)), (12, Some(1.0), vec![]));
                assert_eq!(scene.dialogue[5].speech.as_deref(), Some(lines[5].1.as_str()));
            } else {
                assert_eq!((scene.dialogue.len(), scene.grounding), (11, Some(0.917)), "{repaired:?}");
                assert_eq!(reasons(&rejects), ["not_in_book"]);
                assert!(rejects[0].detail.contains(&speech), "{}", rejects[0].detail);
            }
        }
    }
}

#[tokio::test]
async fn a_scene_over_three_chunks_has_each_line_once_for_any_overlap() {
    for language in Language::ALL {
        for (overlap, says_so) in [(0, true), (2, true), (3, false)] {
            let (lines, read, _) = talk(language, 36);
            assert_eq!(read.chunks.len(), 3, "{language}");
            let texts: Vec<(String, String)> =
                read.chunks.iter().map(|chunk| (chunk.id(), chunk.text.clone())).collect();
            let told = lines.clone();
            let rule = move |ask: &str, draw: &str, reply: Value| {
                if ask != "extract/scenes" {
                    return reply;
                }
                let at = texts.iter().position(|(id, _)| draw == format!("{id}/scenes")).expect("asked once");
                let first = told.iter().position(|line| texts[at].1.contains(&line.1)).expect("a line");
                let last = told.iter().rposition(|line| texts[at].1.contains(&line.1)).expect("a line");
                let mut scene = scene(&told[first.saturating_sub(overlap)..=last]);
                (scene.continues, scene.unfinished) = (says_so && at > 0, at < 2);
                json!(FoundScenes { scenes: vec![scene] })
            };
            let (scenes, rejects, _) = extracted(&read, &extract::Params::default(), rule).await;
            let [scene] = &scenes[..] else { panic!("{language}, {overlap}: {} scenes, {rejects:?}", scenes.len()) };
            let said: Vec<(&str, &str)> = scene
                .dialogue
                .iter()
                .map(|line| (line.speaker.as_str(), line.speech.as_deref().unwrap_or_default()))
                .collect();
            let expected: Vec<(&str, &str)> = lines.iter().map(|line| (line.0.as_str(), line.1.as_str())).collect();
            assert_eq!(said, expected, "{language}, {overlap}");
            assert!(rejects.is_empty(), "{rejects:?}");
        }
    }
}
