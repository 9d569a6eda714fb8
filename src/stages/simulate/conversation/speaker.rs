//! Resolves the name in a director's answer to one of the choices.

use crate::schema::slug;
use crate::text::{is_han, name_words};

/// Returns the choice that a name refers to: the one spelled the same or with the same letters and digits, else the
/// only one that shares a word with it, titles excluded. None if no choice or more than one matches.
pub(crate) fn resolve_choice<'a>(name: &str, choices: &[&'a str]) -> Option<&'a str> {
    if let Some(choice) = choices.iter().find(|choice| **choice == name) {
        return Some(choice);
    }
    let name = slug(name);
    let only = |fits: &dyn Fn(&str) -> bool| {
        let mut fitting = choices.iter().filter(|choice| fits(&slug(choice)));
        fitting.next().filter(|_| fitting.next().is_none()).copied()
    };
    only(&|choice| choice == name && choice != "-").or_else(|| only(&|choice| share_a_word(&name, choice)))
}

fn share_a_word(one: &str, other: &str) -> bool {
    let of_other = name_words(other);
    name_words(one).iter().any(|word| of_other.iter().any(|other| is_same(word, other)))
}

/// Compares two words of slugs. For Chinese, one may contain the other.
fn is_same(one: &str, other: &str) -> bool {
    let within = |short: &str, long: &str| short.chars().nth(1).is_some() && long.contains(short);
    let unspaced = one.chars().any(is_han) && other.chars().any(is_han);
    one == other || (unspaced && (within(one, other) || within(other, one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_resolves_to_the_only_matching_speaker() {
        let english = ["Anselm Vosper", "Keziah Marl", "Silas Marl", "The Clerk", "END"];
        let chinese = ["薛嵩", "老妓女", "红线", "小妓女", "END"];
        for (choices, name, expected) in [
            (english, "anselm vosper", Some("Anselm Vosper")),
            (english, "“Keziah Marl.”", Some("Keziah Marl")),
            (english, "Mr. Vosper", Some("Anselm Vosper")),
            (english, "Commissioner Vosper speaks next", Some("Anselm Vosper")),
            (english, "Keziah", Some("Keziah Marl")),
            (english, "Mrs. Marl", None),
            (english, "Marl", None),
            (english, "The Doctor", None),
            (english, "the clerk", Some("The Clerk")),
            (english, "end.", Some("END")),
            (english, "Nobody", None),
            (english, "...", None),
            (["?", "!", "Ann", "ann", "END"], "?", Some("?")),
            (["?", "!", "Ann", "ann", "END"], "ann", Some("ann")),
            (["?", "!", "Ann", "ann", "END"], "ANN", None),
            (chinese, "薛嵩。", Some("薛嵩")),
            (chinese, "薛嵩大人", Some("薛嵩")),
            (chinese, "【红线】", Some("红线")),
            (chinese, "老妓女接话", Some("老妓女")),
            (chinese, "妓女", None),
            (chinese, "红", None),
            (chinese, "旁人", None),
        ] {
            assert_eq!(resolve_choice(name, &choices), expected, "{name}");
        }
    }
}
