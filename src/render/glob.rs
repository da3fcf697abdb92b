//! The patterns of `.Files.Glob`: gobwas/glob v0.2 with `/` as separator.

/// Most alternatives that braces may multiply to.
const ALTERNATIVES: usize = 4_096;

/// A pattern; one that can't be read matches everything, as in Helm.
#[derive(Clone, Debug)]
pub(super) struct Glob(Vec<Vec<Part>>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Char(char),
    /// `?`
    Single,
    /// `*`
    Any,
    /// `**`
    Super,
    /// `[a-z]`, `[!abc]`
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    pub(super) fn parse(pattern: &str) -> Self {
        let mut parser = Parser { rest: pattern.chars().collect::<Vec<_>>().into_iter().peekable() };
        match parser.sequence(0) {
            Some(alternatives) if parser.rest.peek().is_none() => Self(alternatives),
            _ => Self(vec![vec![Part::Super]]),
        }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let path: Vec<char> = path.chars().collect();
        self.0.iter().any(|parts| matches(parts, &path))
    }
}

/// Whether the parts match the whole path: the set of reachable places moves part by part.
fn matches(parts: &[Part], path: &[char]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    for part in parts {
        reached = step(part, &reached, path);
    }
    reached.last() == Some(&true)
}

fn step(part: &Part, reached: &[bool], path: &[char]) -> Vec<bool> {
    let mut next = Vec::with_capacity(reached.len());
    let mut running = false;
    for (at, here) in reached.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| Some((*path.get(at)?, *reached.get(at)?)));
        next.push(match (part, before) {
            (Part::Super, _) => {
                running |= here;
                running
            }
            (Part::Any, before) => {
                running = *here || (running && before.is_none_or(|(c, _)| c != '/'));
                running
            }
            (_, None) => false,
            (Part::Char(wanted), Some((c, from))) => from && c == *wanted,
            (Part::Single, Some((c, from))) => from && c != '/',
            (Part::Class { negated, ranges }, Some((c, from))) => {
                from && ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        });
    }
    next
}

struct Parser {
    rest: std::iter::Peekable<std::vec::IntoIter<char>>,
}

impl Parser {
    /// All expansions up to the end, or inside braces up to `,` or `}`.
    fn sequence(&mut self, depth: usize) -> Option<Vec<Vec<Part>>> {
        let mut expansions = vec![Vec::new()];
        while let Some(c) = self.rest.peek().copied() {
            if depth > 0 && matches!(c, ',' | '}') {
                break;
            }
            self.rest.next();
            let choices = match c {
                '{' => self.braces(depth + 1)?,
                '[' => vec![vec![self.class()?]],
                '?' => vec![vec![Part::Single]],
                '*' => vec![vec![self.star()]],
                '\\' => vec![self.rest.next().map(Part::Char).into_iter().collect()],
                c => vec![vec![Part::Char(c)]],
            };
            expansions = multiply(&expansions, &choices)?;
        }
        Some(expansions)
    }

    fn braces(&mut self, depth: usize) -> Option<Vec<Vec<Part>>> {
        if depth > 16 {
            return None;
        }
        let mut choices = Vec::new();
        loop {
            choices.extend(self.sequence(depth)?);
            match self.rest.next()? {
                ',' => {}
                _ => return Some(choices),
            }
        }
    }

    fn star(&mut self) -> Part {
        if self.rest.next_if_eq(&'*').is_some() { Part::Super } else { Part::Any }
    }

    fn class(&mut self) -> Option<Part> {
        let negated = self.rest.next_if_eq(&'!').is_some();
        let first = self.rest.next()?;
        let ranges = if first != ']' && self.rest.next_if_eq(&'-').is_some() {
            let high = self.rest.next()?;
            if self.rest.next()? != ']' || high < first {
                return None;
            }
            vec![(first, high)]
        } else {
            self.listed(first)?
        };
        Some(Part::Class { negated, ranges })
    }

    /// The characters of a class without range, up to `]`.
    fn listed(&mut self, first: char) -> Option<Vec<(char, char)>> {
        let mut ranges = Vec::new();
        let mut c = first;
        loop {
            match c {
                ']' if ranges.is_empty() => return None,
                ']' => return Some(ranges),
                '\\' => {
                    let escaped = self.rest.next()?;
                    ranges.push((escaped, escaped));
                }
                c => ranges.push((c, c)),
            }
            c = self.rest.next()?;
        }
    }
}

fn multiply(left: &[Vec<Part>], right: &[Vec<Part>]) -> Option<Vec<Vec<Part>>> {
    if left.len().saturating_mul(right.len()) > ALTERNATIVES {
        return None;
    }
    let join =
        |head: &Vec<Part>| right.iter().map(|tail| [head.as_slice(), tail].concat()).collect::<Vec<_>>();
    Some(left.iter().flat_map(join).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_like_gobwas() {
        for (pattern, path, expected) in [
            ("**", "a/b/c", true),
            ("conf/*", "conf/a.ini", true),
            ("conf/*", "conf/deep/c.ini", false),
            ("conf/**.ini", "conf/deep/c.ini", true),
            ("conf/{a,b}.ini", "conf/b.ini", true),
            ("conf/{a,b}.ini", "conf/c.ini", false),
            ("conf/{a,{b,c}x}.ini", "conf/cx.ini", true),
            ("conf/?.ini", "conf/a.ini", true),
            ("a?b", "a/b", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[abc]x", "cx", true),
            ("a\\*", "a*", true),
            ("[a", "anything/at/all", true),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(Glob::parse(pattern).matches(path), expected, "{pattern} against {path}");
        }
    }
}
