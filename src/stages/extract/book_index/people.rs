//! Properties of the people of a book: who has no name, who narrates, who talks with whom.

use super::narration::Sentence;
use crate::attribution::{Attribution, Person, is_common_word, may_name_person};
use crate::schema::Language;

/// Chinese names that do not look like a name are doubted if they have at most this many lines.
pub(super) const DOUBTFUL: u32 = 5;

/// Whether a person has no proper name, only a description that fits many: `the stranger`, 那婆子.
pub(super) fn is_unnamed(person: &Person, language: Language) -> bool {
    let mut names = person.aliases.iter().chain([&person.name]);
    match language {
        Language::En => person.name.starts_with("the ") && names.all(|name| !name.starts_with(char::is_uppercase)),
        Language::Zh => {
            let points = |name: &str| {
                name.starts_with(['那', '这', '這', '某']) || name.starts_with("一个") || name.starts_with("一個")
            };
            points(&person.name)
                || names.any(|name| {
                    let rest = name.strip_prefix(['那', '这', '這']);
                    rest.is_some_and(|rest| {
                        rest == person.name || rest.strip_prefix(['个', '個']) == Some(&person.name)
                    })
                })
        }
    }
}

/// Removes doubtful speakers: a scene's cast should rather be incomplete than wrong.
pub(super) fn drop_doubtful(attribution: &mut Attribution, language: Language) {
    if language == Language::En {
        return;
    }
    let doubtful: Vec<bool> = attribution
        .people
        .iter()
        .map(|person| {
            let is_one_character = person.name.chars().count() == 1;
            let known = matches!(person.name.as_str(), "我" | "叙述者" | "敘述者");
            !known
                && (is_one_character || person.lines <= DOUBTFUL || is_common_word(&person.name))
                && !may_name_person(&person.name)
        })
        .collect();
    for quotation in &mut attribution.quotations {
        quotation.speaker = quotation.speaker.filter(|person| !doubtful[*person]);
    }
    for (person, _) in attribution.people.iter_mut().zip(doubtful).filter(|(_, doubtful)| *doubtful) {
        person.aliases.clear();
        // Nothing in the text is attributed to a person without a name.
        person.name.clear();
    }
}

/// Finds the first-person narrator. If less than a tenth of the narration is in the first person, those sentences are
/// quoted text.
pub(super) fn narrator(narration: &[Sentence], attribution: &Attribution) -> Option<usize> {
    let own = narration.iter().filter(|sentence| sentence.first_person).count();
    let narrator = |person: &Person| {
        person.aliases.iter().chain([&person.name]).any(|name| matches!(name.as_str(), "I" | "我" | "the narrator"))
    };
    (own > 0 && own * 10 >= narration.len()).then(|| attribution.people.iter().position(narrator)).flatten()
}

/// Returns the text from the first attributed quotation to the last; text outside of it may be the publisher's.
pub(super) fn story<'t>(text: &'t str, attribution: &Attribution) -> &'t str {
    let mut spoken = attribution.quotations.iter().filter(|quotation| quotation.speaker.is_some());
    let first = spoken.next();
    let (Some(first), Some(last)) = (first, spoken.next_back().or(first)) else { return text };
    let byte = |point: u32| text.char_indices().nth(point as usize).map_or(text.len(), |(byte, _)| byte);
    let start = byte(first.start);
    &text[start..byte(last.end).max(start)]
}

/// Collects each person's conversation partners: the next speaker within 600 code points.
pub(super) fn exchanges(attribution: &Attribution) -> Vec<Vec<(u32, usize)>> {
    let mut exchanges: Vec<Vec<(u32, usize)>> = vec![Vec::new(); attribution.people.len()];
    for pair in attribution.quotations.windows(2) {
        let (Some(first), Some(second)) = (pair[0].speaker, pair[1].speaker) else { continue };
        if first != second && pair[1].start.saturating_sub(pair[0].end) <= 600 {
            exchanges[first].push((pair[1].end, second));
            exchanges[second].push((pair[1].end, first));
        }
    }
    exchanges
}
