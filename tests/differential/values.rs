//! Values of charts and users in YAML of all styles, merged and printed.

use super::case::Case;
use super::dice::Dice;
use super::question::Question;
use super::{sets, yaml_texts};

const TEMPLATE: &str = "a: {{ toYaml .Values | nindent 2 }}\nb: {{ toJson .Values | toJson }}\nc: {{ toYamlPretty .Values | toJson }}\nd: {{ .Values | toString | toJson }}\n{{ range $k, $v := .Values }}# {{ $k | quote }}: {{ typeOf $v }} {{ $v | toJson }}\n{{ end }}";

pub(crate) fn question(dice: &mut Dice) -> Question {
    let mut case = Case::default();
    case.file("Chart.yaml", "apiVersion: v2\nname: demo\nversion: 0.1.0\n");
    case.file("templates/t.yaml", TEMPLATE);
    if dice.often(70) {
        case.file("values.yaml", map(dice));
    }
    if dice.often(40) {
        subchart(dice, &mut case);
    }
    for _ in 0..dice.below(3) {
        case.values.push(map(dice));
    }
    for _ in 0..dice.below(3) {
        let flag = *dice.pick(&[&"set", &"set-string", &"set-json", &"set-literal"]);
        case.set.push((flag, sets::expression(dice, flag)));
    }
    Question::Render(Box::new(case))
}

/// A text that is mostly a map of values with well known names.
fn map(dice: &mut Dice) -> Vec<u8> {
    if dice.often(25) {
        return yaml_texts::text(dice);
    }
    let lines = dice.some(6, |dice| {
        let (key, value) = (dice.pick(&["a", "b", "c", "key", "sub", "global", "d", "1"]), flow(dice, 2));
        format!("{key}: {value}\n")
    });
    lines.concat().into_bytes()
}

/// A value on one line.
pub(crate) fn flow(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || dice.often(50) {
        return dice
            .pick(&[
                "1", "x", "null", "true", "{}", "[]", "1.5", "\"\"", "[1, a]", "~", "12345678", "0", "no",
            ])
            .to_owned();
    }
    let entries = dice.some(4, |dice| {
        let (key, value) = (dice.pick(&["a", "b", "c", "d", "sub", "global"]), flow(dice, depth - 1));
        format!("{key}: {value}")
    });
    format!("{{{}}}", entries.join(", "))
}

fn subchart(dice: &mut Dice, case: &mut Case) {
    case.file("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n");
    case.file("charts/sub/values.yaml", map(dice));
    case.file("charts/sub/templates/t.yaml", TEMPLATE);
}
