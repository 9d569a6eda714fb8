//! Text forms of dates, times, durations (ISO 8601) and decimal numbers. Supports no time zone but UTC.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};

/// The number of nanoseconds per second.
pub(super) const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Returns a date, given the days since 1970-01-01. Returns `None` if its year is beyond those of `chrono` (±262,000).
pub(super) fn date(days: i64) -> Option<String> {
    let date = NaiveDate::from_epoch_days(i32::try_from(days).ok()?)?;
    Some(date.to_string())
}

/// Returns a time of day, given the units since midnight and the units per second.
pub(super) fn time(units: i64, per_second: i64) -> Option<String> {
    let (seconds, nanos) = seconds_and_nanos(units, per_second)?;
    let time = NaiveTime::from_num_seconds_from_midnight_opt(u32::try_from(seconds).ok()?, nanos)?;
    Some(without_trailing_zeros(&time.to_string()))
}

/// Returns a date and time, given the units since 1970 and the units per second. Returns `None` if the year is beyond
/// those of `chrono`.
pub(super) fn date_time(units: i64, per_second: i64, is_utc: bool) -> Option<String> {
    let (seconds, nanos) = seconds_and_nanos(units, per_second)?;
    let moment = DateTime::<Utc>::from_timestamp(seconds, nanos)?.naive_utc();
    let zone = if is_utc { "Z" } else { "" };
    Some(format!("{}T{}{zone}", moment.date(), without_trailing_zeros(&moment.time().to_string())))
}

/// Returns a duration in seconds, such as `PT90.5S`, given its units and the units per second.
pub(super) fn duration(units: i64, per_second: i64) -> Option<String> {
    let (seconds, nanos) = seconds_and_nanos(units, per_second)?;
    Some(TimeDelta::new(seconds, nanos)?.to_string())
}

/// Returns a decimal number with `scale` digits after the point.
pub(super) fn decimal(value: i128, scale: usize) -> String {
    let (sign, digits) = (if value < 0 { "-" } else { "" }, format!("{:0>1$}", value.unsigned_abs(), scale + 1));
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn seconds_and_nanos(units: i64, per_second: i64) -> Option<(i64, u32)> {
    let nanos = units.rem_euclid(per_second) * (NANOS_PER_SECOND / per_second);
    Some((units.div_euclid(per_second), u32::try_from(nanos).ok()?))
}

/// Shortens the fraction of a time, which `chrono` writes with 3, 6 or 9 digits.
fn without_trailing_zeros(time: &str) -> String {
    let shortened = if time.contains('.') { time.trim_end_matches('0') } else { time };
    shortened.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (47_541, "2100-03-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_897, "+10000-01-01"),
        ] {
            assert_eq!(date(days).as_deref(), Some(expected), "{days}");
        }
        assert_eq!((date(i64::MAX), date(i64::from(i32::MAX))), (None, None));
    }

    #[test]
    fn times_keep_every_digit() {
        let utc = date_time(-1, 1_000, true);
        assert_eq!(date_time(1_706_704_200_000_001, 1_000_000, false).unwrap(), "2024-01-31T12:30:00.000001");
        assert_eq!(utc.unwrap(), "1969-12-31T23:59:59.999Z");
        assert_eq!(date_time(1_706_704_200_000, 1_000, false).unwrap(), "2024-01-31T12:30:00");
        assert_eq!(date_time(i64::MAX, 1_000, false), None);
        assert_eq!(time(45_000 * NANOS_PER_SECOND + 500_000_000, NANOS_PER_SECOND).unwrap(), "12:30:00.5");
        assert_eq!(time(86_400, 1), None, "a day has no such second");
        assert_eq!(
            (duration(90_500, 1_000), duration(-1, NANOS_PER_SECOND)),
            (Some("PT90.5S".into()), Some("-PT0.000000001S".into()))
        );
        assert_eq!(duration(i64::MIN, 1_000), None);
    }

    #[test]
    fn decimals_keep_their_point() {
        let numbers =
            [(1234, 2), (-5, 2), (0, 3), (7, 0), (i128::MIN + 1, 1)].map(|(value, scale)| decimal(value, scale));
        assert_eq!(numbers, ["12.34", "-0.05", "0.000", "7", "-17014118346046923173168730371588410572.7"]);
    }
}
