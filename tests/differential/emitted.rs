//! Values of all kinds, written by the functions that make YAML, JSON and TOML of them.

use serde_json::{Map, Number, Value};

use super::case::Case;
use super::dice::Dice;
use super::question::Question;

const TEMPLATE: &str = "a: |\n{{ toYaml .Values | indent 2 }}\nb: {{ toJson .Values | toJson }}\nc: {{ toYamlPretty .Values | toJson }}
d: {{ toToml .Values | toJson }}\ne: {{ toPrettyJson .Values | toJson }}\nf: {{ toRawJson .Values | toJson }}
g: {{ .Values | toString | toJson }}\nh: {{ .Values.v | quote | toJson }}\ni: {{ fromYaml (toYaml .Values) | toJson }}
j: {{ toToml (dict \"v\" .Values.v) | fromToml | toJson }}\nk: {{ printf \"%#v\" .Values.v | toJson }}\n";

pub(crate) fn question(dice: &mut Dice) -> Question {
    let mut map = Map::new();
    map.insert("v".to_owned(), value(dice, 3));
    if dice.often(50) {
        map.insert(text(dice), value(dice, 3));
    }
    let mut case = Case::default();
    case.file("Chart.yaml", "apiVersion: v2\nname: demo\nversion: 0.1.0\n");
    case.file("templates/t.yaml", TEMPLATE);
    case.set.extend(
        map.iter().filter(|(key, _)| *key == "v").map(|(key, value)| ("set-json", format!("{key}={value}"))),
    );
    case.values.push(Value::Object(map).to_string().into_bytes());
    if dice.often(50) {
        case.set.clear();
    }
    Question::Render(Box::new(case))
}

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 | 2 => Value::String(text(dice)),
        3 => number(dice),
        4 => Value::Bool(dice.often(50)),
        5 => Value::Array((0..dice.below(4)).map(|_| value(dice, depth - 1)).collect()),
        _ => Value::Object((0..dice.below(4)).map(|_| (text(dice), value(dice, depth - 1))).collect()),
    }
}

fn number(dice: &mut Dice) -> Value {
    let numbers = [
        "0",
        "1",
        "-1",
        "1.5",
        "1e21",
        "1e-7",
        "123456789",
        "1234567890123456789",
        "-0.0",
        "1e6",
        "0.1",
        "1e20",
        "2.50",
        "9007199254740993",
        "1.7976931348623157e308",
        "5e-324",
        "-1e-6",
        "1000000",
        "0.000001",
        "3.0",
        "18446744073709551616",
    ];
    let number: Number = dice.pick(&numbers).parse().expect("a number");
    Value::Number(number)
}

/// Texts that writers have to think about: of the pieces of scalars, and of words that mean something.
pub(crate) fn text(dice: &mut Dice) -> String {
    if dice.often(50) {
        return dice.pick(WORDS).to_owned();
    }
    let pieces = dice.some(6, |dice| dice.pick(PIECES).to_owned());
    let whole = pieces.concat();
    if dice.often(15) { whole.repeat(1 + dice.below(30)) } else { whole }
}

const WORDS: &[&str] = &[
    "",
    "a",
    "b",
    "key",
    "true",
    "yes",
    "No",
    "on",
    "y",
    "n",
    "~",
    "null",
    "NULL",
    "1",
    "01",
    "0x1F",
    "1e3",
    ".5",
    "1_000",
    "0b1",
    "0o7",
    ".inf",
    "-.INF",
    ".nan",
    "2001-01-01",
    "2001-1-1T1:2:3Z",
    "12:30:45",
    "190:20:30",
    "=",
    "<<",
    "-",
    "?",
    ":",
    "a: b",
    "a :b",
    "a:",
    "# c",
    "a # c",
    "a#c",
    "- a",
    "-a",
    "? a",
    "?a",
    "[a]",
    "{a}",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a`",
    "'a'",
    "\"a\"",
    ", a",
    "a, b",
    "  a",
    "a  ",
    "a\n",
    "a\nb",
    "\n",
    "\na",
    "a\n\n",
    " a\nb",
    "a\n b\n",
    "\ta",
    "a\tb",
    "a\t\n",
    "---",
    "--- a",
    "...",
    "a\n---\nb",
    "é",
    "☃",
    "𝒳",
    "\u{feff}a",
    "a\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\u{a0}",
    "\u{7f}",
    "\u{1}",
    "\u{fffe}",
    "\u{e000}",
    "a\r\nb",
    "\r",
    "+1",
    "-1",
    "1.",
    "+.5",
    "1:2",
    "0.1e-5",
    "a9",
    "a10",
    "a1b",
    "A",
    "_",
    "1,000",
    "0x",
    "1e",
    "0x1.8p1",
    "NaN",
    "Infinity",
    "-0",
    "1__0",
    "\\",
    "a\\nb",
    "</script>&",
    "word word word word word word word word word word word word word word word word word word word word",
    "x: |",
    "> a",
    "\u{8}\u{c}",
    "a'b\"c",
    "0777",
    "08",
    "0o8",
    "1_",
    "_1",
    "0b2",
    "12e03",
    "-2E+05",
    "1e1000",
    "~a",
    "nil",
    "TRUE",
    "Off",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43.10 -5",
];

const PIECES: &[&str] = &[
    "a",
    " ",
    "\n",
    "word ",
    ": ",
    " #",
    "- ",
    "\"",
    "'",
    "\t",
    "é",
    "\\",
    "longer-text",
    "1",
    ".",
    ",",
    "[",
    "}",
    "\r",
    "\u{1}",
    "\u{85}",
    "😀",
    "%",
    "&",
    "*",
    "!",
    "|",
    ">",
    "  ",
    "\n\n",
    "?",
    "=",
    "~",
    "<",
    "\u{2029}",
    "\u{200b}",
    "\0",
    "e",
    "0x",
    "_",
    "-",
];
