//! Files with the characters of a book, their aliases and genders: reads and validates them, and writes those in a pool
//! that have not been edited by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attribution::aliases::{self, Aliases, KnownCharacter};
use crate::attribution::{Attribution, Gender, Person, attribute, attribute_with};
use crate::config::document::problems::SourceSpan;
use crate::config::document::{Document, PipelineError, Problem, schema_check};
use crate::config::error::{BookError, PoolAliasesError};
use crate::config::paths;
use crate::schema::{Book, Language};
use crate::store::Pool;

/// Why an aliases file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AliasesError {
    /// The file cannot be read.
    #[error(transparent)]
    Open(BookError),
    /// Its contents are invalid.
    #[error(transparent)]
    Invalid(PipelineError),
}

/// A character as printed by `extract --quotes --json`, optionally with a gender.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CharacterLine {
    /// Its number in that output; ignored.
    #[serde(default)]
    speaker_id: Option<u64>,
    /// The character's name.
    #[schemars(length(min = 1))]
    name: String,
    /// All other names that the book uses for it.
    #[serde(default)]
    aliases: Option<Vec<String>>,
    #[serde(default)]
    gender: Option<Gender>,
}

/// Reads the characters of a file: TOML in the format of `scene_pool/aliases/<book slug>.toml`, or JSON Lines as
/// printed by `extract --quotes --json`, whose quotations are skipped.
pub fn people(path: &Path) -> Result<Aliases, AliasesError> {
    if !path.exists() {
        let paths::NoMatch { message, nearest } = paths::absent(path);
        return Err(AliasesError::Open(BookError::NoMatch { message, nearest }));
    }
    let open = |source| AliasesError::Open(BookError::Open { path: path.to_owned(), source });
    let text = std::fs::read_to_string(path).map_err(open)?;
    let is_toml = match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => true,
        Some("jsonl" | "ndjson" | "json") => false,
        _ => !text.trim_start_matches('\u{feff}').trim_start().starts_with('{'),
    };
    parse(path, &text, is_toml).map_err(AliasesError::Invalid)
}

/// Attributes the quotations of a book by rule, in each of its languages. If its aliases file in the pool was edited by
/// hand, the file decides about characters; otherwise the file is rewritten.
///
/// Also returns a note if an edited file has characters that the book does not name. `text` is the book's text, passed
/// separately because it may have been moved out of `book`.
pub fn read_book(
    pool: &Pool,
    book: &Book,
    text: &str,
    languages: &BTreeSet<Language>,
) -> Result<(BTreeMap<Language, Attribution>, Option<String>), PoolAliasesError> {
    let path = pool.aliases_path(&book.slug);
    if let Some(file) = pool.aliases(&book.slug)?.filter(|file| !aliases::is_as_written(file)) {
        let aliases = parse(&path, &file, true).map_err(PoolAliasesError::Invalid)?;
        let mut attributions: BTreeMap<Language, Attribution> =
            languages.iter().map(|&language| (language, corrected(book, text, language, &aliases))).collect();
        let is_here = |person: &&Person| person.mentions > 0 || person.lines > 0;
        let here = attributions.values().flat_map(|attribution| attribution.people.iter().filter(is_here));
        let here: BTreeSet<&str> = here.map(|person| person.name.as_str()).collect();
        let names = aliases.people.iter().map(|person| person.name.as_str());
        let absent: Vec<String> = names.filter(|name| !here.contains(name)).map(|name| format!("`{name}`")).collect();
        let note = format!("`{}`: the book has no mention of {}", path.display(), absent.join(", "));
        if attributions.len() > 1 {
            // A character that speaks only in one language is dropped from the others; characters without mentions are
            // last.
            for attribution in attributions.values_mut() {
                let here = attribution.people.iter().take_while(is_here).count();
                attribution.people.truncate(here);
            }
        }
        return Ok((attributions, (!absent.is_empty()).then_some(note)));
    }
    let attributions: BTreeMap<Language, Attribution> =
        languages.iter().map(|&language| (language, attribute(text, language, book.script))).collect();
    let (own, others): (Vec<_>, Vec<_>) = attributions.iter().partition(|(language, _)| **language == book.language);
    let all: Vec<&Attribution> = own.into_iter().chain(others).map(|(_, attribution)| attribution).collect();
    pool.write_aliases(&book.slug, &aliases::text(&book.slug, &all))?;
    Ok((attributions, None))
}

/// Attributes a book in one language with an edited file. In the book's main language the file applies in full.
fn corrected(book: &Book, text: &str, language: Language, aliases: &Aliases) -> Attribution {
    if language == book.language {
        return attribute_with(text, language, book.script, aliases);
    }
    let by_rule = attribute(text, language, book.script);
    match aliases.for_translation(&by_rule) {
        Some(aliases) => attribute_with(text, language, book.script, &aliases),
        None => by_rule,
    }
}

fn parse(path: &Path, text: &str, is_toml: bool) -> Result<Aliases, PipelineError> {
    // The parser does not accept the byte order mark that some editors write.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut problems = Vec::new();
    let read = if is_toml { toml(text, &mut problems) } else { Some(lines(text, &mut problems)) };
    if let Some(aliases) = read.filter(|_| problems.is_empty()) {
        return Ok(aliases);
    }
    problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    Err(PipelineError::Invalid { sources: vec![(path.display().to_string(), text.to_owned())], problems })
}

fn toml(text: &str, problems: &mut Vec<Problem>) -> Option<Aliases> {
    let document = Document::toml(0, text, problems);
    if !document.complete {
        return None;
    }
    schema_check::check::<Aliases>(&document, "the file", problems);
    let aliases: Aliases = serde_json::from_value(document.value.clone()).ok()?;
    for fault in aliases.faults() {
        let problem = Problem::new(document.at(&fault.pointer), fault.message).expected(fault.expected);
        problems.push(match fault.unknown {
            Some(name) => problem.nearest(&name, aliases.names()),
            None => problem,
        });
    }
    Some(aliases)
}

/// Reads one character per line. If two lines share a name, it belongs to the first, as in the program's own output.
fn lines(text: &str, problems: &mut Vec<Problem>) -> Aliases {
    let mut aliases = Aliases::default();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let start = begin;
        begin += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let before = problems.len();
        let document = Document::json(0, line, problems);
        if document.complete && !document.has("/quote") {
            schema_check::check::<CharacterLine>(&document, "the line", problems);
            if let Ok(CharacterLine { name, aliases: others, gender, .. }) = serde_json::from_value(document.value) {
                aliases.people.push(KnownCharacter { name, aliases: others, gender });
            }
        }
        for problem in &mut problems[before..] {
            let is_whole_file = problem.span.is_empty();
            let span = if is_whole_file { 0..line.trim_end().len() } else { problem.span.clone() };
            problem.span = start + span.start..start + span.end;
        }
    }
    aliases.assign_shared_names();
    if aliases.people.is_empty() && problems.is_empty() {
        problems.push(Problem::new(SourceSpan::whole_source(0), "the file has no characters").expected(
            "a line such as {\"name\": \"Jane Eyre\", \"aliases\": [\"Jane\"]} per character, or a TOML file with the extension `.toml`",
        ));
    }
    aliases
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const EN: &str =
        "“One,” said Mr. Hale.\n\n“Two,” said Ruth Hallow.\n\n“Three,” said Hale.\n\n“Four,” said Ruth Hallow.\n";
    const ZH: &str = "江守田道：“一。”\n\n孟秋云说：“二。”\n\n江守田又道：“三。”\n\n孟秋云道：“四。”\n";

    fn empty_pool() -> (TempDir, Pool) {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::open(&folder.path().join("scene_pool")).unwrap();
        (folder, pool)
    }

    fn book(language: Language) -> Book {
        let text = if language == Language::En { EN } else { ZH };
        Book { slug: "tide".to_owned(), language, text: text.to_owned(), ..Book::default() }
    }

    /// Reads a book that is entirely in its main language.
    fn read_own(pool: &Pool, book: &Book) -> Result<(Attribution, Option<String>), PoolAliasesError> {
        let (mut attributions, note) = read_book(pool, book, &book.text, &BTreeSet::from([book.language]))?;
        Ok((attributions.remove(&book.language).expect("the language that was asked for"), note))
    }

    fn speakers(attribution: &Attribution) -> String {
        let speakers = attribution.quotations.iter().map(|quotation| quotation.speaker);
        speakers
            .map(|speaker| speaker.map_or("-", |speaker| &attribution.people[speaker].name))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn an_alias_file_is_updated_until_it_is_edited() {
        for (language, from, to, before, after) in [
            (
                Language::En,
                "Mr. Hale",
                "Edwin",
                "Mr. Hale Ruth Hallow Mr. Hale Ruth Hallow",
                "Edwin Ruth Hallow Edwin Ruth Hallow",
            ),
            (Language::Zh, "江守田", "江老大", "江守田 孟秋云 江守田 孟秋云", "江老大 孟秋云 江老大 孟秋云"),
        ] {
            let (_folder, pool) = empty_pool();
            let mut book = book(language);
            let (attribution, note) = read_own(&pool, &book).unwrap();
            assert_eq!((speakers(&attribution).as_str(), note), (before, None));
            let written = pool.aliases("tide").unwrap().unwrap();
            assert_eq!(written, aliases::text("tide", &[&attribution]));

            // A changed book updates the file, since the file has not been edited.
            let more = if language == Language::En {
                "\n“Five,” said Tom Reed.\n"
            } else {
                "\n灯花婆道：“五。”\n"
            };
            book.text += more;
            read_own(&pool, &book).unwrap();
            let refreshed = pool.aliases("tide").unwrap().unwrap();
            assert!(refreshed.contains("Tom Reed") || refreshed.contains("灯花婆"), "{refreshed}");

            // After a character is renamed by hand, the book's next version leaves the file unchanged.
            let mut changed = refreshed.replacen(&format!("name = \"{from}\""), &format!("name = \"{to}\""), 1);
            let offset = changed.find(to).unwrap();
            let aliases = offset + changed[offset..].find("aliases = [").unwrap() + "aliases = [".len();
            let rest = if changed[aliases..].starts_with(']') { "" } else { ", " };
            changed.insert_str(aliases, &format!("\"{from}\"{rest}"));
            pool.write_aliases("tide", &changed).unwrap();
            book.text += &more.replace("Tom", "Ann");
            let (attribution, note) = read_own(&pool, &book).unwrap();
            assert!(speakers(&attribution).starts_with(after), "{}", speakers(&attribution));
            assert_eq!(note, None);
            assert_eq!(pool.aliases("tide").unwrap().unwrap(), changed);

            // A character that the book does not mention is reported.
            pool.write_aliases("tide", &(changed + "[[people]]\nname = \"Ishmael\"\n")).unwrap();
            let note = read_own(&pool, &book).unwrap().1.unwrap();
            assert!(note.ends_with("tide.toml`: the book has no mention of `Ishmael`"), "{note}");
        }
    }

    #[test]
    fn a_file_corrects_both_languages_of_a_book() {
        let (_folder, pool) = empty_pool();
        let book = Book { text: format!("{EN}\n{ZH}"), ..book(Language::En) };
        let both = BTreeSet::from(Language::ALL);
        let read = |book: &Book| read_book(&pool, book, &book.text, &both).unwrap();
        read(&book);
        let written = pool.aliases("tide").unwrap().unwrap();
        assert!(written.find("Ruth Hallow") < written.find("孟秋云"), "the main language comes first: {written}");
        let changed = written.replacen("name = \"江守田\"", "name = \"Old Jiang\"", 1).replacen(
            "name = \"Ruth Hallow\"",
            "name = \"Mrs. Reed\"",
            1,
        );
        let with = |text: &str, name: &str, alias: &str| {
            let from = text.find(name).unwrap();
            let at = from + text[from..].find("aliases = [").unwrap() + "aliases = [".len();
            let rest = if text[at..].starts_with(']') { "" } else { ", " };
            format!("{}\"{alias}\"{rest}{}", &text[..at], &text[at..])
        };
        let changed = with(&with(&changed, "Old Jiang", "江守田"), "Mrs. Reed", "Ruth Hallow");
        pool.write_aliases("tide", &changed).unwrap();
        let (attributions, note) = read(&book);
        assert_eq!(note, None, "every character occurs in one of the languages");
        let (en, zh) = (speakers(&attributions[&Language::En]), speakers(&attributions[&Language::Zh]));
        assert!(en.starts_with("Mr. Hale Mrs. Reed Mr. Hale Mrs. Reed"), "{en}");
        assert!(zh.ends_with("Old Jiang 孟秋云 Old Jiang 孟秋云"), "{zh}");
        assert!(
            attributions[&Language::En].people.iter().all(|person| person.name != "孟秋云"),
            "the other language does not mention her"
        );
        assert_eq!(pool.aliases("tide").unwrap().unwrap(), changed);

        // A file for the first language alone leaves the second to the rules.
        let english = "[[people]]\nname = \"Hale\"\naliases = [\"Mr. Hale\"]\n[[people]]\nname = \"Ishmael\"\n";
        pool.write_aliases("tide", english).unwrap();
        let (attributions, note) = read(&book);
        assert!(speakers(&attributions[&Language::Zh]).contains("江守田 孟秋云 江守田 孟秋云"));
        assert!(note.unwrap().ends_with("the book has no mention of `Ishmael`"));
    }

    fn problems(name: &str, text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        crate::store::write(&path, text.as_bytes()).unwrap();
        match people(&path) {
            Ok(_) => "none".to_owned(),
            Err(AliasesError::Invalid(PipelineError::Invalid { sources, problems })) => {
                assert!(sources[0].0.ends_with(name));
                let messages = problems.into_iter().map(|problem| {
                    let expected = problem.expected.map_or(String::new(), |expected| format!(" ({expected})"));
                    let nearest = problem.nearest.map_or(String::new(), |nearest| format!(" [{nearest}]"));
                    format!("{} at {}{expected}{nearest}", problem.message, &sources[0].1[problem.span])
                });
                messages.collect::<Vec<_>>().join("; ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn errors_in_an_alias_file_have_their_position() {
        for (name, text, expected) in [
            ("a.toml", "\u{feff}[[people]]\nname = \"薛嵩\"\ngender = \"male\"\n", "none"),
            ("a.toml", "people = [\n", "invalid TOML"),
            (
                "a.toml",
                "[[people]]\nname = \"薛嵩\"\nalias = [\"节度使\"]\n",
                "unknown key `alias` in `people[0]` at alias [aliases]",
            ),
            ("a.toml", "[[people]]\naliases = [\"Kez\"]\n", "is missing the key `name`"),
            ("a.toml", "[[people]]\nname = \"Kez\"\ngender = \"femal\"\n", "at \"femal\""),
            (
                "a.toml",
                "[[people]]\nname = \"Kez\"\n[[people]]\nname = \"Ann\"\naliases = [\"kez\"]\n",
                "`kez` is already a name of `Kez` at \"kez\" (the name at one character only: remove it here or at `Kez`)",
            ),
            (
                "a.toml",
                "narrator = \"红线女\"\n[[people]]\nname = \"红线\"\n",
                "the narrator `红线女` is not a character in this file at \"红线女\" (a name or alias of one of `people`) [红线]",
            ),
            (
                "a.jsonl",
                "{\"name\": \"Kez\"}\n\n{\"book\": \"b\", \"quote\": \"q\"}\n{\"name\": \"Ann\", \"alias\": []}\n",
                "unknown key `alias` in the line at \"alias\" [aliases]",
            ),
            (
                "a.jsonl",
                "{\"name\": \"薛嵩\"}\n{\"aliases\": []}\n",
                "the line is missing the key `name` at {\"aliases\": []}",
            ),
            ("a.jsonl", "{\"name\": \"薛嵩\"}\nname\n", "invalid JSON"),
            ("a.txt", "[[people]]\nname = \"Kez\"\n", "none"),
            ("a.txt", "{\"speaker_id\": 0, \"name\": \"Kez\", \"aliases\": []}\n", "none"),
            ("a.json", "\n", "the file has no characters"),
        ] {
            let messages = problems(name, text);
            assert!(messages.contains(expected), "{text}: {messages}");
        }
        let messages = people(Path::new("no/such.toml")).expect_err("no file").to_string();
        assert!(messages.contains("no file `no/such.toml`"), "{messages}");
    }

    #[test]
    fn an_invalid_alias_file_ends_the_run_and_is_kept() {
        let (_folder, pool) = empty_pool();
        pool.write_aliases("tide", "[[people]]\nname = 3\n").unwrap();
        let error = read_own(&pool, &book(Language::En)).expect_err("no name");
        let PoolAliasesError::Invalid(PipelineError::Invalid { sources, problems }) = error else { panic!("{error}") };
        assert!(sources[0].0.ends_with("tide.toml"));
        assert_eq!(&sources[0].1[problems[0].span.clone()], "3");
        assert_eq!(pool.aliases("tide").unwrap().unwrap(), "[[people]]\nname = 3\n");
    }

    #[test]
    fn the_printed_characters_are_accepted_as_input() {
        for language in Language::ALL {
            let book = book(language);
            let attribution = attribute(&book.text, language, false);
            let printed = crate::attribution::json_lines(&attribution, "tide");
            let printed: String = printed.map(|line| line.to_string() + "\n").collect();
            let read = parse(Path::new("out.jsonl"), &printed, false).unwrap();
            let genders =
                Aliases::of(&attribution).people.into_iter().map(|person| KnownCharacter { gender: None, ..person });
            assert_eq!(read.people, genders.collect::<Vec<_>>());
        }
    }
}
