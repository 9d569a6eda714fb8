//! English text as tokens: words, with their classes and counts, and punctuation marks.

use std::collections::HashMap;

use crate::attribution::Paragraph;
use crate::attribution::quotations::span::Span;
use crate::attribution::words::english::{
    ABBREVIATION, AMBIGUOUS_SPEECH, DETERMINER, ENGLISH, GIVEN_FEMALE, GIVEN_MALE, POSSESSIVE, ROLE, SPEECH, STOP,
};

/// Placeholder for no word or no quotation.
pub(super) const NONE: u32 = u32::MAX;

/// Maximum length of a word in characters; longer ones are split.
const MAX_WORD_LENGTH: usize = u8::MAX as usize;

/// Flags in [`Token::bits`]: the kind of token, and properties of a word.
const MARK: u32 = 1 << 31;

const CAPITAL: u32 = 1 << 30;

const INITIAL: u32 = 1 << 29;

const POSSESSED: u32 = 1 << 28;

const NESTED: u32 = 1 << 27;

/// The part of [`Token::bits`] that is the mark or the word index. No book has 2^27 words.
const INDEX: u32 = NESTED - 1;

/// Number of characters per entry of [`Tokens::steps`].
const STEP: usize = 256;

/// A word or a mark. A long book has millions, so each is kept small.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// Start, in characters.
    pub(super) start: u32,
    /// The mark, or an index into [`Tokens::words`], combined with the flags above.
    bits: u32,
    /// Index of the quotation that contains it, or [`NONE`] in narration.
    pub(super) quote: u32,
}

impl Token {
    /// Start, in characters.
    pub(super) const fn start(&self) -> usize {
        self.start as usize
    }

    /// Returns the index into [`Tokens::words`], or [`NONE`] for a mark.
    pub(super) const fn word(&self) -> u32 {
        if self.bits & MARK == 0 { self.bits & INDEX } else { NONE }
    }

    /// Returns the mark, or NUL for a word.
    pub(super) fn mark(&self) -> char {
        if self.bits & MARK == 0 { '\0' } else { char::from_u32(self.bits & INDEX).unwrap_or('\0') }
    }

    /// Whether it is a capitalised word outside headings, where capitalisation is informative.
    pub(super) const fn capital(&self) -> bool {
        self.bits & CAPITAL != 0
    }

    /// Whether it opens a sentence, where capitalisation is not informative.
    pub(super) const fn initial(&self) -> bool {
        self.bits & INITIAL != 0
    }

    /// Whether a nested quotation mark opens right before it.
    pub(super) const fn nested(&self) -> bool {
        self.bits & NESTED != 0
    }

    /// Whether `’s` or `’` follows.
    pub(super) const fn possessive(&self) -> bool {
        self.bits & POSSESSED != 0
    }
}

/// A distinct word of the book, in lower case.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) text: String,
    /// Length in characters.
    pub(super) length: u8,
    /// Classes from the tables, as bits.
    pub(super) class: u32,
    /// Number of capitalised occurrences within a sentence.
    pub(super) inner: u32,
    /// Number of capitalised occurrences at the start of a sentence.
    pub(super) first: u32,
    /// Number of other occurrences.
    pub(super) lower: u32,
}

/// A book as tokens.
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) words: Vec<Word>,
    /// The first token of each paragraph, plus the total number of tokens at the end.
    pub(super) starts: Vec<usize>,
    /// By block of [`STEP`] characters: the first token that begins in it or later.
    steps: Vec<u32>,
}

impl Tokens {
    /// Tokenizes a book.
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
                let quote_index = if inside { crate::attribution::to_u32(quote) } else { NONE };
                let c = chars[at];
                if !c.is_alphanumeric() {
                    if matches!(c, '.' | ',' | '!' | '?' | ';' | ':' | '—' | '–' | '-' | '…' | '(' | ')') {
                        book.mark(at, c, quote_index);
                    }
                    at += 1;
                    continue;
                }
                let mut stop = at;
                while stop < end
                    && stop - at < MAX_WORD_LENGTH
                    && (chars[stop].is_alphanumeric() || joins_word(chars, stop, end))
                {
                    stop += 1;
                }
                let possessive = possessive(chars, at, &mut stop);
                buffer.clear();
                buffer.extend(chars[at..stop].iter().map(|&c| lower_case(c)));
                let word = if let Some(&word) = index.get(&buffer) {
                    word
                } else {
                    book.words.push(Word {
                        text: buffer.clone(),
                        length: u8::try_from(stop - at).expect("words are at most 255 characters long"),
                        class: ENGLISH.class(&buffer),
                        inner: 0,
                        first: 0,
                        lower: 0,
                    });
                    let word = crate::attribution::to_u32(book.words.len() - 1);
                    index.insert(buffer.clone(), word);
                    word
                };
                let initial = book.opens_sentence(first, quote_index);
                // Capitalisation in headings is ignored.
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
                let bits = [(capital, CAPITAL), (initial, INITIAL), (possessive, POSSESSED), (nested, NESTED)];
                let bits = bits.into_iter().fold(word, |bits, (set, bit)| if set { bits | bit } else { bits });
                book.list.push(Token { start: crate::attribution::to_u32(at), bits, quote: quote_index });
                at = stop
                    + if possessive {
                        1 + usize::from(chars.get(stop + 1).is_some_and(|c| matches!(c, 's' | 'S')))
                    } else {
                        0
                    };
                // The full stop of an abbreviation does not end a sentence.
                if short && at < end && chars[at] == '.' {
                    at += 1;
                }
            }
        }
        book.starts.push(book.list.len());
        for (at, token) in book.list.iter().enumerate() {
            while book.steps.len() * STEP <= token.start() {
                book.steps.push(crate::attribution::to_u32(at));
            }
        }
        book.learn_role_nouns();
        book
    }

    /// Adds to the role nouns the unknown nouns that occur with a speech verb: `said the notary`, `the notary said`.
    fn learn_role_nouns(&mut self) {
        let mut nouns: Vec<u32> = Vec::new();
        for i in 1..self.list.len() {
            if self.list[i].quote != NONE || self.list[i - 1].quote == NONE && self.list[i - 1].mark() != ',' {
                continue;
            }
            let at = i + usize::from(self.list[i].mark() == ',');
            let is_speech_verb =
                |at: usize| self.class(at) & (SPEECH | AMBIGUOUS_SPEECH) == SPEECH && !self.list[at].capital();
            let is_determined = |at: usize| self.class(at) & (DETERMINER | POSSESSIVE) != 0;
            let noun = if is_speech_verb(at) && is_determined(at + 1) {
                self.trailing_noun(at + 2)
            } else if is_determined(at) {
                self.trailing_noun(at + 1).filter(|&noun| (noun + 1..noun + 3).any(is_speech_verb))
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
    fn trailing_noun(&self, at: usize) -> Option<usize> {
        let is_ordinary = |&i: &usize| {
            let word = self.list.get(i).filter(|token| token.word() != NONE && !token.capital() && token.quote == NONE);
            word.is_some_and(|token| {
                let word = &self.words[token.word() as usize];
                word.class == 0 && word.text.len() > 2 && !(word.text.len() > 4 && word.text.ends_with("ly"))
            })
        };
        let end = (at..at + 4).take_while(is_ordinary).last()?;
        let past = self.text(end).len() > 4 && self.text(end).ends_with("ed");
        (end < at + 3 && !past && !self.text(end).contains('\'')).then_some(end)
    }

    pub(super) fn mark(&mut self, at: usize, mark: char, quote: u32) {
        self.list.push(Token { start: crate::attribution::to_u32(at), bits: MARK | u32::from(mark), quote });
    }

    fn opens_sentence(&self, first: usize, quote: u32) -> bool {
        match self.list[first..].last() {
            None => true,
            Some(last) if last.quote != quote => quote != NONE || last.mark() != ',',
            Some(last) => matches!(last.mark(), '.' | '!' | '?' | ':' | '—' | '-' | '…' | '('),
        }
    }

    /// Returns the first token that begins at or after an offset.
    pub(super) fn first_token_from(&self, offset: usize) -> usize {
        let step = offset / STEP;
        let Some(&from) = self.steps.get(step) else { return self.list.len() };
        let to = self.steps.get(step + 1).map_or(self.list.len(), |&to| to as usize);
        from as usize + self.list[from as usize..to].partition_point(|token| token.start() < offset)
    }

    /// Returns the end of a token, in characters.
    pub(super) fn end(&self, at: usize) -> usize {
        let token = self.list[at];
        let length = self.words.get(token.word() as usize).map_or(1, |word| usize::from(word.length));
        token.start() + length
    }

    /// Returns the first token of a token's sentence, at most 60 tokens back.
    pub(super) fn sentence_start(&self, at: usize) -> usize {
        let quote = self.list[at].quote;
        (at.saturating_sub(60)..at)
            .rev()
            .take_while(|&i| !matches!(self.list[i].mark(), '.' | '!' | '?') && self.list[i].quote == quote)
            .last()
            .unwrap_or(at)
    }

    /// Returns the classes of a token's word, as bits; 0 for a mark.
    pub(super) fn class(&self, at: usize) -> u32 {
        self.list
            .get(at)
            .map_or(0, |token| if token.word() == NONE { 0 } else { self.words[token.word() as usize].class })
    }

    /// Returns a token's word in lower case; empty for a mark.
    pub(super) fn text(&self, at: usize) -> &str {
        self.list
            .get(at)
            .map_or("", |token| if token.word() == NONE { "" } else { &self.words[token.word() as usize].text })
    }

    /// Whether a capitalised word may be a name: not a stop word, and capitalised within sentences too.
    pub(super) fn nameable(&self, word: u32) -> bool {
        let word = &self.words[word as usize];
        word.class & STOP == 0
            && word.text.len() > 1
            && (word.inner > 0 && word.inner * 3 >= word.lower
                || word.lower == 0 && (word.first > 1 || word.class & (GIVEN_FEMALE | GIVEN_MALE) != 0))
    }
}

/// Lower-cases a character to exactly one character, so that the length of a word does not depend on its case.
fn lower_case(c: char) -> char {
    if c == '’' { '\'' } else { c.to_lowercase().next().unwrap_or(c) }
}

/// Whether a mark between two letters joins them into one word.
fn joins_word(chars: &[char], at: usize, end: usize) -> bool {
    matches!(chars[at], '\'' | '’' | '-')
        && at + 1 < end
        && chars[at - 1].is_alphanumeric()
        && chars[at + 1].is_alphanumeric()
}

/// Removes a possessive ending from a word; returns whether there was one.
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
        let paragraphs = crate::attribution::paragraphs::paragraphs(&chars);
        let spans = crate::attribution::quotations::quotations(&chars, &paragraphs, crate::schema::Language::En);
        let book = Tokens::read(&chars, &paragraphs, &spans);
        (chars, book)
    }

    #[test]
    fn a_token_takes_twelve_bytes() {
        // About one token per five characters: each 4 bytes more per token add 0.8 bytes per character of the book.
        assert_eq!(size_of::<Token>(), 12);
        let (chars, book) = tokens(&"“İ ’tis Ruth’s,” said Tom — twice.\n\n".repeat(40));
        assert!(book.steps.len() <= chars.len() / STEP + 1);
        for at in 0..chars.len() {
            assert_eq!(book.first_token_from(at), book.list.partition_point(|token| token.start() < at), "{at}");
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
