//! Field paths as the API server prints them, kept on the stack until an error needs them.

use std::fmt;

/// A path of which only the last step is stored; the rest is borrowed from the caller's frame.
#[derive(Clone, Copy, Debug)]
pub struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    Field(&'p str),
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The path of the object itself; prints as nothing.
    pub const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    /// A named field: `spec.x`.
    #[must_use]
    pub fn field(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Field(name) }
    }

    /// A key of a map: `spec[x]`.
    #[must_use]
    pub fn key(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Key(name) }
    }

    /// An item of a list: `spec[0]`.
    #[must_use]
    pub fn index(&'p self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }

    /// Whether this is the object itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        matches!(self.step, Step::Root)
    }

    /// The path in an error: `<nil>` for the object itself.
    #[must_use]
    pub fn or_nil(&self) -> String {
        if self.is_root() { "<nil>".to_owned() } else { self.to_string() }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Collected first: a recursive walk to the root would cost a frame for each level.
        let mut steps = Vec::new();
        let mut at = Some(self);
        while let Some(path) = at {
            steps.push(path.step);
            at = path.parent;
        }
        let mut started = false;
        for step in steps.into_iter().rev() {
            match step {
                Step::Root => continue,
                Step::Field(name) if started => write!(f, ".{name}")?,
                Step::Field(name) => f.write_str(name)?,
                Step::Key(name) => write!(f, "[{name}]")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
            started = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn prints_like_the_api_server() {
        let spec = Path::ROOT.field("spec");
        let list = spec.field("list");
        let item = list.index(2);
        assert_eq!(item.field("a").to_string(), "spec.list[2].a");
        assert_eq!(spec.key("k.io/x").to_string(), "spec[k.io/x]");
        assert_eq!(Path::ROOT.or_nil(), "<nil>");
    }
}
