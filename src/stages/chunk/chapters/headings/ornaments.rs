//! Strips what surrounds the words of a heading.

/// Strips ornaments from a heading: emphasis marks and rules on both sides.
pub(in crate::stages::chunk) fn bare(line: &str) -> &str {
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
pub(super) fn unbracketed(line: &str) -> &str {
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
pub(in crate::stages::chunk) fn is_loud(line: &str) -> bool {
    let mut letters = line.chars().filter(|c| c.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(char::is_uppercase)
}

/// Joins spaced-out letters, as in `C H A P T E R  I`. Wider gaps separate words.
pub(super) fn spaced(line: &str) -> Option<String> {
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    let single = |word: &str| word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    if !(words.by_ref().take(4).filter(|word| single(word)).count() == 4 && line.is_ascii()) {
        return None;
    }
    let closed = line.split("  ").map(|word| word.split(' ').collect::<String>());
    Some(closed.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}
