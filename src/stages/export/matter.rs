//! The front matter of a card that is there: which of its lines name the splits and columns of a config, and what stands in them
//! when a config was divided anew. All other lines stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::features::features;
use super::front::quoted;
use super::revision::{CardFault, Division};
use super::splits::SplitRows;
use super::yaml::{self, Pair, Yaml};

pub(super) const CONFIGS: &str = "configs";
pub(super) const INFO: &str = "dataset_info";
pub(super) const NAME: &str = "config_name";
pub(super) const FILES: &str = "data_files";
pub(super) const FOLDER: &str = "data_dir";
const FEATURES: &str = "features";

/// Words that are no texts in YAML.
const OTHERS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];

/// Writes a name: in quotes where it would be read as something else, as `no` and `1` would.
pub(super) fn scalar(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./*".contains(c))
        && !OTHERS.contains(&name.to_lowercase().as_str());
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// Returns the names of the columns that `dataset_info` has of each config.
pub(super) fn features_of(pairs: &[Pair]) -> BTreeMap<String, BTreeSet<String>> {
    let info = pairs.iter().find(|pair| pair.key == INFO).map_or(&Yaml::Null, |pair| &pair.value);
    let one = std::iter::once(info).filter(|info| !info.pairs().is_empty());
    let all = info.items().iter().map(|item| &item.value).chain(one);
    let of = |info: &Yaml| {
        let config = info.get(NAME).and_then(Yaml::text)?.to_owned();
        let columns = info.get(FEATURES)?.items().iter().filter_map(|column| column.value.get("name")?.text());
        Some((config, columns.map(str::to_owned).collect()))
    };
    all.filter_map(of).collect()
}

/// Returns the lines of the front matter, those of dashes aside; none where there is none. Blank lines may stand before it.
pub(super) fn front(text: &str) -> Result<Option<Range<usize>>, CardFault> {
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| line.trim().is_empty());
    let Some((first, _)) = lines.next().filter(|(_, first)| first.trim() == "---") else { return Ok(None) };
    let Some((end, _)) = lines.find(|(_, line)| line.trim_end() == "---") else {
        let message = "the front matter does not end: a line `---` is missing".to_owned();
        return Err(CardFault { line: first + 1, message });
    };
    Ok(Some(first + 1..end))
}

/// Reads the lines of a front matter; a fault counts them from its first.
pub(super) fn read(lines: &[&str]) -> Result<Vec<Pair>, CardFault> {
    yaml::read(lines, &[CONFIGS, INFO]).map_err(|fault| fault_at(fault.line, fault.message))
}

fn fault_at(line: usize, message: &str) -> CardFault {
    CardFault { line: line + 1, message: format!("the front matter cannot be understood: {message}") }
}

/// Writes the lists of the front matter again that name a config's splits.
pub(super) fn refronted(text: &str, division: &Division<'_>) -> Result<String, CardFault> {
    let range = front(text)?;
    let before = range.as_ref().map_or(0, |range| range.start);
    let count = range.as_ref().map_or(0, ExactSizeIterator::len);
    let mut lines: Vec<String> = text.lines().skip(before).take(count).map(str::to_owned).collect();
    relisted(&mut lines, division).map_err(|fault| CardFault { line: fault.line + before, ..fault })?;
    // The text keeps its own end.
    let ended = range.map_or(0, |range| range.end + 1);
    let body = &text[text.split_inclusive('\n').take(ended).map(str::len).sum()..];
    let lines: String = lines.into_iter().map(|line| line + "\n").collect();
    Ok(format!("---\n{lines}---\n{body}"))
}

fn relisted(lines: &mut Vec<String>, division: &Division<'_>) -> Result<(), CardFault> {
    let Division { config, splits, .. } = *division;
    let mut files = Vec::new();
    let mut info = Vec::new();
    for SplitRows { name, rows, bytes } in splits {
        let path = format!("{config}/{name}-*.parquet");
        let (split, path) = (scalar(name), scalar(&path));
        files.extend([format!("- split: {split}"), format!("  path: {path}")]);
        info.extend([format!("- name: {split}"), format!("  num_bytes: {bytes}"), format!("  num_examples: {rows}")]);
    }
    // A fault names its line as it stands on the card, so both lists are tried before one changes.
    with_list(&mut lines.clone(), INFO, config, "splits", &info)?;
    with_list(lines, CONFIGS, config, FILES, &files)?;
    with_list(lines, INFO, config, "splits", &info)?;
    for (other, splits) in division.others {
        let pairs = read(&borrowed(lines))?;
        let named = pairs.iter().find(|pair| pair.key == CONFIGS).map_or(&[][..], |pair| pair.value.items());
        if !named.iter().any(|item| is_named(&item.value, other)) {
            let files: Vec<String> = splits.iter().flat_map(|(split, files)| files_of(other, split, files)).collect();
            with_list(lines, CONFIGS, other, FILES, &files)?;
        }
    }
    let Some(columns) = division.columns else { return Ok(()) };
    let known = features_of(&read(&borrowed(lines))?).remove(config);
    let own = columns.get_column_names().into_iter().map(ToString::to_string).collect();
    if known.is_some_and(|known| known != own) {
        match features(columns, 0) {
            Some(features) => {
                let features: Vec<String> = features.lines().map(str::to_owned).collect();
                with_list(lines, INFO, config, FEATURES, &features)?;
            }
            // Where they cannot be named, readers take them from the tables.
            None => without_features(lines, config)?,
        }
    }
    Ok(())
}

fn borrowed(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

fn is_named(entry: &Yaml, config: &str) -> bool {
    entry.get(NAME).and_then(Yaml::text) == Some(config)
}

/// Writes which files a split has: those of ours by how their names begin, others one by one.
fn files_of(config: &str, split: &str, files: &[String]) -> Vec<String> {
    let begins = format!("{config}/{split}-");
    let mut lines = vec![format!("- split: {}", scalar(split))];
    match files {
        files if files.iter().all(|file| file.starts_with(&begins)) => {
            lines.push(format!("  path: {}", scalar(&format!("{begins}*.parquet"))));
        }
        [file] => lines.push(format!("  path: {}", scalar(file))),
        files => {
            lines.push("  path:".to_owned());
            lines.extend(files.iter().map(|file| format!("  - {}", scalar(file))));
        }
    }
    lines
}

/// Takes the features of a config out of the front matter.
fn without_features(lines: &mut Vec<String>, config: &str) -> Result<(), CardFault> {
    let borrowed = borrowed(lines);
    let pairs = read(&borrowed)?;
    let info = pairs.iter().find(|pair| pair.key == INFO).map(|pair| &pair.value);
    let mut entries = info.into_iter().flat_map(|info| info.items().iter().map(|item| &item.value).chain([info]));
    let edit = entries.find(|entry| is_named(entry, config)).and_then(|entry| without(&borrowed, entry, FEATURES));
    if let Some((range, new)) = edit {
        lines.splice(range, new);
    }
    Ok(())
}

/// Some lines, and what stands there then.
type Edit = (Range<usize>, Vec<String>);

/// Writes a key of a config's entry again in a list of the front matter. The list of configs and the entry are made where they are
/// missing; without any `dataset_info` none is begun.
fn with_list(lines: &mut Vec<String>, list: &str, config: &str, key: &str, made: &[String]) -> Result<(), CardFault> {
    let borrowed = borrowed(lines);
    let pairs = read(&borrowed)?;
    let indented = |column: usize| made.iter().map(move |line| format!("{}{line}", " ".repeat(column)));
    let entry = |column: usize| {
        let (dash, config) = (" ".repeat(column), scalar(config));
        let head = [format!("{dash}- {NAME}: {config}"), format!("{dash}  {key}:")];
        head.into_iter().chain(indented(column + 2)).collect::<Vec<_>>()
    };
    let Some(pair) = pairs.iter().find(|pair| pair.key == list) else {
        if list == CONFIGS {
            lines.push(format!("{list}:"));
            lines.extend(entry(0));
        }
        return Ok(());
    };
    let first = pair.lines.start;
    let edits = match &pair.value {
        // Whatever stands for nothing goes, and a comment may stay.
        Yaml::Null if pair.lines.len() == 1 && ends_with_key(borrowed[first]) => vec![(first + 1..first + 1, entry(0))],
        empty if matches!(empty, Yaml::Null) || matches!(empty, Yaml::List(items) if items.is_empty()) => {
            vec![(pair.lines.clone(), std::iter::once(format!("{list}:")).chain(entry(0)).collect())]
        }
        Yaml::List(items) => {
            let flow =
                || fault_at(first, &format!("`{list}` is written in braces or brackets; write it as a list of lines"));
            let mut own = items.iter().filter(|item| is_named(&item.value, config));
            match (own.next(), own.next()) {
                (Some(_), Some(second)) => {
                    return Err(fault_at(second.lines.start, &format!("`{list}` has the config `{config}` twice")));
                }
                (Some(item), None) => {
                    in_entry(&borrowed, &item.value, item.lines.end, key, indented).ok_or_else(flow)?
                }
                (None, _) => {
                    let end = items.last().expect("it is not empty");
                    let column = end.column.ok_or_else(flow)?;
                    vec![(end.lines.end..end.lines.end, entry(column))]
                }
            }
        }
        // Of one config alone it is a mapping.
        one @ Yaml::Map(_) if list == INFO => {
            if !is_named(one, config) {
                return Ok(());
            }
            let flow = || fault_at(first, &format!("`{list}` is written in braces; write it in lines"));
            in_entry(&borrowed, one, pair.lines.end, key, indented).ok_or_else(flow)?
        }
        _ => return Err(fault_at(first, &format!("`{list}` is no list of configs"))),
    };
    for (range, new) in edits {
        lines.splice(range, new);
    }
    Ok(())
}

/// Says whether nothing but a comment follows the key of a line.
fn ends_with_key(line: &str) -> bool {
    let line = line.split_once(" #").map_or(line, |(line, _)| line);
    line.trim_end().ends_with(':')
}

/// Writes a key in a mapping, the last lines first; none where the mapping has no lines of its own.
fn in_entry<I: Iterator<Item = String>>(
    lines: &[&str],
    entry: &Yaml,
    end: usize,
    key: &str,
    made: impl Fn(usize) -> I,
) -> Option<Vec<Edit>> {
    let column = entry.pairs().first()?.column?;
    // Readers look for the files below a folder where one is named, and ours are named from the data set's own.
    let is_gone = |pair: &&Pair| pair.key == key || (key == FILES && pair.key == FOLDER);
    let mut gone = entry.pairs().iter().filter(is_gone);
    let (range, head) = match gone.next() {
        // Before the first key of an entry stands its dash.
        Some(pair) => (pair.lines.clone(), lines[pair.lines.start][..column].to_owned()),
        None => (end..end, " ".repeat(column)),
    };
    let written = std::iter::once(format!("{head}{key}:")).chain(made(column)).collect();
    let mut edits: Vec<Edit> = gone.map(|pair| (pair.lines.clone(), Vec::new())).collect();
    edits.push((range, written));
    Some(edits)
}

/// Takes a key out of a mapping; none where it is not there in lines of its own.
fn without(lines: &[&str], entry: &Yaml, key: &str) -> Option<Edit> {
    let pairs = entry.pairs();
    let at = pairs.iter().position(|pair| pair.key == key)?;
    let (pair, column) = (&pairs[at], pairs[at].column?);
    let head = &lines[pair.lines.start][..column];
    if head.trim().is_empty() {
        return Some((pair.lines.clone(), Vec::new()));
    }
    // The next key stands behind the dash then, and what was noted between them before it.
    let next = pairs.get(at + 1)?.lines.start;
    let dash = head.len() - head.trim_start().len();
    let notes = lines[pair.lines.end..next].iter().map(|line| format!("{}{}", " ".repeat(dash), line.trim_start()));
    let new = notes.chain([format!("{head}{}", &lines[next][column..])]).collect();
    Some((pair.lines.start..next + 1, new))
}
