//! Statistics of a pool by book and language.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use serde_json::json;

use super::{chosen, out, with_index};
use crate::cli::args::{PoolArguments, SceneFilter};
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::schema::{Language, SceneHead};
use crate::stages::export::thousands;
use crate::store::SceneKind;

/// Prints statistics by book and language.
pub(super) fn stats(arguments: &PoolArguments, filter: &SceneFilter) -> Exit {
    with_index(arguments, |index| {
        let mut books: BTreeMap<(&str, Language), Sums> = BTreeMap::new();
        let mut all: BTreeMap<Language, Sums> = BTreeMap::new();
        for position in chosen(index, filter) {
            let (head, kind) = (index.head(position), index.origin(position).1);
            books.entry((head.book.as_str(), head.language)).or_default().count(head, kind);
            all.entry(head.language).or_default().count(head, kind);
        }
        let mut out = out();
        if arguments.json {
            let book = |((book, language), sums): (&(&str, Language), &Sums)| sums.json(Some(book), *language);
            let stats = json!({
                "pool": arguments.pool,
                "scenes": all.values().map(|sums| sums.scenes).sum::<u64>(),
                "languages": all.iter().map(|(language, sums)| sums.json(None, *language)).collect::<Vec<_>>(),
                "books": books.iter().map(book).collect::<Vec<_>>(),
            });
            writeln!(out, "{stats}")?;
        } else {
            writeln!(
                out,
                "{:>8} {:>9} {:>7} {:>7}  grounding: {}",
                "scenes",
                "lines",
                "people",
                "edited",
                BANDS.join("  ")
            )?;
            for ((book, language), sums) in &books {
                writeln!(out, "{}  {language}  {}", sums.line(), visible(book))?;
            }
            for (language, sums) in &all {
                writeln!(
                    out,
                    "{}  {language}  all {} books",
                    sums.line(),
                    books.keys().filter(|(_, of)| of == language).count()
                )?;
            }
        }
        Ok(out.flush()?)
    })
}

/// Grounding ranges, from the lowest; manually written scenes have none.
const BANDS: [&str; 5] = ["none", "< 0.5", "< 0.8", "< 1", "1"];

/// Totals of a group of scenes.
#[derive(Default)]
struct Sums<'a> {
    scenes: u64,
    lines: u64,
    people: BTreeSet<&'a str>,
    own: u64,
    bands: [u64; 5],
}

impl<'a> Sums<'a> {
    fn count(&mut self, head: &'a SceneHead, kind: SceneKind) {
        self.scenes += 1;
        self.lines += u64::from(head.lines);
        self.people.extend(head.cast.iter().map(String::as_str));
        self.own += u64::from(kind != SceneKind::Book);
        let band = match head.grounding {
            None => 0,
            Some(share) if share < 0.5 => 1,
            Some(share) if share < 0.8 => 2,
            Some(share) if share < 1.0 => 3,
            Some(_) => 4,
        };
        self.bands[band] += 1;
    }

    fn line(&self) -> String {
        let [scenes, lines, people, own] = [self.scenes, self.lines, self.people.len() as u64, self.own].map(thousands);
        let bands: Vec<String> = self
            .bands
            .iter()
            .zip(BANDS)
            .map(|(count, band)| format!("{:>1$}", thousands(*count), band.len()))
            .collect();
        format!("{scenes:>8} {lines:>9} {people:>7} {own:>7}             {}", bands.join("  "))
    }

    fn json(&self, book: Option<&str>, language: Language) -> serde_json::Value {
        let [none, low, fair, high, full] = self.bands;
        let grounding = json!({"none": none, "below_0.5": low, "below_0.8": fair, "below_1": high, "1": full});
        let mut sums = json!({
            "language": language, "scenes": self.scenes, "lines": self.lines,
            "people": self.people.len(), "own": self.own, "grounding": grounding,
        });
        if let Some(book) = book {
            sums["book"] = book.into();
        }
        sums
    }
}
