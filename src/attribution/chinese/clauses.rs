//! Chinese clauses: their boundaries, whether they introduce speech, and their subjects.

use crate::attribution::words::chinese::CHINESE;

/// Start and end of a clause.
pub(super) type Clause = (usize, usize);

/// Whether a character ends a clause.
pub(super) const fn clause_end(c: char) -> bool {
    matches!(c, '，' | ',' | '；' | ';' | '：' | ':' | '—' | '\n' | '\r' | '（' | '）' | '(' | ')') || sentence_end(c)
}

/// Whether a character ends a sentence.
pub(super) const fn sentence_end(c: char) -> bool {
    matches!(c, '。' | '．' | '！' | '？' | '!' | '?' | '…' | '”' | '"' | '」' | '』')
}

/// Returns the clauses in `[at, end)`.
pub(super) fn clauses(text: &[char], at: usize, end: usize) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut start = None;
    for (i, &c) in text.iter().enumerate().take(end).skip(at) {
        if clause_end(c) || c.is_whitespace() {
            if let Some(from) = start.take() {
                clauses.push((from, i));
            }
        } else {
            start.get_or_insert(i);
        }
    }
    if let Some(from) = start {
        clauses.push((from, end));
    }
    clauses
}

/// Whether a sentence ends between two clauses.
pub(super) fn sentence_ends_between(text: &[char], before: Clause, after: Clause) -> bool {
    text[before.1..after.0].iter().any(|&c| sentence_end(c) || c == '\n')
}

/// Returns the clauses of the last sentence.
pub(super) fn last_sentence<'a>(text: &[char], clauses: &'a [Clause]) -> &'a [Clause] {
    let start = clauses.windows(2).rposition(|pair| sentence_ends_between(text, pair[0], pair[1])).map_or(0, |i| i + 1);
    &clauses[start..]
}

/// Returns the clauses of the first sentence.
pub(super) fn first_sentence<'a>(text: &[char], clauses: &'a [Clause]) -> &'a [Clause] {
    let end = clauses
        .windows(2)
        .position(|pair| sentence_ends_between(text, pair[0], pair[1]))
        .map_or(clauses.len(), |i| i + 1);
    &clauses[..end]
}

/// Returns the end of the last clause of the narration `[at, end)` if it introduces the speech after it.
pub(super) fn speech_lead_end(text: &[char], at: usize, end: usize) -> Option<usize> {
    let mut stop = end;
    let mut colon = false;
    let mut point = false;
    while stop > at && (clause_end(text[stop - 1]) || text[stop - 1].is_whitespace()) {
        colon |= matches!(text[stop - 1], '：' | ':');
        point |= sentence_end(text[stop - 1]) && !matches!(text[stop - 1], '…');
        stop -= 1;
    }
    if stop == at {
        return None;
    }
    let from = stop.saturating_sub(8).max(at);
    let spoken =
        CHINESE.ends_in_speech(&text[from..stop]) || CHINESE.ends_in_speech(strip_addressee(&text[from..stop]));
    (colon || !point && spoken).then_some(stop)
}

/// Removes the addressee from the end of a clause: `问他`.
fn strip_addressee(clause: &[char]) -> &[char] {
    let several = usize::from(clause.ends_with(&['们']));
    let bare = &clause[..clause.len() - several];
    match bare.split_last() {
        Some(('他' | '她' | '我' | '伊' | '你', rest)) => rest,
        _ => clause,
    }
}

/// Removes the words that may precede a subject.
pub(super) fn strip_opening(mut clause: &[char]) -> &[char] {
    loop {
        let blank = clause.iter().take_while(|c| c.is_whitespace()).count();
        let cut = blank + CHINESE.opening.head(&clause[blank..]);
        if cut == 0 || cut >= clause.len() {
            return &clause[blank.min(clause.len())..];
        }
        clause = &clause[cut..];
    }
}

/// Isolates the subject of a clause that ends in a speech verb: removes openings at the front; verb, addressee and
/// manner at the end.
pub(super) fn isolate_subject(clause: &[char]) -> Option<Vec<char>> {
    let clause = strip_addressee(clause);
    let particle = clause.iter().rev().take_while(|c| matches!(c, '着' | '了' | '过')).count();
    let clause = &clause[..clause.len() - particle];
    let verb = CHINESE.speech.tail(clause);
    if verb == 0 {
        return None;
    }
    let mut rest = strip_opening(&clause[..clause.len() - verb]);
    let adverbs = CHINESE.manner.head(rest);
    for rest in [rest, &rest[adverbs..]] {
        if rest.len() > 1 && CHINESE.objects.head(rest) > 0 && !rest.starts_with(&['和', '尚']) {
            return None;
        }
    }
    // `X向Y`, `X又问Y`: the subject ends before the word that governs the other name.
    for at in 1..rest.len() {
        let length = CHINESE.objects.head(&rest[at..]);
        let monk = rest[at] == '和' && rest.get(at + 1) == Some(&'尚');
        if length > 0 && !monk && at + length < rest.len() {
            rest = &rest[..at];
            break;
        }
    }
    loop {
        let verb = CHINESE.speech.tail(rest);
        // A final 道 may belong to a title, as in 学道, and a final 云 to a name.
        let verb = if rest.len() > 1 && !rest.ends_with(&['道']) && !rest.ends_with(&['云']) { verb } else { 0 };
        let cut = CHINESE.manner.tail(rest).max(verb);
        if cut == 0 || cut > rest.len() {
            break;
        }
        rest = &rest[..rest.len() - cut];
    }
    (1..=6).contains(&rest.len()).then(|| rest.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn the_subject_of_a_clause_is_isolated() {
        for (clause, subject) in [
            ("只见沈阿牛忙陪笑说道", Some("沈阿牛")),
            ("耿大姐向沈阿牛道", Some("耿大姐")),
            ("耿大姐问他", Some("耿大姐")),
            ("因向沈阿牛道", None),
            ("便问众人", None),
            ("沈阿牛走了", None),
        ] {
            assert_eq!(
                isolate_subject(&chars(clause)).map(|found| found.iter().collect::<String>()).as_deref(),
                subject,
                "{clause}"
            );
        }
    }

    #[test]
    fn clauses_that_introduce_speech_are_recognised() {
        for text in ["耿大姐道：", "耿大姐说，", "她进来了：", "耿大姐问他，", "他低声说"] {
            assert!(speech_lead_end(&chars(text), 0, text.chars().count()).is_some(), "{text}");
        }
        for text in ["耿大姐走了，", "他说。", "", "，"] {
            assert!(speech_lead_end(&chars(text), 0, text.chars().count()).is_none(), "{text}");
        }
    }
}
