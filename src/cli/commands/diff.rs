//! The command `diff`: compares two runs.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::diagnostics;
use crate::cli::{Terminal, to_stderr, to_stdout};
use crate::dataset;
use crate::dataset::{Change, Changes, CountChange, RejectChanges, RowChanges};
use crate::pipeline::RunError;
use crate::stages::export::{dollars, thousands};
use crate::store::StoreError;

/// Maximum number of ids shown per kind; `--json` prints all.
const IDS: usize = 3;
/// Maximum number of code points shown of a value.
const VALUE: usize = 60;

/// Compares two runs and prints the differences.
pub(crate) fn diff(before: &Path, after: &Path, as_json: bool) -> Exit {
    let terminal = Terminal::new();
    match dataset::changes(before, after).map_err(RunError::from) {
        Ok(changes) if as_json => {
            to_stdout(&format!("{}\n", serde_json::to_string(&changes).expect("changes serialize to JSON")));
            Exit::Done
        }
        Ok(changes) => {
            to_stdout(&text(&changes));
            Exit::Done
        }
        Err(error) => {
            let is_no_run = matches!(&error, RunError::Store(StoreError::Io { .. }));
            let hint =
                is_no_run.then_some("give the folders of two runs, such as `outputs/demo`; each needs a data set");
            to_stderr(&diagnostics::chain(&error, hint, terminal.color));
            if is_no_run { Exit::Usage } else { Exit::Fault }
        }
    }
}

/// Formats the changes, one per line.
fn text(changes: &Changes) -> String {
    if changes.is_empty() {
        return "no differences\n".to_owned();
    }
    let mut text = String::new();
    let lists = [
        ("configuration", &changes.configuration),
        ("inputs", &changes.inputs),
        ("books", &changes.books),
        ("prompts", &changes.prompts),
        ("models", &changes.models),
    ];
    for (heading, changes) in lists.iter().filter(|(_, changes)| !changes.is_empty()) {
        let _ = writeln!(text, "{heading}");
        changes.iter().for_each(|change| text.push_str(&describe(change)));
    }
    let counts = [
        ("rows", &changes.rows),
        ("samples by language and dimension", &changes.balance),
        ("rejected", &changes.rejected),
        ("calls", &changes.calls),
    ];
    for (heading, counts) in counts.iter().filter(|(_, counts)| !counts.is_empty()) {
        let _ = writeln!(text, "{heading}");
        for CountChange { name, before, after } in *counts {
            let sign = if after > before { '+' } else { '−' };
            let by = thousands(after.abs_diff(*before));
            let _ = writeln!(text, "  {}  {} → {} ({sign}{by})", visible(name), thousands(*before), thousands(*after));
        }
    }
    if changes.usd.0 != changes.usd.1 {
        let _ = writeln!(text, "cost\n  {} → {}", dollars(changes.usd.0), dollars(changes.usd.1));
    }
    for (config, rows) in &changes.tables {
        text.push_str(&describe_rows(config, rows));
    }
    for (reason, RejectChanges { same, added, removed }) in &changes.left_out {
        let [new, gone] = [added, removed].map(|ids| thousands(ids.len() as u64));
        let (reason, same) = (visible(reason), thousands(*same));
        let _ = writeln!(text, "rejected, {reason}: {new} added, {gone} removed, {same} unchanged");
        ids(&mut text, "added", added.iter());
        ids(&mut text, "removed", removed.iter());
    }
    text
}

/// Writes the first [`IDS`] ids and the number of the others.
fn ids<'a>(text: &mut String, heading: &str, ids: impl ExactSizeIterator<Item = &'a String>) {
    let all = ids.len();
    let first: Vec<String> = ids.take(IDS).map(|id| format!("`{}`", visible(id))).collect();
    if !first.is_empty() {
        let more = if all > IDS { format!(" and {} more", thousands((all - IDS) as u64)) } else { String::new() };
        let _ = writeln!(text, "  {heading}  {}{more}", first.join(", "));
    }
}

fn describe(change: &Change) -> String {
    let value = |value: &Option<String>| match value {
        None => "–".to_owned(),
        Some(value) => {
            let short: String = value.chars().take(VALUE).collect();
            let dots = if short.len() < value.len() { "…" } else { "" };
            format!("{}{dots}", visible(&short))
        }
    };
    // Hashes are not printed: they are equal or they differ.
    let is_hash = |value: &Option<String>| {
        value.as_ref().is_none_or(|value| value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let name = visible(&change.name);
    match (&change.before, &change.after) {
        (None, Some(_)) if is_hash(&change.after) => format!("  {name}  added\n"),
        (Some(_), None) if is_hash(&change.before) => format!("  {name}  removed\n"),
        (before, after) if is_hash(before) && is_hash(after) => format!("  {name}  changed\n"),
        (before, after) => format!("  {name}  {} → {}\n", value(before), value(after)),
    }
}

fn describe_rows(config: &str, rows: &RowChanges) -> String {
    let RowChanges { same, added, removed, changed, columns } = rows;
    let count = |list: usize| thousands(list as u64);
    let mut text = format!(
        "{config}: {} added, {} removed, {} changed, {} unchanged\n",
        count(added.len()),
        count(removed.len()),
        count(changed.len()),
        thousands(*same)
    );
    if !columns.is_empty() {
        let columns: Vec<String> =
            columns.iter().map(|(name, count)| format!("{} {name}", thousands(*count))).collect();
        let _ = writeln!(text, "  columns  {}", columns.join(", "));
    }
    ids(&mut text, "added", added.iter());
    ids(&mut text, "removed", removed.iter());
    ids(&mut text, "changed", changed.keys());
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn changes_are_described() {
        let change = |name: &str, before: Option<&str>, after: Option<&str>| Change {
            name: name.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let hash = "0f".repeat(32);
        let ids = |n: usize| (0..n).map(|n| format!("红线/甲/0#{n}")).collect::<Vec<_>>();
        let changes = Changes {
            configuration: vec![
                change("simulate.tau", Some("3"), Some("10")),
                change("cast.judges", None, Some("[\"b\"]")),
            ],
            books: vec![change("tide", Some(&hash), Some(&"1e".repeat(32))), change("fog", None, Some(&hash))],
            rows: vec![CountChange { name: "samples test".into(), before: 1259, after: 259 }],
            left_out: BTreeMap::from([(
                "extract no_dialogue".to_owned(),
                RejectChanges { same: 1200, added: ids(4), removed: vec!["b@1".to_owned()] },
            )]),
            usd: (Some(1.5), None),
            tables: BTreeMap::from([(
                "samples".to_owned(),
                RowChanges {
                    same: 250,
                    added: vec![],
                    removed: ids(5),
                    changed: BTreeMap::from([("a\u{1b}/b/0#1".to_owned(), vec!["score".to_owned()])]),
                    columns: BTreeMap::from([("score".to_owned(), 1)]),
                },
            )]),
            ..Changes::default()
        };
        insta::assert_snapshot!(text(&changes), @r#"
        configuration
          simulate.tau  3 → 10
          cast.judges  – → ["b"]
        books
          tide  changed
          fog  added
        rows
          samples test  1,259 → 259 (−1,000)
        cost
          $1.50 → unpriced
        samples: 0 added, 5 removed, 1 changed, 250 unchanged
          columns  1 score
          removed  `红线/甲/0#0`, `红线/甲/0#1`, `红线/甲/0#2` and 2 more
          changed  `a\u{1b}/b/0#1`
        rejected, extract no_dialogue: 4 added, 1 removed, 1,200 unchanged
          added  `红线/甲/0#0`, `红线/甲/0#1`, `红线/甲/0#2` and 1 more
          removed  `b@1`
        "#);
        assert_eq!(text(&Changes::default()), "no differences\n");
    }
}
