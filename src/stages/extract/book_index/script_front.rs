//! Properties of scripts: the list of characters at the front, speaker cues, and names in capitals.

use std::collections::BTreeMap;

use super::names::Names;
use super::narration::Sentence;
use super::sentences::one_line;
use crate::attribution::Attribution;

/// Parses the list of characters at the front of a script: lines that begin with a name and a comma, colon or dash.
pub(super) fn listed_characters(text: &str, attribution: &Attribution, names: &Names) -> BTreeMap<usize, String> {
    let front: String = text.chars().take(first_line(attribution) as usize).collect();
    let mut listed_characters = BTreeMap::new();
    for line in front.lines() {
        let line = one_line(line);
        let Some(end) = line.find([',', ':', '，', '：', '—', '–']) else { continue };
        let (name, rest) = line.split_at(end);
        let rest = rest.trim_start_matches([',', ':', '，', '：', '—', '–', ' ']);
        // `LUDO WICK` is listed, `WICK` speaks: any name within counts.
        let person = names.owner(name).or_else(|| names.find(name).first().map(|(_, person)| *person));
        if let Some(person) = person
            && name.chars().count() <= 40
            && rest.chars().count() >= 3
        {
            // A possessive refers to the previous line, which is no longer shown.
            let possessive = ["her ", "his ", "their "].into_iter().find(|word| rest.to_lowercase().starts_with(word));
            let rest = possessive.map_or(rest, |word| &rest[word.len()..]);
            let (first, others) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            listed_characters.entry(person).or_insert_with(|| format!("{}{others}", first.to_uppercase()));
        }
    }
    listed_characters
}

pub(super) fn first_line(attribution: &Attribution) -> u32 {
    attribution.quotations.first().map_or(u32::MAX, |quotation| quotation.start)
}

/// Clears the scene-break flag of speaker cues above a speech.
pub(super) fn clear_cue_borders(attribution: &mut Attribution) {
    let quotations = &attribution.quotations;
    for paragraph in &mut attribution.paragraphs {
        let next = quotations.partition_point(|quotation| quotation.start < paragraph.end);
        let cue = quotations.get(next).is_some_and(|quotation| quotation.start <= paragraph.end + 2);
        paragraph.border &= !cue;
    }
}

/// Restores the capitalization of names that a script sets in capitals.
pub(super) fn lower_capitals(narration: &mut [Sentence], attribution: &Attribution) {
    let mut mixed_case: BTreeMap<String, &str> = BTreeMap::new();
    for name in attribution.people.iter().flat_map(|person| person.aliases.iter().chain([&person.name])) {
        for word in name.split_whitespace().filter(|word| word.chars().any(char::is_lowercase)) {
            mixed_case.insert(word.to_uppercase(), word);
        }
    }
    for sentence in narration {
        let words = sentence.text.split(' ').map(|word| {
            let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
            let known = mixed_case.get(&word[..end]).filter(|_| end > 1);
            known.map_or_else(|| word.to_owned(), |name| format!("{name}{}", &word[end..]))
        });
        sentence.text = words.collect::<Vec<_>>().join(" ");
    }
}
