//! The reading by rule of a whole book: who there is, what is said, and by whom.

/// Whom a word or a deed points to, where the text shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gender {
    /// She.
    Female,
    /// He.
    Male,
    /// Not shown.
    Unknown,
}

/// A character of a book, found by rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The fullest name that the book uses often.
    pub name: String,
    /// Other names that it goes by.
    pub aliases: Vec<String>,
    /// Gender, where the text shows it.
    pub gender: Gender,
    /// How often the book names it.
    pub mentions: u32,
    /// How many quotations are its own.
    pub lines: u32,
}

/// How a quotation's speaker was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// By a name and a speech verb.
    Explicit,
    /// By a pronoun or role noun and a speech verb.
    Anaphoric,
    /// By turn-taking, a vocative, or who acts in the paragraph.
    Implicit,
    /// By the form of a script.
    Script,
}

/// A stretch of direct speech.
#[derive(Debug, Clone, PartialEq)]
pub struct Quotation {
    /// Where it begins, in code points of the decoded text, marks not included.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// Its words, line breaks as single blanks (none between Chinese characters).
    pub text: String,
    /// Index into [`Reading::people`]; null when nothing points to anyone.
    pub speaker: Option<usize>,
    /// How the speaker was found; null when it was not.
    pub kind: Option<Kind>,
    /// How sure that is, 0 to 1.
    pub confidence: f32,
    /// A stage direction or an action of the speaker within the same paragraph, where there is one that stands alone.
    pub action: Option<String>,
}

/// A paragraph of the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paragraph {
    /// Where it begins, in code points of the decoded text.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// Whether it is a line such as `* * *` that parts scenes, or a heading.
    pub border: bool,
}

/// What the rules read in a book. Sorted by offset; people by lines, then mentions, then name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// The characters.
    pub people: Vec<Person>,
    /// The direct speech.
    pub quotations: Vec<Quotation>,
    /// The paragraphs.
    pub paragraphs: Vec<Paragraph>,
}
