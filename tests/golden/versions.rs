//! Releases of Helm from 3.14 on: what each printed for our own charts, and the program with `--helm RELEASE`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::escapes::unescape;
use super::{Printed, Tally, compare};

/// What some releases printed alike for one case.
struct Row {
    chart: String,
    arguments: Vec<String>,
    template: String,
    releases: Vec<String>,
    wanted: Printed,
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/render")
}

fn rows() -> Vec<Row> {
    let record = std::fs::read_to_string(golden().join("versions.tsv")).expect("the record");
    record.lines().skip(1).map(row).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.split('\t').collect();
    let [chart, arguments, template, releases, exit, out, err] = cells[..] else {
        panic!("seven cells in {line}")
    };
    Row {
        chart: chart.to_owned(),
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        template: unescape(template),
        releases: releases.split(',').map(str::to_owned).collect(),
        wanted: Printed { out: unescape(out), err: unescape(err), exit: exit.parse().expect("an exit code") },
    }
}

/// A folder of its own with all charts, and the case's template in its chart.
fn charts(row: &Row) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&golden().join("versions"), folder.path());
    if !row.template.is_empty() {
        let text = format!(
            "{{{{ define \"case\" }}}}{}{{{{ end }}}}r: {{{{ include \"case\" . | toJson }}}}",
            row.template
        );
        std::fs::write(folder.path().join(&row.chart).join("templates/case.yaml"), text).expect("a template");
    }
    folder
}

/// Files, folders and links as they are.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("a kind of file");
        if kind.is_dir() {
            std::fs::create_dir_all(&to).expect("a folder");
            copy(&from, &to);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(&from).expect("a link"), to).expect("a link");
        } else {
            std::fs::copy(&from, to).expect("a file");
        }
    }
}

fn run(folder: &Path, release: &str, row: &Row) -> Printed {
    #[expect(clippy::disallowed_methods, reason = "what is tested is the program")]
    let output = Command::new(env!("CARGO_BIN_EXE_seatrial"))
        .args(["template", "--helm", release])
        .args(&row.arguments)
        .arg(&row.chart)
        .current_dir(folder)
        .output()
        .expect("seatrial runs");
    let place = folder.canonicalize().expect("a folder").display().to_string();
    let text =
        |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&place, "WORK").replace("0xc000000000", "0x");
    Printed {
        out: text(&output.stdout),
        err: text(&output.stderr),
        exit: output.status.code().unwrap_or_default().into(),
    }
}

#[test]
fn releases_print_as_recorded() {
    let tally = Tally::of(&rows(), |row, tally| {
        let folder = charts(row);
        for release in &row.releases {
            let what =
                format!("helm {release} template {} {} {}", row.arguments.join(" "), row.chart, row.template);
            tally.check(&what, compare(&row.wanted, &run(folder.path(), release, row)));
        }
    });
    tally.finish("releases of Helm");
}
