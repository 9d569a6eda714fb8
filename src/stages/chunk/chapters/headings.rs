//! The heading rules: what a single line may open. `chapters` decides which candidates become headings.

use std::sync::LazyLock;

use regex::Regex;

use super::{numerals, title_patterns};
use crate::schema::Level;
use crate::text::is_han;

/// How much confirmation a match needs from the rest of the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// Needs none.
    Strong,
    /// Needs consecutive numbers of the same rule, and applies only if there is no strong chapter heading.
    Sequence,
    /// Applies if its number is the next one after a strong heading.
    Next,
    /// A line that only looks like a title; applies if nothing else opens chapters.
    Title,
}

/// The surroundings that a line must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// Any.
    Any,
    /// A blank line or another heading before it.
    Before,
    /// Blank lines on both sides.
    Alone,
}

/// The maximum number of headings. No book has more; a text with more is something else and is cut by length alone.
pub(crate) const MOST: usize = 1 << 17;

/// A heading rule. The pattern may capture `n` (number), `u` (Chinese unit, which sets the level) and `t` (title).
struct Rule {
    pattern: &'static str,
    level: Level,
    strength: Strength,
    room: Room,
    /// Whether what it opens is part of the story. If not, it is left out before or after the story.
    story: bool,
}

const fn rule(pattern: &'static str, level: Level, strength: Strength, room: Room, story: bool) -> Rule {
    Rule { pattern, level, strength, room, story }
}

/// A rule whose match may start with any character; `candidate` checks the end of the line before trying it.
const LAST: &str = r"^(?P<t>\p{Han}[\p{Han} 　·]{0,12}?)[ 　·]?第(?P<n>[一二三四五六七八九十百]{1,6})$";

const RULES: &[Rule] = &[
    rule(
        r"^(?i:chapter|chap|stave|canto)(?:\.?\s*|\.?\s+(?i:the|no\.?)\s+|\s*#\s*)(?P<n>K)(?P<t>T)$",
        Level::Chapter,
        Strength::Strong,
        Room::Before,
        true,
    ),
    rule(r"^(?i:chapter)\s+(?i:the\s+)?(?i:last)(?P<t>T)$", Level::Chapter, Strength::Strong, Room::Before, true),
    rule(r"^(?:Ch|CH)(?:\.\s*|\s+)(?P<n>K)(?P<t>T)$", Level::Chapter, Strength::Strong, Room::Before, true),
    // A title in lower case looks like the start of a sentence; only the number distinguishes them.
    rule(
        r"^(?:CHAPTER|Chapter)\s+(?P<n>[0-9]{1,4})\s+(?P<t>[a-z][^.!?…]{1,60}[\p{L}0-9])$",
        Level::Chapter,
        Strength::Next,
        Room::Alone,
        true,
    ),
    // OCR errors; only the number distinguishes the heading from a word.
    rule(r"^[COG0]HAP[TI][EKFB][RKEB][.,]?\s+(?P<n>N)(?P<t>T)$", Level::Chapter, Strength::Next, Room::Before, true),
    // Letters that are not a valid numeral because of misprints.
    rule(r"^(?:CHAPTER|Chapter)\s+[IVXLCDM1l]{1,9}(?P<t>\.?)$", Level::Chapter, Strength::Strong, Room::Alone, true),
    rule(
        r"^(?:(?i:volume)\s+|(?i:vol)\.?\s*)(?:(?i:the)\s+)?(?P<n>N)(?P<t>T)$",
        Level::Volume,
        Strength::Strong,
        Room::Before,
        true,
    ),
    rule(
        r"^(?i:book|part|phase|period|decade|arc)\s+(?:(?i:the)\s+)?(?P<n>N)(?P<t>T)$",
        Level::Part,
        Strength::Strong,
        Room::Before,
        true,
    ),
    rule(r"^(?i:act)\s+(?:(?i:the)\s+)?(?P<n>N)(?P<t>T)$", Level::Act, Strength::Strong, Room::Before, true),
    rule(r"^(?i:scene)\s+(?:(?i:the)\s+)?(?P<n>N)(?P<t>T)$", Level::Scene, Strength::Strong, Room::Before, true),
    rule(r"^(?i:letter)\s+(?:(?i:the)\s+)?(?P<n>N)(?P<t>T)$", Level::Letter, Strength::Strong, Room::Before, true),
    rule(
        r"^(?i:the\s+)?(?P<n>(?i:W))\s+(?P<u>CHAPTER|Chapter|VOLUME|Volume|BOOK|Book|PART|Part|ACT|Act|SCENE|Scene|LETTER|Letter|PERIOD|Period|PHASE|Phase|NARRATIVE|Narrative|EPILOGUE|Epilogue)(?P<t>T)$",
        Level::Chapter,
        Strength::Strong,
        Room::Alone,
        true,
    ),
    rule(
        r"^(?:PROLOGUE|Prologue|PRELUDE|Prelude|INDUCTION)(?P<t>T)$",
        Level::Front,
        Strength::Strong,
        Room::Before,
        true,
    ),
    rule(r"^(?:EPILOGUE|Epilogue)(?P<t>T)$", Level::Back, Strength::Strong, Room::Before, true),
    rule(
        r"^(?:CONCLUSION|Conclusion|FINALE|Finale|CODA|Coda)(?P<t>T)$",
        Level::Back,
        Strength::Strong,
        Room::Alone,
        true,
    ),
    rule(
        r"^(?:(?:SIDE|Side)\s+(?:STORY|Story)|(?:BONUS|Bonus|EXTRA|Extra|SPECIAL|Special)\s+(?:CHAPTER|Chapter|STORY|Story))(?:\s+#?(?P<n>[0-9]{1,3}))?(?P<t>T)$",
        Level::Back,
        Strength::Strong,
        Room::Alone,
        true,
    ),
    rule(
        r"^(?:INTERLUDE|Interlude|INTERMEZZO)(?:\s+(?:[0-9]{1,3}|[IVXLC]{1,8}))?(?P<t>T)$",
        Level::Chapter,
        Strength::Strong,
        Room::Alone,
        true,
    ),
    rule(
        r"^(?:(?i:the )?(?:PREFACE|Preface|FOREWORD|Foreword)|INTRODUCTION|Introduction|INTRODUCTORY|DEDICATION|Dedication|TO THE READER|ACKNOWLEDGE?MENTS|Acknowledge?ments)(?P<t>T)$",
        Level::Front,
        Strength::Strong,
        Room::Alone,
        false,
    ),
    rule(
        r"^(?i:(?:the )?(?:author|editor|publisher|translator)(?:[’']?s|s[’'])? (?:preface|foreword|note|introduction|advertisement|apology)|(?:preface|foreword|introduction|note|advertisement) (?:to|by) the .*|(?:bibliographical|biographical|introductory|prefatory|explanatory) (?:note|sketch|remarks))\.?$",
        Level::Front,
        Strength::Strong,
        Room::Alone,
        false,
    ),
    rule(
        r"^(?:APPENDIX|Appendix|AFTERWORD|Afterword|GLOSSARY|Glossary|FOOTNOTES|Footnotes|ENDNOTES|Endnotes|NOTES|TRANSCRIBER[’']S NOTES?|Transcriber[’']s [Nn]otes?|ABOUT THE AUTHOR|About the [Aa]uthor)(?P<t>T)$",
        Level::Back,
        Strength::Strong,
        Room::Alone,
        false,
    ),
    rule(
        r"^(?:P\s*)?[【〔（(]?第\s*(?P<n>H)\s*(?P<u>[章回節节卷部折集幕場场篇])[】〕）)]?(?P<t>C)$",
        Level::Chapter,
        Strength::Strong,
        Room::Any,
        true,
    ),
    rule(
        r"^[「『《<＜]第\s*(?P<n>H)\s*(?P<u>[章回節节卷话話])(?:[」』》>＞](?P<t>C)|[ 　：:][^。，！？「」]{1,30}[》>＞])$",
        Level::Chapter,
        Strength::Strong,
        Room::Any,
        true,
    ),
    // Units that are also common words: the title must be separated.
    rule(
        r"^(?:P\s*)?[【〔（(]?第\s*(?P<n>H)\s*(?P<u>[话話出齣夜季辑輯编編册冊]|封信|部分)[】〕）)]?(?P<t>S)$",
        Level::Chapter,
        Strength::Strong,
        Room::Any,
        true,
    ),
    rule(r"^(?P<u>卷)[之第]?\s*(?P<n>H|[上中下])(?P<t>C)$", Level::Volume, Strength::Strong, Room::Before, true),
    rule(r"^(?P<n>[上中下])(?P<u>[部篇卷册冊])(?P<t>S)$", Level::Part, Strength::Strong, Room::Before, true),
    rule(
        r"^(?:楔\s*子|引\s*子|序\s*章|序\s*幕|开\s*篇|開\s*篇)(?P<t>C)$",
        Level::Front,
        Strength::Strong,
        Room::Any,
        true,
    ),
    rule(r"^引\s*首(?P<t>S)$", Level::Front, Strength::Strong, Room::Any, true),
    rule(
        r"^(?:尾\s*声|尾\s*聲|[最]?[終终尾]\s*章|余\s*音|[餘]\s*音|大结局|大結局)(?P<t>C)$",
        Level::Back,
        Strength::Strong,
        Room::Any,
        true,
    ),
    rule(
        r"^(?:幕\s*[间間]|[间間]\s*章|[断斷]\s*章)(?:之?[一二三四五六七八九十0-9０-９]{1,3})?(?P<t>S)$",
        Level::Chapter,
        Strength::Strong,
        Room::Any,
        true,
    ),
    rule(r"^(?:后日谈|後日談)(?P<t>S)$", Level::Back, Strength::Strong, Room::Any, true),
    rule(r"^(?:番外|外[传傳])(?:篇)?(?:之?(?P<n>H))?(?P<t>S)$", Level::Back, Strength::Strong, Room::Any, true),
    rule(
        r"^(?:(?:[自原代总總新]|初版|再版|重版|重印|新版|作者|[译譯]者|中文版|英文版)?[序敘叙][言文]?|前\s*言|引\s*言|[小弁例绪緒导導]\s*[引言]|[题題]\s*[记記]|[献獻]\s*[词詞]|凡\s*例|緣起|缘起|内容简介|內容簡介)[一二三]?$",
        Level::Front,
        Strength::Strong,
        Room::Any,
        false,
    ),
    rule(
        r"^(?:(?:[译譯编編]|再版|[编編]者)?(?:後\s*記|后\s*记)|跋[语語文]?|附\s*[录錄记記][一二三四五]?(?P<t>S)|作者[简簡]介|[完][本结結]感言)$",
        Level::Back,
        Strength::Strong,
        Room::Any,
        false,
    ),
    rule(r"^第(?P<n>H)\s+(?P<t>\S.{2,30})$", Level::Chapter, Strength::Next, Room::Any, true),
    // A title may start like a phrase about the chapter.
    rule(
        r"^第(?P<n>H)[章回](?P<t>[的中][^，。！？；：…“”「」]{1,11})$",
        Level::Chapter,
        Strength::Next,
        Room::Any,
        true,
    ),
    rule(
        r"^(?i:section|episode|adventure|day|night|no\.)\s+(?:(?i:the)\s+)?(?P<n>N)(?P<t>T)$",
        Level::Chapter,
        Strength::Sequence,
        Room::Alone,
        true,
    ),
    rule(
        r"^[\[(（【#§]?\s*(?P<n>[0-9０-９]{1,3}|[①-⑳Ⅰ-Ⅻ])(?P<t>)\s*[\])）】]?[.．、]?$",
        Level::Chapter,
        Strength::Sequence,
        Room::Alone,
        true,
    ),
    rule(r"^[\[(]?\s*(?P<n>[IVXLC]{1,8})(?P<t>)\s*[\])]?\.?$", Level::Chapter, Strength::Sequence, Room::Alone, true),
    rule(
        r"^(?P<n>[0-9]{1,3}|[IVXLC]{1,8})(?:\.|:|\)|\s*[—–]|\s+-)\s*(?P<t>[A-Z‘“].{1,60})$",
        Level::Chapter,
        Strength::Sequence,
        Room::Alone,
        true,
    ),
    rule(r"^(?P<n>[0-9]{1,3})\s+(?P<t>[A-Z‘“].{1,60})$", Level::Chapter, Strength::Sequence, Room::Alone, true),
    // Must be in capitals, so that a sentence about the speaker does not match.
    rule(r"^(?P<n>[IVXLC]{1,8})\s+(?P<t>[A-Z‘“][^a-z]{1,60})$", Level::Chapter, Strength::Sequence, Room::Alone, true),
    rule(r"^(?P<n>(?i:W))(?P<t>)\.?$", Level::Chapter, Strength::Sequence, Room::Alone, true),
    rule(
        r"^其?(?P<n>[一二三四五六七八九十百〇零壹贰貳叁參肆伍陆陸柒捌玖拾佰]{1,5})(?P<t>)[、.．]?$",
        Level::Chapter,
        Strength::Sequence,
        Room::Alone,
        true,
    ),
    rule(r"^[（(]?(?P<n>[上中下])(?P<t>)[）)]?$", Level::Chapter, Strength::Sequence, Room::Alone, true),
    rule(
        r"^[（(](?P<n>[一二三四五六七八九十百]{1,5})[）)](?P<t>|\s*[^，。！？；…“”「」\s][^，。！？；…“”「」]{0,24})$",
        Level::Chapter,
        Strength::Sequence,
        Room::Alone,
        true,
    ),
    rule(
        r"^(?P<n>[一二三四五六七八九十百]{1,5})[、.．　 ]\s*(?P<t>[^，。！？；…]{1,24})$",
        Level::Chapter,
        Strength::Sequence,
        Room::Alone,
        true,
    ),
    // The number after the title, as in 学而第一.
    rule(LAST, Level::Chapter, Strength::Sequence, Room::Alone, true),
    rule(
        r"^(?P<n>[0-9０-９]{1,4})(?:[、.．]\s*|\s+)(?P<t>\p{Han}[^，。！？；…]{0,24})$",
        Level::Chapter,
        Strength::Sequence,
        Room::Alone,
        true,
    ),
];

/// The rules with their placeholders expanded: W English number words, N an English number, K a number up to four
/// digits, T an English title, H a Chinese number, C a Chinese title, S a title separated from what is before it, P the
/// prefixes that web sites add.
static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let words = numerals::pattern();
    let long = |pattern: &str| {
        pattern
            .replace("(?i:W)", &format!("(?i:{words})"))
            .replace("<n>N)", &format!("<n>[0-9]{{1,3}}|(?i:[ivxlc]{{1,8}})|(?i:{words}))"))
            .replace("<n>K)", &format!("<n>[0-9]{{1,4}}|(?i:[ivxlc]{{1,8}})|(?i:{words}))"))
            .replace("<t>T)", r"<t>|\s*[.:—–]+|\s*[(\[][^()\[\]]{1,60}[)\]]|\s*(?:/|of)\s*[0-9]{1,3}\b.*|\s*(?:[.:—–]|--|-)+\s*\S.*|,\s*(?i:chapter|scene)\s.*|\s+(?i:and\s+last)\.?|\s+[A-Z‘“\p{Han}].*|\p{Han}.*)")
            .replace("<n>H|", r"<n>[零〇○一二三四五六七八九十百千两兩廿卅元万萬壹贰貳叁參肆伍陆陸柒捌玖拾佰仟0-9０-９]{1,9}|")
            .replace("<n>H)", r"<n>[零〇○一二三四五六七八九十百千两兩廿卅元万萬壹贰貳叁參肆伍陆陸柒捌玖拾佰仟0-9０-９]{1,9})")
            .replace("<t>S)", r"<t>|[\s　:：、.．·—-]+[^。]{1,40})")
            .replace(r"(?:P\s*)", r"(?:(?:正文卷?|章节目录|章節目錄|VIP章节|VIP卷)\s*)")
            .replace("<t>C)", r"<t>|[\s　:：、.．·—-]+[^。]*|[^\s，。！？；…“”「」的中][^，。！？；…“”「」]*)")
    };
    RULES
        .iter()
        .map(|rule| Regex::new(&long(rule.pattern)).expect("heading patterns are embedded and tested"))
        .collect()
});

/// A line that may be a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) level: Level,
    pub(crate) number: Option<u32>,
    /// Whether the line includes a title.
    pub(crate) titled: bool,
    pub(crate) strength: Strength,
    pub(crate) room: Room,
    pub(crate) story: bool,
    /// The index of the rule. The numbers of one sequence come from one rule.
    pub(crate) rule: usize,
    /// Whether it is a 节 (section), which opens a chapter only if nothing else does.
    pub(crate) section: bool,
}

/// Returns what a line may open, by the first rule that matches. Scene headings of scripts are not handled here.
pub(crate) fn candidate(line: &str) -> Option<Candidate> {
    let line = unbracketed(bare(line));
    // A cheap check first: headings are short and start with few characters.
    let first = line.chars().next()?;
    if line.len() > 400 || !(may_begin(first) || numbered_last(line)) {
        return None;
    }
    if first.is_ascii_alphabetic() && !may_open(line) {
        return None;
    }
    let loud = || is_loud(line);
    if line.chars().count() > 80 && !loud() {
        return None;
    }
    if line.ends_with([',', ';', '，', '；', '—']) && !loud() {
        return None;
    }
    let spaced = spaced(line);
    let candidate = by_rule(spaced.as_deref().unwrap_or(line))?;
    // A title may end in an ellipsis like a sentence if it is separated from a number with a unit word.
    let apart = || {
        candidate.strength == Strength::Strong && candidate.number.is_some() && line.contains([' ', '　', '：', ':'])
    };
    (!line.ends_with('…') || apart() || loud()).then_some(candidate)
}

fn by_rule(line: &str) -> Option<Candidate> {
    RULES.iter().zip(COMPILED.iter()).enumerate().find_map(|(at, (rule, pattern))| {
        let found = pattern.captures(line)?;
        let text = |name| found.name(name).map_or("", |found| found.as_str());
        let number = match text("n") {
            "" => None,
            "上" => Some(1),
            "中" => Some(2),
            "下" => Some(3),
            // An invalid number, as in "Part of it", is not a heading.
            n => Some(numerals::number(n)?),
        };
        let unit = text("u").to_lowercase();
        let title = text("t");
        let titled = title.chars().any(char::is_alphanumeric);
        if matches!(unit.as_str(), "节" | "節" | "部" | "集" | "篇") && title.chars().count() > 20 {
            return None;
        }
        let level = match unit.as_str() {
            "" | "章" | "回" | "节" | "節" | "话" | "話" | "夜" | "chapter" => rule.level,
            "卷" | "册" | "冊" | "volume" => Level::Volume,
            "折" | "幕" | "出" | "齣" | "act" => Level::Act,
            "场" | "場" | "scene" => Level::Scene,
            "封信" | "letter" => Level::Letter,
            _ => Level::Part,
        };
        // The day of a date.
        if rule.strength == Strength::Sequence && titled && (title_patterns::DATES.fits)(line) {
            return None;
        }
        // A part and its chapter on one line: the line opens the chapter.
        if matches!(level, Level::Volume | Level::Part | Level::Act)
            && let Some(inner) = inner(title)
        {
            return Some(Candidate { titled: true, rule: at, ..inner });
        }
        let (strength, room, story) = (rule.strength, rule.room, rule.story);
        let section = matches!(unit.as_str(), "节" | "節");
        Some(Candidate { level, number, titled, strength, room, story, rule: at, section })
    })
}

/// Returns the chapter or scene named in a part's title, as in `第一卷 春 第二章 听雨` or `ACT I. SCENE II.`
fn inner(title: &str) -> Option<Candidate> {
    let upper = title.to_ascii_uppercase();
    let starts = [upper.find("CHAP"), upper.find("SCENE"), title.rfind('第').filter(|at| *at > 0)];
    let start = starts.into_iter().flatten().next()?;
    let apart = title[..start].ends_with(|c: char| !c.is_alphanumeric());
    by_rule(&title[start..])
        .filter(|inner| apart && inner.number.is_some() && matches!(inner.level, Level::Chapter | Level::Scene))
}

/// Strips ornaments from a heading: emphasis marks and rules on both sides.
pub(crate) fn bare(line: &str) -> &str {
    let line = line.trim();
    // Ornaments that web sites print before a title, and transcriber notes about its size.
    let line = line.trim_start_matches(['☆', '★', '◆', '◇', '●', '■', '□', '▲', '※']).trim_start_matches(['、', ' ']);
    let line = without_notes(line);
    let marks = |c: char| matches!(c, '_' | '*' | '=' | '~' | '-' | '—' | '–' | '·' | ' ' | '\u{3000}');
    let inside = line.trim_matches(marks);
    let both = line.starts_with(marks) && line.ends_with(marks);
    if both && !inside.is_empty() { inside } else { line }
}

/// Strips the brackets around a whole English heading, as in `[Chapter 1]`.
fn unbracketed(line: &str) -> &str {
    let inside = |open, close| line.strip_prefix(open)?.strip_suffix(close);
    let inside = inside('[', ']').or_else(|| inside('<', '>')).map(str::trim);
    inside
        .filter(|inside| inside.starts_with(|c: char| c.is_ascii_alphabetic()) && !inside.contains(['[', '<']))
        .unwrap_or(line)
}

/// Strips Aozora-style transcriber notes around a heading, as in `［＃大見出し］第一章`.
fn without_notes(line: &str) -> &str {
    let mut line = line;
    while let Some(end) = line.strip_prefix("［＃").and_then(|rest| rest.find('］')) {
        line = line["［＃".len() + end + '］'.len_utf8()..].trim_start();
    }
    while line.ends_with('］')
        && let Some(start) = line.rfind("［＃")
    {
        line = line[..start].trim_end();
    }
    line
}

/// Whether all letters of a line are capitals.
pub(crate) fn is_loud(line: &str) -> bool {
    let mut letters = line.chars().filter(|c| c.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(char::is_uppercase)
}

/// Joins spaced-out letters, as in `C H A P T E R  I`. Wider gaps separate words.
fn spaced(line: &str) -> Option<String> {
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    let single = |word: &str| word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    if !(words.by_ref().take(4).filter(|word| single(word)).count() == 4 && line.is_ascii()) {
        return None;
    }
    let closed = line.split("  ").map(|word| word.split(' ').collect::<String>());
    Some(closed.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Words that an English heading can start with, in lower case, apart from number words.
const OPENERS: &[&str] = &[
    "chapter",
    "chap",
    "ch",
    "stave",
    "canto",
    "volume",
    "vol",
    "book",
    "part",
    "phase",
    "period",
    "decade",
    "arc",
    "act",
    "scene",
    "letter",
    "the",
    "prologue",
    "prelude",
    "induction",
    "epilogue",
    "conclusion",
    "finale",
    "coda",
    "interlude",
    "intermezzo",
    "preface",
    "foreword",
    "introduction",
    "introductory",
    "prefatory",
    "explanatory",
    "biographical",
    "bibliographical",
    "advertisement",
    "note",
    "author",
    "authors",
    "editor",
    "editors",
    "publisher",
    "publishers",
    "translator",
    "translators",
    "dedication",
    "to",
    "acknowledgements",
    "acknowledgments",
    "appendix",
    "afterword",
    "glossary",
    "footnotes",
    "endnotes",
    "notes",
    "transcriber",
    "about",
    "section",
    "side",
    "bonus",
    "extra",
    "special",
    "vip",
    "episode",
    "adventure",
    "day",
    "night",
    "no",
];

/// Whether the first word allows an English line to be a heading: one of [`OPENERS`] or a number. Saves running the
/// patterns on most lines.
fn may_open(line: &str) -> bool {
    let end = line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len());
    let word = &line[..end];
    word.len() <= 16
        && (word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X' | b'L' | b'C'))
            || word.len() == 1
            || OPENERS.iter().any(|opener| opener.eq_ignore_ascii_case(word))
            || numerals::words(word).is_some()
            || is_glued(word))
}

/// Whether a word is `chapter` joined with its number, or an OCR error for it.
fn is_glued(word: &str) -> bool {
    word.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("chapter"))
        || (word.len() == 7 && word.get(1..4) == Some("HAP"))
}

/// Whether a line ends like a heading with its number after its title.
fn numbered_last(line: &str) -> bool {
    line.len() <= 60
        && line.ends_with(['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百'])
        && line.contains('第')
        && line.starts_with(is_han)
}

/// Whether any heading can start with this character.
fn may_begin(c: char) -> bool {
    c.is_ascii_digit()
        || c.is_ascii_uppercase()
        || matches!(c, 'a'..='f' | 'l' | 'n' | 'o' | 'p' | 's' | 't' | 'v')
        || ('０'..='９').contains(&c)
        || "「『《<＜#§①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ壹贰貳叁參肆伍陆陸柒捌玖拾第其幕间間断斷外卷楔引序章VＶ余餘最终敘叙开開尾終终大自原代总總新初再重译譯编編英小弁例绪緒导導题題献獻前凡緣缘後后跋附作内內完正番上中下【〔（([一二三四五六七八九十百〇零"
            .contains(c)
}

/// Whether a line is a heading by itself, without context.
pub(crate) fn is_heading(line: &str) -> bool {
    candidate(line).is_some_and(|candidate| candidate.strength == Strength::Strong)
}

/// Whether a heading opens text outside the story, such as a preface.
pub(crate) fn opens_matter(title: &str) -> bool {
    candidate(title).is_some_and(|candidate| !candidate.story)
}

/// Whether a line is a scene heading of a screenplay, as Fountain defines it.
pub(crate) fn is_slugline(line: &str) -> bool {
    let upper: String = line.trim().chars().take(9).collect::<String>().to_uppercase();
    let forced = line.starts_with('.') && line[1..].starts_with(|c: char| c.is_alphanumeric());
    forced
        || ["INT.", "EXT.", "EST.", "INT ", "EXT ", "INT/EXT", "I/E.", "I/E "]
            .iter()
            .any(|sign| upper.starts_with(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_headings_of_both_languages() {
        for (line, expected) in [
            ("CHAPTER I.", Some((Level::Chapter, Some(1), false))),
            ("Chapter 12", Some((Level::Chapter, Some(12), false))),
            ("Chapter Twenty-One: The Weir", Some((Level::Chapter, Some(21), true))),
            ("BOOK THE FIRST", Some((Level::Part, Some(1), false))),
            ("PART ONE--The Old Mill", Some((Level::Part, Some(1), true))),
            ("VOLUME II", Some((Level::Volume, Some(2), false))),
            ("ACT III. A street.", Some((Level::Act, Some(3), true))),
            ("Scene 2", Some((Level::Scene, Some(2), false))),
            ("LETTER IV. To Mrs. Grey", Some((Level::Letter, Some(4), true))),
            ("PROLOGUE", Some((Level::Front, None, false))),
            ("Preface", Some((Level::Front, None, false))),
            ("第一回　看河灯", Some((Level::Chapter, Some(1), true))),
            ("第12章 归来", Some((Level::Chapter, Some(12), true))),
            ("第十章归来", Some((Level::Chapter, Some(10), true))),
            ("第三卷", Some((Level::Volume, Some(3), false))),
            ("第二折", Some((Level::Act, Some(2), false))),
            ("卷五　狐", Some((Level::Volume, Some(5), true))),
            ("楔子", Some((Level::Front, None, false))),
            ("尾声", Some((Level::Back, None, false))),
            ("XIV", Some((Level::Chapter, Some(14), false))),
            ("II. THE OPEN SLUICE", Some((Level::Chapter, Some(2), true))),
            ("Part of it was lost", None),
            ("Chapter 1024: The Weir", Some((Level::Chapter, Some(1024), true))),
            ("Chapter 3 (Part 2)", Some((Level::Chapter, Some(3), true))),
            ("Chapter 3 the sun comes out", Some((Level::Chapter, Some(3), true))),
            ("Chapter 3: Gone…", Some((Level::Chapter, Some(3), true))),
            ("[Chapter 3]", Some((Level::Chapter, Some(3), false))),
            ("Arc 2: Rain", Some((Level::Part, Some(2), true))),
            ("Side Story 1: Mud", Some((Level::Back, Some(1), true))),
            ("3) The Road", Some((Level::Chapter, Some(3), true))),
            ("第三章：过河……", Some((Level::Chapter, Some(3), true))),
            ("第壹拾貳章 过河", Some((Level::Chapter, Some(12), true))),
            ("VIP卷 第一百章 看灯", Some((Level::Chapter, Some(100), true))),
            ("叁", Some((Level::Chapter, Some(3), false))),
            ("③", Some((Level::Chapter, Some(3), false))),
            ("Ⅳ", Some((Level::Chapter, Some(4), false))),
            ("第三章远行……", None),
            ("Chapter 3 the sun comes out.", None),
            ("Chapter 3 (which nobody had read) was lost.", None),
            ("Side by side", None),
            ("Chapter and verse", None),
            ("Act one way and think another, she said, and be", None),
            ("Part two lives here and the rest", None),
            ("第一次见到他的时候，天正下雨。", None),
            ("第四回中既将诸事表明，此回则暂不写。", None),
            ("第三部队到了。", None),
            ("A man of letters", None),
            ("序曲响起，众人坐定。", None),
        ] {
            let found = candidate(line).map(|found| (found.level, found.number, found.titled));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn sluglines_are_told_from_prose() {
        for (line, expected) in [
            ("INT. SHED - NIGHT", true),
            ("Ext. A quay", true),
            (".FLASHBACK", true),
            ("...and then", false),
            ("INTO THE SHED", false),
            ("内景", false),
        ] {
            assert_eq!(is_slugline(line), expected, "{line}");
        }
    }
}
