//! Templates: one file of a chart that has values, helpers and a file to read.

use seatrial::chart::{Chart, Values};

use crate::play::play;
use crate::{deep, file, helms, limits};

const CHART: &[u8] = b"apiVersion: v2\nname: fuzz\nversion: 1.2.3\nappVersion: \"4.5\"\n";

const VALUES: &[u8] =
    b"name: web\ncount: 3\nshare: 0.5\non: true\nnone: null\nempty: {}\nlist: [1, two, {three: 3}]\n\
    map: {a: {b: {c: deep}}, d.e: dotted}\ntext: |\n  one\n  two\ntemplate: '{{ .Values.name }}'\n";

const HELPERS: &[u8] = b"{{- define \"name\" }}{{ .Values.name }}-{{ .Release.Name }}{{ end }}\n\
    {{- define \"labels\" }}\napp: {{ include \"name\" . }}\nchart: {{ .Chart.Name }}\n{{ end }}";

/// Renders the input, for a Helm that its length picks.
pub fn run(data: &[u8]) {
    let helm = helms()[data.len() % helms().len()];
    deep(|| {
        let files = vec![
            file("Chart.yaml", CHART),
            file("values.yaml", VALUES),
            file("templates/_helpers.tpl", HELPERS),
            file("templates/fuzz.yaml", data),
            file("config/a.conf", b"key=value\nother=\n"),
        ];
        let chart = Chart::from_files(files, helm, &limits()).expect("a chart");
        let _ = play(&chart, &Values::new(), helm);
    });
}
