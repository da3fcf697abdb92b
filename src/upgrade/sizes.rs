//! Sizes of release records, each found out once per run: compressing megabytes is the dearest thing a rehearsal does.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::record::{self, Effort, Part};
use super::release::Release;
use super::storage::SECRET_LIMIT;

/// What parts of about the same size have in common.
type Key = (Part, String, String, usize, String);

/// How large one part of a record is, compressed with ever more effort.
#[derive(Debug, Default)]
struct Size {
    bound: OnceLock<usize>,
    close: OnceLock<usize>,
    exact: OnceLock<usize>,
}

impl Size {
    /// The best that is known, or what little effort tells.
    fn bound(&self, release: &Release, part: Part) -> usize {
        let known = self.exact.get().or_else(|| self.close.get());
        *known.unwrap_or_else(|| self.bound.get_or_init(|| record::compressed(release, part, Effort::Least)))
    }

    fn close(&self, release: &Release, part: Part) -> usize {
        *self.close.get_or_init(|| record::compressed(release, part, Effort::Some))
    }

    fn exact(&self, release: &Release, part: Part) -> usize {
        *self.exact.get_or_init(|| record::compressed(release, part, Effort::Full))
    }
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
        let efforts = [Size::bound, Size::close, Size::exact];
        efforts.iter().any(|measure| self.sum(release, measure) <= SECRET_LIMIT)
    }

    /// Bytes of `data.release` that Helm stores for a revision; up to one hundredth more than that while it fits.
    #[must_use]
    pub fn of(&self, release: &Release) -> usize {
        match self.sum(release, Size::close) {
            close if close <= SECRET_LIMIT => close,
            _ => self.sum(release, Size::exact),
        }
    }

    fn sum(&self, release: &Release, measure: impl Fn(&Size, &Release, Part) -> usize) -> usize {
        let bytes = |part| measure(&self.size(release, part), release, part);
        record::encoded(bytes(Part::Chart) + bytes(Part::Rest))
    }

    fn size(&self, release: &Release, part: Part) -> Arc<Size> {
        let key = key(release, part);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, size)) = known.iter().find(|(other, _)| *other == key) {
            return Arc::clone(size);
        }
        known.push((key, Arc::default()));
        known.last().map(|(_, size)| Arc::clone(size)).unwrap_or_default()
    }
}

/// The Helm lines differ by blank lines in the manifest, which do not count after compression.
fn key(release: &Release, part: Part) -> Key {
    let chart = &release.render.chart;
    let files = chart.templates.iter().chain(&chart.files).map(|file| file.data.len()).sum();
    let config = match part {
        // Defaults taken over from an older revision (`--reuse-values`) make no difference worth another measurement.
        Part::Chart => String::new(),
        Part::Rest => serde_json::to_string(&release.render.config).unwrap_or_default(),
    };
    (part, chart.metadata.name.clone(), chart.metadata.version.clone(), files, config)
}
