//! The front matter of a card that is there: which of its lines name the splits and columns of a config, and what stands in them
//! when a config was divided anew. All other lines stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::features::{features, is_ours};
use super::front::quoted;
use super::revision::{CardFault, Division};
use super::splits::SplitRows;
use super::yaml::{self, Pair, Yaml};

pub(super) const CONFIGS: &str = "configs";
pub(super) const INFO: &str = "dataset_info";
pub(super) const NAME: &str = "config_name";
pub(super) const FILES: &str = "data_files";
const FEATURES: &str = "features";

/// Words that are no texts in YAML.
const OTHERS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];

/// Writes a name: in quotes where it would be read as something else, as `no` and `1` would.
fn told(name: &str) -> String {
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

/// Returns the lines of the front matter, those of dashes aside; none where there is none.
pub(super) fn front(text: &str) -> Result<Option<Range<usize>>, CardFault> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.lines().enumerate();
    if !lines.next().is_some_and(|(_, first)| is_fence(first)) {
        return Ok(None);
    }
    match lines.find(|(_, line)| is_fence(line)) {
        Some((end, _)) => Ok(Some(1..end)),
        None => {
            Err(CardFault { line: 1, message: "the front matter does not end: a line `---` is missing".to_owned() })
        }
    }
}

pub(super) fn read(lines: &[&str]) -> Result<Vec<Pair>, CardFault> {
    // Before the front matter stands a line of dashes.
    yaml::read(lines, &[CONFIGS, INFO]).map_err(|fault| fault_at(fault.line, fault.message))
}

fn fault_at(line: usize, message: &str) -> CardFault {
    CardFault { line: line + 2, message: format!("the front matter cannot be understood: {message}") }
}

/// Writes the lists of the front matter again that name a config's splits.
pub(super) fn refronted(text: &str, division: &Division<'_>) -> Result<String, CardFault> {
    let Division { config, splits, .. } = *division;
    let all: Vec<&str> = text.lines().collect();
    let range = front(text)?;
    let mut lines: Vec<String> =
        range.clone().map_or(&[][..], |range| &all[range]).iter().map(ToString::to_string).collect();
    let mut files = Vec::new();
    let mut info = Vec::new();
    for SplitRows { name, rows, bytes } in splits {
        let path = format!("{config}/{name}-*.parquet");
        let (split, path) = (told(name), told(&path));
        files.extend([format!("- split: {split}"), format!("  path: {path}")]);
        info.extend([format!("- name: {split}"), format!("  num_bytes: {bytes}"), format!("  num_examples: {rows}")]);
    }
    with_list(&mut lines, CONFIGS, config, FILES, &files)?;
    with_list(&mut lines, INFO, config, "splits", &info)?;
    for (other, splits) in division.others {
        let borrowed: Vec<&str> = lines.iter().map(String::as_str).collect();
        let pairs = read(&borrowed)?;
        let named = pairs.iter().find(|pair| pair.key == CONFIGS).map_or(&[][..], |pair| pair.value.items());
        if named.iter().any(|item| item.value.get(NAME).and_then(Yaml::text) == Some(other)) {
            continue;
        }
        let files = splits.iter().flat_map(|name| {
            let (split, path) = (told(name), told(&format!("{other}/{name}-*.parquet")));
            [format!("- split: {split}"), format!("  path: {path}")]
        });
        with_list(&mut lines, CONFIGS, other, FILES, &files.collect::<Vec<_>>())?;
    }
    if let Some(columns) = division.columns {
        let borrowed: Vec<&str> = lines.iter().map(String::as_str).collect();
        let known = features_of(&read(&borrowed)?).remove(config);
        let own = columns.get_column_names().into_iter().map(ToString::to_string).collect();
        if known.is_some_and(|known| known != own) && is_ours(columns) {
            let features: Vec<String> = features(columns, 0).lines().map(str::to_owned).collect();
            with_list(&mut lines, INFO, config, FEATURES, &features)?;
        }
    }
    let body = match range {
        // The text keeps its own end.
        Some(range) => all[..=range.end].iter().fold(text, |rest, line| &rest[(line.len() + 1).min(rest.len())..]),
        None => text,
    };
    let lines: String = lines.into_iter().map(|line| line + "\n").collect();
    Ok(format!("---\n{lines}---\n{body}"))
}

/// Writes a key of a config's entry again in a list of the front matter. The list of configs and the entry are made where they are
/// missing; without any `dataset_info` none is begun.
fn with_list(lines: &mut Vec<String>, list: &str, config: &str, key: &str, made: &[String]) -> Result<(), CardFault> {
    let borrowed: Vec<&str> = lines.iter().map(String::as_str).collect();
    let pairs = read(&borrowed)?;
    let indented = |column: usize| made.iter().map(move |line| format!("{}{line}", " ".repeat(column)));
    let entry = |column: usize| {
        let (dash, config) = (" ".repeat(column), told(config));
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
    let is_named = |value: &Yaml| value.get(NAME).and_then(Yaml::text) == Some(config);
    let first = pair.lines.start;
    let (range, new) = match &pair.value {
        Yaml::Null => (first + 1..first + 1, entry(0)),
        Yaml::List(items) if items.is_empty() => {
            (first..first + 1, std::iter::once(format!("{list}:")).chain(entry(0)).collect())
        }
        Yaml::List(items) => {
            let flow =
                || fault_at(first, &format!("`{list}` is written in braces or brackets; write it as a list of lines"));
            let mut own = items.iter().filter(|item| is_named(&item.value));
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
                    (end.lines.end..end.lines.end, entry(column))
                }
            }
        }
        // Of one config alone it is a mapping.
        one @ Yaml::Map(_) if list == INFO => {
            if !is_named(one) {
                return Ok(());
            }
            let flow = || fault_at(first, &format!("`{list}` is written in braces; write it in lines"));
            in_entry(&borrowed, one, pair.lines.end, key, indented).ok_or_else(flow)?
        }
        _ => return Err(fault_at(first, &format!("`{list}` is no list of configs"))),
    };
    lines.splice(range, new);
    Ok(())
}

/// Returns the lines of a key in a mapping, and what stands there then; none where the mapping has no lines of its own.
fn in_entry<I: Iterator<Item = String>>(
    lines: &[&str],
    entry: &Yaml,
    end: usize,
    key: &str,
    made: impl Fn(usize) -> I,
) -> Option<(Range<usize>, Vec<String>)> {
    let column = entry.pairs().first()?.column?;
    let (range, head) = match entry.pair(key) {
        // Before the first key of an entry stands its dash.
        Some(pair) => (pair.lines.clone(), lines[pair.lines.start][..column].to_owned()),
        None => (end..end, " ".repeat(column)),
    };
    Some((range, std::iter::once(format!("{head}{key}:")).chain(made(column)).collect()))
}
