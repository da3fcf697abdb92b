//! Expressions of `--set`, `--set-string`, `--set-json` and `--set-literal`.

use super::dice::Dice;
use super::question::Question;

pub(crate) fn question(dice: &mut Dice) -> Question {
    let flag = *dice.pick(&[&"set", &"set-string", &"set-json", &"set-literal"]);
    let count = 1 + dice.below(3);
    Question::Set(flag, (0..count).map(|_| expression(dice, flag)).collect())
}

pub(crate) fn expression(dice: &mut Dice, flag: &str) -> String {
    let count = 1 + dice.below(3);
    let parts: Vec<_> = (0..count).map(|_| assignment(dice, flag)).collect();
    let text = parts.join(dice.pick(&[",", ",", ",,", ", "]));
    if dice.often(15) { dice.mutate(&text, PIECES) } else { text }
}

fn assignment(dice: &mut Dice, flag: &str) -> String {
    let name = name(dice);
    let value = if flag == "set-json" { json(dice) } else { value(dice) };
    let equals = dice.pick(&["=", "=", "=", "=", " = ", "", "=="]);
    format!("{name}{equals}{value}")
}

fn name(dice: &mut Dice) -> String {
    let mut name = dice
        .pick(&["a", "b", "a", "key", "a\\.b", "é", "1", "a b", "", "a-b", "g\\,h", "\\", "global"])
        .to_owned();
    while dice.often(45) {
        name += dice.pick(&[
            ".c", ".d", "[0]", "[1]", "[3]", ".a", "[-1]", "[x]", "[]", "[0", ".", "[65537]", "[ 1 ]",
            "[1][0]", ".e\\=f", "[0]x", "[01]", "[+1]",
        ]);
    }
    name
}

fn value(dice: &mut Dice) -> String {
    let values = [
        "1",
        "x",
        "true",
        "null",
        "",
        "1.5",
        "\"q\"",
        "{a,b}",
        "{}",
        "{1,null,true}",
        "a\\,b",
        "01",
        "-3",
        "9223372036854775808",
        "{a,{b}}",
        "{a",
        "a}",
        "é☃",
        " x ",
        "0",
        "+1",
        "0x10",
        "1e3",
        "False",
        "TRUE",
        "~",
        "nil",
        "a=b",
        "{a\\,b,c}",
        "{a=b,c}",
        "\\",
        "\\\\",
        "{,}",
        "{a,}",
        "a.b",
        "[0]",
        "x\ny",
        "{ a , b }",
        "-0",
        "00",
        "1_0",
        "{a},b=2",
        "Null",
        "tRue",
        "9223372036854775807",
        "-9223372036854775808",
    ];
    dice.pick(&values).to_owned()
}

fn json(dice: &mut Dice) -> String {
    let values = [
        "1",
        "\"x\"",
        "true",
        "null",
        "",
        "1.5",
        "[1,2]",
        "{\"a\":1}",
        "[",
        "{}",
        "{\"a\":{\"b\":[null]}}",
        "x",
        "1e3",
        "[1,2],b=3",
        " 1 ",
        "\"a,b\"",
        "12345678901234567890",
        "01",
        "\"\\u00e9\"",
        "{\"a\":1}x",
        "nul",
        "-",
        "\"",
        "[1,]",
        "1 2",
        "{\"a\":1,\"a\":2}",
        "1e400",
        "\"\\ud800\"",
        "\n1",
        "tru",
        "[1}",
        "{1:2}",
    ];
    dice.pick(&values).to_owned()
}

const PIECES: &[&str] =
    &[",", "=", ".", "[", "]", "{", "}", "\\", "\"", " ", "0", "x", "\n", "é", "null", "\0", ":"];
