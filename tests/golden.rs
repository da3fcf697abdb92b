//! Renders compared with what the real Helm printed: recorded digests, recorded output, and the programs themselves.

#![expect(clippy::print_stderr, reason = "all of this crate is tests, helpers included")]

use escapes::unescape;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use seatrial::chart::{Chart, File, Helm, archive, ignore, values_input};
use seatrial::limits::Limits;
use seatrial::render::host::Offline;
use seatrial::render::{Error, Options, PrintOptions, render, template_output};
use serde_json::Value;
use sha2::{Digest, Sha256};

#[path = "it/escapes.rs"]
mod escapes;
#[path = "it/shared.rs"]
mod shared;
#[path = "golden/versions.rs"]
mod versions;

/// Standard output, standard error and exit code.
#[derive(Debug, PartialEq, Eq)]
struct Printed {
    out: String,
    err: String,
    exit: i64,
}

/// `helm template` with Helm's own arguments, relative to a folder.
fn template(helm: Helm, folder: &Path, arguments: &[String]) -> Printed {
    template_with(0, helm, folder, arguments)
}

/// The same with a seed for what templates leave to chance.
fn template_with(seed: u64, helm: Helm, folder: &Path, arguments: &[String]) -> Printed {
    let mut warnings = String::new();
    match attempt(seed, helm, folder, arguments, &mut warnings) {
        Ok(out) => Printed { out, err: warnings, exit: 0 },
        Err(error) => Printed { out: String::new(), err: warnings + &error.stderr(), exit: 1 },
    }
}

fn attempt(
    seed: u64,
    helm: Helm,
    folder: &Path,
    arguments: &[String],
    warnings: &mut String,
) -> Result<String, Error> {
    let mut input = values_input::Input::default();
    let answers = std::sync::Arc::new(Offline { seed, ..Offline::default() });
    let mut options = Options { helm, answers, ..Options::default() };
    let mut print = PrintOptions::default();
    let mut names = Vec::new();
    let mut rest = arguments.iter().cloned();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().expect("a value after the flag");
        match argument.as_str() {
            "--set" => input.set.push(value()),
            "--set-string" => input.string.push(value()),
            "--set-json" => input.json.push(value()),
            "--set-literal" => input.literal.push(value()),
            "-f" | "--values" => {
                let name = value();
                let data = std::fs::read(folder.join(&name)).expect("a values file");
                input.files.push((name, data));
            }
            "-n" | "--namespace" => options.namespace = value(),
            "--kube-version" => options.kube_version = Some(value()),
            "--api-versions" => options.api_versions.extend(value().split(',').map(str::to_owned)),
            "--show-only" => print.show_only.push(value()),
            "--include-crds" => print.include_crds = true,
            "--no-hooks" => print.no_hooks = true,
            "--skip-tests" => print.skip_tests = true,
            "--is-upgrade" => options.is_upgrade = true,
            _ => names.push(argument),
        }
    }
    let path = folder.join(names.pop().expect("a chart"));
    options.release = names.pop().unwrap_or(options.release);
    if let Some(text) = &options.kube_version {
        seatrial::render::capabilities::KubeVersion::parse(text, helm)?;
    }
    let limits = Limits::default();
    let read =
        &mut |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let config = values_input::merge(&input, helm, &limits, read)?;
    let chart = load(&path, helm, &limits)?;
    let render = render(&chart, &config, &options)?;
    for line in &render.warnings {
        let _ = writeln!(warnings, "{line}");
    }
    Ok(template_output(&render, helm, &print)?)
}

thread_local! {
    /// Charts that this thread has read: many rows render the same ones with other values.
    static CHARTS: RefCell<BTreeMap<(PathBuf, Helm), Rc<Chart>>> = const { RefCell::new(BTreeMap::new()) };
}

fn load(path: &Path, helm: Helm, limits: &Limits) -> Result<Rc<Chart>, Error> {
    let key = (path.to_owned(), helm);
    if let Some(known) = CHARTS.with_borrow(|charts| charts.get(&key).cloned()) {
        return Ok(known);
    }
    let chart = Rc::new(read(path, helm, limits)?);
    CHARTS.with_borrow_mut(|charts| charts.insert(key, Rc::clone(&chart)));
    Ok(chart)
}

fn read(path: &Path, helm: Helm, limits: &Limits) -> Result<Chart, Error> {
    if path.is_dir() {
        let mut files = Vec::new();
        walk(path, "", &mut files);
        return Ok(Chart::from_files(ignore::visible(files)?, helm, limits)?);
    }
    Ok(Chart::from_archive(&std::fs::read(path).expect("a chart"), helm, limits)?)
}

fn walk(directory: &Path, prefix: &str, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if entry.path().is_dir() {
            walk(&entry.path(), &path, files);
        } else {
            files.push(File {
                path,
                data: archive::without_mark(std::fs::read(entry.path()).expect("a file")),
            });
        }
    }
}

/// Counts, and tells what failed at the end.
#[derive(Default)]
struct Tally {
    passed: usize,
    failures: Vec<String>,
}

impl Tally {
    fn check(&mut self, what: &str, difference: Option<String>) {
        match difference {
            None => self.passed += 1,
            Some(difference) => self.failures.push(format!("{what}: {difference}")),
        }
    }

    /// Checks rows on all processors; counts and failures are in the order of the rows.
    fn of<T: Sync>(rows: &[T], check: impl Fn(&T, &mut Self) + Sync) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let part = |rows: &[T]| {
            let mut tally = Self::default();
            rows.iter().for_each(|row| check(row, &mut tally));
            tally
        };
        let part = &part;
        let parts: Vec<Self> = std::thread::scope(|scope| {
            let chunks = rows.chunks(rows.len().div_ceil(threads).max(1));
            let running: Vec<_> = chunks.map(|rows| scope.spawn(move || part(rows))).collect();
            running.into_iter().map(|thread| thread.join().expect("a part of the rows")).collect()
        });
        parts.into_iter().fold(Self::default(), |mut whole, part| {
            whole.passed += part.passed;
            whole.failures.extend(part.failures);
            whole
        })
    }

    fn finish(self, suite: &str) {
        eprintln!("{suite}: {} passed, {} failed", self.passed, self.failures.len(),);
        assert!(self.failures.is_empty(), "{suite}:\n{}", self.failures.join("\n"));
        assert!(self.passed > 0, "{suite}: nothing was compared");
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lines in any order: Helm's warnings come as Go's maps do.
fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn first_difference(wanted: &str, got: &str) -> Option<String> {
    if wanted == got {
        return None;
    }
    let differing = wanted.lines().zip(got.lines()).enumerate().find(|(_, (wanted, got))| wanted != got);
    Some(match differing {
        Some((at, (wanted, got))) => format!("line {}: wanted {wanted:?}, got {got:?}", at + 1),
        None => format!("wanted {} bytes, got {}", wanted.len(), got.len()),
    })
}

fn compare(wanted: &Printed, got: &Printed) -> Option<String> {
    if wanted.exit != got.exit {
        return Some(format!("exit {} instead of {}: {}", got.exit, wanted.exit, got.err));
    }
    let streams = || first_difference(&wanted.out, &got.out);
    streams().or_else(|| {
        (sorted_lines(&wanted.err) != sorted_lines(&got.err))
            .then(|| format!("standard error: wanted {:?}, got {:?}", wanted.err, got.err))
    })
}

fn helm_of(major: &str) -> Helm {
    if major == "3" { Helm::V3 } else { Helm::V4 }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn trainer_charts_render_as_recorded() {
    let Some(shared) = shared::shared() else { return };
    let record = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/render/trainer.tsv");
    let record = std::fs::read_to_string(record).expect("the record");
    let rows: Vec<&str> = record.lines().skip(1).collect();
    let tally = Tally::of(&rows, |row, tally| {
        let cells: Vec<_> = row.split('\t').collect();
        let [major, version, arguments, exit, out, err] = cells[..] else { panic!("six cells in {row}") };
        let mut all = words(arguments);
        all.push(format!("kubeflow-trainer-{version}.tgz"));
        let got = template(helm_of(major), &shared.join("charts-cache"), &all);
        let same = got.exit.to_string() == exit && digest(&got.out) == out && digest(&got.err) == err;
        let what = format!("helm {major} template {arguments} kubeflow-trainer-{version}.tgz");
        tally.check(
            &what,
            (!same).then(|| format!("exit {}, {} bytes, {:?}", got.exit, got.out.len(), got.err)),
        );
    });
    tally.finish("trainer charts");
}

#[test]
fn field_cases_render_as_recorded() {
    let Some(shared) = shared::shared() else { return };
    let mut tally = Tally::default();
    let mut folders: Vec<_> = std::fs::read_dir(shared.join("cases")).expect("cases").flatten().collect();
    folders.sort_by_key(std::fs::DirEntry::file_name);
    for folder in folders {
        let Ok(text) = std::fs::read(folder.path().join("case.yaml")) else { continue };
        let case = seatrial::yaml::to_json(&text, &Limits::default()).expect("a case");
        for check in case["checks"].as_array().into_iter().flatten().filter(|check| check["do"] == "render") {
            for expect in check["expect"].as_array().into_iter().flatten() {
                field_case(&folder.path(), check, expect, &mut tally);
            }
        }
    }
    tally.finish("field cases");
}

fn field_case(folder: &Path, check: &Value, expect: &Value, tally: &mut Tally) {
    let file = |key: &str| match expect[key].as_str() {
        None | Some("empty") => String::new(),
        Some(path) => std::fs::read_to_string(folder.join(path)).expect("an expected file"),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments: Vec<_> = check["argv"].as_array().into_iter().flatten().skip(2).map(text).collect();
    let wanted =
        Printed { out: file("stdout"), err: file("stderr"), exit: expect["rc"].as_i64().unwrap_or_default() };
    for version in expect["helm"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let helm = Helm::parse(version).expect("a release of Helm");
        let got = template(helm, &folder.join("input"), &arguments);
        let what = format!("{} helm {version}: {}", folder.display(), check["name"]);
        tally.check(&what, compare(&wanted, &got));
    }
}

#[test]
fn public_charts_render_as_recorded() {
    let Some(shared) = shared::shared() else { return };
    let corpus = shared.join("corpus");
    let record = std::fs::read_to_string(corpus.join("cases.tsv")).expect("the corpus");
    let rows: Vec<&str> = record.lines().skip(1).collect();
    let tally = Tally::of(&rows, |row, tally| {
        let cells: Vec<_> = row.split('\t').collect();
        let [case, chart, values, exit3, exit4, ..] = cells[..] else { panic!("five cells in {row}") };
        for (major, exit) in [("3", exit3), ("4", exit4)] {
            let mut arguments = words("--include-crds -n ns1 --kube-version 1.34.3");
            if values != "-" {
                arguments.extend(["-f".to_owned(), values.to_owned()]);
            }
            arguments.extend(["rel".to_owned(), chart.to_owned()]);
            let got = template(helm_of(major), &corpus, &arguments);
            let err = corpus.join(format!("expected/{case}.helm{major}.err"));
            let wanted = Printed {
                out: unzip(&corpus.join(format!("expected/{case}.helm{major}.yaml.gz"))),
                err: std::fs::read_to_string(err).unwrap_or_default(),
                exit: exit.parse().expect("an exit code"),
            };
            let difference = compare(&wanted, &got).and_then(|_| {
                let again = template_with(1, helm_of(major), &corpus, &arguments);
                compare_beside_chance(&wanted, &got, &again)
            });
            tally.check(&format!("helm {major}: {case}"), difference);
        }
    });
    tally.finish("public charts");
}

/// The same comparison for charts that print what chance gives: lines that differ between two throws of our dice are
/// left out, all others have to be the same.
fn compare_beside_chance(wanted: &Printed, got: &Printed, again: &Printed) -> Option<String> {
    let certain = |text: &str| {
        let pairs = got.out.lines().zip(again.out.lines());
        let lines = text.lines().zip(pairs).filter(|(_, (one, other))| one == other);
        lines.map(|(line, _)| format!("{line}\n")).collect::<String>()
    };
    if [wanted, again].iter().any(|other| other.out.lines().count() != got.out.lines().count()) {
        return compare(wanted, got);
    }
    let masked = |printed: &Printed| Printed {
        out: certain(&printed.out),
        err: printed.err.clone(),
        exit: printed.exit,
    };
    compare(&masked(wanted), &masked(got))
}

fn unzip(path: &Path) -> String {
    use std::io::Read as _;
    let mut text = String::new();
    let data = std::fs::read(path).expect("an expected file");
    flate2::read::MultiGzDecoder::new(&data[..]).read_to_string(&mut text).expect("gzip");
    text
}

#[test]
fn templates_of_a_chart_render_as_recorded() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/render");
    let mut tally = Tally::default();
    for family in ["bytes", "durations", "objects"] {
        let rows = std::fs::read_to_string(root.join(format!("cases/{family}.tsv"))).expect("the record");
        for row in rows.lines().skip(1) {
            let cells: Vec<_> = row.split('\t').map(unescape).collect();
            let [text, major, exit, out, err] = &cells[..] else { panic!("five cells in {row}") };
            let exit = exit.parse().expect("an exit code");
            let wanted = Printed { out: out.clone(), err: err.clone(), exit };
            let got = template_of_chart(&root.join("chart"), text, helm_of(major));
            tally.check(&format!("helm {major}: {text}"), compare(&wanted, &got));
        }
    }
    tally.finish("templates of a chart");
}

/// The chart with one more template.
fn template_of_chart(folder: &Path, text: &str, helm: Helm) -> Printed {
    let mut files = Vec::new();
    walk(folder, "", &mut files);
    files.push(File { path: "templates/case.yaml".to_owned(), data: text.as_bytes().into() });
    let options = Options { helm, kube_version: Some("1.34.3".to_owned()), ..Options::default() };
    let rendered = ignore::visible(files)
        .and_then(|files| Chart::from_files(files, helm, &options.limits))
        .map_err(Error::from)
        .and_then(|chart| render(&chart, &serde_json::Map::new(), &options))
        .and_then(|render| Ok(template_output(&render, helm, &PrintOptions::default())?));
    match rendered {
        Ok(out) => Printed { out: without_addresses(&out), err: String::new(), exit: 0 },
        Err(error) => Printed { out: String::new(), err: without_addresses(&error.stderr()), exit: 1 },
    }
}

/// Addresses of Go's differ from run to run; ours is always the same.
fn without_addresses(text: &str) -> String {
    text.replace("0xc000000000", "0x")
}

/// The real programs, when `scripts/oracle/helm` has built them: the Trainer charts' rows again, now live.
#[test]
fn trainer_charts_render_as_the_programs_do() {
    let Some(shared) = shared::shared() else { return };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let oracles =
        std::env::var_os("SEATRIAL_ORACLES").map_or_else(|| root.join("target/oracles"), PathBuf::from);
    let built = ["helm3", "helm4"].iter().all(|name| oracles.join(name).exists());
    let missing = format!("no real Helms at {} (scripts/oracle/helm builds them)", oracles.display());
    let Some(oracles) = shared::needed(built.then_some(oracles), &missing) else { return };
    let charts = shared.join("charts-cache");
    let mut tally = Tally::default();
    for major in ["3", "4"] {
        for arguments in ["t", "t --set runtimes.defaultEnabled=true --include-crds", "t --set manager=text"]
        {
            let mut all = words(arguments);
            all.push("kubeflow-trainer-2.3.0.tgz".to_owned());
            #[expect(clippy::disallowed_methods, reason = "the program is what is compared with")]
            let output = std::process::Command::new(oracles.join(format!("helm{major}")))
                .arg("template")
                .args(&all)
                .current_dir(&charts)
                .output()
                .expect("helm runs");
            let wanted = Printed {
                out: String::from_utf8_lossy(&output.stdout).into_owned(),
                err: String::from_utf8_lossy(&output.stderr).into_owned(),
                exit: output.status.code().unwrap_or_default().into(),
            };
            let got = template(helm_of(major), &charts, &all);
            tally.check(&format!("helm {major} {arguments}"), compare(&wanted, &got));
        }
    }
    tally.finish("real Helm");
}
