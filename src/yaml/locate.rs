//! Finds the line of a field, for evidence.

use super::parser::{Document, Shape};
use super::resolve::{self, Scalar};

/// The line (from 1) of the node that a JSON pointer names.
pub(super) fn line(document: &Document<'_>, pointer: &str) -> Option<usize> {
    let mut index = 0;
    let mut line = document.node(0)?.line;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        (index, line) = child(document, target(document, index)?, &step)?;
    }
    Some(line as usize + 1)
}

/// Follows an alias.
fn target(document: &Document<'_>, index: u32) -> Option<u32> {
    match document.node(index)?.shape {
        Shape::Alias(target) => Some(target),
        _ => Some(index),
    }
}

/// A child and the line it is found on; the last of equal keys counts.
fn child(document: &Document<'_>, index: u32, step: &str) -> Option<(u32, u32)> {
    let mut children = document.children(index);
    match document.node(index)?.shape {
        Shape::Sequence => {
            let item = children.nth(step.parse().ok()?)?;
            Some((item, document.node(item)?.line))
        }
        Shape::Mapping => {
            let mut found = None;
            while let (Some(key), Some(value)) = (children.next(), children.next()) {
                if is_key(document, target(document, key)?, step) {
                    found = Some((value, document.node(key)?.line));
                }
            }
            found
        }
        _ => None,
    }
}

fn is_key(document: &Document<'_>, key: u32, step: &str) -> bool {
    let Some(node) = document.node(key).filter(|n| n.shape == Shape::Scalar) else { return false };
    if node.value == step {
        return true;
    }
    match resolve::plain(&node.value) {
        Scalar::Bool(b) if node.implicit => step == if b { "true" } else { "false" },
        Scalar::Int(i) if node.implicit => step == i.to_string(),
        _ => false,
    }
}
