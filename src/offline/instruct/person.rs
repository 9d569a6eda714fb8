//! Converts descriptions by rule from one grammatical person to another: names to "the character", third person to
//! second, second to first. It errs if a pronoun refers to someone else; a served model does better.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::schema::Language;

/// Replaces the name.
const THE_CHARACTER: &str = "the character";
/// The Chinese equivalent of [`THE_CHARACTER`].
const THE_CHARACTER_ZH: &str = "这个人物";

static SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?i:the character|he|she)\b(?:\s+(?P<verb>[a-z]+))?").expect("the pattern is built in and tested")
});
static HER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?P<her>[Hh]er)\b(?P<next>\s+[a-z]+)?").expect("the pattern is built in and tested")
});
/// A further verb of the same subject: `keeps bees, sells the honey and is late`.
static FURTHER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?P<before>(?:,|\band|\bor|\bbut|, and)\s+)(?:(?P<aux>is|has|was)\b|(?P<verb>[a-z]+[a-rt-z]s)(?P<after>\s+(?:the|an?|his|her|your|each|every|nobody|everybody|everything|nothing|anyone|them|it|him|what|back|again|first|[a-z]+ly|light|braver|generally)\b))",
    )
    .expect("the pattern is built in and tested")
});
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?i:the character['’]s|himself|herself|hers|his|him)(?:\b|$)")
        .expect("the pattern is built in and tested")
});
static YOU: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?i:you are|you were|you're|you’re|yourself|yours|your|you)\b")
        .expect("the pattern is built in and tested")
});

/// Replaces names by "the character", the longest first.
pub(super) fn without_names(text: &str, names: &[&str], language: Language) -> String {
    let mut names: Vec<&str> = names.iter().copied().filter(|name| name.chars().count() > 1).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.chars().count()));
    let mut text = text.to_owned();
    for name in names {
        text = match language {
            Language::Zh => text.replace(name, THE_CHARACTER_ZH),
            Language::En => {
                let pattern = format!(r"(?:\b[Tt]he\s+)?\b{}\b", regex::escape(name.trim_start_matches("the ")));
                Regex::new(&pattern)
                    .map_or_else(|_| text.clone(), |name| name.replace_all(&text, THE_CHARACTER).into_owned())
            }
        };
    }
    if language == Language::En { capitals(&text) } else { text }
}

/// Adds "the character" to a sentence that begins with a third-person verb, as notes do: `Keeps bees.`
pub(super) fn with_subject(sentence: &str, language: Language) -> String {
    let mut words = sentence.split_whitespace();
    let (Some(first), Some(second), Some(_)) = (words.next(), words.next(), words.next()) else {
        return sentence.to_owned();
    };
    let plain = first.to_lowercase();
    let is_verb = plain.ends_with('s')
        && !["ss", "us"].iter().any(|end| plain.ends_with(end))
        && !["his", "its", "always", "perhaps", "sometimes", "is", "as", "was", "has", "hers", "this"]
            .contains(&plain.as_str())
        && !["of", "and", "or", "are", "were", "who", "that", "is", "was"].contains(&second);
    if language == Language::Zh || !is_verb {
        return sentence.to_owned();
    }
    capitals(&format!("{THE_CHARACTER} {plain}{}", &sentence[first.len()..]))
}

/// Converts the third person to the second.
pub(super) fn addressed(text: &str, language: Language) -> String {
    if language == Language::Zh {
        return ["这个人物", "她", "他"]
            .iter()
            .fold(
                text.replace("他们", "\u{1}").replace("她们", "\u{2}").replace("其他", "\u{3}"),
                |text, third| text.replace(third, "你"),
            )
            .replace('\u{1}', "他们")
            .replace('\u{2}', "她们")
            .replace('\u{3}', "其他");
    }
    let text = WORD.replace_all(text, |found: &Captures<'_>| {
        match found[0].to_lowercase().as_str() {
            "himself" | "herself" => "yourself",
            "hers" => "yours",
            "him" => "you",
            _ => "your",
        }
        .to_owned()
    });
    let text = SUBJECT.replace_all(&text, |found: &Captures<'_>| {
        found.name("verb").map_or_else(|| "you".to_owned(), |verb| format!("you {}", plural(verb.as_str())))
    });
    let text = FURTHER.replace_all(&text, |found: &Captures<'_>| {
        let part = |name| found.name(name).map_or("", |part| part.as_str());
        let (before, verb, after) = (part("before"), format!("{}{}", part("aux"), part("verb")), part("after"));
        let head = text[..found.get(0).map_or(0, |found| found.start())].rsplit(['.', '!', '?']).next();
        let is_yours = head.is_some_and(|head| head.trim_start().to_lowercase().starts_with("you "));
        let verb = if is_yours { plural(&verb) } else { verb };
        format!("{before}{verb}{after}")
    });
    let text = HER.replace_all(&text, |found: &Captures<'_>| match found.name("next") {
        // In `told her that` it is not a possessive.
        Some(next) if !FUNCTION.contains(&next.as_str().trim()) => format!("your{}", next.as_str()),
        next => format!("you{}", next.map_or("", |next| next.as_str())),
    });
    capitals(&text)
}

/// Words before which `her` is not a possessive.
const FUNCTION: [&str; 24] = [
    "and", "or", "but", "to", "in", "on", "at", "by", "for", "from", "with", "as", "that", "when", "if", "the", "a",
    "an", "out", "up", "down", "off", "into", "over",
];

/// Converts the second person to the first.
pub(super) fn first(text: &str, language: Language) -> String {
    if language == Language::Zh {
        return text.replace("你们", "\u{1}").replace('你', "我").replace('\u{1}', "你们");
    }
    let text = YOU.replace_all(text, |found: &Captures<'_>| {
        match found[0].to_lowercase().replace('’', "'").as_str() {
            "you are" | "you're" => "I am",
            "you were" => "I was",
            "yourself" => "myself",
            "yours" => "mine",
            "your" => "my",
            _ => "I",
        }
        .to_owned()
    });
    capitals(&text)
}

/// Returns the form of a third-person verb after `you`.
fn plural(verb: &str) -> String {
    match verb {
        "is" => "are".to_owned(),
        "was" => "were".to_owned(),
        "has" => "have".to_owned(),
        "does" | "goes" => verb.trim_end_matches("es").to_owned(),
        _ if verb.ends_with("ss") || ["always", "perhaps", "sometimes", "thus", "as", "this", "us"].contains(&verb) => {
            verb.to_owned()
        }
        _ if verb.ends_with("ies") && verb.len() > 4 => format!("{}y", &verb[..verb.len() - 3]),
        _ if ["ches", "shes", "sses", "xes", "zes"].iter().any(|end| verb.ends_with(end)) => {
            verb[..verb.len() - 2].to_owned()
        }
        _ => verb.strip_suffix('s').unwrap_or(verb).to_owned(),
    }
}

/// Capitalizes the first letter of every sentence.
fn capitals(text: &str) -> String {
    let mut begins = true;
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        if begins && c.is_alphabetic() {
            written.extend(c.to_uppercase());
            begins = false;
        } else {
            begins = match c {
                '.' | '!' | '?' => true,
                _ if c.is_whitespace() || matches!(c, '“' | '"' | '(' | '’' | '”') => begins,
                _ => false,
            };
            written.push(c);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_person_becomes_second_person() {
        let told = without_names(
            "Keziah Marl keeps the ferry. Kez has her price. She carries boxes.",
            &["Keziah Marl", "Kez"],
            Language::En,
        );
        assert_eq!(told, "The character keeps the ferry. The character has her price. She carries boxes.");
        let to_it = addressed(&told, Language::En);
        assert_eq!(to_it, "You keep the ferry. You have your price. You carry boxes.");
        assert_eq!(first(&to_it, Language::En), "I keep the ferry. I have my price. I carry boxes.");
        let told = "She counts the boats, checks each one twice and is generally late.";
        assert_eq!(addressed(told, Language::En), "You count the boats, check each one twice and are generally late.");
        let told = "She said nothing then, and has paid for it since.";
        assert_eq!(addressed(told, Language::En), "You said nothing then, and have paid for it since.");
        assert_eq!(with_subject("Talks most with Pet.", Language::En), "The character talks most with Pet.");
        assert_eq!(with_subject("Boats and oars, mostly.", Language::En), "Boats and oars, mostly.");
        assert_eq!(addressed("Nobody told her that he was ill.", Language::En), "Nobody told you that you were ill.");
    }

    #[test]
    fn chinese_third_person_becomes_second_person() {
        let told = without_names("温仲筹管账，他不肯替旁人改字。他们都怕温仲筹。", &["温仲筹"], Language::Zh);
        assert_eq!(told, "这个人物管账，他不肯替旁人改字。他们都怕这个人物。");
        let to_it = addressed(&told, Language::Zh);
        assert_eq!(to_it, "你管账，你不肯替旁人改字。他们都怕你。");
        assert_eq!(first(&to_it, Language::Zh), "我管账，我不肯替旁人改字。他们都怕我。");
    }
}
