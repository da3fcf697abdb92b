//! A part of a rendered text. Documents are cut out of what a template printed, which may be megabytes: nobody copies them.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A part of a text that it keeps alive; equal to every other with the same characters.
#[derive(Clone)]
pub struct Excerpt {
    whole: Arc<String>,
    range: Range<usize>,
}

impl Excerpt {
    /// The part of a text that `part`, a slice of it, stands for.
    pub(super) fn of(whole: &Arc<String>, part: &str) -> Self {
        let start = part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr());
        let range = start..start.saturating_add(part.len());
        match whole.get(range.clone()) {
            Some(found) if found.as_ptr() == part.as_ptr() => Self { whole: Arc::clone(whole), range },
            _ => part.into(),
        }
    }
}

impl From<&str> for Excerpt {
    fn from(text: &str) -> Self {
        Self { range: 0..text.len(), whole: Arc::new(text.to_owned()) }
    }
}

impl Deref for Excerpt {
    type Target = str;

    fn deref(&self) -> &str {
        self.whole.get(self.range.clone()).unwrap_or_default()
    }
}

impl PartialEq for Excerpt {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Excerpt {}

impl Hash for Excerpt {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_shares_the_text_and_anything_else_is_copied() {
        let whole = Arc::new("one two".to_owned());
        let part = Excerpt::of(&whole, &whole[4..]);
        assert_eq!((&*part, Arc::strong_count(&whole)), ("two", 2));
        let other = Excerpt::of(&whole, "two");
        assert_eq!((part == other, Arc::strong_count(&whole)), (true, 2));
        assert_eq!(&*Excerpt::of(&whole, ""), "");
    }
}
