//! A quotation's position in the text.

/// A passage of direct speech, quotation marks excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::attribution) struct Span {
    pub(in crate::attribution) start: usize,
    pub(in crate::attribution) end: usize,
    /// Offset of the opening mark.
    pub(in crate::attribution) outer_start: usize,
    /// Offset after the closing mark, or the end of the paragraph if there is none.
    pub(in crate::attribution) outer_end: usize,
    /// Index of its paragraph.
    pub(in crate::attribution) paragraph: usize,
    /// Whether it continues the previous span, which was still open at the end of its paragraph.
    pub(in crate::attribution) continues: bool,
    /// Whether it is writing rather than speech.
    pub(in crate::attribution) written: bool,
}
