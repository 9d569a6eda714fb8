//! Checks that a table has the columns of its config with the right types.

use polars::prelude::{DataFrame, DataType};

use super::findings::Remedy;
use super::findings::{Findings, Location};
use crate::config::Check;

/// Compares the columns. Additional columns are allowed.
pub(super) fn check(file: &str, expected: &DataFrame, frame: &DataFrame, findings: &mut Findings) {
    let mut fault = |path: &str, message: &str| {
        findings.add(
            Location { column: Some(path.to_owned()), ..Location::of_file(Check::Schema, file) },
            message,
            Remedy::WriteTypes,
        );
    };
    for column in expected.columns() {
        match frame.column(column.name()) {
            Ok(found) => compare(column.name(), column.dtype(), found.dtype(), &mut fault),
            Err(_) => fault(column.name(), "the column is missing"),
        }
    }
}

fn compare(path: &str, expected: &DataType, found: &DataType, fault: &mut impl FnMut(&str, &str)) {
    match (expected, found) {
        (DataType::List(expected), DataType::List(found)) => compare(&format!("{path}[]"), expected, found, fault),
        (DataType::Struct(expected), DataType::Struct(found)) => {
            for field in expected {
                let path = format!("{path}.{}", field.name());
                match found.iter().find(|other| other.name() == field.name()) {
                    Some(other) => compare(&path, field.dtype(), other.dtype(), fault),
                    None => fault(&path, "the field is missing"),
                }
            }
        }
        (expected, found) if expected != found => {
            fault(path, &format!("the type is {found}, but {expected} is expected"));
        }
        _ => {}
    }
}
