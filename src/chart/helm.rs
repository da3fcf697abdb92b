//! The Helm release lines whose behaviour can be asked for, and where they part ways in reading charts.

use std::fmt;

/// The Helm release line whose behaviour is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Helm {
    /// 3 or 4.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
}

impl Helm {
    /// Helm 3.22.
    pub const V3: Self = Self { major: 3, minor: 22 };
    /// Helm 4.3.
    pub const V4: Self = Self { major: 4, minor: 3 };

    /// The lines that can be asked for, in words.
    pub const KNOWN: &'static str = "3.14 to 3.22 and 4.0 to 4.3";

    /// A line that can be asked for.
    #[must_use]
    pub fn known(major: u8, minor: u8) -> Option<Self> {
        matches!((major, minor), (3, 14..=22) | (4, 0..=3)).then_some(Self { major, minor })
    }

    /// Whether values files may hold several documents.
    #[must_use]
    pub fn reads_document_streams(self) -> bool {
        self.major >= 4
    }

    /// Whether nulls among a chart's own defaults never reach the templates.
    #[must_use]
    pub fn drops_default_nulls(self) -> bool {
        self >= Self { major: 4, minor: 2 }
    }

    /// Whether a user's null below the top level vanishes even where the chart has no such key.
    #[must_use]
    pub fn drops_all_nested_nulls(self) -> bool {
        // 3.19.5, 3.20.0 and 4.0.0 to 4.1.2 did it too, their later patch releases do not.
        matches!((self.major, self.minor), (4, 0))
    }

    /// Whether a second alias of one subchart shares what the first one changed.
    #[must_use]
    pub fn shares_aliased_subcharts(self) -> bool {
        self.major == 3
    }

    /// Whether a single file of an archive is bounded besides the whole archive.
    #[must_use]
    pub fn bounds_single_files(self) -> bool {
        self.major == 3
    }
}

impl fmt::Display for Helm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
