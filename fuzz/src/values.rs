//! Values: those of a chart, then those of its subchart, a user's file and lines of `--set`, divided from each other.

use seatrial::chart::notice::Notices;
use seatrial::chart::values_input::{Input, merge};
use seatrial::chart::{Chart, Helm, Values, coalesce, process_dependencies};
use serde_json::Value;

use crate::yaml::write;
use crate::{deep, file, helms, limits, parts};

const CHART: &[u8] = b"apiVersion: v2\nname: fuzz\nversion: 1.2.3\ndependencies:\n\
    - {name: sub, version: '*', condition: 'sub.enabled,on', tags: [t], import-values: [data, {child: a.b, parent: c}]}\n\
    - {name: sub, version: '*', alias: other, condition: other.enabled}\n";

const SUBCHART: &[u8] = b"apiVersion: v2\nname: sub\nversion: 0.1.0\n";

/// Merges all of them as every Helm does.
pub fn run(data: &[u8]) {
    let parts = parts(data);
    deep(|| {
        for helm in helms() {
            let _ = merged(&parts, helm);
        }
    });
}

fn merged(parts: &[&[u8]], helm: Helm) -> Option<()> {
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let files = vec![
        file("Chart.yaml", CHART),
        file("values.yaml", part(0)),
        file("charts/sub/Chart.yaml", SUBCHART),
        file("charts/sub/values.yaml", part(1)),
    ];
    let chart = Chart::from_files(files, helm, &limits()).ok()?;
    let text = String::from_utf8_lossy(part(3)).into_owned();
    let set = text.lines().map(str::to_owned).collect();
    let input = Input { files: vec![("v.yaml".to_owned(), part(2).to_vec())], set, ..Input::default() };
    let given = merge(&input, helm, &limits(), &mut |_| Err("no file".to_owned())).ok()?;
    let (first, second) = (all(&chart, &given, helm), all(&chart, &given, helm));
    assert_eq!(first, second, "merged twice");
    write(&Value::Object(first.ok()?));
    Some(())
}

fn all(chart: &Chart, given: &Values, helm: Helm) -> Result<Values, seatrial::chart::Error> {
    let (mut chart, mut notices) = (chart.clone(), Notices::new(helm));
    process_dependencies(&mut chart, given, &mut notices)?;
    coalesce(&chart, given, &mut notices)
}
