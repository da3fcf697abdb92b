//! `.helmignore`: which files of a chart's directory Helm does not see.

use super::{Error, File};

/// The file the rules are read from.
pub const HELMIGNORE: &str = ".helmignore";

/// The rules of one `.helmignore`, in order.
///
/// As Helm v4.3.1 `pkg/ignore/rules.go`.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: String,
    /// Written with a leading `!`: whatever does *not* match is ignored.
    negated: bool,
    /// Written with a trailing `/`: only directories match.
    directory: bool,
    /// Whether the whole path is compared instead of the last element.
    whole_path: bool,
}

impl Rules {
    /// Reads the rules and adds Helm's own: hidden files below `templates/`.
    ///
    /// # Errors
    /// For `**` and for malformed patterns, in Helm's words.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut rules = Vec::new();
        for line in text.lines().chain(["templates/.?*"]) {
            rules.extend(Rule::parse(line.trim())?);
        }
        Ok(Self(rules))
    }

    /// Whether a file or directory is ignored; its parents are not looked at.
    #[must_use]
    pub fn ignores(&self, path: &str, is_directory: bool) -> bool {
        if matches!(path, "" | "." | "./") {
            return false;
        }
        self.0.iter().any(|rule| rule.ignores(path, is_directory))
    }

    /// Whether a file is ignored, itself or by a directory above it.
    #[must_use]
    pub fn hides(&self, file: &str) -> bool {
        let parents = file.match_indices('/').filter_map(|(end, _)| file.get(..end));
        parents.into_iter().any(|directory| self.ignores(directory, true)) || self.ignores(file, false)
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Option<Self>, Error> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if line.contains("**") {
            return Err(Error::new("double-star (**) syntax is not supported"));
        }
        if path_match(line, "abc").is_none() {
            return Err(Error::new("syntax error in pattern"));
        }
        let (negated, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (directory, pattern) = pattern.strip_suffix('/').map_or((false, pattern), |rest| (true, rest));
        let (whole_path, pattern) = match pattern.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (pattern.contains('/'), pattern),
        };
        Ok(Some(Self { pattern: pattern.to_owned(), negated, directory, whole_path }))
    }

    fn ignores(&self, path: &str, is_directory: bool) -> bool {
        if self.directory && !is_directory {
            return self.negated;
        }
        self.matches(path) != self.negated
    }

    fn matches(&self, path: &str) -> bool {
        let base = path.rsplit('/').next().unwrap_or(path);
        path_match(&self.pattern, if self.whole_path { path } else { base }).unwrap_or(false)
    }
}

/// The files of a chart's directory that Helm sees, sorted as its walk meets them.
///
/// # Errors
/// When `.helmignore` can't be read as rules.
pub fn visible(mut files: Vec<File>) -> Result<Vec<File>, Error> {
    let ignore = files.iter().find(|file| file.path == HELMIGNORE);
    let text = ignore.map(|file| String::from_utf8_lossy(&file.data).into_owned()).unwrap_or_default();
    let rules = Rules::parse(&text)?;
    files.retain(|file| !rules.hides(&file.path));
    files.sort_by(|left, right| left.path.split('/').cmp(right.path.split('/')));
    Ok(files)
}

/// Go's `filepath.Match` on `/` separated names; `None` for a malformed pattern.
#[must_use]
pub fn path_match(pattern: &str, name: &str) -> Option<bool> {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    match_from(&pattern, &name)
}

fn match_from(mut pattern: &[char], mut name: &[char]) -> Option<bool> {
    while !pattern.is_empty() {
        let (star, chunk, rest) = scan_chunk(pattern);
        pattern = rest;
        if star && chunk.is_empty() {
            return Some(!name.contains(&'/'));
        }
        match match_chunk(chunk, name)? {
            Some(after) if after.is_empty() || !pattern.is_empty() => {
                name = after;
                continue;
            }
            _ => {}
        }
        match star_match(star, chunk, pattern, name)? {
            Some(after) => name = after,
            None => return well_formed(pattern).then_some(false),
        }
    }
    Some(name.is_empty())
}

/// Tries a chunk after a `*` at every later place of the name, up to the next `/`.
#[expect(clippy::option_option, reason = "outer: well-formed, inner: matched")]
fn star_match<'n>(star: bool, chunk: &[char], rest: &[char], name: &'n [char]) -> Option<Option<&'n [char]>> {
    if !star {
        return Some(None);
    }
    for (index, c) in name.iter().enumerate() {
        if *c == '/' {
            break;
        }
        let tail = name.get(index + 1..).unwrap_or_default();
        match match_chunk(chunk, tail)? {
            Some(after) if after.is_empty() || !rest.is_empty() => return Some(Some(after)),
            _ => {}
        }
    }
    Some(None)
}

/// Splits off leading stars and the text up to the next star.
fn scan_chunk(pattern: &[char]) -> (bool, &[char], &[char]) {
    let stars = pattern.iter().take_while(|c| **c == '*').count();
    let body = pattern.get(stars..).unwrap_or_default();
    let (mut in_class, mut index) = (false, 0);
    while let Some(c) = body.get(index) {
        match c {
            '\\' => index += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '*' if !in_class => break,
            _ => {}
        }
        index += 1;
    }
    let (chunk, rest) = body.split_at(index.min(body.len()));
    (stars > 0, chunk, rest)
}

/// Matches a chunk without stars at the start of the name: `None` malformed, `Some(None)` no match.
#[expect(clippy::option_option, reason = "outer: well-formed, inner: matched")]
fn match_chunk<'n>(mut chunk: &[char], mut name: &'n [char]) -> Option<Option<&'n [char]>> {
    let mut failed = false;
    while let Some((c, rest)) = chunk.split_first() {
        failed |= name.is_empty();
        chunk = match c {
            '[' => class(rest, &mut name, &mut failed)?,
            '?' => {
                step(&mut name, &mut failed, |c| c != '/');
                rest
            }
            '\\' => {
                let (literal, rest) = rest.split_first()?;
                step(&mut name, &mut failed, |c| c == *literal);
                rest
            }
            literal => {
                step(&mut name, &mut failed, |c| c == *literal);
                rest
            }
        };
    }
    Some((!failed).then_some(name))
}

fn step(name: &mut &[char], failed: &mut bool, accepts: impl Fn(char) -> bool) {
    match name.split_first() {
        Some((c, rest)) if !*failed => {
            *failed = !accepts(*c);
            *name = rest;
        }
        _ => *failed = true,
    }
}

fn class<'p>(body: &'p [char], name: &mut &[char], failed: &mut bool) -> Option<&'p [char]> {
    let wanted = name.first().copied();
    let (negated, mut body) = match body.split_first() {
        Some(('^', rest)) => (true, rest),
        _ => (false, body),
    };
    let (mut found, mut ranges) = (false, 0);
    loop {
        if let Some((']', rest)) = body.split_first().filter(|_| ranges > 0) {
            step(name, failed, |_| found != negated);
            return Some(rest);
        }
        let (low, rest) = class_char(body)?;
        let (high, rest) = match rest.split_first() {
            Some(('-', rest)) => class_char(rest)?,
            _ => (low, rest),
        };
        found |= wanted.is_some_and(|c| low <= c && c <= high);
        (body, ranges) = (rest, ranges + 1);
    }
}

fn class_char(body: &[char]) -> Option<(char, &[char])> {
    let (c, rest) = body.split_first()?;
    let (c, rest) = match c {
        '-' | ']' => return None,
        '\\' => rest.split_first()?,
        _ => (c, rest),
    };
    // A class must be closed.
    (!rest.is_empty()).then_some((*c, rest))
}

/// Whether the rest of a pattern is well-formed, which Go checks even after a mismatch.
fn well_formed(mut pattern: &[char]) -> bool {
    while !pattern.is_empty() {
        let (_, chunk, rest) = scan_chunk(pattern);
        if match_chunk(chunk, &[]).is_none() {
            return false;
        }
        pattern = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_like_filepath_match() {
        for (pattern, name, expected) in [
            ("abc", "abc", Some(true)),
            ("*", "abc", Some(true)),
            ("*c", "abc", Some(true)),
            ("a*/b", "abc/b", Some(true)),
            ("a*/b", "a/c/b", Some(false)),
            ("a*b*c*d*e*/f", "axbxcxdxexxx/f", Some(true)),
            ("a*b?c*x", "abxbbxdbxebxczzx", Some(true)),
            ("ab[c]", "abc", Some(true)),
            ("ab[b-d]", "abc", Some(true)),
            ("ab[^c]", "abc", Some(false)),
            ("[]a]", "]", None),
            ("[-]", "-", None),
            ("[a", "a", None),
            ("a[", "ab", None),
            ("a\\", "a", None),
            ("a\\*b", "a*b", Some(true)),
            ("templates/.?*", "templates/.hidden", Some(true)),
            ("*x", "xxx", Some(true)),
            ("a?b", "a/b", Some(false)),
        ] {
            assert_eq!(path_match(pattern, name), expected, "{pattern} against {name}");
        }
    }

    #[test]
    fn rules_apply_in_order_and_negation_hides_the_rest() {
        let rules = Rules::parse("# c\n*.bak\nsecret/\n/root.txt\nconf/*.ini\n").unwrap();
        for (path, hidden) in [
            ("x.bak", true),
            ("deep/x.bak", true),
            ("secret/s.txt", true),
            ("root.txt", true),
            ("conf/root.txt", false),
            ("conf/a.ini", true),
            ("conf/deep/c.ini", false),
            ("templates/.hidden", true),
        ] {
            assert_eq!(rules.hides(path), hidden, "{path}");
        }
        let negated = Rules::parse("!keep.bak").unwrap();
        assert!(!negated.hides("keep.bak"));
        assert!(negated.hides("Chart.yaml"));
        assert_eq!(Rules::parse("a/**").unwrap_err().to_string(), "double-star (**) syntax is not supported");
    }
}
