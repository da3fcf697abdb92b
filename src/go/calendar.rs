//! The length of months.

/// Days of a month (1 to 12) in a year.
///
/// As Go's `time.daysIn`.
pub(crate) fn days_in(month: i64, year: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
