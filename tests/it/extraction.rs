//! Extraction with scripted replies, in both languages: planted inventions in the included books, invalid answers,
//! scenes across chunk boundaries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use dramaturg::llm::Record;
use dramaturg::schema::{Grounded, Language, Reject, RejectReason, Scene};
use dramaturg::stages::extract::{self, FoundScenes, RepairedLine, RepairedLines};
use serde_json::{Value, json};

use crate::support::scripted_extraction::{IndexedBook, found_scene, reasons};

/// Reads a book that is included in the repository.
fn included_book(name: &str) -> IndexedBook {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("books").join(name);
    IndexedBook::read(name, &std::fs::read(path).expect("the book is included"), None)
}

/// A random generator that does not depend on a crate, so that an update does not change the test cases.
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

fn normalized(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_zh(book: &IndexedBook) -> bool {
    book.language == Language::Zh
}

/// Changes that keep the meaning of a line.
const FAITHFUL: [&str; 5] = ["verbatim", "punctuation", "case or script", "typo", "filler or contraction"];
/// Changes that make it another line.
const PLANTED: [&str; 7] = ["known name", "strange name", "number", "negation", "paraphrase", "other book", "invented"];

/// Applies a change that keeps the meaning of a line. `None` if it does not apply to the line.
fn faithful(change: &str, line: &str, language: Language, dice: &mut Dice) -> Option<String> {
    let zh = language == Language::Zh;
    let words: Vec<&str> = line.split(' ').collect();
    let changed = match change {
        "verbatim" => return Some(line.to_owned()),
        "punctuation" if zh => format!("「{}」", line.replace('，', ",").replace('。', "．").replace('？', "?")),
        "punctuation" => {
            format!("\"{}", line.replace('—', " - ").replace('’', "'").replace(", ", " ").replace(';', ","))
        }
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
        "typo" if zh => {
            const TYPOS: [(char, char); 8] = [
                ('的', '地'),
                ('得', '的'),
                ('在', '再'),
                ('那', '哪'),
                ('他', '她'),
                ('坐', '座'),
                ('着', '住'),
                ('账', '帐'),
            ];
            let (from, to) = TYPOS.into_iter().find(|(from, _)| line.contains(*from))?;
            (line.chars().count() > 8).then(|| line.replacen(from, &to.to_string(), 1))?
        }
        "typo" => {
            let long = |word: &&str| word.len() > 5 && word.chars().all(|c| c.is_ascii_lowercase());
            let at: Vec<usize> = (0..words.len()).filter(|at| long(&words[*at])).collect();
            let at = *at.get(dice.below(at.len()))?;
            let letter = 2 + dice.below(words[at].len() - 4);
            let (head, tail) = words[at].split_at(letter);
            let typo = if dice.below(2) == 0 {
                format!("{head}{}", &tail[1..])
            } else {
                format!("{head}{}{tail}", &tail[..1])
            };
            (words.len() > 3).then(|| {
                let mut words: Vec<&str> = words.clone();
                words[at] = &typo;
                words.join(" ")
            })?
        }
        _ if zh => {
            const FILLERS: [&str; 8] = ["哎哟，", "啊，", "唉，", "哎，", "嗯，", "呢", "吧", "啊"];
            line.replacen(FILLERS.iter().find(|filler| line.contains(**filler))?, "", 1)
        }
        _ => {
            const CHANGES: [(&str, &str); 9] = [
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
            let applies =
                |(from, _): &&(&str, &str)| line.contains(*from) && !line.contains("an’t ") && !line.contains("on’t ");
            let (from, to) = CHANGES.iter().find(applies)?;
            line.replacen(from, to, 1)
        }
    };
    (changed != line).then_some(changed)
}

/// Applies a change that makes it another line. `None` if it does not apply to the line.
fn planted(
    change: &str,
    line: &str,
    book: &IndexedBook,
    names: &[String],
    others: &[String],
    dice: &mut Dice,
) -> Option<String> {
    let zh = is_zh(book);
    let words: Vec<&str> = line.split(' ').collect();
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let find_word = |word: &str| {
        line.match_indices(word).map(|(at, _)| at).find(|at| {
            zh || !letter(line[..*at].chars().next_back()) && !letter(line[at + word.len()..].chars().next())
        })
    };
    let swapped = |from: &str, to: &str| {
        let at = find_word(from)?;
        Some(format!("{}{to}{}", &line[..at], &line[at + from.len()..]))
    };
    match change {
        "known name" | "strange name" => {
            let from = names.iter().filter(|name| find_word(name).is_some()).max_by_key(|name| name.len())?;
            let strange =
                if zh { ["郭怀礼", "庞守义", "谷二娘"] } else { ["Percival", "Mrs. Gatacre", "Josephine"] };
            let known: Vec<&String> =
                names.iter().filter(|name| !name.contains(from.as_str()) && !from.contains(name.as_str())).collect();
            let to = if change == "known name" { dice.one_of(&known).as_str() } else { *dice.one_of(&strange) };
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
            let from = NUMBERS.iter().find(|number| find_word(number).is_some())?;
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
            let subjects = ["这位客官", "老掌柜", "诸位乡亲", "这孩子", "小二哥"];
            let predicates = [
                "昨夜里梦见一条白龙",
                "把家里的牛卖给了庙里",
                "要到京城去考武举",
                "从前在海上做过水手",
                "专会看人的手相",
            ];
            let endings = ["你说奇怪不奇怪", "我可真替他高兴", "往后的事谁知道呢", "街坊们都笑他傻", "连皇上也听说了"];
            Some(format!("{}{}，{}。", dice.one_of(&subjects), dice.one_of(&predicates), dice.one_of(&endings)))
        }
        _ => {
            let subjects = ["My grandmother", "The archbishop", "Every sailor", "That violinist", "Your tailor"];
            let predicates = [
                "dreamed of white elephants",
                "sold the family silver",
                "was raised by gypsies",
                "collects stuffed owls",
                "sailed round the Horn",
            ];
            let endings = [
                "and laughed about it until Easter",
                "which surprised the whole regiment",
                "so I bought a telescope",
                "or so the newspapers claim",
            ];
            Some(format!("{} {}, {}.", dice.one_of(&subjects), dice.one_of(&predicates), dice.one_of(&endings)))
        }
    }
}

/// Returns the names of a gold list of characters that can occur in lines.
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

/// Lines that no included Chinese book has.
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

/// For each change, the number of lines with it, and how many of them were found in the book.
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
    let mut indexed: Vec<(Arc<IndexedBook>, Vec<String>)> = Vec::new();
    for (name, gold) in books {
        indexed.push((Arc::new(included_book(name)), gold_names(gold)));
    }
    // The lines of the script are planted into the novel and the other way round.
    let params = extract::Params { max_repairs: 0, min_grounding: 0.0, ..extract::Params::default() };
    let mut own: Vec<Vec<String>> = Vec::new();
    for (book, _) in &indexed {
        let (scenes, ..) = book.extract(&params, |_, _, reply| reply).await;
        let lines = scenes.iter().flat_map(|scene| &scene.dialogue).filter_map(|line| line.speech.clone());
        own.push(lines.filter(|line| normalized(line).chars().count() >= if is_zh(book) { 4 } else { 12 }).collect());
    }
    for language in Language::ALL {
        let mut tally = Tally::new();
        let mut wrong: Vec<String> = Vec::new();
        for (at, (book, names)) in indexed.iter().enumerate().filter(|(_, (book, _))| book.language == language) {
            let others: Vec<String> = match language {
                Language::En => own[1 - at].clone(),
                Language::Zh => OTHER_ZH.iter().map(|line| (*line).to_owned()).collect(),
            };
            let text = normalized(&book.text);
            for seed in 0..3 {
                let changes: Arc<Mutex<BTreeMap<String, &'static str>>> = Arc::default();
                let (applied, scripted, names, others, text) =
                    (Arc::clone(&changes), Arc::clone(book), names.clone(), others.clone(), text.clone());
                let rule = move |ask: &str, draw: &str, reply: Value| {
                    if ask != "extract/scenes" {
                        return reply;
                    }
                    let mut dice = Dice(seed * 1000 + u64::try_from(draw.len()).expect("short") + at as u64);
                    (0..20).for_each(|_| {
                        dice.below(2);
                    });
                    let mut found: FoundScenes = serde_json::from_value(reply).expect("scenes");
                    let mut applied = applied.lock().expect("not poisoned");
                    for line in found.scenes.iter_mut().flat_map(|scene| &mut scene.dialogue) {
                        let Some(speech) = line.speech.clone() else { continue };
                        let mut change = (FAITHFUL[0], speech.clone());
                        if dice.below(5) == 0 {
                            for _ in 0..12 {
                                let name = *dice.one_of(&PLANTED);
                                let other = planted(name, &speech, &scripted, &names, &others, &mut dice);
                                // A line that is in the book is not an invention.
                                if let Some(other) = other.filter(|other| !text.contains(&normalized(other))) {
                                    change = (name, other);
                                    break;
                                }
                            }
                        } else if dice.below(2) == 0 {
                            let name = *dice.one_of(&FAITHFUL);
                            if let Some(other) = faithful(name, &speech, scripted.language, &mut dice) {
                                change = (name, other);
                            }
                        }
                        // Two lines with the same text but different changes are not counted.
                        if applied.insert(change.1.clone(), change.0).is_some_and(|before| before != change.0) {
                            applied.insert(change.1.clone(), "");
                        }
                        line.speech = Some(change.1);
                    }
                    json!(found)
                };
                let (scenes, rejects, _) = book.extract(&params, rule).await;
                let quoted = |reject: &Reject| {
                    let rest = reject.detail.split_once('“')?.1;
                    let end = rest.find("”; ").or_else(|| rest.find("” occurs "))?;
                    Some(normalized(&rest[..end]))
                };
                let dropped: BTreeSet<String> = rejects
                    .iter()
                    .filter(|reject| matches!(reject.reason, RejectReason::NotInBook | RejectReason::RepeatedLine))
                    .filter_map(quoted)
                    .collect();
                for (line, change) in
                    changes.lock().expect("not poisoned").iter().filter(|(_, change)| !change.is_empty())
                {
                    let is_dropped = dropped.contains(&normalized(line));
                    let counts = tally.entry(*change).or_default();
                    counts.0 += 1;
                    counts.1 += u32::from(!is_dropped);
                    if PLANTED.contains(change) != is_dropped {
                        let reject =
                            rejects.iter().find(|reject| reject.detail.contains(line.trim_matches(['“', '"'])));
                        let reject = reject.map(|reject| format!("{}: {}", reject.reason, reject.detail));
                        let lines = scenes.iter().flat_map(|scene| &scene.dialogue);
                        let found = lines.filter(|utterance| {
                            utterance.speech.as_deref().is_some_and(|speech| normalized(speech) == normalized(line))
                        });
                        let found: Vec<String> = found
                            .filter_map(|utterance| {
                                let (start, end) = (utterance.start? as usize, utterance.end? as usize);
                                Some(book.text.chars().skip(start).take(end - start).collect())
                            })
                            .collect();
                        wrong.push(format!("{change}: {line}\n    {reject:?} {found:?}"));
                    }
                }
            }
        }
        let sum = |group: &[&str]| {
            let counts = tally.iter().filter(|(change, _)| group.contains(change)).map(|(_, counts)| counts);
            counts.fold((0, 0), |all, counts| (all.0 + counts.0, all.1 + counts.1))
        };
        let ((planted, kept), (faithful, found)) = (sum(&PLANTED), sum(&FAITHFUL));
        let caught = planted - kept;
        let precision = f64::from(caught) / f64::from(caught + faithful - found);
        let recall = f64::from(caught) / f64::from(planted);
        let figures = format!(
            "{language}: precision {precision:.4}, recall {recall:.4}, {planted} planted of {}; found by change {tally:?}",
            planted + faithful
        );
        assert!(planted > 150 && tally.len() == PLANTED.len() + FAITHFUL.len(), "{figures}");
        assert!(precision >= 0.98 && recall >= 0.98, "{figures}\n{}", wrong.join("\n"));
    }
}

/// Lines of the included books altered by hand to get past the check: numbers in words and digits, negation by
/// contraction or a single character, one name for another, parts of names, paraphrases. A case starts with `T` if it has
/// the meaning of the book and with `F` if it does not.
#[test]
fn manually_altered_lines_are_detected() {
    for (name, cases) in [
        ("a_penny_either_way.txt", include_str!("../fixtures/altered/a_penny_either_way.txt")),
        ("lian_wen_ji.txt", include_str!("../fixtures/altered/lian_wen_ji.txt")),
    ] {
        let book = included_book(name);
        let end = u32::try_from(book.text.chars().count()).expect("a book");
        let (mut altered, mut caught, mut absent, mut wrong) = (0_u32, 0_u32, 0_u32, Vec::new());
        for (is_true, line) in cases.lines().map(|case| (case.starts_with("T "), &case[2..])) {
            let found = extract::ground(&book.index, 0..end, &[line.to_owned()], 0.6);
            let is_absent = found[0].0 == Grounded::Absent;
            altered += u32::from(!is_true);
            absent += u32::from(is_absent);
            caught += u32::from(is_absent && !is_true);
            if is_absent == is_true {
                wrong.push(format!("{found:?} {line}"));
            }
        }
        let (precision, recall) = (f64::from(caught) / f64::from(absent), f64::from(caught) / f64::from(altered));
        assert!(altered >= 80 && precision >= 0.98 && recall >= 0.98, "{name}: {precision} {recall} {wrong:#?}");
    }
}

/// Extracts the only chunk of a conversation; the model answers `first` and, when asked again, `second`.
async fn answered(
    book: &IndexedBook,
    first: FoundScenes,
    second: FoundScenes,
) -> (Vec<Scene>, Vec<Reject>, Vec<Record>) {
    let rule = move |ask: &str, draw: &str, reply: Value| match ask {
        "extract/scenes" if draw.ends_with("/again") => json!(second),
        "extract/scenes" => json!(first),
        _ => reply,
    };
    book.extract(&extract::Params::default(), rule).await
}

#[tokio::test]
async fn invalid_answers_are_requested_again_and_rejected() {
    for language in Language::ALL {
        let (lines, book) = IndexedBook::of_conversation(language, 12);
        let complete = || FoundScenes { scenes: vec![found_scene(&lines)] };
        let nothing = FoundScenes::default;
        // First an empty answer and then a complete one; then two empty ones.
        let (scenes, rejects, records) = answered(&book, nothing(), complete()).await;
        assert_eq!((scenes.len(), reasons(&rejects)), (1, vec![]), "{language}: {rejects:?}");
        let again = records.iter().find(|record| record.draw.ends_with("/again")).expect("asked again");
        let prompt = &again.request.messages[1].content;
        assert!(
            prompt.trim_end().ends_with(if language == Language::En { "in the stretch." } else { "在交谈。" }),
            "{prompt}"
        );
        let (scenes, rejects, _) = answered(&book, nothing(), nothing()).await;
        assert_eq!((scenes.len(), rejects[0].reason.name()), (0, "no_scene"), "{rejects:?}");
        // The same lines repeated.
        let mut looped = complete();
        looped.scenes[0].dialogue = std::iter::repeat_n(looped.scenes[0].dialogue.clone(), 40).flatten().collect();
        let (scenes, rejects, _) = answered(&book, looped.clone(), looped).await;
        assert_eq!((scenes[0].dialogue.len(), rejects[0].reason.name()), (12, "too_much"), "{language}");
        assert!(rejects.len() > 1, "{rejects:?}");
        assert!(rejects[1..].iter().all(|reject| reject.reason == RejectReason::RepeatedLine), "{rejects:?}");
        // A summary in another language, then the complete scene.
        let mut foreign = complete();
        let (own, other) = ("Anna and Boris count the stones by the weir.", "陆平和周七在坝上数石头，各说各的。");
        foreign.scenes[0].summary = if language == Language::En { other } else { own }.to_owned();
        let (scenes, rejects, _) = answered(&book, foreign.clone(), foreign.clone()).await;
        assert_eq!((scenes[0].summary.as_str(), scenes[0].dialogue.len()), ("", 12));
        assert_eq!(reasons(&rejects), ["other_language"; 2], "{rejects:?}");
        for line in &mut foreign.scenes[0].dialogue {
            line.speech = Some(if language == Language::En { other } else { own }.to_owned());
        }
        let (scenes, rejects, records) = answered(&book, foreign.clone(), foreign).await;
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
        let (lines, book) = IndexedBook::of_conversation(language, 12);
        let found = FoundScenes { scenes: vec![found_scene(&lines)] };
        let (complete, rejects, records) = answered(&book, found.clone(), found.clone()).await;
        assert_eq!((complete.len(), rejects.len()), (1, 0), "{language}: {rejects:?}");
        let found = json!(found);
        let rule = move |ask: &str, _: &str, reply: Value| {
            let full = if ask == "extract/scenes" { found.clone() } else { reply };
            let bare = bare(full.clone());
            assert!(ask != "extract/scenes" || bare != full, "it has no nulls: {full}");
            bare
        };
        let (scenes, rejects, bare) = book.extract(&extract::Params::default(), rule).await;
        assert_eq!((scenes, rejects.len(), bare.len()), (complete, 0, records.len()), "{language}: {rejects:?}");
    }
}

#[tokio::test]
async fn misspelt_names_are_corrected_or_rejected() {
    for language in Language::ALL {
        let (lines, book) = IndexedBook::of_conversation(language, 12);
        let mut wrong = FoundScenes { scenes: vec![found_scene(&lines)] };
        let names = match language {
            Language::En => ["ANNA", "Borris", "Captain Zorg", "Boris (the mason)"],
            Language::Zh => ["陸平", "周七（石匠）", "王五郎", "周七"],
        };
        for (line, name) in wrong.scenes[0].dialogue.iter_mut().zip(names) {
            line.speaker = name.to_owned();
        }
        wrong.scenes[0].characters = names.map(str::to_owned).to_vec();
        let (scenes, rejects, _) = answered(&book, wrong.clone(), wrong).await;
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
        let (lines, book) = IndexedBook::of_conversation(language, 12);
        let mut altered = FoundScenes { scenes: vec![found_scene(&lines)] };
        let speech = lines[5].1.replace("25", "99");
        altered.scenes[0].dialogue[5].speech = Some(speech.clone());
        for repaired in [Some(lines[5].1.clone()), Some(lines[4].1.clone()), Some(speech.clone()), None] {
            let (answer, reply_speech) = (json!(altered), repaired.clone());
            let rule = move |ask: &str, _: &str, reply: Value| match ask {
                "extract/scenes" => answer.clone(),
                "extract/repair" => {
                    json!(RepairedLines { lines: vec![RepairedLine { number: 1, speech: reply_speech.clone() }] })
                }
                _ => reply,
            };
            let (scenes, rejects, records) = book.extract(&extract::Params::default(), rule).await;
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
            let (lines, book) = IndexedBook::of_conversation(language, 36);
            assert_eq!(book.chunks.len(), 3, "{language}");
            let texts: Vec<(String, String)> =
                book.chunks.iter().map(|chunk| (chunk.id(), chunk.text.clone())).collect();
            let script = lines.clone();
            let rule = move |ask: &str, draw: &str, reply: Value| {
                if ask != "extract/scenes" {
                    return reply;
                }
                let at = texts
                    .iter()
                    .position(|(id, _)| draw == format!("{id}/scenes"))
                    .expect("a chunk is asked about once");
                let first = script.iter().position(|line| texts[at].1.contains(&line.1)).expect("a line");
                let last = script.iter().rposition(|line| texts[at].1.contains(&line.1)).expect("a line");
                let mut scene = found_scene(&script[first.saturating_sub(overlap)..=last]);
                (scene.continues, scene.unfinished) = (says_so && at > 0, at < 2);
                json!(FoundScenes { scenes: vec![scene] })
            };
            let (scenes, rejects, _) = book.extract(&extract::Params::default(), rule).await;
            let [scene] = &scenes[..] else { panic!("{language}, {overlap}: {} scenes, {rejects:?}", scenes.len()) };
            let found: Vec<(&str, &str)> = scene
                .dialogue
                .iter()
                .map(|line| (line.speaker.as_str(), line.speech.as_deref().unwrap_or_default()))
                .collect();
            let expected: Vec<(&str, &str)> = lines.iter().map(|line| (line.0.as_str(), line.1.as_str())).collect();
            assert_eq!(found, expected, "{language}, {overlap}");
            assert!(rejects.is_empty(), "{rejects:?}");
        }
    }
}
