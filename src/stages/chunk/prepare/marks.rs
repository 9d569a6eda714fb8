//! Converts the marks of a format from bytes to code points.

use crate::books::{RawBoilerplate, RawHeading};
use crate::schema::{Boilerplate, MarkedHeading};
use crate::text::CodePoints;

/// Converts headings, which must be in order.
pub(super) fn marked_headings(text: &str, headings: Vec<RawHeading>) -> Vec<MarkedHeading> {
    let mut points = CodePoints::new(text);
    let convert = |heading: RawHeading| MarkedHeading {
        start: points.at(heading.start),
        depth: heading.depth,
        title: heading.title,
    };
    headings.into_iter().map(convert).collect()
}

/// Converts boilerplate, which must be in order.
pub(super) fn boilerplate(text: &str, passages: Vec<RawBoilerplate>) -> Vec<Boilerplate> {
    let mut points = CodePoints::new(text);
    let convert = |passage: RawBoilerplate| Boilerplate {
        start: points.at(passage.start),
        end: points.at(passage.end),
        kind: passage.kind,
        detail: passage.detail,
    };
    passages.into_iter().map(convert).collect()
}
