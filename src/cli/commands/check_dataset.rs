//! `check` of a data set: prints one line per finding.

use std::fmt::Write as _;

use serde_json::json;

use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::diagnostics::FailedCommand;
use crate::cli::output::table;
use crate::cli::{Terminal, failed, to_stdout};
use crate::dataset;
use crate::dataset::{Audit, AuditFinding};
use crate::pipeline::RunError;
use crate::stages::export::thousands;
use crate::store::DatasetLocation;

/// Validates a data set.
pub(crate) fn check(location: &DatasetLocation, json: bool) -> Exit {
    let audit = match dataset::audit(location).map_err(RunError::from) {
        Ok(audit) => audit,
        Err(error) => return failed(&error, &Terminal::new(), FailedCommand::Other),
    };
    if json {
        let mut output = json!({"dataset": location.dataset});
        if let Ok(serde_json::Value::Object(found)) = serde_json::to_value(&audit) {
            output.as_object_mut().expect("`json!` built an object").extend(found);
        }
        to_stdout(&format!("{output}\n"));
    } else {
        to_stdout(&text(location, &audit));
    }
    if audit.findings.is_empty() { Exit::Done } else { Exit::Failures }
}

fn text(location: &DatasetLocation, audit: &Audit) -> String {
    let mut text = String::new();
    let mut lines = vec![["config", "split", "rows"].map(str::to_owned).to_vec()];
    for (config, splits) in &audit.rows {
        lines.extend(splits.iter().map(|(split, rows)| vec![config.clone(), split.clone(), thousands(*rows as u64)]));
    }
    text.push_str(&table::table(&lines, 2));
    for finding in &audit.findings {
        let AuditFinding { check, message, remedy, .. } = finding;
        let _ = writeln!(text, "{check}: {}: {}", visible(&row_location(finding)), visible(message));
        let _ = writeln!(text, "  {remedy}");
    }
    for (check, count) in &audit.more {
        let _ = writeln!(text, "{check}: {} more", thousands(*count as u64));
    }
    for note in &audit.notes {
        let _ = writeln!(text, "note: {}", visible(note));
    }
    let path = visible(&location.dataset.display().to_string()).into_owned();
    let all = audit.findings.len() + audit.more.values().sum::<usize>();
    let _ = match all {
        0 => writeln!(text, "{path}: no problems found"),
        1 => writeln!(text, "{path}: 1 finding"),
        all => writeln!(text, "{path}: {} findings", thousands(all as u64)),
    };
    text
}

/// Formats the location of a finding: the file, then the row, column and row id if known.
fn row_location(finding: &AuditFinding) -> String {
    let mut location = finding.file.clone().unwrap_or_else(|| "the data set".to_owned());
    if let Some(row) = finding.row {
        let _ = write!(location, ", row {row}");
    }
    if let Some(column) = &finding.column {
        let _ = write!(location, ", `{column}`");
    }
    if let Some(id) = &finding.id {
        let _ = write!(location, " ({id})");
    }
    location
}
