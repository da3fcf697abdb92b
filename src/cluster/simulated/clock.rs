//! The virtual clock's face: timestamps of metadata and conditions.

/// Start of every rehearsal, in seconds since 1970: 2026-01-01T00:00:00Z. Fixed, so that the same input gives the same bytes.
const START: i64 = 1_767_225_600;

/// RFC 3339 in whole seconds, as `metav1.Time` prints it.
pub(super) fn timestamp(now: f64) -> String {
    // Rehearsals last hours, not millennia; the cast can't leave the range.
    #[expect(clippy::cast_possible_truncation, reason = "seconds of a rehearsal fit an i64")]
    let second = START + now.max(0.0).floor().min(1e12) as i64;
    jiff::Timestamp::from_second(second).map_or_else(|_| String::new(), |t| t.to_string())
}
