//! JSON for programs; docs/report.schema.json describes it.

use std::io::{self, Write};

use super::{Report, Style};

pub(super) fn write(report: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report).map_err(io::Error::other)?;
    out.write_all(b"\n")
}
