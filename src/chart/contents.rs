//! Contents of a chart's file: at hand, or still in the archive until somebody reads them.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::archive;
use super::helm::Helm;
use crate::limits::Limits;

/// Bytes of a file; clones share them.
#[derive(Clone)]
pub struct Contents(Place);

#[derive(Clone)]
enum Place {
    Here(Arc<[u8]>),
    /// Which of the files that were left in an archive, and its size there.
    Packed(Arc<Packed>, usize, u64),
}

/// An archive that has been read once, and whose large definitions were left inside.
pub(super) struct Packed {
    archive: Arc<Vec<u8>>,
    helm: Helm,
    limits: Limits,
    left: OnceLock<Vec<Arc<[u8]>>>,
}

impl Packed {
    pub(super) fn new(archive: &Arc<Vec<u8>>, helm: Helm, limits: &Limits) -> Self {
        let (archive, limits) = (Arc::clone(archive), limits.clone());
        Self { archive, helm, limits, left: OnceLock::new() }
    }

    /// What was left, taken out all at once.
    fn left(&self) -> &[Arc<[u8]>] {
        // The archive has been read to its end before: it can't fail now.
        self.left.get_or_init(|| archive::left(&self.archive, self.helm, &self.limits).unwrap_or_default())
    }
}

impl Contents {
    pub(super) fn packed(archive: &Arc<Packed>, index: usize, size: u64) -> Self {
        Self(Place::Packed(Arc::clone(archive), index, size))
    }

    /// The bytes, to share them.
    #[must_use]
    pub fn shared(&self) -> &Arc<[u8]> {
        static NOTHING: OnceLock<Arc<[u8]>> = OnceLock::new();
        match &self.0 {
            Place::Here(bytes) => bytes,
            Place::Packed(archive, index, _) => {
                archive.left().get(*index).unwrap_or_else(|| NOTHING.get_or_init(|| Arc::from([])))
            }
        }
    }

    /// Bytes of the file as it is packed, which a byte order mark may make more than there are to read.
    pub(super) fn packed_len(&self) -> u64 {
        match &self.0 {
            Place::Here(bytes) => bytes.len() as u64,
            Place::Packed(_, _, size) => *size,
        }
    }

    /// Whether both are the very same bytes in memory.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Place::Packed(a, at, _), Place::Packed(b, there, _)) if Arc::ptr_eq(a, b) => at == there,
            _ => Arc::ptr_eq(self.shared(), other.shared()),
        }
    }

    /// Whether they are still in the archive.
    pub(crate) fn is_packed(&self) -> bool {
        matches!(&self.0, Place::Packed(archive, ..) if archive.left.get().is_none())
    }
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.shared()
    }
}

impl<T: Into<Arc<[u8]>>> From<T> for Contents {
    fn from(bytes: T) -> Self {
        Self(Place::Here(bytes.into()))
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.packed_len())
    }
}
