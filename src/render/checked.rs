//! Large documents that were found to be well-formed, so that one that comes again, with other values or from another Helm
//! version, is not checked again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// Bytes from which on looking a document up is quicker than reading it.
const LARGE: usize = 2048;

/// Bytes at either end that a document is filed by.
const ENDS: usize = 256;

/// What is known of the documents of one run, which all meet the same limits.
#[derive(Debug, Default)]
pub struct Checked {
    known: Mutex<HashMap<u64, Vec<Known>>>,
}

/// A document, and the part of it that was asked for.
type Known = (Box<[u8]>, Arc<Value>);

impl Checked {
    /// The wanted part of a document, which is read unless it is known.
    ///
    /// # Errors
    /// Those of `read`; a document that fails is read again each time.
    pub(super) fn part<E>(
        &self,
        document: &[u8],
        read: impl FnOnce(&[u8]) -> Result<Value, E>,
    ) -> Result<Arc<Value>, E> {
        if document.len() < LARGE {
            return read(document).map(Arc::new);
        }
        let place = place(document);
        if let Some(part) = self.find(place, document) {
            return Ok(part);
        }
        // Not under the lock: other documents are read meanwhile.
        let part = Arc::new(read(document)?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(place).or_default().push((document.into(), Arc::clone(&part)));
        Ok(part)
    }

    fn find(&self, place: u64, document: &[u8]) -> Option<Arc<Value>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.get(&place)?.iter().find(|(text, _)| **text == *document);
        same.map(|(_, part)| Arc::clone(part))
    }
}

/// Where a document is filed.
fn place(document: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    document.len().hash(&mut hasher);
    document.get(..ENDS).hash(&mut hasher);
    document.get(document.len().saturating_sub(ENDS)..).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_document_is_read_once_and_no_other_is_taken_for_it() {
        let checked = Checked::default();
        let read = |text: &[u8], answer: &'static str| {
            checked.part(text, |_| if answer.is_empty() { Err(()) } else { Ok(Value::from(answer)) })
        };
        let long = "x".repeat(LARGE);
        let other = format!("{}y{}", "x".repeat(LARGE / 2), "x".repeat(LARGE / 2 - 1));
        assert_eq!(read(long.as_bytes(), ""), Err(()));
        assert_eq!(*read(long.as_bytes(), "first").unwrap(), "first");
        assert_eq!(*read(long.as_bytes(), "").unwrap(), "first");
        assert_eq!(*read(other.as_bytes(), "same length and ends").unwrap(), "same length and ends");
        assert_eq!(*read(b"short", "one").unwrap(), "one");
        assert_eq!(*read(b"short", "two").unwrap(), "two");
    }
}
