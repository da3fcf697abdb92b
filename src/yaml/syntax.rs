//! Values in Go's own syntax, `fmt`'s `%#v`, which messages of go-yaml show.

use super::number;
use super::parser::{Document, Shape};
use super::resolve::{self, Scalar};
use crate::go::quote;

/// Longest text a message shows; Go would print all of it.
const LONGEST: usize = 64 << 10;

/// A scalar on its own.
pub(super) fn of_scalar(scalar: &Scalar<'_>) -> String {
    match scalar {
        Scalar::Null => "<nil>".to_owned(),
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::Uint(u) => format!("{u:#x}"),
        Scalar::Float(f) if f.is_nan() => "NaN".to_owned(),
        Scalar::Float(f) if f.is_infinite() => if *f > 0.0 { "+Inf" } else { "-Inf" }.to_owned(),
        Scalar::Float(f) => number::format_general(*f),
        Scalar::Text(text) | Scalar::Timestamp(text) => quote(text),
    }
}

/// A node with everything below it.
pub(super) fn of_node(document: &Document<'_>, index: u32) -> String {
    let mut out = String::new();
    write_node(document, index, false, &mut out, 0);
    out
}

fn write_node(document: &Document<'_>, index: u32, inside: bool, out: &mut String, depth: usize) {
    let Some(node) = document.node(index).filter(|_| out.len() < LONGEST && depth < 100) else {
        out.push('…');
        return;
    };
    match node.shape {
        Shape::Alias(target) => write_node(document, target, inside, out, depth + 1),
        Shape::Scalar => match scalar(document, index) {
            Scalar::Null if inside => out.push_str("interface {}(nil)"),
            scalar => out.push_str(&of_scalar(&scalar)),
        },
        Shape::Sequence => {
            out.push_str("[]interface {}{");
            for (nth, child) in document.children(index).enumerate() {
                out.push_str(if nth > 0 { ", " } else { "" });
                write_node(document, child, true, out, depth + 1);
            }
            out.push('}');
        }
        Shape::Mapping => write_mapping(document, index, out, depth),
    }
}

fn scalar<'d>(document: &'d Document<'_>, index: u32) -> Scalar<'d> {
    let Some(node) = document.node(index) else { return Scalar::Null };
    match document.tag(node) {
        "" if node.implicit => resolve::plain(&node.value),
        "" => Scalar::Text(&node.value),
        tag => resolve::tagged(tag, &node.value).ok().flatten().unwrap_or(Scalar::Text(&node.value)),
    }
}

/// Go prints maps in the order of their keys.
fn write_mapping(document: &Document<'_>, index: u32, out: &mut String, depth: usize) {
    let mut entries = Vec::new();
    let mut children = document.children(index);
    while let (Some(key), Some(value)) = (children.next(), children.next()) {
        let mut shown = String::new();
        write_node(document, key, true, &mut shown, depth + 1);
        entries.push((shown, value));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    out.push_str("map[interface {}]interface {}{");
    for (nth, (key, value)) in entries.into_iter().enumerate() {
        out.push_str(if nth > 0 { ", " } else { "" });
        out.push_str(&key);
        out.push(':');
        write_node(document, value, true, out, depth + 1);
    }
    out.push('}');
}
