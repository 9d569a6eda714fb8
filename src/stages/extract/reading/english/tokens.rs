//! English text as tokens: words with what the tables and the book itself say of them, and marks of punctuation.

use std::collections::HashMap;

use super::super::Paragraph;
use super::super::quotations::Span;
use super::super::tables::{
    ABBREVIATION, DETERMINER, ENGLISH, FAINT, GIVEN_FEMALE, GIVEN_MALE, POSSESSIVE, ROLE, SPEECH, STOP,
};

/// Stands for no word, or no quotation.
pub(super) const NONE: u32 = u32::MAX;

/// The longest word, in characters; what is longer is several.
const LONGEST: usize = u8::MAX as usize;

/// The bits of a token's sign: what tells a mark from a word, and what is known of a word.
const MARK: u32 = 1 << 31;
const CAPITAL: u32 = 1 << 30;
const INITIAL: u32 = 1 << 29;
const OWNER: u32 = 1 << 28;
const NESTED: u32 = 1 << 27;
/// The bits of the sign that are the mark, or the index of the word. No book has 2^27 words.
const INDEX: u32 = NESTED - 1;

/// So many characters share a step of [`Tokens::steps`].
const STEP: usize = 256;

/// A word or a mark. A long book has millions: each is kept small.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// Where it begins, in characters.
    start: u32,
    /// The mark, or an index into [`Tokens::words`], with bits that say which and how it stands.
    sign: u32,
    /// The quotation that it stands in, or [`NONE`] in narration.
    pub(super) quote: u32,
}

impl Token {
    /// Where it begins, in characters.
    pub(super) const fn start(&self) -> usize {
        self.start as usize
    }

    /// Returns the index into [`Tokens::words`], or [`NONE`] for a mark.
    pub(super) const fn word(&self) -> u32 {
        if self.sign & MARK == 0 { self.sign & INDEX } else { NONE }
    }

    /// Returns the mark, or NUL for a word.
    pub(super) fn mark(&self) -> char {
        if self.sign & MARK == 0 { '\0' } else { char::from_u32(self.sign & INDEX).unwrap_or('\0') }
    }

    /// Whether it is a word with a capital that says something, not one of a heading.
    pub(super) const fn capital(&self) -> bool {
        self.sign & CAPITAL != 0
    }

    /// Whether it opens a sentence, so that its capital says nothing.
    pub(super) const fn initial(&self) -> bool {
        self.sign & INITIAL != 0
    }

    /// Whether a mark of quotation within speech opens before it.
    pub(super) const fn nested(&self) -> bool {
        self.sign & NESTED != 0
    }

    /// Whether `’s` or `’` follows.
    pub(super) const fn possessive(&self) -> bool {
        self.sign & OWNER != 0
    }
}

/// A word of the book in lower case.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) text: String,
    /// Its characters.
    length: u8,
    /// Bits of the tables.
    pub(super) class: u32,
    /// How often it is capitalised within a sentence.
    pub(super) inner: u32,
    /// How often it is capitalised at a sentence's beginning.
    pub(super) first: u32,
    /// How often it is in lower case.
    pub(super) lower: u32,
}

/// A book as tokens.
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) words: Vec<Word>,
    /// The first token of each paragraph; one more stands at the end.
    pub(super) starts: Vec<usize>,
    /// By so many characters each: the first token that begins there or behind.
    steps: Vec<u32>,
}

impl Tokens {
    /// Reads a book.
    pub(super) fn read(chars: &[char], paragraphs: &[Paragraph], spans: &[Span]) -> Self {
        let list = Vec::with_capacity(chars.len() / 5);
        let mut book = Self { list, words: Vec::new(), starts: Vec::new(), steps: Vec::new() };
        let mut index: HashMap<String, u32> = HashMap::new();
        let mut quote = 0;
        let mut buffer = String::new();
        for paragraph in paragraphs {
            let first = book.list.len();
            book.starts.push(first);
            let mut at = paragraph.start as usize;
            let end = paragraph.end as usize;
            while at < end {
                while quote < spans.len() && spans[quote].outer_end <= at {
                    quote += 1;
                }
                let inside = spans.get(quote).is_some_and(|span| span.outer_start <= at);
                let place = if inside { super::super::number(quote) } else { NONE };
                let c = chars[at];
                if !c.is_alphanumeric() {
                    if matches!(c, '.' | ',' | '!' | '?' | ';' | ':' | '—' | '–' | '-' | '…' | '(' | ')') {
                        book.mark(at, c, place);
                    }
                    at += 1;
                    continue;
                }
                let mut stop = at;
                while stop < end && stop - at < LONGEST && (chars[stop].is_alphanumeric() || joins(chars, stop, end)) {
                    stop += 1;
                }
                let possessive = possessive(chars, at, &mut stop);
                buffer.clear();
                buffer.extend(chars[at..stop].iter().map(|&c| lower(c)));
                let word = if let Some(&word) = index.get(&buffer) {
                    word
                } else {
                    book.words.push(Word {
                        text: buffer.clone(),
                        length: u8::try_from(stop - at).expect("no word is longer"),
                        class: ENGLISH.class(&buffer),
                        inner: 0,
                        first: 0,
                        lower: 0,
                    });
                    let word = super::super::number(book.words.len() - 1);
                    index.insert(buffer.clone(), word);
                    word
                };
                let initial = book.opens_sentence(first, place);
                // A heading capitalises what it likes.
                let capital = c.is_uppercase() && !paragraph.border;
                let counts = &mut book.words[word as usize];
                if !paragraph.border {
                    match (capital, initial) {
                        (true, false) => counts.inner += 1,
                        (true, true) => counts.first += 1,
                        _ => counts.lower += 1,
                    }
                }
                let short = counts.class & ABBREVIATION != 0 || stop - at == 1 && capital && c != 'I';
                let nested = spans.get(quote).is_some_and(|span| inside && at > span.start)
                    && matches!(chars[at - 1], '‘' | '“' | '"' | '\'');
                let bits = [(capital, CAPITAL), (initial, INITIAL), (possessive, OWNER), (nested, NESTED)];
                let sign = bits.into_iter().fold(word, |sign, (set, bit)| if set { sign | bit } else { sign });
                book.list.push(Token { start: super::super::number(at), sign, quote: place });
                at = stop
                    + if possessive {
                        1 + usize::from(chars.get(stop + 1).is_some_and(|c| matches!(c, 's' | 'S')))
                    } else {
                        0
                    };
                // The point of an abbreviation ends no sentence.
                if short && at < end && chars[at] == '.' {
                    at += 1;
                }
            }
        }
        book.starts.push(book.list.len());
        for (at, token) in book.list.iter().enumerate() {
            while book.steps.len() * STEP <= token.start() {
                book.steps.push(super::super::number(at));
            }
        }
        book.learn();
        book
    }

    /// Takes for people the nouns that no table knows and that hand over speech: `said the notary`, `the notary said`.
    fn learn(&mut self) {
        let mut nouns: Vec<u32> = Vec::new();
        for i in 1..self.list.len() {
            if self.list[i].quote != NONE || self.list[i - 1].quote == NONE && self.list[i - 1].mark() != ',' {
                continue;
            }
            let at = i + usize::from(self.list[i].mark() == ',');
            let firm = |at: usize| self.class(at) & (SPEECH | FAINT) == SPEECH && !self.list[at].capital();
            let shown = |at: usize| self.class(at) & (DETERMINER | POSSESSIVE) != 0;
            let noun = if firm(at) && shown(at + 1) {
                self.run(at + 2)
            } else if shown(at) {
                self.run(at + 1).filter(|&noun| (noun + 1..noun + 3).any(firm))
            } else {
                None
            };
            nouns.extend(noun.map(|noun| self.list[noun].word()));
        }
        for noun in nouns {
            self.words[noun as usize].class |= ROLE;
        }
    }

    /// Returns the last of the plain words from a token on, before a mark or a word of another kind.
    fn run(&self, at: usize) -> Option<usize> {
        let plain = |&i: &usize| {
            let word = self.list.get(i).filter(|token| token.word() != NONE && !token.capital() && token.quote == NONE);
            word.is_some_and(|token| {
                let word = &self.words[token.word() as usize];
                word.class == 0 && word.text.len() > 2 && !(word.text.len() > 4 && word.text.ends_with("ly"))
            })
        };
        let end = (at..at + 4).take_while(plain).last()?;
        let past = self.text(end).len() > 4 && self.text(end).ends_with("ed");
        (end < at + 3 && !past && !self.text(end).contains('\'')).then_some(end)
    }

    fn mark(&mut self, at: usize, mark: char, quote: u32) {
        self.list.push(Token { start: super::super::number(at), sign: MARK | u32::from(mark), quote });
    }

    fn opens_sentence(&self, first: usize, quote: u32) -> bool {
        match self.list[first..].last() {
            None => true,
            Some(last) if last.quote != quote => quote != NONE || last.mark() != ',',
            Some(last) => matches!(last.mark(), '.' | '!' | '?' | ':' | '—' | '-' | '…' | '('),
        }
    }

    /// Returns the first token that begins at an offset or behind.
    pub(super) fn from(&self, offset: usize) -> usize {
        let step = offset / STEP;
        let Some(&from) = self.steps.get(step) else { return self.list.len() };
        let to = self.steps.get(step + 1).map_or(self.list.len(), |&to| to as usize);
        from as usize + self.list[from as usize..to].partition_point(|token| token.start() < offset)
    }

    /// Returns where a token ends, in characters.
    pub(super) fn end(&self, at: usize) -> usize {
        let token = self.list[at];
        let length = self.words.get(token.word() as usize).map_or(1, |word| usize::from(word.length));
        token.start() + length
    }

    /// Returns where the sentence of a token begins, as far as it is not too long to matter.
    pub(super) fn opening(&self, at: usize) -> usize {
        let quote = self.list[at].quote;
        (at.saturating_sub(60)..at)
            .rev()
            .take_while(|&i| !matches!(self.list[i].mark(), '.' | '!' | '?') && self.list[i].quote == quote)
            .last()
            .unwrap_or(at)
    }

    /// Returns the bits of a token's word, 0 for a mark.
    pub(super) fn class(&self, at: usize) -> u32 {
        self.list
            .get(at)
            .map_or(0, |token| if token.word() == NONE { 0 } else { self.words[token.word() as usize].class })
    }

    /// Returns a token's word in lower case, empty for a mark.
    pub(super) fn text(&self, at: usize) -> &str {
        self.list
            .get(at)
            .map_or("", |token| if token.word() == NONE { "" } else { &self.words[token.word() as usize].text })
    }

    /// Whether a capitalised word may be a name: not in the list of others, and capitalised within sentences too.
    pub(super) fn nameable(&self, word: u32) -> bool {
        let word = &self.words[word as usize];
        word.class & STOP == 0
            && word.text.len() > 1
            && (word.inner > 0 && word.inner * 3 >= word.lower
                || word.lower == 0 && (word.first > 1 || word.class & (GIVEN_FEMALE | GIVEN_MALE) != 0))
    }
}

/// Returns the lower case of a letter as one letter, so that a word is as long however it is written.
fn lower(c: char) -> char {
    if c == '’' { '\'' } else { c.to_lowercase().next().unwrap_or(c) }
}

/// Whether a mark between two letters joins them to one word.
fn joins(chars: &[char], at: usize, end: usize) -> bool {
    matches!(chars[at], '\'' | '’' | '-')
        && at + 1 < end
        && chars[at - 1].is_alphanumeric()
        && chars[at + 1].is_alphanumeric()
}

/// Cuts a possessive ending off a word and says whether there was one.
fn possessive(chars: &[char], start: usize, stop: &mut usize) -> bool {
    let mark = |c: char| matches!(c, '\'' | '’');
    if *stop - start > 2
        && mark(chars[*stop - 2])
        && matches!(chars[*stop - 1], 's' | 'S')
        && chars[start].is_uppercase()
    {
        *stop -= 2;
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> (Vec<char>, Tokens) {
        let chars: Vec<char> = text.chars().collect();
        let paragraphs = super::super::super::paragraphs::paragraphs(&chars);
        let spans = super::super::super::quotations::quotations(&chars, &paragraphs, crate::schema::Language::En);
        let book = Tokens::read(&chars, &paragraphs, &spans);
        (chars, book)
    }

    #[test]
    fn a_token_stays_small() {
        // A book has one for five of its characters: four bytes more are eight tenths of the book.
        assert_eq!(size_of::<Token>(), 12);
        let (chars, book) = tokens(&"“İ ’tis Ruth’s,” said Tom — twice.\n\n".repeat(40));
        assert!(book.steps.len() <= chars.len() / STEP + 1);
        for at in 0..chars.len() {
            assert_eq!(book.from(at), book.list.partition_point(|token| token.start() < at), "{at}");
        }
    }

    #[test]
    fn a_token_ends_where_its_word_ends() {
        let (chars, book) = tokens("“‘İzmir,’ said Ruth’s ma’am,” said Tom.\n");
        let words: Vec<String> = (0..book.list.len())
            .map(|at| chars[book.list[at].start()..book.end(at)].iter().collect::<String>())
            .filter(|word| word.len() > 1)
            .collect();
        assert_eq!(words, ["İzmir", "said", "Ruth", "ma’am", "said", "Tom"]);
        assert!(book.list[0].nested() && !book.list[2].nested() && book.list.iter().any(Token::possessive));
    }
}
