//! Cells of golden tables: how line breaks, tabs and zero bytes are written in them.

/// A cell as it was before it went into a table.
pub(crate) fn unescape(cell: &str) -> String {
    let mut out = String::new();
    let mut rest = cell.chars();
    while let Some(c) = rest.next() {
        match (c == '\\').then(|| rest.next()).flatten() {
            None => out.push(c),
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some(other) => out.push(other),
        }
    }
    out
}
