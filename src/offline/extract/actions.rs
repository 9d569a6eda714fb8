//! Actions, thoughts and events around the dialogue, in the words of the book. Whatever fits no utterance is omitted.

use std::sync::LazyLock;

use regex::Regex;

use crate::schema::{ByLanguage, Language};
use crate::stages::extract::FindScenes;
use crate::stages::extract::asks::{CastHint, SentenceHint};
use crate::stages::extract::lexicon::{Patterns, WordLists};

struct Rules {
    /// Text before a quotation that is only thought.
    thinks_before: Regex,
    /// Text after one.
    thinks_after: Regex,
    /// Phrases that are not an action: states, thoughts, speech, leaving.
    no_action: Regex,
}

static RULES: LazyLock<ByLanguage<Rules>> = LazyLock::new(|| {
    let lists = WordLists::parse(include_str!("actions.toml"));
    let pattern = |lists: &WordLists, pattern: &str| {
        Regex::new(&lists.fill(pattern)).expect("the pattern is built in and tested")
    };
    let english = |words: &str| pattern(&lists.en, words);
    let chinese = |words: &str| pattern(&lists.zh, words);
    ByLanguage {
        en: Rules {
            thinks_before: english(
                r"(?:\b(?:thought|wondered|reflected|mused)(?: to (?:himself|herself|myself))?|\bsaid (?:\w+ )?to (?:himself|herself|myself)|\bsaid within (?:himself|herself)),?:?\s*[“‘\x22]?$",
            ),
            thinks_after: english(
                r"^[,.!?—-]*[”’\x22]?\s*(?:(?:thought|mused|reflected|wondered) (?:(?:the|poor|old|little|Mr\.|Mrs\.|Miss) )*\w+|\w+ (?:thought|mused|reflected|wondered)|(?:said|thought) (?:\w+ ){1,3}to (?:himself|herself|myself))\b",
            ),
            no_action: english(r"^(?:\w+ly |never |always |had |then |now |still )*(?:<no_action>)\b"),
        },
        zh: Rules {
            thinks_before: chinese(
                "(?:心[里裡中内內下]?[^，。：]{0,3}[想思忖]|暗[^，。：]{0,2}[想思忖]|[自寻尋][思忖]|忖|[肚腹]里[^，。：]{0,3}想|心里道|心中道|[^一]想)(?:道)?[：:，]?[“「『‘]?$",
            ),
            thinks_after: chinese("^[”」』]?[^。！？，]{0,6}(?:心想|心里想|心裡想|暗想|寻思|尋思|忖道)"),
            no_action: chinese(
                "^(?:打算|盘算|盤算|料[定想]|明白|一[齐齊]|[想要愿願肯决決]|一宿|次日|次早|当下|當下|一[时時]|[那这這此不众眾二各]|大家|[^，。]{0,2}(?:<no_action>)|[^，。]*睡[下了]|[之的等])",
            ),
        },
    }
});

/// Whether a quotation is thought rather than spoken, judged by the text before and after it.
pub(super) fn is_thought(language: Language, before: &str, after: &str) -> bool {
    let rules = RULES.get(language);
    rules.thinks_before.is_match(before) || rules.thinks_after.is_match(after)
}

/// Returns the speaker's action in a sentence next to an utterance, as a phrase without a subject.
pub(super) fn action_phrase(ask: &FindScenes, hint: &SentenceHint, speaker: &str) -> Option<String> {
    let most = if ask.language == Language::Zh { 26 } else { 90 };
    if hint.subject.as_deref() != Some(speaker) || hint.first_person || hint.text.chars().count() > most + 12 {
        return None;
    }
    let head = hint.text.strip_suffix(hint.after.as_str())?;
    let head = head.strip_prefix("The ").unwrap_or(head);
    let member = ask.cast.iter().find(|member| member.name == speaker)?;
    let own = std::iter::once(&member.name).chain(&member.aliases);
    // Only a sentence that begins with the name is an action of that person from the first word on.
    if !own.into_iter().any(|name| name.strip_prefix("the ").unwrap_or(name).eq_ignore_ascii_case(head)) {
        return None;
    }
    // `Anna’s hat` is not an action of Anna.
    if hint.after.starts_with(['’', '\'']) {
        return None;
    }
    phrase(ask, &hint.after, speaker, most)
}

/// Cleans a phrase for an action; `None` if it is not one.
pub(super) fn phrase(ask: &FindScenes, phrase: &str, speaker: &str, most: usize) -> Option<String> {
    let marks = |c: char| c.is_whitespace() || "()（）[]，,。．.;；:：—-".contains(c);
    let mut phrase = phrase.trim_matches(marks);
    // The utterance already names the speaker.
    for own in ask
        .cast
        .iter()
        .filter(|member| member.name == speaker)
        .flat_map(|member| member.aliases.iter().chain([&member.name]))
    {
        if let Some(at) = phrase.find(own.as_str()).filter(|at| ask.language == Language::Zh && *at <= 12) {
            phrase = phrase[at + own.len()..].trim_matches(marks);
        } else if let Some(at) = phrase.find(&format!("，{own}")) {
            phrase = phrase[..at].trim_matches(marks);
        }
    }
    // Cut what another person does from there on.
    for other in others(ask, speaker) {
        for tie in [", and ", "; and ", ", while ", ", as ", "，", "；"] {
            if let Some(at) = phrase.find(&format!("{tie}{other}")) {
                phrase = phrase[..at].trim_matches(marks);
            }
        }
    }
    if ask.language == Language::Zh {
        // Keep only the first of a chain of actions, and cut what the speaker sees others do.
        phrase = phrase.split(['；', '。']).next().unwrap_or(phrase);
        phrase = ["，只见", "，只見", "，忽见", "，忽見", "，见", "，見"]
            .iter()
            .fold(phrase, |phrase, sees| phrase.split(sees).next().unwrap_or(phrase));
        // These connectives have nothing to connect to at the start of an action.
        phrase =
            phrase.trim_matches(marks).trim_start_matches(['却', '卻', '便', '又', '也', '亦', '即', '遂', '就', '早']);
    }
    let rules = RULES.get(ask.language);
    let begins = match ask.language {
        Language::En => phrase.starts_with(char::is_lowercase),
        Language::Zh => !phrase.starts_with(['说', '說', '听', '聽', '话', '話']),
    };
    let length = phrase.chars().count();
    let clean =
        !phrase.contains(['“', '”', '"', '「', '」', '\n', '(', ')', '（', '）', '?', '？', '!', '！', ':', '：']);
    let is_phrase = begins && clean && (2..=most).contains(&length) && !rules.no_action.is_match(phrase);
    let is_third_person = !Patterns::of(ask.language).is_first_person(phrase);
    let words = ask.language == Language::Zh || phrase.split_whitespace().count() >= 2;
    (is_phrase && is_third_person && words).then(|| phrase.to_owned())
}

fn others<'a>(ask: &'a FindScenes, speaker: &'a str) -> impl Iterator<Item = &'a str> {
    let own = move |member: &&CastHint| member.name != speaker;
    ask.cast.iter().filter(own).flat_map(|member| member.aliases.iter().chain([&member.name])).map(String::as_str)
}

/// Returns the event in a sentence without an agent, as an environment utterance.
pub(super) fn event(language: Language, hint: &SentenceHint) -> Option<String> {
    let (least, most) = if language == Language::Zh { (5, 50) } else { (18, 150) };
    let length = hint.text.chars().count();
    let words = Patterns::of(language);
    let fits = hint.people.is_empty()
        && hint.is_standalone
        && !hint.first_person
        && (least..=most).contains(&length)
        && words.happens(&hint.text)
        && !words.is_remark(&hint.text);
    fits.then(|| hint.text.trim_end_matches(['.', '。', '．']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_differ_from_speech_by_their_reporting_clause() {
        for (language, before, after, expected) in [
            (Language::En, "Then Anna thought to herself, “", "”\n", true),
            (Language::En, "“", ",” thought the old miller, and rose", true),
            (Language::En, "“", ",” said Boris to himself.", true),
            (Language::En, "“", ",” said Boris, who thought so.", false),
            (Language::En, "Anna was thoughtful. “", "”", false),
            (Language::Zh, "陆平心中暗想道：“", "”", true),
            (Language::Zh, "陸平尋思：「", "」", true),
            (Language::Zh, "“", "”周老七心想。", true),
            (Language::Zh, "陆平想了想，说道：“", "”", false),
        ] {
            assert_eq!(is_thought(language, before, after), expected, "{before}{after}");
        }
    }
}
