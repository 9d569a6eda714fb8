//! Accuracy of rule-based attribution on the shipped books, against annotations by their authors.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dramaturg::attribution::aliases;
use dramaturg::attribution::aliases::{Aliases, KnownCharacter};
use dramaturg::attribution::{Attribution, Quotation, QuotationKind, attribute, attribute_with};
use dramaturg::schema::Language;

fn file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rows(path: &str) -> Vec<Vec<String>> {
    file(path).lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The shares of annotated quotations that are found, and of those with the right speaker: per kind and over `all`.
struct Score {
    found: f64,
    right: BTreeMap<String, f64>,
}

fn share(part: usize, total: usize) -> f64 {
    let count = |n: usize| f64::from(u32::try_from(n).expect("a book has few quotations"));
    count(part) / count(total.max(1))
}

fn names_speaker(attribution: &Attribution, quotation: &Quotation, names: &[String]) -> bool {
    quotation.speaker.is_some_and(|speaker| {
        let person = &attribution.people[speaker];
        names.iter().any(|name| *name == person.name || person.aliases.contains(name))
    })
}

fn score(book: &str, language: Language) -> Score {
    let attribution = attribute(&file(&format!("books/{book}.txt")), language, false);
    let names: BTreeMap<String, Vec<String>> = rows(&format!("tests/fixtures/gold/{book}.characters.tsv"))
        .into_iter()
        .map(|row| {
            let mut names: Vec<String> = row[1].split('|').map(str::to_owned).collect();
            names.push(row[0].clone());
            (row[0].clone(), names)
        })
        .collect();
    let starts: BTreeMap<u32, &Quotation> =
        attribution.quotations.iter().map(|quotation| (quotation.start, quotation)).collect();
    let (mut all, mut found) = (0, 0);
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let offset = |cell: &str| -> u32 { cell.parse().expect("the gold holds offsets") };
    for row in rows(&format!("tests/fixtures/gold/{book}.quotes.tsv")).iter().filter(|row| row[3] != "none") {
        let quotation = starts.get(&offset(&row[0]));
        let is_found = quotation.is_some_and(|quotation| quotation.end.abs_diff(offset(&row[1])) < 2);
        let is_right = quotation.is_some_and(|quotation| names_speaker(&attribution, quotation, &names[&row[2]]));
        all += 1;
        found += usize::from(is_found);
        for kind in [row[3].as_str(), "all"] {
            let count = counts.entry(kind.to_owned()).or_default();
            count.0 += usize::from(is_right);
            count.1 += 1;
        }
    }
    let right = counts.into_iter().map(|(kind, (right, all))| (kind, share(right, all))).collect();
    Score { found: share(found, all), right }
}

fn check(book: &str, language: Language, floors: &[(&str, f64)]) {
    let score = score(book, language);
    assert!(score.found >= 0.99, "{book}: only {:.3} of the quotations are found", score.found);
    for (kind, floor) in floors {
        assert!(
            score.right[*kind] >= *floor,
            "{book}: {:.3} of the {kind} speakers are right, expected at least {floor}",
            score.right[*kind]
        );
    }
}

#[test]
fn attribution_of_the_english_novella_is_accurate() {
    let floors = [("all", 0.86), ("explicit", 0.95), ("anaphoric", 0.80), ("implicit", 0.75)];
    check("a_penny_either_way", Language::En, &floors);
}

#[test]
fn attribution_of_the_chinese_novella_is_accurate() {
    let floors = [("all", 0.81), ("explicit", 0.98), ("anaphoric", 0.68), ("implicit", 0.65)];
    check("lian_wen_ji", Language::Zh, &floors);
}

#[test]
fn every_speech_of_the_play_is_attributed_to_its_cue() {
    let attribution = attribute(&file("books/forty_kilos_short.fountain"), Language::En, true);
    let gold = rows("tests/fixtures/gold/forty_kilos_short.speeches.tsv");
    let mut spoken: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for quotation in &attribution.quotations {
        assert_eq!(quotation.kind, Some(QuotationKind::Script));
        let speaker = quotation.speaker.expect("a speech of a play has a name before it");
        *spoken.entry((attribution.people[speaker].name.as_str(), quotation.text.as_str())).or_default() += 1;
    }
    let right = gold
        .iter()
        .filter(|row| {
            spoken.get_mut(&(row[0].as_str(), row[1].as_str())).is_some_and(|count| {
                let is_available = *count > 0;
                *count = count.saturating_sub(1);
                is_available
            })
        })
        .count();
    assert!(share(right, gold.len()) >= 0.99, "{right} of {} speeches are right", gold.len());
}

#[test]
fn offsets_are_code_points_of_the_text() {
    for (book, language) in [("a_penny_either_way", Language::En), ("lian_wen_ji", Language::Zh)] {
        let text = file(&format!("books/{book}.txt"));
        let chars: Vec<char> = text.chars().collect();
        let attribution = attribute(&text, language, false);
        for quotation in &attribution.quotations {
            let words: String = chars[quotation.start as usize..quotation.end as usize].iter().collect();
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(bare(&words), bare(&quotation.text));
        }
    }
}

#[test]
fn attribution_is_deterministic() {
    let text = file("books/a_penny_either_way.txt");
    assert_eq!(attribute(&text, Language::En, false), attribute(&text, Language::En, false));
}

#[test]
fn line_ends_change_only_offsets() {
    for (book, language) in [("a_penny_either_way", Language::En), ("lian_wen_ji", Language::Zh)] {
        let text = file(&format!("books/{book}.txt"));
        let unix = attribute(&text, language, false);
        let windows = attribute(&text.replace('\n', "\r\n"), language, false);
        assert_eq!(unix.people, windows.people);
        let words = |attribution: &Attribution| -> Vec<(String, Option<usize>)> {
            attribution.quotations.iter().map(|quotation| (quotation.text.clone(), quotation.speaker)).collect()
        };
        assert_eq!(words(&unix), words(&windows));
    }
}

/// Returns an included book and its alias file as the program writes it.
fn shipped(book: &str) -> (String, Language, bool, Aliases) {
    let language = if book.contains("wen") { Language::Zh } else { Language::En };
    let script = book.ends_with(".fountain");
    let text = file(&format!("books/{book}"));
    let written = aliases::text("book", &[&attribute(&text, language, script)]);
    assert!(aliases::is_as_written(&written));
    let read = toml::from_str(&written).expect("a written alias file is valid");
    (text, language, script, read)
}

fn person<'a>(aliases: &'a mut Aliases, name: &str) -> &'a mut KnownCharacter {
    let mut people = aliases.people.iter_mut();
    let named = |person: &&mut KnownCharacter| {
        person.name == name || person.aliases.iter().flatten().any(|alias| alias == name)
    };
    people.find(named).unwrap_or_else(|| panic!("{name} is missing from the file"))
}

/// Start of a quotation, and the name of its speaker.
type QuotationSpeaker<'a> = (u32, Option<&'a str>);

/// Returns the quotations with their speakers' names.
fn quotation_speakers(attribution: &Attribution) -> Vec<QuotationSpeaker<'_>> {
    let name = |quotation: &Quotation| quotation.speaker.map(|speaker| attribution.people[speaker].name.as_str());
    attribution.quotations.iter().map(|quotation| (quotation.start, name(quotation))).collect()
}

const SHIPPED: [(&str, &str, &str); 3] = [
    ("a_penny_either_way.txt", "Mr. Lunt", "Mr. Apps"),
    ("lian_wen_ji.txt", "祁勉", "乔恩荣"),
    ("forty_kilos_short.fountain", "Gander", "Pet"),
];

#[test]
fn an_unchanged_alias_file_changes_nothing() {
    for (book, ..) in SHIPPED {
        let (text, language, script, aliases) = shipped(book);
        assert_eq!(aliases.faults(), [], "{book}");
        assert_eq!(attribute_with(&text, language, script, &aliases), attribute(&text, language, script), "{book}");
    }
}

#[test]
fn renaming_one_character_keeps_the_others() {
    for (book, one, _) in SHIPPED {
        let (text, language, script, mut aliases) = shipped(book);
        let person = person(&mut aliases, one);
        let old = std::mem::replace(&mut person.name, "Somebody".to_owned());
        person.aliases.get_or_insert_default().push(old.clone());
        let (by_rule, renamed) =
            (attribute(&text, language, script), attribute_with(&text, language, script, &aliases));
        let (before, after) = (quotation_speakers(&by_rule), quotation_speakers(&renamed));
        let is_unchanged = |(before, after): &(&QuotationSpeaker<'_>, &QuotationSpeaker<'_>)| {
            let name = if after.1 == Some("Somebody") { Some(old.as_str()) } else { after.1 };
            before.0 == after.0 && before.1 == name
        };
        let kept = before.iter().zip(&after).filter(is_unchanged).count();
        assert!(share(kept, before.len()) >= 0.97, "{book}: {kept} of {}", before.len());
        assert!(after.iter().any(|(_, name)| *name == Some("Somebody")), "{book}");
    }
}

#[test]
fn merging_two_characters_merges_their_quotations() {
    for (book, one, other) in SHIPPED {
        let (text, language, script, mut aliases) = shipped(book);
        let merged_character = person(&mut aliases, other).clone();
        aliases.people.retain(|person| *person != merged_character);
        let aliases_of_one = person(&mut aliases, one).aliases.get_or_insert_default();
        aliases_of_one.push(merged_character.name.clone());
        aliases_of_one.extend(merged_character.aliases.into_iter().flatten());
        let (by_rule, merged) = (attribute(&text, language, script), attribute_with(&text, language, script, &aliases));
        assert!(merged.people.iter().all(|person| person.name != merged_character.name));
        let of_two = by_rule.quotations.iter().filter(|quotation| {
            let name = quotation.speaker.map(|speaker| by_rule.people[speaker].name.as_str());
            let has_explicit_speaker = matches!(quotation.kind, Some(QuotationKind::Explicit | QuotationKind::Script));
            has_explicit_speaker && (name == Some(one) || name == Some(&merged_character.name))
        });
        let of_two: Vec<u32> = of_two.map(|quotation| quotation.start).collect();
        let of_one = quotation_speakers(&merged)
            .into_iter()
            .filter(|(start, name)| *name == Some(one) && of_two.contains(start));
        let count = of_one.count();
        assert!(of_two.len() > 9 && share(count, of_two.len()) >= 0.95, "{book}: {count} of {}", of_two.len());
    }
}

#[test]
fn quotations_of_removed_characters_stay_unattributed() {
    for (book, one, _) in SHIPPED {
        let (text, language, script, mut aliases) = shipped(book);
        let removed = person(&mut aliases, one).clone();
        aliases.people.retain(|person| *person != removed);
        let (by_rule, corrected) =
            (attribute(&text, language, script), attribute_with(&text, language, script, &aliases));
        assert!(corrected.people.iter().all(|person| person.name != one));
        let has_explicit_speaker = |quotation: &&Quotation| {
            quotation.speaker.is_some_and(|speaker| by_rule.people[speaker].name == one)
                && matches!(quotation.kind, Some(QuotationKind::Explicit | QuotationKind::Script))
        };
        let after = quotation_speakers(&corrected);
        let starts: Vec<u32> =
            by_rule.quotations.iter().filter(has_explicit_speaker).map(|quotation| quotation.start).collect();
        assert!(starts.len() > 4, "{book}");
        for (_, speaker) in after.iter().filter(|(start, _)| starts.contains(start)) {
            assert_eq!(*speaker, None, "{book}");
        }
        let spoken = corrected.quotations.iter().filter(|quotation| quotation.speaker.is_some()).count();
        assert!(spoken * 2 > corrected.quotations.len(), "{book}: most other quotations keep their speakers");
    }
}
