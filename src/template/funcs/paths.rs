//! Functions on slash-separated paths; the `os…` ones are those of a Unix system.

use super::Func;
use crate::func;
use crate::template::value::GoStr;

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("base", base),
    func!("clean", clean),
    func!("dir", dir),
    func!("ext", ext),
    func!("isAbs", is_abs),
    func!("osBase", base),
    func!("osClean", clean),
    func!("osDir", dir),
    func!("osExt", ext),
    func!("osIsAbs", is_abs),
];

/// The last element of a path.
///
/// ```tmpl
/// {{ base "a/b.c" }} → b.c
/// ```
fn base(path: &[u8]) -> GoStr {
    if path.is_empty() {
        return GoStr::from(".");
    }
    let end = path.iter().rposition(|b| *b != b'/').map_or(0, |last| last + 1);
    let trimmed = path.get(..end).unwrap_or_default();
    let name = trimmed.rsplit(|b| *b == b'/').next().unwrap_or_default();
    GoStr::from(if name.is_empty() { b"/" } else { name })
}

/// The shortest path that means the same, without `.`, `..` and double slashes.
///
/// ```tmpl
/// {{ clean "a//b/../c/." }} → a/c
/// ```
fn clean(path: &[u8]) -> GoStr {
    let rooted = path.starts_with(b"/");
    let mut kept: Vec<&[u8]> = Vec::new();
    for element in path.split(|b| *b == b'/') {
        match element {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|last| *last != b"..") => {
                kept.pop();
            }
            b".." if rooted => {}
            element => kept.push(element),
        }
    }
    let joined = kept.join(&b'/');
    match (rooted, joined.is_empty()) {
        (true, _) => GoStr::from([b"/", joined.as_slice()].concat()),
        (false, true) => GoStr::from("."),
        (false, false) => GoStr::from(joined),
    }
}

/// All but the last element of a path, cleaned.
///
/// ```tmpl
/// {{ dir "a/b/c" }} → a/b
/// ```
fn dir(path: &[u8]) -> GoStr {
    let end = path.iter().rposition(|b| *b == b'/').map_or(0, |slash| slash + 1);
    clean(path.get(..end).unwrap_or_default())
}

/// The extension of a path's last element, with its dot.
///
/// ```tmpl
/// {{ ext "a/b.tar.gz" }} → .gz
/// ```
fn ext(path: &[u8]) -> GoStr {
    let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let dot = name.iter().rposition(|b| *b == b'.');
    GoStr::from(dot.and_then(|dot| name.get(dot..)).unwrap_or_default())
}

/// Whether a path begins at the root.
///
/// ```tmpl
/// {{ isAbs "/a" }} → true
/// ```
fn is_abs(path: &[u8]) -> bool {
    path.starts_with(b"/")
}
