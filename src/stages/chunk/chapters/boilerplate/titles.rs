//! Recognises the titles of pages outside the story.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::schema::BoilerplateKind;

static TITLES: LazyLock<BTreeMap<String, BoilerplateKind>> = LazyLock::new(|| {
    let kinds: BTreeMap<BoilerplateKind, Vec<String>> = embedded_toml!("titles.toml");
    kinds.into_iter().flat_map(|(kind, titles)| titles.into_iter().map(move |title| (title, kind))).collect()
});

/// Returns the kind of boilerplate that a title names, by its words.
pub(in crate::stages::chunk) fn boilerplate_kind_of_title(title: &str) -> Option<BoilerplateKind> {
    if title.len() > 90 {
        return None;
    }
    let mut words = String::with_capacity(title.len());
    for c in title.chars() {
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        } else if !matches!(c, '\'' | '’') && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
    }
    let words = words.trim_end();
    if words.is_ascii() {
        let notes = ["transcribers note", "transcriber note", "transcribers notes", "transcriber notes"];
        if notes.iter().any(|note| words == *note || words.starts_with(&format!("{note} "))) {
            return Some(BoilerplateKind::TranscriberNote);
        }
        // The table of contents of a single volume names the volume.
        let volume = words.strip_prefix("the ").unwrap_or(words).strip_prefix("contents of ").unwrap_or_default();
        if ["volume ", "vol ", "book ", "part "].iter().any(|unit| volume.starts_with(unit)) && volume.len() < 30 {
            return Some(BoilerplateKind::Contents);
        }
    }
    let joined: String = if words.is_ascii() { String::new() } else { words.split(' ').collect() };
    let words = if joined.is_empty() { words } else { joined.as_str() };
    TITLES.get(words).copied()
}

/// Returns the kind of boilerplate that a line is a heading of. A bracketed transcriber's note needs no heading.
pub(super) fn boilerplate_kind_of_heading(words: &str) -> Option<BoilerplateKind> {
    let note = words.trim_start_matches(['[', '*', '_', '（', '(', '=', ' ']);
    let lower: String = note.chars().take(24).collect::<String>().to_lowercase();
    if ["transcriber's note", "transcriber’s note", "transcribers' note", "transcribers’ note", "transcriber note"]
        .iter()
        .any(|head| lower.starts_with(head))
    {
        return Some(BoilerplateKind::TranscriberNote);
    }
    // A line with quotation marks, a question or an exclamation belongs to the story.
    let speech = ['“', '”', '"', '「', '」', '『', '』', '？', '?', '！', '!'];
    if words.len() > 90 || words.contains(speech) {
        return None;
    }
    boilerplate_kind_of_title(words)
}
