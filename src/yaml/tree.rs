//! What yaml.v3 sees of Go values that JSON can't tell: structs with an order of their own, times, infinities.

use super::emitter::{Emitter, Parent, Written};
use super::number;
use super::order::{self, Version};

/// A value that yaml.v3 writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A scalar that stands as it is.
    Plain(String),
    /// A string, quoted where it would be read as something else.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// A map, whose keys are sorted.
    Map(Vec<(String, Tree)>),
    /// A struct, whose fields keep their order.
    Struct(Vec<(String, Tree)>),
}

impl Tree {
    /// A number as Go's encoder writes it.
    #[must_use]
    pub fn float(float: f64) -> Self {
        Self::Plain(match float {
            _ if float.is_nan() => ".nan".to_owned(),
            f64::INFINITY => ".inf".to_owned(),
            f64::NEG_INFINITY => "-.inf".to_owned(),
            _ => number::format_general(float),
        })
    }
}

impl Written for Tree {
    fn write(&self, emitter: &mut Emitter, parent: Parent) {
        match self {
            Self::Plain(text) => emitter.plain_scalar(text, parent),
            Self::Text(text) => emitter.text(text, parent, false),
            Self::List(items) => emitter.sequence(items, parent),
            Self::Map(entries) => {
                let mut entries = borrowed(entries);
                order::sort(&mut entries, Version::V3);
                emitter.mapping(&entries, parent);
            }
            Self::Struct(fields) => emitter.mapping(&borrowed(fields), parent),
        }
    }
}

fn borrowed(entries: &[(String, Tree)]) -> Vec<(&str, &Tree)> {
    entries.iter().map(|(key, value)| (key.as_str(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_keep_their_order_and_times_are_plain() {
        let text = |text: &str| Tree::Text(text.to_owned());
        let map = Tree::Map(vec![("z".to_owned(), text("1")), ("a".to_owned(), Tree::float(f64::INFINITY))]);
        let time = Tree::Plain("2024-02-29T00:00:00Z".to_owned());
        let fields = vec![("version".to_owned(), time), ("major".to_owned(), map)];
        let written = Emitter::v3(2).document(&Tree::Struct(fields));
        assert_eq!(written, "version: 2024-02-29T00:00:00Z\nmajor:\n  a: .inf\n  z: \"1\"\n");
    }
}
