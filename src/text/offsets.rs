//! Converts byte offsets to code points.

/// Converts byte offsets of a text to code points. Offsets must be asked for in ascending order.
#[derive(Debug)]
pub struct CodePoints<'a> {
    text: &'a str,
    byte: usize,
    point: u32,
}

impl<'a> CodePoints<'a> {
    /// Starts at the beginning of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, byte: 0, point: 0 }
    }

    /// Returns the number of code points before a byte offset. An offset below the previous one gives the same result
    /// as that.
    pub fn at(&mut self, byte: usize) -> u32 {
        if byte > self.byte {
            let count = self.text[self.byte..byte].chars().count();
            self.point += u32::try_from(count).expect("a book has fewer than 2³² characters");
            self.byte = byte;
        }
        self.point
    }
}

/// Returns the number of code points in a text.
#[must_use]
pub fn count_code_points(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

/// Returns a text with each run of white space replaced by a single space, without leading and trailing white space.
#[must_use]
pub fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
