//! The reading by rule, measured on the shipped books against what their authors say of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dramaturg::schema::Language;
use dramaturg::stages::extract::reading::{Kind, Quotation, Reading, read};

fn file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rows(path: &str) -> Vec<Vec<String>> {
    file(path).lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The shares of gold quotations that were found, and whose speaker is right, by kind and over `all`.
struct Score {
    found: f64,
    right: BTreeMap<String, f64>,
}

fn share(part: usize, whole: usize) -> f64 {
    let count = |n: usize| f64::from(u32::try_from(n).expect("a book has few quotations"));
    count(part) / count(whole.max(1))
}

fn called(reading: &Reading, quotation: &Quotation, names: &[String]) -> bool {
    quotation.speaker.is_some_and(|speaker| {
        let person = &reading.people[speaker];
        names.iter().any(|name| *name == person.name || person.aliases.contains(name))
    })
}

fn score(book: &str, language: Language) -> Score {
    let reading = read(&file(&format!("books/{book}.txt")), language, false);
    let names: BTreeMap<String, Vec<String>> = rows(&format!("tests/fixtures/gold/{book}.characters.tsv"))
        .into_iter()
        .map(|row| {
            let mut names: Vec<String> = row[1].split('|').map(str::to_owned).collect();
            names.push(row[0].clone());
            (row[0].clone(), names)
        })
        .collect();
    let starts: BTreeMap<u32, &Quotation> =
        reading.quotations.iter().map(|quotation| (quotation.start, quotation)).collect();
    let (mut all, mut found) = (0, 0);
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let offset = |cell: &str| -> u32 { cell.parse().expect("the gold holds offsets") };
    for row in rows(&format!("tests/fixtures/gold/{book}.quotes.tsv")).iter().filter(|row| row[3] != "none") {
        let quotation = starts.get(&offset(&row[0]));
        let whole = quotation.is_some_and(|quotation| quotation.end.abs_diff(offset(&row[1])) < 2);
        let right = quotation.is_some_and(|quotation| called(&reading, quotation, &names[&row[2]]));
        all += 1;
        found += usize::from(whole);
        for kind in [row[3].as_str(), "all"] {
            let count = counts.entry(kind.to_owned()).or_default();
            count.0 += usize::from(right);
            count.1 += 1;
        }
    }
    let right = counts.into_iter().map(|(kind, (right, all))| (kind, share(right, all))).collect();
    Score { found: share(found, all), right }
}

fn check(book: &str, language: Language, floors: &[(&str, f64)]) {
    let score = score(book, language);
    assert!(score.found >= 0.99, "{book}: {:.3} of the quotations found", score.found);
    for (kind, floor) in floors {
        assert!(score.right[*kind] >= *floor, "{book}: {:.3} of {kind} right, {floor} wanted", score.right[*kind]);
    }
}

#[test]
fn names_the_speakers_of_the_english_novella() {
    let floors = [("all", 0.86), ("explicit", 0.95), ("anaphoric", 0.80), ("implicit", 0.75)];
    check("a_penny_either_way", Language::En, &floors);
}

#[test]
fn names_the_speakers_of_the_chinese_novella() {
    let floors = [("all", 0.81), ("explicit", 0.98), ("anaphoric", 0.68), ("implicit", 0.65)];
    check("lian_wen_ji", Language::Zh, &floors);
}

#[test]
fn gives_every_speech_of_the_play_to_the_name_before_it() {
    let reading = read(&file("books/forty_kilos_short.fountain"), Language::En, true);
    let gold = rows("tests/fixtures/gold/forty_kilos_short.speeches.tsv");
    let mut spoken: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for quotation in &reading.quotations {
        assert_eq!(quotation.kind, Some(Kind::Script));
        let speaker = quotation.speaker.expect("a speech of a play has a name before it");
        *spoken.entry((reading.people[speaker].name.as_str(), quotation.text.as_str())).or_default() += 1;
    }
    let right = gold
        .iter()
        .filter(|row| {
            spoken.get_mut(&(row[0].as_str(), row[1].as_str())).is_some_and(|left| {
                let more = *left > 0;
                *left = left.saturating_sub(1);
                more
            })
        })
        .count();
    assert!(share(right, gold.len()) >= 0.99, "{right} of {} speeches", gold.len());
}

#[test]
fn offsets_are_code_points_of_the_text() {
    for (book, language) in [("a_penny_either_way", Language::En), ("lian_wen_ji", Language::Zh)] {
        let text = file(&format!("books/{book}.txt"));
        let chars: Vec<char> = text.chars().collect();
        let reading = read(&text, language, false);
        for quotation in &reading.quotations {
            let words: String = chars[quotation.start as usize..quotation.end as usize].iter().collect();
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(bare(&words), bare(&quotation.text));
        }
    }
}

#[test]
fn reads_the_same_twice() {
    let text = file("books/a_penny_either_way.txt");
    assert_eq!(read(&text, Language::En, false), read(&text, Language::En, false));
}

#[test]
fn line_ends_change_offsets_and_nothing_else() {
    for (book, language) in [("a_penny_either_way", Language::En), ("lian_wen_ji", Language::Zh)] {
        let text = file(&format!("books/{book}.txt"));
        let plain = read(&text, language, false);
        let windows = read(&text.replace('\n', "\r\n"), language, false);
        assert_eq!(plain.people, windows.people);
        let words = |reading: &Reading| -> Vec<(String, Option<usize>)> {
            reading.quotations.iter().map(|quotation| (quotation.text.clone(), quotation.speaker)).collect()
        };
        assert_eq!(words(&plain), words(&windows));
    }
}
