//! Whole charts: the input is files, each below a line `== path`, and the user's values before the first of them.

use seatrial::chart::{Chart, File, ignore, values};

use crate::play::play;
use crate::{deep, file, helms, limits};

/// Loads, renders and prints the chart, for a Helm that the input's length picks.
pub fn run(data: &[u8]) {
    let helm = helms()[data.len() % helms().len()];
    let text = String::from_utf8_lossy(data);
    let (given, files) = unpack(&text);
    deep(|| {
        let Ok(files) = ignore::visible(files) else { return };
        let Ok(chart) = Chart::from_files(files, helm, &limits()) else { return };
        let Ok(given) = values::decode(given.as_bytes(), helm, &limits()) else { return };
        let _ = play(&chart, &given, helm);
    });
}

fn unpack(text: &str) -> (&str, Vec<File>) {
    let mut parts = text.split("\n== ");
    let given = parts.next().unwrap_or_default();
    let named = parts.filter_map(|part| part.split_once('\n'));
    (given, named.map(|(path, data)| file(path, data.as_bytes())).collect())
}
