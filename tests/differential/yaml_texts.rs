//! YAML texts in all of its styles, and broken ones.

use super::dice::Dice;
use super::question::Question;

pub(crate) fn question(dice: &mut Dice) -> Question {
    Question::Yaml(text(dice))
}

/// A text, mostly one document that can be read.
pub(crate) fn text(dice: &mut Dice) -> Vec<u8> {
    let mut text = document(dice);
    while dice.often(12) {
        text += dice.pick(&[
            "---\n",
            "...\n",
            "--- # c\n",
            "---",
            "%YAML 1.1\n---\n",
            "--- ",
            "\n--- |\n x\n",
            "%TAG ! x:\n---\n",
            "... \n",
            "--- !!str\n",
        ]);
        text += &document(dice);
    }
    if dice.often(25) {
        text = dice.mutate(&text, PIECES);
    }
    bytes(dice, text)
}

fn bytes(dice: &mut Dice, mut text: String) -> Vec<u8> {
    match dice.below(42) {
        41 => text.insert_str(0, "\u{feff}\u{feff}"),
        36 => text = text.replace('\n', "\r\n"),
        37 => text.insert(0, '\u{feff}'),
        38 => text = text.trim_end().to_owned(),
        39 => {
            let mut data = text.into_bytes();
            let at = dice.below(data.len() + 1);
            data.insert(at, *dice.pick(&[&0xff, &0xc3, &0xe2, &0x80, &0xed]));
            return data;
        }
        _ => {}
    }
    text.into_bytes()
}

const PIECES: &[&str] = &[
    ":", " ", "\n", "-", "- ", "#", " #", "\"", "'", "[", "]", "{", "}", ",", "&a ", "*a", "!!str ", "!",
    "|", ">", "%", "@", "`", "\t", "?", "? ", ": ", "<<: ", "---\n", "\r", "\u{85}", "\0", "é", "\\", "\n\n",
    "  ", "\u{feff}", "...", "\n  ", "\u{2028}", "\u{7f}", "=", "1", "~", "\n\t", "\n- ",
];

fn document(dice: &mut Dice) -> String {
    let mut writer = Writer { dice, anchors: 0 };
    let head = writer.blank();
    head + &match writer.dice.below(12) {
        0 => writer.sequence(0, 3),
        1 => writer.scalar(0) + "\n",
        2 => writer.flow(3) + "\n",
        _ => writer.mapping(0, 3),
    }
}

struct Writer<'a> {
    dice: &'a mut Dice,
    anchors: usize,
}

impl Writer<'_> {
    fn blank(&mut self) -> String {
        if !self.dice.often(15) {
            return String::new();
        }
        self.dice.pick(&["\n", "# comment\n", "  # indented\n", "   \n", "\t\n", "#\n", "\t# c\n"]).to_owned()
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> String {
        let count = 1 + self.dice.below(4);
        (0..count).map(|_| self.entry(indent, depth)).collect()
    }

    fn entry(&mut self, indent: usize, depth: usize) -> String {
        let pad = " ".repeat(indent);
        let blank = self.blank();
        if self.dice.often(6) {
            let target = self.alias();
            return format!("{blank}{pad}<<: {target}\n");
        }
        if self.dice.often(4) {
            let (key, value) = (self.value(indent, depth), self.value(indent, depth));
            return format!("{blank}{pad}?{key}{pad}:{value}");
        }
        let (key, colon) = (self.key(), self.dice.pick(&[":", ":", ":", " :", ":  "]));
        let value = self.value(indent, depth);
        format!("{blank}{pad}{key}{colon}{value}")
    }

    fn alias(&mut self) -> String {
        let at = self.dice.below(self.anchors + 1);
        if self.dice.often(20) { format!("[*a{at}, {{x: 1}}]") } else { format!("*a{at}") }
    }

    fn key(&mut self) -> String {
        let keys = [
            "a",
            "b",
            "c",
            "key",
            "\"q k\"",
            "'s'",
            "1",
            "true",
            "null",
            "~",
            "1.5",
            "a b",
            "é",
            "a",
            "y",
            "0x1F",
            "\"\"",
            "a.b/c",
            "!!str 1",
            "&k x",
            "-a",
            "a#b",
            "[x]",
            "{y: z}",
            "2001-01-01",
            "''",
            "k\u{a0}",
            "1e3",
            "=",
            ".inf",
            "!!int 3",
            "x: y",
            "-1",
            "1_0",
            "'it''s'",
            "\"\\x41\"",
            "*a1",
        ];
        let most = if self.dice.often(30) { keys.len() } else { 4 };
        keys[self.dice.below(most)].to_owned()
    }

    /// What stands behind `:` or `-`, its line break included.
    fn value(&mut self, indent: usize, depth: usize) -> String {
        let lead = self.properties();
        let most = if depth == 0 { 6 } else { 11 };
        match self.dice.below(most) {
            0..=2 => format!("{lead} {}{}\n", self.scalar(indent), self.tail()),
            3 => format!("{lead} {}\n", self.flow(2)),
            4 => format!("{lead} {}", self.literal(indent)),
            5 => self.odd(&lead),
            6..=8 => {
                let deeper = indent + self.dice.pick(&["  ", " ", "    ", "   "]).len();
                format!("{lead}{}\n{}", self.tail(), self.mapping(deeper, depth - 1))
            }
            kind => {
                let pad = if kind == 9 { 2 * self.dice.below(2) } else { 1 + self.dice.below(3) };
                format!("{lead}\n{}", self.sequence(indent + pad, depth - 1))
            }
        }
    }

    fn odd(&mut self, lead: &str) -> String {
        match self.dice.below(4) {
            0 => format!("{lead}\n"),
            1 => format!(" {}\n", self.alias()),
            2 => format!("{lead} # only a comment\n"),
            _ => format!("{lead}   \n"),
        }
    }

    fn properties(&mut self) -> String {
        if !self.dice.often(14) {
            return String::new();
        }
        if self.dice.often(50) {
            self.anchors += 1;
            return format!(" &a{}", self.anchors);
        }
        let tags = [
            "!!str",
            "!!int",
            "!!float",
            "!!bool",
            "!!null",
            "!!map",
            "!!seq",
            "!!binary",
            "!local",
            "!",
            "!!timestamp",
            "!<tag:yaml.org,2002:str>",
            "!!merge",
            "!!set",
            "!!omap",
            "!e!x",
            "!!",
            "!<",
            "!a,b",
            "!%41",
            "!!int &z",
        ];
        format!(" {}", self.dice.pick(&tags))
    }

    fn tail(&mut self) -> &'static str {
        if self.dice.often(12) { self.dice.pick(&[" # c", "  ", "\t", " #", "# c", "\t# c"]) } else { "" }
    }

    fn sequence(&mut self, indent: usize, depth: usize) -> String {
        let count = 1 + self.dice.below(3);
        (0..count).map(|_| self.item(indent, depth)).collect()
    }

    fn item(&mut self, indent: usize, depth: usize) -> String {
        let (blank, pad) = (self.blank(), " ".repeat(indent));
        if depth > 0 && self.dice.often(40) {
            let gap = 1 + self.dice.below(3);
            let inner = if self.dice.often(30) {
                self.sequence(indent + 1 + gap, depth - 1)
            } else {
                self.mapping(indent + 1 + gap, depth - 1)
            };
            return format!("{blank}{pad}-{}{}", " ".repeat(gap), inner.trim_start_matches(' '));
        }
        let value = self.value(indent, depth);
        format!("{blank}{pad}-{value}")
    }

    fn scalar(&mut self, indent: usize) -> String {
        match self.dice.below(12) {
            0..=5 => self.dice.pick(PLAIN).to_owned(),
            6 | 7 => self.double(indent),
            8 => self.single(indent),
            9 => self.folded(indent),
            10 => super::emitted::text(self.dice),
            _ => self.number(),
        }
    }

    /// Digits and signs in an order that may be a number.
    fn number(&mut self) -> String {
        let parts = self.dice.some(7, |dice| {
            dice.pick(&[
                "0", "1", "9", "7", ".", "_", "e", "+", "-", "0x", "0b", "0o", ":", "E", "a", "f", "5", "60",
                "12",
            ])
            .to_owned()
        });
        parts.concat()
    }

    fn double(&mut self, indent: usize) -> String {
        let break_ = format!("\n{}", " ".repeat(indent + 1));
        let parts = self.dice.some(5, |dice| {
            dice.pick(&[
                "a",
                " ",
                "\\n",
                "\\t",
                "\\\"",
                "\\\\",
                "\\x41",
                "\\u00e9",
                "\\U0001F600",
                "\\ud83d",
                "\\0",
                "\\e",
                "\\_",
                "\\N",
                "\\L",
                "\\/",
                "\\q",
                "BR",
                "\\BR",
                "'",
                "# ",
                ": ",
                "é",
                "\\xZZ",
                "\\ ",
                "\t",
                "\\v",
                "\\U00110000",
            ])
            .replace("BR", &break_)
        });
        format!("\"{}\"", parts.concat())
    }

    fn single(&mut self, indent: usize) -> String {
        let break_ = format!("\n{}", " ".repeat(indent + 1));
        let parts = self.dice.some(4, |dice| {
            dice.pick(&["a", " ", "''", "\\n", "\"", "BR", "BRBR", ": ", "é", "#", "  BR", "\t"])
                .replace("BR", &break_)
        });
        format!("'{}'", parts.concat())
    }

    /// A plain scalar over several lines.
    fn folded(&mut self, indent: usize) -> String {
        let pad = " ".repeat(indent + 1 + self.dice.below(3));
        let lines = self.dice.some(3, |dice| {
            dice.pick(&["word", "more words", "a:b", "", "- x", "#no", "\ttab", "x: y", "'q'", "---", " s"])
                .to_owned()
        });
        let lines: String = lines.iter().map(|line| format!("\n{pad}{line}")).collect();
        format!("start{lines}")
    }

    fn literal(&mut self, indent: usize) -> String {
        let style = self.dice.pick(&[
            "|", ">", "|-", ">-", "|+", ">+", "|2", ">2-", "|1+", "|-2", "|9", "| # c", ">\t", "|x", "|0",
            "|+-", "> #", "|#",
        ]);
        let pad = " ".repeat(indent + self.dice.pick(&["  ", " ", "    ", "", "   "]).len());
        let lines = self.dice.some(5, |dice| {
            dice.pick(&[
                "text",
                "",
                "  more",
                "# c",
                "a: b",
                "\ttab",
                " ",
                "é",
                "- x",
                "   ",
                "trail  ",
                "long line of words that goes on",
                "\u{85}",
                "---",
            ])
            .to_owned()
        });
        let lines: String = lines.iter().map(|line| format!("{pad}{line}\n")).collect();
        let end = self.dice.pick(&["", "", "\n", "\n\n", "   \n", "# c\n"]);
        format!("{style}\n{lines}{end}")
    }

    fn flow(&mut self, depth: usize) -> String {
        let count = self.dice.below(4);
        let map = self.dice.often(50);
        let items: Vec<_> = (0..count).map(|_| self.flow_item(map, depth)).collect();
        let joined = items.join(self.dice.pick(&[", ", ",", " , ", ",\n    ", ", # c\n  "]));
        let last = if self.dice.often(12) { "," } else { "" };
        if map { format!("{{{joined}{last}}}") } else { format!("[{joined}{last}]") }
    }

    fn flow_item(&mut self, map: bool, depth: usize) -> String {
        let value = if depth > 0 && self.dice.often(30) { self.flow(depth - 1) } else { self.flow_scalar() };
        let value = format!("{}{value}", self.properties()).trim_start().to_owned();
        if !map && !self.dice.often(10) {
            return value;
        }
        let key = self.key();
        match self.dice.below(12) {
            9 => key,
            10 => format!("? {key} : {value}"),
            11 => format!("{key}:{value}"),
            _ => format!("{key}: {value}"),
        }
    }

    fn flow_scalar(&mut self) -> String {
        match self.dice.below(5) {
            0 => self.double(2),
            1 => self.single(2),
            2 if self.anchors > 0 => self.alias() + " ",
            _ => self.dice.pick(PLAIN).to_owned(),
        }
    }
}

const PLAIN: &[&str] = &[
    "x",
    "1",
    "true",
    "null",
    "~",
    "1.5",
    "two words",
    "",
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "0x1F",
    "0o17",
    "017",
    "08",
    "1_000",
    "1e3",
    "1E+3",
    ".5",
    "5.",
    ".inf",
    "-.INF",
    ".NaN",
    "+1",
    "-1",
    "0b11",
    "-0b1",
    "2001-01-01",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43.10 -5",
    "12:30",
    "1:2:3",
    "190:20:30.15",
    "12345678901234567890",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "1.0",
    "100.00",
    "1e-7",
    "123456789.123",
    "a:b",
    "a#b",
    "a: b",
    "-x",
    "- x",
    "?x",
    ":x",
    ":",
    "-",
    "?",
    "=",
    "<<",
    "a,b",
    "[",
    "@x",
    "`x",
    "%x",
    "&x",
    "*x",
    "!x",
    "http://h/p?q",
    "C:\\x",
    "nUll",
    "NULL",
    "Null",
    "TRUE",
    "True",
    "tRue",
    "0",
    "-0",
    "-0.0",
    "00",
    "0.0",
    "1.e1",
    "é",
    "😀",
    "a\u{a0}b",
    "_",
    "1__0",
    "0x",
    "0x_1",
    "1,000",
    "+.inf",
    "+0x1F",
    "0xG",
    "1e",
    "e1",
    "--",
    "---x",
    "...",
    "\"a\" b",
    "'a'b",
    "x\ty",
    "1:60",
    "0:0",
    "0.1e1:2",
];
