//! values.schema.json, and values to check behind a divider.

use seatrial::chart::{Chart, values, values_schema};

use crate::{deep, file, helms, limits, parts};

/// Checks the values by the schema as every Helm does, twice.
pub fn run(data: &[u8]) {
    let parts = parts(data);
    let given = parts.get(1).copied().unwrap_or_default();
    deep(|| {
        for helm in helms() {
            let files = vec![
                file("Chart.yaml", b"apiVersion: v2\nname: fuzz\nversion: 1.2.3\n"),
                file("values.schema.json", parts[0]),
            ];
            let chart = Chart::from_files(files, helm, &limits()).expect("a chart");
            let Ok(values) = values::decode(given, helm, &limits()) else { return };
            let check = || values_schema::check(&chart, &values, helm, &limits());
            assert_eq!(check(), check(), "checked twice");
        }
    });
}
