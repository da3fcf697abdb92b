//! What the fuzz targets do with their input: each hands it to the part of the program that reads such text, and checks
//! what must hold whatever the text says.

pub mod archive;
pub mod chart;
pub mod chart_yaml;
pub mod crd;
pub mod schema;
pub mod set;
pub mod template;
pub mod values;
pub mod yaml;

mod numbers;
mod play;

use seatrial::chart::{File, Helm};
use seatrial::limits::{Limits, stack};

/// Bounds that an input meets in a fraction of a second, so that whatever takes longer went around them.
pub(crate) fn limits() -> Limits {
    Limits {
        file_bytes: 1 << 20,
        chart_bytes: 4 << 20,
        chart_files: 500,
        yaml_nodes: 200_000,
        template_steps: 100_000,
        value_bytes: 64 << 20,
        output_bytes: 4 << 20,
        ..Limits::default()
    }
}

/// Helms that differ most: the oldest and the newest of either line.
pub(crate) fn helms() -> [Helm; 4] {
    [Helm::V4, Helm::V3, known(3, 14), known(4, 0)]
}

fn known(major: u8, minor: u8) -> Helm {
    Helm::known(major, minor).expect("a Helm that is known")
}

/// Runs a job on a stack as deep as the program's own.
pub(crate) fn deep<T: Send>(job: impl FnOnce() -> T + Send) -> T {
    stack::deep(job).expect("a thread")
}

/// The parts of an input, divided by lines of equals signs alone.
pub(crate) fn parts(data: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(DIVIDER.len()).position(|window| window == DIVIDER) {
        parts.push(&rest[..at + 1]);
        rest = &rest[at + DIVIDER.len()..];
    }
    parts.push(rest);
    parts
}

const DIVIDER: &[u8] = b"\n====\n";

/// A file of a chart.
pub(crate) fn file(path: &str, data: &[u8]) -> File {
    File { path: path.to_owned(), data: data.into() }
}
