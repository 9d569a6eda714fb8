//! Text forms of dates, times, durations (ISO 8601) and decimal numbers. Supports no time zone but UTC.

/// The number of nanoseconds per second.
pub(super) const NANO: i64 = 1_000_000_000;

/// Returns a date, given the days since 1970-01-01.
pub(super) fn date(days: i64) -> String {
    // Years start in March here, so that a leap day is the last day of its year. 400 years are 146,097 days.
    let from = days + 719_468;
    let (era, day) = (from.div_euclid(146_097), from.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let of_month = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    match year {
        0..=9999 => format!("{year:04}-{month:02}-{of_month:02}"),
        // ISO 8601 requires a sign for years beyond four digits.
        _ => format!("{year:+06}-{month:02}-{of_month:02}"),
    }
}

/// Returns a time of day, given the units since midnight and the units per second.
pub(super) fn time(passed: i64, second: i64) -> String {
    let (seconds, rest) = (passed.div_euclid(second), passed.rem_euclid(second));
    let fraction = fraction(rest, second);
    format!("{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Returns a date and time, given the units since 1970 and the units per second.
pub(super) fn moment(passed: i64, second: i64, is_utc: bool) -> String {
    let day = second * 86_400;
    let zone = if is_utc { "Z" } else { "" };
    format!("{}T{}{zone}", date(passed.div_euclid(day)), time(passed.rem_euclid(day), second))
}

/// Returns a duration in seconds, such as `PT90.5S`.
pub(super) fn duration(length: i64, second: i64) -> String {
    let sign = if length < 0 { "-" } else { "" };
    let (length, second) = (length.unsigned_abs(), second.unsigned_abs());
    let rest = i64::try_from(length % second).expect("the remainder is less than one second");
    format!("{sign}PT{}{}S", length / second, fraction(rest, second.cast_signed()))
}

/// Returns a decimal number with `scale` digits after the point.
pub(super) fn decimal(value: i128, scale: usize) -> String {
    let (sign, digits) = (if value < 0 { "-" } else { "" }, format!("{:0>1$}", value.unsigned_abs(), scale + 1));
    let (whole, behind) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{behind}") }
}

/// Returns the fraction of a second with its point, or an empty string if it is zero.
fn fraction(rest: i64, second: i64) -> String {
    if rest == 0 {
        return String::new();
    }
    let digits = format!("{:09}", rest * (NANO / second));
    format!(".{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (19_783, "2024-03-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-00001-12-31"),
            (2_932_897, "+10000-01-01"),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
    }

    #[test]
    fn moments_lose_no_digit() {
        assert_eq!(moment(1_706_704_200_000_001, 1_000_000, false), "2024-01-31T12:30:00.000001");
        assert_eq!(moment(-1, 1_000, true), "1969-12-31T23:59:59.999Z");
        assert_eq!(time(45_000 * NANO + 500_000_000, NANO), "12:30:00.5");
        assert_eq!((duration(90_500, 1_000), duration(-1, NANO)), ("PT90.5S".into(), "-PT0.000000001S".into()));
        assert_eq!(duration(i64::MIN, 1_000), "-PT9223372036854775.808S");
    }

    #[test]
    fn decimals_keep_their_point() {
        let numbers =
            [(1234, 2), (-5, 2), (0, 3), (7, 0), (i128::MIN + 1, 1)].map(|(value, scale)| decimal(value, scale));
        assert_eq!(numbers, ["12.34", "-0.05", "0.000", "7", "-17014118346046923173168730371588410572.7"]);
    }
}
