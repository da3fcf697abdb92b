//! Go's `fmt`: verbs, flags and the default printing of values.

/// Quotes as `strconv.Quote` does.
pub fn quote(bytes: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(bytes))
}
