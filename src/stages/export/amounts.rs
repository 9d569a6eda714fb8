//! Formatting of counts, percentages and money.

/// Formats a count with commas.
#[must_use]
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a share in whole per cent; a positive share below 1 % is shown as `< 1 %`.
#[must_use]
pub fn percent(part: u64, total: u64) -> String {
    match part.saturating_mul(100).checked_div(total) {
        Some(0) if part > 0 => "< 1 %".to_owned(),
        share => format!("{} %", share.unwrap_or_default()),
    }
}

/// Formats an amount in US dollars; an unknown amount is shown as `unpriced`.
#[must_use]
pub fn dollars(usd: Option<f64>) -> String {
    match usd {
        None => "unpriced".to_owned(),
        Some(usd) if usd > 0.0 && usd < 0.01 => format!("${usd:.4}"),
        Some(usd) => format!("${usd:.2}"),
    }
}

/// Returns the row counts as text, such as "`train` 2 rows, `test` 1 rows".
#[must_use]
pub fn row_counts<'a>(splits: impl Iterator<Item = (&'a str, usize)>) -> String {
    splits.map(|(split, rows)| format!("`{split}` {rows} rows")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        for (count, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(count), text);
        }
    }

    #[test]
    fn small_shares_and_sums_are_not_shown_as_zero() {
        assert_eq!((percent(1, 1000), percent(0, 0), percent(1, 2)), ("< 1 %".into(), "0 %".into(), "50 %".into()));
        assert_eq!(
            (dollars(None), dollars(Some(0.0)), dollars(Some(0.0012))),
            ("unpriced".into(), "$0.00".into(), "$0.0012".into())
        );
    }
}
