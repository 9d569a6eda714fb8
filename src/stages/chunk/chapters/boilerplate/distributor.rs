//! Finds what a distributor such as Project Gutenberg puts before and after a book.

/// The range of a file, in bytes, without what the distributor put around the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::stages::chunk::chapters) struct Body {
    pub(in crate::stages::chunk::chapters) start: usize,
    pub(in crate::stages::chunk::chapters) end: usize,
    /// Ranges between two books in one file: from the end marker of one to the start marker of the next.
    pub(in crate::stages::chunk::chapters) holes: Vec<(usize, usize)>,
}

/// Finds the text between the distributor's header and footer. The file may hold several books.
pub(in crate::stages::chunk::chapters) fn body(text: &str) -> Body {
    let (mut body, mut at) = (Body { start: 0, end: text.len(), holes: Vec::new() }, 0);
    // The end of the last book seen; another may follow.
    let mut closed = None;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.len() < 300 && could_mark(line) {
            let upper = line.trim().to_ascii_uppercase();
            match closed {
                None if at < body.start => {}
                None if opens(&upper) && at <= text.len() / 2 && body.holes.is_empty() => {
                    body.start = marker_end(text, &upper, next);
                }
                None if closes(&upper) => closed = Some(at),
                Some(end) if opens(&upper) => {
                    body.holes.push((end, marker_end(text, &upper, next)));
                    closed = None;
                }
                _ => {}
            }
        }
        at = next;
    }
    body.end = closed.unwrap_or(body.end);
    body
}

/// Returns the end of a start marker. If its title runs over the line, the closing stars are on one of the next three
/// lines.
fn marker_end(text: &str, upper: &str, next: usize) -> usize {
    if !upper.starts_with("***") || upper[3..].ends_with('*') {
        return next;
    }
    let mut at = next;
    for line in text[next..].split_inclusive('\n').take(3).take_while(|line| !line.trim().is_empty()) {
        at += line.len();
        if line.trim_end().ends_with("***") {
            return at;
        }
    }
    next
}

/// A cheap check for the prefixes that all markers have.
fn could_mark(line: &str) -> bool {
    let line = line.trim_start().as_bytes();
    let begins = |with: &[u8]| line.len() >= with.len() && line[..with.len()].eq_ignore_ascii_case(with);
    [&b"***"[..], b"*END", b"END", b"THE END ", b"THE FULL ", b"START: ", b"---"].into_iter().any(begins)
}

fn opens(upper: &str) -> bool {
    let gutenberg = upper.contains("GUTENBERG");
    (upper.starts_with("***") && upper.contains("START") && gutenberg && !upper.contains("FULL LICENSE"))
        || (upper.starts_with('*') && upper.contains("END") && upper.contains("THE SMALL PRINT"))
        || (upper.starts_with("END") && upper.contains("THE SMALL PRINT"))
        || (upper.starts_with("-----") && upper.contains("START OF PROJECT GUTENBERG"))
}

fn closes(upper: &str) -> bool {
    let upper = upper.trim_start_matches(['*', '-', ' ']);
    let gutenberg = upper.contains("GUTENBERG");
    let ends = [
        "END OF PROJECT",
        "END OF THE PROJECT",
        "END OF THIS PROJECT",
        "END OF THE PG",
        "THE END OF PROJECT",
        "THE END OF THE PROJECT",
        "END THE PROJECT",
        "END PROJECT",
        "END OF PG",
    ];
    (gutenberg && (ends.iter().any(|end| upper.starts_with(end)) || upper.starts_with("START: FULL LICENSE")))
        || upper.starts_with("THE FULL PROJECT GUTENBERG LICENSE")
        || upper.starts_with("START: FULL LICENSE")
        || upper.starts_with("END OF PROJECT GUTENBERG")
}
