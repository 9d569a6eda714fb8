//! Marked blocks in a generated text, the card or the report, that later commands rewrite. A block is enclosed in two
//! HTML comments. Text outside the blocks belongs to the user and is not changed.

use std::collections::BTreeSet;
use std::ops::Range;

use thiserror::Error;

/// The reason why a block cannot be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MarkerError {
    /// One of its comments is missing, or they are in the wrong order.
    #[error("line {line}: the comment `{name}` has no matching comment; add it, or remove this one")]
    Half {
        /// The line of the comment, from 1.
        line: usize,
        /// The text of the comment.
        name: String,
    },
    /// The block exists more than once.
    #[error("line {line}: the comment `{name}` appears twice; remove one of the two blocks")]
    Twice {
        /// The line of the second comment, from 1.
        line: usize,
        /// The text of the comment.
        name: String,
    },
}

/// The block that shows how to load the data set.
pub(crate) const READING: &str = "reading";
/// The block with the table of samples by dimension.
pub(crate) const BALANCE: &str = "balance";
/// The block that describes how the data set was split.
pub(crate) const SPLITS: &str = "splits";

/// Returns the name of the block about the splits of a config.
pub(crate) fn splits_block(config: &str) -> String {
    format!("{SPLITS}:{config}")
}

/// Returns the name of the block with the row counts of a config.
pub(crate) fn counts_block(config: &str) -> String {
    format!("counts:{config}")
}

/// Returns whether a name is one of the program's blocks. Users may write comments that start the same way.
fn is_ours(name: &str) -> bool {
    let is_one = |config: &str| !config.is_empty() && !config.contains(char::is_whitespace);
    match name.split_once(':') {
        Some((kind, config)) => matches!(kind, SPLITS | "counts") && is_one(config),
        None => matches!(name, READING | BALANCE | SPLITS),
    }
}

fn begin(name: &str) -> String {
    format!("<!-- dramaturg:{name} -->")
}

fn end(name: &str) -> String {
    format!("<!-- /dramaturg:{name} -->")
}

/// Returns a block with a name and a text.
pub(crate) fn marked(name: &str, text: &str) -> String {
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{}\n{text}{gap}{}\n", begin(name), end(name))
}

/// Returns the byte range of a block's content, or `None` if there is no such block. It starts after the line of the
/// first comment and ends at the second comment.
pub(crate) fn block_range(text: &str, name: &str) -> Result<Option<Range<usize>>, MarkerError> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let one = |mark: &str| {
        let mut found = text.match_indices(mark).map(|(at, _)| at);
        let first = found.next();
        match found.next() {
            Some(at) => Err(MarkerError::Twice { line: line(at), name: mark.to_owned() }),
            None => Ok(first),
        }
    };
    let (begin, end) = (begin(name), end(name));
    let half = |at: usize, name: String| Err(MarkerError::Half { line: line(at), name });
    match (one(&begin)?, one(&end)?) {
        (None, None) => Ok(None),
        (Some(at), None) => half(at, begin),
        (None, Some(at)) => half(at, end),
        (Some(first), Some(last)) if last < first => half(last, end),
        (Some(first), Some(last)) => {
            let after = first + begin.len();
            let line_end = text[after..last].find('\n').map_or(after, |gap| after + gap + 1);
            // Text that a user wrote on the comment's own line is part of the block.
            let start = if text[after..line_end].trim().is_empty() { line_end } else { after };
            Ok(Some(start..last))
        }
    }
}

/// Returns the names and contents of all blocks whose name starts with `begins`, in the order of the text.
pub(crate) fn blocks<'a>(text: &'a str, begins: &str) -> Vec<(&'a str, Result<&'a str, MarkerError>)> {
    const MARK: &str = "dramaturg:";
    let names = text.match_indices(MARK).filter_map(|(at, _)| {
        // Find both comments of a block, because either of them may be missing.
        let is_mark = text[..at].ends_with("<!-- ") || text[..at].ends_with("<!-- /");
        let (name, _) = text[at + MARK.len()..].split_once(" -->").filter(|_| is_mark)?;
        (name.starts_with(begins) && is_ours(name)).then_some(name)
    });
    let mut distinct = BTreeSet::new();
    let names: Vec<&str> = names.filter(|name| distinct.insert(*name)).collect();
    let within = |name: &'a str| match block_range(text, name) {
        Ok(range) => (name, Ok(range.map_or("", |range| &text[range]))),
        Err(fault) => (name, Err(fault)),
    };
    names.into_iter().map(within).collect()
}

/// Replaces the content of a block. Returns `None` if there is no such block.
pub(crate) fn replaced(text: &str, name: &str, by: &str) -> Result<Option<String>, MarkerError> {
    let gap = if by.is_empty() || by.ends_with('\n') { "" } else { "\n" };
    let range = block_range(text, name)?;
    Ok(range.map(|range| format!("{}{by}{gap}{}", &text[..range.start], &text[range.end..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_block_is_replaced_and_the_rest_is_kept() {
        let text = format!("前文\n{}\n后文\n", marked("counts:samples", "3 rows"));
        assert_eq!(blocks(&text, "counts:"), [("counts:samples", Ok("3 rows\n"))]);
        let other = replaced(&text, "counts:samples", "四行\n").unwrap().expect("the block exists");
        assert_eq!(other, text.replace("3 rows", "四行"));
        assert_eq!(replaced(&other, "counts:samples", "3 rows").unwrap(), Some(text.clone()));
        let empty = replaced(&text, "counts:samples", "").unwrap().expect("the block exists");
        assert_eq!(replaced(&empty, "counts:samples", "3 rows").unwrap(), Some(text.clone()));
        assert_eq!(replaced(&text, "counts:other", "x"), Ok(None));
        let with_trailing_text = text.replace(" -->\n3 rows", " --> mine\n3 rows");
        assert_eq!(blocks(&with_trailing_text, "counts:")[0].1, Ok(" mine\n3 rows\n"));
    }

    #[test]
    fn other_comments_are_not_markers() {
        for comment in [
            "<!-- dramaturg: see our wiki -->",
            "<!-- dramaturg:说明 -->",
            "<!-- dramaturg:mine\n",
            "<!-- dramaturg:counts: of mine -->",
            "<!-- dramaturg:splits:\n",
            "<!-- /dramaturg:end -->",
            "dramaturg:splits -->",
        ] {
            let text = format!("{comment}\n{}后文\n{comment}", marked("splits", &marked("splits:samples", "3")));
            let names: Vec<&str> = blocks(&text, "").into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["splits", "splits:samples"], "{text}");
            assert!(blocks(&text, "").iter().all(|(_, within)| within.is_ok()), "{text}");
        }
        assert_eq!(
            blocks("<!-- /dramaturg:reading -->", "").len(),
            1,
            "an end comment without a start comment is found"
        );
    }

    #[test]
    fn an_unclosed_marker_and_a_duplicate_one_are_errors() {
        let text = format!("a\n{}", marked("x", "b"));
        let half = text.replace("<!-- /dramaturg:x -->", "");
        assert_eq!(
            block_range(&half, "x").unwrap_err().to_string(),
            "line 2: the comment `<!-- dramaturg:x -->` has no matching comment; add it, or remove this one"
        );
        assert!(matches!(
            block_range(&format!("<!-- /dramaturg:x -->\n{half}"), "x"),
            Err(MarkerError::Half { line: 1, .. })
        ));
        assert!(matches!(block_range(&format!("{text}{text}"), "x"), Err(MarkerError::Twice { line: 6, .. })));
    }
}
