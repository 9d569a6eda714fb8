//! Parses sizes, fractions, split names and values.

use crate::dataset::split::{HoldOut, Part, Size, UNUSED};

/// Parses `[SPLIT:]COLUMN=VALUE`.
pub(in crate::cli) fn parse_hold_out(text: &str, remainder: &str) -> Option<HoldOut> {
    let (column, value) = text.split_once('=')?;
    let (split, column) = column.split_once(':').unwrap_or(("test", column));
    let is_sound = !column.is_empty() && !value.is_empty() && split_name(split).is_ok() && split != remainder;
    is_sound.then(|| HoldOut { column: column.to_owned(), value: value.to_owned(), split: split.to_owned() })
}

/// Parses a fraction or a number of rows.
pub(super) fn size(text: &str) -> Result<Size, String> {
    let share = |share: f64| {
        if share > 0.0 && share <= 1.0 {
            Ok(Size::Share(share))
        } else {
            Err("a fraction must be above 0 and at most 1".to_owned())
        }
    };
    let wrong = || "expected a fraction such as 0.2 or 20%, or a number of rows".to_owned();
    if let Some(percent) = text.strip_suffix('%') {
        return percent.trim().parse::<f64>().map_err(|_| wrong()).and_then(|percent| share(percent / 100.0));
    }
    match text.parse::<usize>() {
        Ok(0) => Err("a split needs at least one row".to_owned()),
        Ok(rows) => Ok(Size::Rows(rows)),
        Err(_) => text.parse::<f64>().map_err(|_| wrong()).and_then(share),
    }
}

/// Parses `NAME=SIZE`.
pub(super) fn part(text: &str) -> Result<Part, String> {
    let (name, of) = text.split_once('=').ok_or_else(|| "expected NAME=SIZE".to_owned())?;
    Ok(Part { name: split_name(name)?, size: size(of)? })
}

/// Parses a split name that the Hugging Face Hub and the `datasets` library accept.
pub(super) fn split_name(name: &str) -> Result<String, String> {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !name.split('.').all(is_word) {
        return Err("a split name consists of letters, digits and `_`, with `.` between parts".to_owned());
    }
    if name == "all" || name == UNUSED {
        return Err(format!("`{name}` is a reserved name"));
    }
    Ok(name.to_owned())
}

/// Parses a number of bytes, such as `500MB`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err("the unit must be KB, MB or GB".to_owned()),
    };
    let count = digits.trim().parse::<u64>().ok().filter(|count| *count > 0);
    count.and_then(|count| count.checked_mul(unit)).ok_or_else(|| "expected a size such as 500MB".to_owned())
}

/// Parses a fraction above 0 and at most 1.
pub(super) fn positive_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0 and at most 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shares_or_rows() {
        assert_eq!(size("0.2"), Ok(Size::Share(0.2)));
        assert_eq!(size("1.0"), Ok(Size::Share(1.0)));
        assert_eq!(size("25%"), Ok(Size::Share(0.25)));
        assert_eq!((size("1"), size("500")), (Ok(Size::Rows(1)), Ok(Size::Rows(500))));
        for wrong in ["0", "1.5", "-0.1", "120%", "some", "", "nan"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn hold_out_values_are_parsed() {
        let held = |text: &str| parse_hold_out(text, "train").map(|held| (held.split, held.column, held.value));
        let found = |split: &str, column: &str, value: &str| Some((split.into(), column.into(), value.into()));
        assert_eq!(held("character=Keziah: a ferry=woman"), found("test", "character", "Keziah: a ferry=woman"));
        assert_eq!(held("dev:book=渡口"), found("dev", "book", "渡口"));
        for wrong in ["book", "=x", "book=", "a b:book=x", "train:book=x"] {
            assert_eq!(held(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn split_names_follow_the_hub() {
        for name in ["test", "dev_2", "a.b"] {
            assert!(split_name(name).is_ok(), "{name}");
        }
        for name in ["", "a-b", "a b", "测试", "all", "unused", "a.", "a/b"] {
            assert!(split_name(name).is_err(), "{name}");
        }
        assert_eq!((bytes("500MB"), bytes("2gb"), bytes("1000")), (Ok(500_000_000), Ok(2_000_000_000), Ok(1000)));
        assert!(bytes("0").is_err() && bytes("5 XB").is_err() && bytes("99999999999GB").is_err());
    }
}
