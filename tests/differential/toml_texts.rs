//! TOML documents, sound and broken, read by `fromToml` and written again.

use super::case::Case;
use super::dice::Dice;
use super::question::Question;

const TEMPLATE: &str = "{{ $m := fromToml (.Files.Get \"t.toml\") }}a: {{ $m | toJson | toJson }}\nb: {{ $m | toString | toJson }}\nc: {{ toToml $m | toJson }}\nd: {{ $m | toYaml | toJson }}\n{{ range $k, $v := $m }}# {{ $k | quote }}: {{ typeOf $v }}\n{{ end }}";

pub(crate) fn question(dice: &mut Dice) -> Question {
    let mut case = Case::default();
    case.file("Chart.yaml", "apiVersion: v2\nname: demo\nversion: 0.1.0\n");
    case.file("templates/t.yaml", TEMPLATE);
    case.file("t.toml", document(dice));
    Question::Render(Box::new(case))
}

/// A document, mostly one that can be read.
pub(crate) fn document(dice: &mut Dice) -> String {
    let mut text = dice.some(7, line).concat();
    if dice.often(30) {
        text = dice.mutate(&text, PIECES);
    }
    if dice.often(10) { text.trim_end().to_owned() } else { text }
}

const PIECES: &[&str] = &[
    "=", ".", "[", "]", "{", "}", "\"", "'", "\n", ",", "#", "_", " ", "\r\n", "\r", "\t", "\\", "\"\"\"",
    "'''", "\u{0}", "é", "\u{feff}", "1", "+", ":", "a", "\u{7f}",
];

fn line(dice: &mut Dice) -> String {
    let end = dice.pick(&["\n", "\n", "\n", " # c\n", "\t\n", "\r\n", "\n\n"]);
    match dice.below(9) {
        0 => format!("[{}]{end}", key(dice)),
        1 => format!("[[{}]]{end}", key(dice)),
        2 => dice.pick(&["# comment\n", "\n", "  \n", "#\n"]).to_owned(),
        _ => {
            let (key, equals) = (key(dice), dice.pick(&[" = ", "=", "  =\t"]));
            format!("{key}{equals}{}{end}", value(dice, 3))
        }
    }
}

fn key(dice: &mut Dice) -> String {
    let count = 1 + dice.below(2) * dice.below(3);
    let parts: Vec<_> = (0..count)
        .map(|_| {
            dice.pick(&[
                "a",
                "b",
                "c",
                "a",
                "b",
                "k-y",
                "1",
                "\"q k\"",
                "'l'",
                "\"\"",
                "é",
                "\"\\u00e9\"",
                "a b",
                "true",
                "\"a.b\"",
                "-",
            ])
        })
        .collect();
    parts.join(dice.pick(&[".", ".", " . "]))
}

fn value(dice: &mut Dice, depth: usize) -> String {
    match dice.below(if depth == 0 { 6 } else { 9 }) {
        0 | 1 => dice.pick(SCALARS).to_owned(),
        2 => number(dice),
        3 => string(dice),
        4 => dice.pick(TIMES).to_owned(),
        5 => dice
            .pick(&[
                "\"\"\"\na\\\n   b\"\"\"",
                "'''\nx'y''z'''",
                "\"\"\"a\"\"b\"\"\"\"\"",
                "''''''",
                "\"\"\"\\u00e9\n\\t\"\"\"",
                "\"\"\"a\"\"\"\"\"\"",
                "\"\"\"\\ \n x\"\"\"",
                "'''a'''''",
            ])
            .to_owned(),
        6 | 7 => {
            let (items, gap) =
                (dice.some(3, |dice| value(dice, depth - 1)), dice.pick(&[", ", ",", ",\n  ", ", # c\n"]));
            format!("[{}{}]", items.join(gap), dice.pick(&["", "", ",", "\n"]))
        }
        _ => {
            let items = dice.some(3, |dice| format!("{} = {}", key(dice), value(dice, depth - 1)));
            format!("{{{}{}}}", items.join(dice.pick(&[", ", ",", ",\n"])), dice.pick(&["", " ", ","]))
        }
    }
}

fn number(dice: &mut Dice) -> String {
    let parts = dice.some(6, |dice| {
        dice.pick(&["1", "0", "9", "_", ".", "e", "+", "-", "x", "b", "o", "E", "a", "7"]).to_owned()
    });
    parts.concat()
}

fn string(dice: &mut Dice) -> String {
    let parts = dice.some(4, |dice| {
        dice.pick(&[
            "a",
            " ",
            "\\n",
            "\\\"",
            "\\\\",
            "\\u00e9",
            "\\U0001F600",
            "\\x41",
            "é",
            "'",
            "\\q",
            "\\e",
            "\\ud800",
            "\\xZ",
            "\t",
            "\\ ",
            "\\",
            "#",
        ])
        .to_owned()
    });
    let quote = if dice.often(25) { "'" } else { "\"" };
    format!("{quote}{}{quote}", parts.concat())
}

const SCALARS: &[&str] = &[
    "1",
    "-17",
    "+9",
    "0",
    "true",
    "false",
    "1.5",
    "1e3",
    "6.626e-34",
    "inf",
    "-inf",
    "+nan",
    "nan",
    "1_000",
    "0xDEAD_beef",
    "0o17",
    "0b11",
    "9223372036854775807",
    "9223372036854775808",
    "1e400",
    "01",
    "1.",
    ".5",
    "tru",
    "True",
    "-0",
    "-0.0",
    "+0x1",
    "1__0",
    "0x",
    "0b2",
    "1e",
    "x",
    "3.0",
    "1e06",
    "-01",
    "1_",
    "0_1",
    "100000000000000000000.5",
    "infx",
    "+i",
    "-n",
];

const TIMES: &[&str] = &[
    "2024-02-29",
    "2024-02-29T12:34:56Z",
    "2024-02-29 12:34:56.789",
    "07:32:00",
    "07:32",
    "2024-02-29T12:34:56+02:00",
    "2024-13-01",
    "2024-2-9",
    "24:00:00",
    "1979-05-27t07:32:00z",
    "07:32:00.999999",
    "2024-02-29T12:34",
    "2024-02-30",
    "2024-02-29T12:34:56-07:00",
    "1-1",
    "0001-01-01",
    "2024-02-29 ",
];
