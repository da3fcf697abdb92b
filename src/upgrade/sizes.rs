//! Sizes of release records, each found out once per run: compressing megabytes is the dearest thing a rehearsal does.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::record::{self, Effort};
use super::release::Release;
use super::storage::SECRET_LIMIT;

/// What records of about the same size have in common.
type Key = (String, String, usize, String);

/// How large one record is.
#[derive(Debug, Default)]
struct Size {
    /// What it takes at the most.
    bound: OnceLock<usize>,
    exact: OnceLock<usize>,
}

/// The sizes that are known; shared by everything that looks at the same releases.
#[derive(Debug, Default)]
pub struct Sizes {
    known: Mutex<Vec<(Key, Arc<Size>)>>,
}

impl Sizes {
    /// Whether the record of a revision fits into a Secret.
    #[must_use]
    pub fn fits(&self, release: &Release) -> bool {
        self.bound(release) <= SECRET_LIMIT || self.exact(release) <= SECRET_LIMIT
    }

    /// Bytes of `data.release` that Helm stores for a revision: exact from three quarters of the limit on, and not
    /// less than that below.
    #[must_use]
    pub fn of(&self, release: &Release) -> usize {
        match self.bound(release) {
            bound if bound * 4 < SECRET_LIMIT * 3 => bound,
            _ => self.exact(release),
        }
    }

    fn bound(&self, release: &Release) -> usize {
        *self.size(release).bound.get_or_init(|| record::size(release, Effort::Less))
    }

    fn exact(&self, release: &Release) -> usize {
        *self.size(release).exact.get_or_init(|| record::size(release, Effort::Full))
    }

    fn size(&self, release: &Release) -> Arc<Size> {
        let key = key(release);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, size)) = known.iter().find(|(other, _)| *other == key) {
            return Arc::clone(size);
        }
        known.push((key, Arc::default()));
        known.last().map(|(_, size)| Arc::clone(size)).unwrap_or_default()
    }
}

/// The Helm lines differ by blank lines in the manifest, which do not count after compression.
fn key(release: &Release) -> Key {
    let chart = &release.render.chart;
    let files = chart.templates.iter().chain(&chart.files).map(|file| file.data.len()).sum();
    let config = serde_json::to_string(&release.render.config).unwrap_or_default();
    (chart.metadata.name.clone(), chart.metadata.version.clone(), files, config)
}
