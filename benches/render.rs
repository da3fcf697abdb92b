//! How long parsing and rendering take: the stand-in chart always, the real Trainer chart where it is at hand.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, criterion_group, criterion_main};
use seatrial::chart::{Chart, Helm, Values};
use seatrial::limits::Limits;
use seatrial::render::{Options, render};
use seatrial::source::{Content, Sources};

fn charts() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("SEATRIAL_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let real = shared.join("charts-cache/kubeflow-trainer-2.3.0.tgz");
    let mut charts = vec![("stand-in".to_owned(), root.join("examples/standin/after"))];
    if real.is_file() {
        charts.push(("kubeflow-trainer-2.3.0".to_owned(), real));
    }
    charts
}

fn load(path: &Path) -> Chart {
    let limits = Limits::default();
    let fetched = Sources::default().fetch(path.to_str().expect("a UTF-8 path")).expect("a chart on disk");
    let chart = match fetched.content {
        Content::Archive(bytes) => Chart::from_archive(&bytes, Helm::V4, &limits),
        Content::Files(files, _) => {
            let files =
                files.into_iter().map(|(path, data)| seatrial::chart::File { path, data: data.into() });
            Chart::from_files(files.collect(), Helm::V4, &limits)
        }
    };
    chart.expect("a valid chart")
}

fn options() -> Options {
    Options {
        helm: Helm::V4,
        release: "bench".to_owned(),
        namespace: "default".to_owned(),
        ..Options::default()
    }
}

fn rendering(criterion: &mut Criterion) {
    for (name, path) in charts() {
        criterion.bench_function(&format!("load {name}"), |bencher| bencher.iter(|| black_box(load(&path))));
        let (chart, options) = (load(&path), options());
        criterion.bench_function(&format!("render {name}"), |bencher| {
            bencher.iter(|| black_box(render(&chart, &Values::new(), &options)).map(drop));
        });
    }
}

criterion_group!(benches, rendering);
criterion_main!(benches);
