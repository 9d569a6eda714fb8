//! Limits how much of the books' own text goes into a data set: no string contains a longer passage of a book than
//! allowed, and with `export.include_book_text = false` the columns of original text are null.
//!
//! Passages are compared by their letters and digits only, so that different line breaks, quotation marks or capitals
//! do not hide them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use fastbloom::BloomFilter;
use polars::prelude::{
    ChunkFull, Column, DataFrame, DataType, IntoColumn, IntoSeries, NewChunkedArray, PolarsResult, Series,
    StringChunked, StructChunked,
};
use serde::Deserialize;

use super::{ExportError, Params};
use crate::text::OMITTED_TEXT;

/// The limit in code points if original text is excluded and no limit is set. Shorter passages are common phrases.
const PHRASE: u32 = 40;
/// The number of punctuation marks and spaces around the letters of a passage that may belong to it.
const MARKS: usize = 6;
/// The false positive rate of the Bloom filter. A passage is only cut if neighbouring windows are found too.
const FALSE_POSITIVES: f64 = 1e-6;

/// The column lists of `quote_limits.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnLists {
    names: Vec<String>,
    own_text: BTreeMap<String, Vec<String>>,
}

static COLUMN_LISTS: LazyLock<ColumnLists> = LazyLock::new(|| embedded_toml!("quote_limits.toml"));

/// The limits on publishing the books' own text.
#[derive(Debug)]
pub struct QuoteLimits {
    /// The passages of the books; `None` if there is no limit.
    passages: Option<Passages>,
    /// Whether columns with original text are kept.
    text: bool,
    /// The canary that every row gets.
    canary: Option<String>,
}

impl QuoteLimits {
    /// Creates the limits from the pipeline file. `letters` is the number of letters and digits in all books, which
    /// must then be passed to [`QuoteLimits::add`].
    #[must_use]
    pub fn new(params: &Params, letters: usize) -> Self {
        let passages = Self::longest(params).map(|longest| Passages::new(longest, letters));
        Self { passages, text: params.include_book_text, canary: params.canary.clone() }
    }

    /// Returns the maximum length of a passage in code points. If it is `None` there is no limit, and books need not be
    /// added.
    #[must_use]
    pub const fn longest(params: &Params) -> Option<u32> {
        match (params.max_quote_chars, params.include_book_text) {
            (None, true) => None,
            (None, false) => Some(PHRASE),
            (Some(longest), _) => Some(longest),
        }
    }

    /// Returns the number of letters and digits of a book.
    #[must_use]
    pub fn letters(text: &str) -> usize {
        text.chars().filter(|c| c.is_alphanumeric()).count()
    }

    /// Adds the text of a book.
    pub fn add(&mut self, text: &str) {
        if let Some(passages) = &mut self.passages {
            passages.add(text);
        }
    }

    /// Applies the limits to rows and adds the canary.
    pub(super) fn apply(&self, config: &'static str, frame: DataFrame) -> Result<DataFrame, ExportError> {
        self.limit_frame(config, frame).map_err(|source| ExportError::Frame { config, source })
    }

    /// Cuts every passage of a text that exceeds the limit.
    pub(super) fn shortened<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.passages.as_ref().map_or(Cow::Borrowed(text), |passages| passages.shortened(text))
    }

    fn limit_frame(&self, config: &str, mut frame: DataFrame) -> PolarsResult<DataFrame> {
        if self.passages.is_some() || !self.text {
            let own_text = COLUMN_LISTS.own_text.get(config).filter(|_| !self.text).map_or(&[][..], Vec::as_slice);
            let column = |column: &Column| -> PolarsResult<Column> {
                Ok(self.limit_series(column.as_materialized_series(), column.name(), own_text)?.into_column())
            };
            let columns: PolarsResult<Vec<Column>> = frame.columns().iter().map(column).collect();
            frame = DataFrame::new(frame.height(), columns?)?;
        }
        if let Some(canary) = &self.canary {
            frame.with_column(StringChunked::full("canary".into(), canary, frame.height()).into_column())?;
        }
        Ok(frame)
    }

    /// Applies the limits to a column or a part of one. `path` is the dotted path of the field.
    fn limit_series(&self, series: &Series, path: &str, own_text: &[String]) -> PolarsResult<Series> {
        if own_text.iter().any(|column| column == path) {
            return Ok(Series::full_null(series.name().clone(), series.len(), series.dtype()));
        }
        match series.dtype() {
            DataType::String => {
                let name = path.rsplit('.').next().unwrap_or(path);
                let Some(passages) = self.passages.as_ref().filter(|_| !is_name(name)) else {
                    return Ok(series.clone());
                };
                let texts = series.str()?;
                let shortened = texts.iter().map(|text| text.map(|text| passages.shortened(text)));
                Ok(StringChunked::from_iter_options(series.name().clone(), shortened).into_series())
            }
            DataType::List(_) => {
                let lists = series.list()?.apply_to_inner(&|inner| self.limit_series(&inner, path, own_text))?;
                Ok(lists.into_series())
            }
            DataType::Struct(_) => {
                let fields: PolarsResult<Vec<Series>> = series
                    .struct_()?
                    .fields_as_series()
                    .iter()
                    .map(|field| self.limit_series(field, &format!("{path}.{}", field.name()), own_text))
                    .collect();
                let made = StructChunked::from_series(series.name().clone(), series.len(), fields?.iter())?;
                Ok(made.into_series())
            }
            _ => Ok(series.clone()),
        }
    }
}

fn is_name(column: &str) -> bool {
    COLUMN_LISTS.names.iter().any(|name| name == column)
        || column.ends_with("_id")
        || column.ends_with("_model")
        || column == "model"
}

/// All windows of `width` consecutive letters in all books.
#[derive(Debug)]
struct Passages {
    windows: BloomFilter,
    /// The number of letters in a window.
    width: usize,
    /// The maximum length of a passage in code points, from its first letter to its last.
    longest: usize,
}

impl Passages {
    fn new(longest: u32, letters: usize) -> Self {
        let longest = (longest as usize).saturating_sub(MARKS);
        // At least half of a text is letters. The passages found are measured in code points before they are cut.
        let width = longest.div_ceil(2).max(4);
        let windows = BloomFilter::with_false_pos(FALSE_POSITIVES).seed(&7).expected_items(letters.max(1));
        Self { windows, width, longest }
    }

    fn add(&mut self, text: &str) {
        let mut rolling = Rolling::new(self.width);
        for c in text.chars().filter(|c| c.is_alphanumeric()) {
            if let Some(hash) = rolling.add(c) {
                self.windows.insert(&hash);
            }
        }
    }

    /// Cuts every passage of a text that exceeds the limit after its beginning.
    fn shortened<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // A short text cannot contain a longer passage.
        if text.len() < self.longest {
            return Cow::Borrowed(text);
        }
        let mut shortened = String::new();
        let mut copied = 0;
        for (start, end) in self.passages(text) {
            let Some((cut, _)) = text[start..end].char_indices().nth(self.longest) else { continue };
            shortened.push_str(&text[copied..start]);
            shortened.push_str(text[start..start + cut].trim_end());
            shortened.push_str(OMITTED_TEXT);
            copied = end;
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        shortened.push_str(&text[copied..]);
        Cow::Owned(shortened)
    }

    /// Returns the byte ranges of the passages of a text that occur in a book, from the first letter to the end of the
    /// last one.
    fn passages(&self, text: &str) -> Vec<(usize, usize)> {
        let letters: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| c.is_alphanumeric()).collect();
        let mut rolling = Rolling::new(self.width);
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (last, (_, c)) in letters.iter().enumerate() {
            let Some(hash) = rolling.add(*c) else { continue };
            if !self.windows.contains(&hash) {
                continue;
            }
            // Overlapping passages are treated as one, because each alone could be within the limit.
            match runs.last_mut().filter(|run| last < run.1 + self.width) {
                Some(run) => run.1 = last,
                None => runs.push((last + 1 - self.width, last)),
            }
        }
        let byte_range = |(first, last): (usize, usize)| {
            let (at, c) = letters[last];
            (letters[first].0, at + c.len_utf8())
        };
        runs.into_iter().map(byte_range).collect()
    }
}

/// A rolling hash of the last `width` letters of a text.
struct Rolling {
    letters: std::collections::VecDeque<u64>,
    width: usize,
    hash: u64,
    /// The factor of the letter that leaves the window.
    leaving: u64,
}

impl Rolling {
    /// The 64-bit golden ratio constant: odd, with no pattern in its bits.
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

    fn new(width: usize) -> Self {
        let leaving = (0..width).fold(1_u64, |power, _| power.wrapping_mul(Self::BASE));
        Self { letters: std::collections::VecDeque::with_capacity(width + 1), width, hash: 0, leaving }
    }

    /// Adds a letter. Returns the hash once the window is full.
    fn add(&mut self, letter: char) -> Option<u64> {
        let letter = u64::from(u32::from(letter.to_lowercase().next().unwrap_or(letter))) + 1;
        self.letters.push_back(letter);
        self.hash = self.hash.wrapping_mul(Self::BASE).wrapping_add(letter);
        if self.letters.len() > self.width {
            let removed = self.letters.pop_front().expect("the window is longer than `width`");
            self.hash = self.hash.wrapping_sub(removed.wrapping_mul(self.leaving));
        }
        (self.letters.len() == self.width).then_some(self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Character, Scene};
    use crate::stages::export::fixture::records;
    use crate::stages::export::groups::TableRow as _;

    const EN: &str = "It rained on the weir all that night, and nobody in the mill slept.\r\n“Who is there?” said Hannah, \
        and she held up the lamp so that the whole of the landing was lit.\r\n";
    const ZH: &str = "河边有一座旧水车，三十年没有转过。“今夜涨水。”陆三更说，“你把灯举高些，让我看看墙上的水印。”";

    fn quote_limits(longest: u32) -> QuoteLimits {
        let params = Params { max_quote_chars: Some(longest), ..Params::default() };
        let mut quote_limits = QuoteLimits::new(&params, QuoteLimits::letters(EN) + QuoteLimits::letters(ZH));
        quote_limits.add(EN);
        quote_limits.add(ZH);
        quote_limits
    }

    fn shortened(text: &str, longest: u32) -> String {
        quote_limits(longest).passages.expect("a limit is set").shortened(text).into_owned()
    }

    /// Returns the length in code points of the longest passage that a text shares with a book.
    fn longest(text: &str, book: &str) -> usize {
        let chars: Vec<char> = text.chars().collect();
        let mut longest = 0;
        for start in 0..chars.len() {
            while start + longest < chars.len()
                && book.contains(&chars[start..=start + longest].iter().collect::<String>())
            {
                longest += 1;
            }
        }
        longest
    }

    #[test]
    fn a_long_quotation_is_cut_and_other_text_is_kept() {
        let said =
            "She asks him: “Who is there?” said Hannah, and she held up the lamp so that the whole of it. He left.";
        assert_eq!(shortened(said, 30), "She asks him: “Who is there?” said Hann[…] it. He left.");
        let said = "他说：今夜涨水。陆三更说，你把灯举高些，让我看看墙上的水印。他走了。";
        assert_eq!(shortened(said, 20), "他说：今夜涨水。陆三更说，你把灯举[…]。他走了。");
        for own in ["Nobody slept in the mill, and it rained.", "水印在墙上，灯举得很高，他看了看水车。", ""]
        {
            assert_eq!(shortened(own, 20), own);
        }
    }

    #[test]
    fn wrapping_and_punctuation_do_not_hide_a_quotation() {
        for text in [
            "IT RAINED ON THE WEIR ALL THAT NIGHT -- AND NOBODY IN THE MILL SLEPT",
            "It rained on\n  the weir all that\n  night and nobody in the mill slept.",
        ] {
            let left = shortened(text, 20);
            assert!(left.chars().count() < 20 && left.contains(OMITTED_TEXT), "{left}");
        }
        let text = "「今夜涨水」陆三更说「你把灯举高些让我看看墙上的水印」";
        assert_eq!(shortened(text, 20), "「今夜涨水」陆三更说「你把灯举[…]」");
    }

    #[test]
    fn no_remaining_quotation_exceeds_the_limit() {
        for (book, mark) in [(EN, ' '), (ZH, '，')] {
            let chars: Vec<char> = book.chars().collect();
            for bound in [20, 25, 40] {
                for start in (0..chars.len()).step_by(3) {
                    for length in [5, 20, 45, 90] {
                        let piece: String = chars[start..(start + length).min(chars.len())].iter().collect();
                        let text = format!("so{mark}{piece}{mark}{piece} no");
                        let kept = shortened(&text, bound);
                        assert!(longest(&kept, book) <= bound as usize, "{bound}: {text} -> {kept}");
                        // Two overlapping passages, which happen when a phrase occurs twice in a book.
                        let turn: String = piece.chars().rev().take(9).collect::<Vec<_>>().into_iter().rev().collect();
                        let other = format!("{turn}{}", "xy".repeat(20));
                        let mut quote_limits = quote_limits(bound);
                        quote_limits.add(&other);
                        let text = format!("{piece}{}", &other[turn.len()..]);
                        let kept = quote_limits.passages.expect("a limit is set").shortened(&text).into_owned();
                        for book in [book, &other] {
                            assert!(longest(&kept, book) <= bound as usize, "{bound}: {text} -> {kept}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn book_text_columns_are_null_and_offsets_are_kept() {
        let params = Params { include_book_text: false, canary: Some("canary 1234".into()), ..Params::default() };
        let mut quote_limits = QuoteLimits::new(&params, 1);
        let records = records();
        let scene = &records.scenes[0];
        quote_limits.add(scene.dialogue.iter().find_map(|line| line.speech.as_deref()).expect("the scene has speech"));
        let frame = Scene::frame(&records.scenes).unwrap();
        let left = quote_limits.apply("scenes", frame.clone()).unwrap();
        assert_eq!(left.height(), frame.height());
        for column in frame.columns() {
            assert_eq!(left.column(column.name()).unwrap().dtype(), column.dtype(), "{}", column.name());
        }
        let lines = |frame: &DataFrame, field: &str| {
            let dialogue = frame.column("dialogue").unwrap().list().unwrap().get_inner();
            dialogue.struct_().unwrap().field_by_name(field).unwrap()
        };
        assert_eq!(lines(&left, "speech").null_count(), lines(&left, "speech").len());
        assert_eq!(lines(&left, "start"), lines(&frame, "start"));
        assert_eq!(lines(&left, "speaker"), lines(&frame, "speaker"));
        let canary = left.column("canary").unwrap().str().unwrap();
        assert!(canary.iter().all(|text| text == Some("canary 1234")));
        let characters = quote_limits.apply("characters", Character::frame(&records.characters).unwrap()).unwrap();
        let lines = characters.column("lines").unwrap();
        assert_eq!(lines.null_count(), lines.len());
    }

    #[test]
    fn without_quote_limits_nothing_changes() {
        let frame = Scene::frame(&records().scenes).unwrap();
        let quote_limits = QuoteLimits::new(&Params::default(), 0);
        assert_eq!(QuoteLimits::longest(&Params::default()), None);
        assert_eq!(quote_limits.apply("scenes", frame.clone()).unwrap(), frame);
    }
}
