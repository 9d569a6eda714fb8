//! The order of heading levels.

use crate::schema::Level;

/// Whether headings of a level contain the text itself.
pub(super) const fn opens_chapter(level: Level) -> bool {
    matches!(level, Level::Chapter | Level::Letter | Level::Scene)
}

/// Returns the nesting of a level, from 0 for the outermost.
pub(in crate::stages::chunk) const fn rank(level: Level) -> u8 {
    match level {
        Level::Volume => 0,
        Level::Part | Level::Act => 1,
        Level::Front | Level::Back | Level::Chapter | Level::Letter | Level::Scene => 2,
    }
}
