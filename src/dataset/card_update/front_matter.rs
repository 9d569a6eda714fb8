//! Rewrites the front matter of an existing card after a config was split: the lines that name its splits and columns.
//! All other lines stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::yaml::{self, Pair, Yaml};
use super::{CardError, ConfigSplits};
use crate::stages::export::SplitRows;
use crate::stages::export::features::features;
use crate::stages::export::yaml_text::scalar;

pub(crate) const CONFIGS: &str = "configs";
pub(crate) const INFO: &str = "dataset_info";
pub(crate) const NAME: &str = "config_name";
pub(crate) const FILES: &str = "data_files";
pub(crate) const FOLDER: &str = "data_dir";
const FEATURES: &str = "features";

/// Returns the column names that `dataset_info` lists for each config.
pub(crate) fn features_of(pairs: &[Pair]) -> BTreeMap<String, BTreeSet<String>> {
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

/// Returns the range of lines of the front matter, without the `---` lines, or `None` if there is none. It may follow
/// blank lines.
pub(crate) fn front(text: &str) -> Result<Option<Range<usize>>, CardError> {
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| line.trim().is_empty());
    let Some((first, _)) = lines.next().filter(|(_, first)| first.trim() == "---") else { return Ok(None) };
    let Some((end, _)) = lines.find(|(_, line)| line.trim_end() == "---") else {
        let message = "the front matter has no end: add a line `---` after it".to_owned();
        return Err(CardError { line: first + 1, message });
    };
    Ok(Some(first + 1..end))
}

/// Parses the lines of a front matter. An error counts lines from the first of them.
pub(crate) fn read(lines: &[&str]) -> Result<Vec<Pair>, CardError> {
    yaml::read(lines, &[CONFIGS, INFO]).map_err(|fault| fault_at(fault.line, fault.message))
}

fn fault_at(line: usize, message: &str) -> CardError {
    CardError { line: line + 1, message: format!("failed to parse the front matter: {message}") }
}

/// Rewrites the lists of the front matter that name a config's splits.
pub(crate) fn with_updated_front_matter(text: &str, config_splits: &ConfigSplits<'_>) -> Result<String, CardError> {
    let range = front(text)?;
    let before = range.as_ref().map_or(0, |range| range.start);
    let count = range.as_ref().map_or(0, ExactSizeIterator::len);
    let mut lines: Vec<String> = text.lines().skip(before).take(count).map(str::to_owned).collect();
    update_lists(&mut lines, config_splits).map_err(|fault| CardError { line: fault.line + before, ..fault })?;
    // The body keeps its own final line break.
    let ended = range.map_or(0, |range| range.end + 1);
    let body = &text[text.split_inclusive('\n').take(ended).map(str::len).sum()..];
    let lines: String = lines.into_iter().map(|line| line + "\n").collect();
    Ok(format!("---\n{lines}---\n{body}"))
}

fn update_lists(lines: &mut Vec<String>, config_splits: &ConfigSplits<'_>) -> Result<(), CardError> {
    let ConfigSplits { config, splits, .. } = *config_splits;
    let mut files = Vec::new();
    let mut info = Vec::new();
    for SplitRows { name, rows, bytes } in splits {
        let path = format!("{config}/{name}-*.parquet");
        let (split, path) = (scalar(name), scalar(&path));
        files.extend([format!("- split: {split}"), format!("  path: {path}")]);
        info.extend([format!("- name: {split}"), format!("  num_bytes: {bytes}"), format!("  num_examples: {rows}")]);
    }
    // An error must name its line in the original card, so both lists are tried on a copy first.
    with_list(&mut lines.clone(), INFO, config, "splits", &info)?;
    with_list(lines, CONFIGS, config, FILES, &files)?;
    with_list(lines, INFO, config, "splits", &info)?;
    for (other, splits) in config_splits.others {
        let pairs = read(&borrowed(lines))?;
        let named = pairs.iter().find(|pair| pair.key == CONFIGS).map_or(&[][..], |pair| pair.value.items());
        if !named.iter().any(|item| is_named(&item.value, other)) {
            let files: Vec<String> = splits.iter().flat_map(|(split, files)| files_of(other, split, files)).collect();
            with_list(lines, CONFIGS, other, FILES, &files)?;
        }
    }
    let Some(columns) = config_splits.columns else { return Ok(()) };
    let known = features_of(&read(&borrowed(lines))?).remove(config);
    let own = columns.get_column_names().into_iter().map(ToString::to_string).collect();
    if known.is_some_and(|known| known != own) {
        match features(columns, 0) {
            Some(features) => {
                let features: Vec<String> = features.lines().map(str::to_owned).collect();
                with_list(lines, INFO, config, FEATURES, &features)?;
            }
            // If a column type has no name, readers take the types from the files.
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

/// Returns the `data_files` entry of a split: a pattern if all names have the standard prefix, otherwise a list of
/// files.
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

/// Removes the features of a config from the front matter.
fn without_features(lines: &mut Vec<String>, config: &str) -> Result<(), CardError> {
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

/// A range of lines, and the lines that replace it.
type Edit = (Range<usize>, Vec<String>);

/// Sets a key of a config's entry in a list of the front matter. Adds the entry, and the list of configs, if it is
/// missing. A missing `dataset_info` is not added.
fn with_list(lines: &mut Vec<String>, list: &str, config: &str, key: &str, made: &[String]) -> Result<(), CardError> {
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
        // Null or an empty list is replaced; a comment on the line is kept.
        Yaml::Null if pair.lines.len() == 1 && ends_with_key(borrowed[first]) => vec![(first + 1..first + 1, entry(0))],
        empty if matches!(empty, Yaml::Null) || matches!(empty, Yaml::List(items) if items.is_empty()) => {
            vec![(pair.lines.clone(), std::iter::once(format!("{list}:")).chain(entry(0)).collect())]
        }
        Yaml::List(items) => {
            let flow = || {
                fault_at(
                    first,
                    &format!("`{list}` is written in braces or brackets; write it as a list with one item per line"),
                )
            };
            let mut own = items.iter().filter(|item| is_named(&item.value, config));
            match (own.next(), own.next()) {
                (Some(_), Some(second)) => {
                    return Err(fault_at(
                        second.lines.start,
                        &format!("`{list}` lists the config `{config}` twice; remove one"),
                    ));
                }
                (Some(item), None) => {
                    in_entry(&borrowed, &item.value, item.lines.end, key, indented).ok_or_else(flow)?
                }
                (None, _) => {
                    let end = items.last().expect("an empty list was handled above");
                    let column = end.column.ok_or_else(flow)?;
                    vec![(end.lines.end..end.lines.end, entry(column))]
                }
            }
        }
        // For a single config, `dataset_info` may be a mapping.
        one @ Yaml::Map(_) if list == INFO => {
            if !is_named(one, config) {
                return Ok(());
            }
            let flow = || fault_at(first, &format!("`{list}` is written in braces; write it with one key per line"));
            in_entry(&borrowed, one, pair.lines.end, key, indented).ok_or_else(flow)?
        }
        _ => return Err(fault_at(first, &format!("`{list}` is not a list of configs"))),
    };
    for (range, new) in edits {
        lines.splice(range, new);
    }
    Ok(())
}

/// Returns whether a line ends with a key, ignoring a comment.
fn ends_with_key(line: &str) -> bool {
    let line = line.split_once(" #").map_or(line, |(line, _)| line);
    line.trim_end().ends_with(':')
}

/// Sets a key in a mapping. Returns the edits, last lines first, or `None` if the mapping is not in block style.
fn in_entry<I: Iterator<Item = String>>(
    lines: &[&str],
    entry: &Yaml,
    end: usize,
    key: &str,
    made: impl Fn(usize) -> I,
) -> Option<Vec<Edit>> {
    let column = entry.pairs().first()?.column?;
    // With `data_dir`, readers would look for the files below that folder, but the new paths are relative to the data
    // set.
    let is_removed = |pair: &&Pair| pair.key == key || (key == FILES && pair.key == FOLDER);
    let mut removed = entry.pairs().iter().filter(is_removed);
    let (range, head) = match removed.next() {
        // The first key of an entry follows its dash.
        Some(pair) => (pair.lines.clone(), lines[pair.lines.start][..column].to_owned()),
        None => (end..end, " ".repeat(column)),
    };
    let written = std::iter::once(format!("{head}{key}:")).chain(made(column)).collect();
    let mut edits: Vec<Edit> = removed.map(|pair| (pair.lines.clone(), Vec::new())).collect();
    edits.push((range, written));
    Some(edits)
}

/// Removes a key from a mapping. Returns `None` if it is missing or the mapping is not in block style.
fn without(lines: &[&str], entry: &Yaml, key: &str) -> Option<Edit> {
    let pairs = entry.pairs();
    let at = pairs.iter().position(|pair| pair.key == key)?;
    let (pair, column) = (&pairs[at], pairs[at].column?);
    let head = &lines[pair.lines.start][..column];
    if head.trim().is_empty() {
        return Some((pair.lines.clone(), Vec::new()));
    }
    // Then the next key moves behind the dash, and comments between the two move before it.
    let next = pairs.get(at + 1)?.lines.start;
    let dash = head.len() - head.trim_start().len();
    let notes = lines[pair.lines.end..next].iter().map(|line| format!("{}{}", " ".repeat(dash), line.trim_start()));
    let new = notes.chain([format!("{head}{}", &lines[next][column..])]).collect();
    Some((pair.lines.start..next + 1, new))
}
