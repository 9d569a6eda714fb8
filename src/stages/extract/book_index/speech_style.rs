//! Describes how each person speaks, from counts up to a point of the story compared with all other people's. Does not
//! consider meaning.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::names::Names;
use crate::attribution::Attribution;
use crate::schema::{ByLanguage, Language};
use crate::stages::extract::lexicon::{Script, english, list, quoted};
use crate::text::{is_han, is_title};

static WORDS: LazyLock<ByLanguage<VoiceWords>> = LazyLock::new(|| embedded_toml!("speech_style.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VoiceWords {
    /// Words that characterize a voice. Each entry lists forms of one word; the first one is displayed, in traditional
    /// Chinese the last one.
    marks: Vec<Vec<String>>,
}

struct Marks {
    pattern: Regex,
    bits: BTreeMap<String, u32>,
}

fn marks(language: Language) -> Marks {
    let mut bits = BTreeMap::new();
    for (bit, forms) in (0..).zip(&WORDS.get(language).marks) {
        bits.extend(forms.iter().map(|form| (form.to_lowercase(), bit)));
    }
    let mut forms: Vec<&String> = bits.keys().collect();
    forms.sort_by_key(|form| (std::cmp::Reverse(form.len()), *form));
    let forms = forms.into_iter().map(|form| regex::escape(form)).collect::<Vec<_>>().join("|");
    let pattern =
        if language == Language::En { format!(r"(?i)(?:\b|^)(?:{forms})\b|[’'](?:em|tis)\b") } else { forms };
    Marks { pattern: english(&pattern), bits }
}

static ENGLISH: LazyLock<Marks> = LazyLock::new(|| marks(Language::En));
static CHINESE: LazyLock<Marks> = LazyLock::new(|| marks(Language::Zh));

/// Counts of one quotation and cumulative counts up to it, per person or overall.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    end: u32,
    /// Totals including this quotation.
    words: u64,
    asks: u32,
    cries: u32,
    /// This quotation only.
    marks: u64,
    opening: u32,
}

/// The speech styles of a book's people.
#[derive(Debug, Default)]
pub(crate) struct SpeechStyles {
    all: Vec<Point>,
    own: Vec<Vec<Point>>,
    /// Openings with the number of quotations that have each; index 0 means none.
    openings: Vec<(String, u32)>,
    /// The number of quotations with each mark.
    marked: Vec<u32>,
}

/// The number of most recent quotations that are searched for favourite words.
const WINDOW: usize = 150;

impl SpeechStyles {
    pub(crate) fn new(attribution: &Attribution, language: Language, names: &Names) -> Self {
        let marks = if language == Language::En { &*ENGLISH } else { &*CHINESE };
        let mut speech_styles = Self {
            own: vec![Vec::new(); attribution.people.len()],
            openings: vec![(String::new(), 0)],
            marked: vec![0; 64],
            ..Self::default()
        };
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        for quotation in &attribution.quotations {
            let Some(person) = quotation.speaker else { continue };
            let mut point = Point { end: quotation.end, ..Point::default() };
            for found in marks.pattern.find_iter(&quotation.text) {
                let form = found.as_str().to_lowercase();
                point.marks |= marks.bits.get(&form).map_or(0, |bit| 1 << *bit);
            }
            for (bit, count) in speech_styles.marked.iter_mut().enumerate() {
                *count += u32::from(point.marks >> bit & 1 == 1);
            }
            // A name at the beginning addresses the listener and is not a habit.
            let opening = opening(&quotation.text, language)
                .filter(|opening| names.owner(opening).is_none() && !is_title(opening));
            if let Some(opening) = opening {
                let next = u32::try_from(speech_styles.openings.len()).unwrap_or(u32::MAX);
                point.opening = *known.entry(opening.to_lowercase()).or_insert(next);
                if point.opening == next {
                    speech_styles.openings.push((opening.to_owned(), 0));
                }
                speech_styles.openings[point.opening as usize].1 += 1;
            }
            let words = length(&quotation.text, language) as u64;
            let asks = u32::from(quotation.text.contains(['?', '？']));
            let cries = u32::from(quotation.text.contains(['!', '！']));
            for track in [&mut speech_styles.all, &mut speech_styles.own[person]] {
                let last = track.last().copied().unwrap_or_default();
                let totals = (last.words + words, last.asks + asks, last.cries + cries);
                track.push(Point { words: totals.0, asks: totals.1, cries: totals.2, ..point });
            }
        }
        speech_styles
    }

    /// Returns a description of how a person has spoken up to an offset, or `None` with too little data.
    pub(crate) fn of(&self, person: usize, until: u32, script: Script) -> Option<String> {
        let track = |track: &[Point]| track.partition_point(|point| point.end <= until);
        let own = &self.own[person][..track(&self.own[person])];
        let all = &self.all[..track(&self.all)];
        let (last, total) = (own.last()?, all.last()?);
        if own.len() < 4 || all.len() < own.len() + 4 {
            return None;
        }
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let (lines, others) = (count(own.len()), count(all.len() - own.len()));
        let measure = Measure {
            mean: (last.words + lines / 2) / lines,
            rest: (total.words - last.words + others / 2) / others,
            asks: (share(last.asks.into(), lines), share((total.asks - last.asks).into(), others)),
            cries: (share(last.cries.into(), lines), share((total.cries - last.cries).into(), others)),
            openings: self.openings(own),
            marks: self.marks(own, script),
        };
        Some(measure.phrase(script))
    }

    /// Returns characteristic openings: used three times or more, and at most as often by all others together.
    fn openings(&self, own: &[Point]) -> Vec<String> {
        let window = &own[own.len().saturating_sub(WINDOW)..];
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for point in window.iter().filter(|point| point.opening > 0) {
            *counts.entry(point.opening).or_default() += 1;
        }
        let mut own: Vec<(u32, u32)> = counts
            .into_iter()
            .filter(|(id, times)| *times >= 3 && self.openings[*id as usize].1 <= times * 2)
            .map(|(id, times)| (times, id))
            .collect();
        own.sort_by_key(|(times, id)| (std::cmp::Reverse(*times), *id));
        own.into_iter().take(2).map(|(_, id)| quoted(&self.openings[id as usize].0)).collect()
    }

    /// Returns characteristic marks: at least twice as frequent as in the whole book.
    fn marks(&self, own: &[Point], script: Script) -> Vec<String> {
        let window = &own[own.len().saturating_sub(WINDOW)..];
        let table = &WORDS.get(script.language()).marks;
        let all = self.all.len().max(1);
        let mut found: Vec<(usize, usize)> = Vec::new();
        for bit in 0..table.len() {
            let times = window.iter().filter(|point| point.marks >> bit & 1 == 1).count();
            // Per thousand quotations, here and in the whole book.
            let (here, everywhere) = (times * 1000 / window.len(), self.marked[bit] as usize * 1000 / all);
            if times >= 3 && here >= 80 && here >= everywhere * 2 {
                found.push((here * 100 / everywhere.max(1), bit));
            }
        }
        found.sort_by_key(|(ratio, bit)| (std::cmp::Reverse(*ratio), *bit));
        let form =
            |bit: usize| if script == Script::Traditional { &table[bit][table[bit].len() - 1] } else { &table[bit][0] };
        found.into_iter().take(3).map(|(_, bit)| quoted(form(bit))).collect()
    }
}

/// Returns the ratio in tenths, rounded.
fn share(part: u64, total: u64) -> u64 {
    (part * 10 + total / 2) / total.max(1)
}

struct Measure {
    mean: u64,
    rest: u64,
    /// The person's own value and the others'.
    asks: (u64, u64),
    cries: (u64, u64),
    openings: Vec<String>,
    marks: Vec<String>,
}

impl Measure {
    fn phrase(&self, script: Script) -> String {
        let marks: Vec<String> = self.marks.iter().filter(|mark| !self.openings.contains(mark)).cloned().collect();
        let asks = stands_out(self.asks);
        let cries = stands_out(self.cries);
        let brief = self.mean * 4 <= self.rest * 3;
        let long = self.mean * 3 >= self.rest * 4;
        let mut parts: Vec<String> = Vec::new();
        if script.language() == Language::En {
            let manner = if brief {
                "Speaks briefly, "
            } else if long {
                "Speaks at length, "
            } else {
                "Speaks "
            };
            let others = if brief || long { format!(" (others about {})", self.rest) } else { String::new() };
            parts.push(format!("{manner}about {} words at a time{others}", self.mean));
            match asks {
                Some(true) => parts.push(format!("asks something in {} lines of 10", self.asks.0)),
                Some(false) => parts.push("seldom asks anything".to_owned()),
                None => {}
            }
            match cries {
                Some(true) => parts.push(format!("exclaims in {} lines of 10", self.cries.0)),
                Some(false) => parts.push("seldom raises the voice".to_owned()),
                None => {}
            }
            if !self.openings.is_empty() {
                parts.push(format!("likes to begin with {}", list(&self.openings, Language::En)));
            }
            if !marks.is_empty() {
                parts.push(format!("often says {}", list(&marks, Language::En)));
            }
            return format!("{}.", parts.join("; "));
        }
        let manner = if brief {
            "话说得短，"
        } else if long {
            "话说得长，"
        } else {
            ""
        };
        let others = if brief || long { format!("（旁人约{}字）", self.rest) } else { String::new() };
        parts.push(script.write(&format!("{manner}每次约说{}字{others}", self.mean)));
        match asks {
            Some(true) => parts.push(script.write(&format!("十句里约{}句带问", self.asks.0))),
            Some(false) => parts.push(script.write("很少发问")),
            None => {}
        }
        match cries {
            Some(true) => parts.push(script.write(&format!("十句里约{}句带感叹", self.cries.0))),
            Some(false) => parts.push(script.write("语气平和")),
            None => {}
        }
        if !self.openings.is_empty() {
            parts.push(format!("{}{}", script.write("开口爱说"), self.openings.join("")));
        }
        if !marks.is_empty() {
            parts.push(format!("{}{}", script.write("口头常带"), marks.join("")));
        }
        format!("{}。", parts.join("；"))
    }
}

/// Returns `Some(true)` for a share clearly above the others', `Some(false)` for one clearly below.
fn stands_out((own, others): (u64, u64)) -> Option<bool> {
    if own >= 3 && own * 2 >= others * 3 {
        Some(true)
    } else if others >= 3 && own * 3 <= others {
        Some(false)
    } else {
        None
    }
}

fn length(text: &str, language: Language) -> usize {
    match language {
        Language::En => text.split_whitespace().count(),
        Language::Zh => text.chars().filter(|c| is_han(*c)).count(),
    }
}

/// Returns the first clause of a quotation, if it is short.
fn opening(line: &str, language: Language) -> Option<&str> {
    let clause = line
        .split([
            ',', '.', '!', '?', ';', ':', '—', '-', '，', '。', '！', '？', '；', '：', '、', '…', '．', '“', '‘', '(',
        ])
        .next()
        .unwrap_or("")
        .trim();
    let fits = match language {
        Language::En => (1..=4).contains(&clause.split_whitespace().count()) && clause.len() > 2,
        Language::Zh => (2..=6).contains(&clause.chars().count()),
    };
    fits.then_some(clause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::extract::fixtures::{EN_PEOPLE, ZH_PEOPLE, attribution};

    fn manner(language: Language, text: &str, until: u32) -> Option<String> {
        let people = if language == Language::En { EN_PEOPLE } else { ZH_PEOPLE };
        let speakers = [0, 1].repeat(text.lines().count());
        let attribution = attribution(text, people, &speakers);
        let names = Names::new(&attribution.people);
        SpeechStyles::new(&attribution, language, &names).of(0, until, Script::of(language, text))
    }

    #[test]
    fn speech_style_is_measured_against_other_characters() {
        let text = "“Now look, who?”\n“I have walked all day along the river to see you here.”\n".repeat(6);
        assert_eq!(
            manner(Language::En, &text, u32::MAX).as_deref(),
            Some(
                "Speaks briefly, about 3 words at a time (others about 12); asks something in 10 lines of 10; likes to begin with “Now look”."
            )
        );
        let text = "“好说，何人？”\n“我沿着河走了一整天，才走到你这里来。”\n".repeat(6);
        assert_eq!(
            manner(Language::Zh, &text, u32::MAX).as_deref(),
            Some("话说得短，每次约说4字（旁人约16字）；十句里约10句带问；开口爱说“好说”。")
        );
    }

    #[test]
    fn characteristic_words_are_rarer_in_other_speech() {
        let line = |at: u32| {
            [format!("“It is half past {at} o’clock, sir.”\n"), format!("“It is only {at} when the bell has rung.”\n")]
        };
        let text = (0..6).flat_map(line).collect::<String>();
        assert_eq!(
            manner(Language::En, &text, u32::MAX).as_deref(),
            Some("Speaks about 7 words at a time; often says “sir”.")
        );
        let text = "“這時天晚了，小人要回家去。”\n“再坐一坐，喝一杯茶罷。”\n".repeat(6);
        assert_eq!(
            manner(Language::Zh, &text, u32::MAX).as_deref(),
            Some("每次約說11字；開口愛說“這時天晚了”；口頭常帶“小人”。")
        );
    }

    #[test]
    fn later_speech_is_not_measured() {
        let text = "“Yes, yes.”\n“So it is.”\n".repeat(5) + &"“What now? Who? Where?”\n“So it is.”\n".repeat(20);
        let early = manner(Language::En, &text, 120).expect("the person has four quotations by then");
        assert!(!early.contains("asks"), "{early}");
        assert!(manner(Language::En, &text, u32::MAX).expect("the person speaks").contains("asks"));
        assert_eq!(manner(Language::En, &text, 30), None);
    }
}
