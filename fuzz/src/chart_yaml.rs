//! Chart.yaml, and requirements.yaml of the first format behind a divider.

use seatrial::chart::notice::Notices;
use seatrial::chart::{Chart, Helm, Values, detect, process_dependencies};
use seatrial::version::Version;

use crate::play::play;
use crate::{deep, file, helms, limits, parts};

const SUBCHART: &[u8] = b"apiVersion: v2\nname: sub\nversion: 0.1.0\n";

/// Prints the whole of Chart.yaml.
const TEMPLATE: &[u8] = b"chart: {{ toJson .Chart }}\n";

/// Loads the chart as every Helm does and renders it.
pub fn run(data: &[u8]) {
    deep(|| helms().into_iter().for_each(|helm| load(&parts(data), helm)));
}

fn load(parts: &[&[u8]], helm: Helm) {
    let mut files = vec![
        file("Chart.yaml", parts[0]),
        file("charts/sub/Chart.yaml", SUBCHART),
        file("charts/sub/values.yaml", b"exports: {data: {a: 1}}\nb: 2\n"),
        file("templates/chart.yaml", TEMPLATE),
    ];
    files.extend(parts.get(1).map(|part| file("requirements.yaml", part)));
    let _ = detect::directory("/fuzz", Some(parts[0]), helm, &limits());
    let read = || Chart::from_files(files.clone(), helm, &limits());
    let (first, second) = (read(), read());
    let metadata = |chart: &Chart| chart.metadata.clone();
    assert_eq!(first.as_ref().map(metadata), second.as_ref().map(metadata), "read twice");
    let Ok(chart) = first else { return };
    assert!(!chart.name().is_empty() && Version::parse_lenient(&chart.metadata.version).is_ok());
    let mut notices = Notices::new(helm);
    let processed = process_dependencies(&mut chart.clone(), &Values::new(), &mut notices);
    let played = play(&chart, &Values::new(), helm);
    assert!(processed.is_ok() || played.is_err(), "dependencies that can't be processed are rendered");
}
