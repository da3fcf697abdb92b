//! Templates: actions, pipelines, control structures and their mistakes, in a chart with all kinds of values.

use super::case::Case;
use super::dice::Dice;
use super::functions::FUNCTIONS;
use super::known::is_left_to_chance;
use super::literals::{METHODS, literals};
use super::question::Question;

const VALUES: &str = r#"s: hello world
e: ""
u: "Ünïcödé ☃ 𝒳 "
ml: "line1\nline2\n  line3\n"
q: "it's \"quoted\" <b>&amp;\\ \t"
n: 7
neg: -3
f: 1.5
big: 12345678901
huge: 1.0e+21
tiny: 1.0e-7
zero: 0
yes: true
no: false
nil: null
l: [1, two, {three: 3}, null, [4, 4.5]]
ls: [b, a, c, a, ""]
ln: [3, 1, 2.5]
el: []
m: {b: 1, a: two, c: {d: [1, 2], e: {f: g}}, "k-y": v, "1": one}
em: {}
ver: 1.2.3-rc.1+b
date: "2024-02-29T12:34:56Z"
tpl: "{{ .Values.s | quote }}-{{ .Release.Name }}"
sub: {given: true, list: [1]}
global: {g: 1}
"#;

const HELPERS: &str = r#"{{- define "h.name" -}}
{{ .Values.s | trunc 5 }}
{{- end }}
{{- define "h.dot" }}[{{ . }}]{{ end }}
{{- define "h.fail" }}{{ fail "no way" }}{{ end }}
{{- define "h.nested" }}{{ include "h.dot" .Values.n }}{{ template "h.name" . }}{{ end }}
{{- define "h.empty" }}{{ end }}
{{- define "h.labels" }}
app: {{ .Chart.Name }}
rel: {{ .Release.Name | quote }}
{{- end }}
"#;

/// The question of a chart with one generated template.
pub(crate) fn question(dice: &mut Dice) -> Question {
    let mut case = chart();
    let mut text = Writer::new(dice).body(3);
    if dice.often(12) {
        text = dice.mutate(&text, PIECES);
    }
    if !dice.often(25) {
        text =
            format!("{{{{ define \"case\" }}}}{text}{{{{ end }}}}r: {{{{ include \"case\" . | toJson }}}}");
    }
    case.file("templates/case.yaml", text);
    if dice.often(10) {
        case.set.push(("set", "i=42,m.c.d[0]=9,t=true".to_owned()));
    }
    Question::Render(Box::new(case))
}

pub(crate) fn chart() -> Case {
    let mut case = Case { kube_version: "1.34.3".to_owned(), ..Case::default() };
    case.file("Chart.yaml", "apiVersion: v2\nname: demo\nversion: 0.1.0\nappVersion: \"1.16\"\nkeywords: [a, b]\nannotations: {x: y}\nmaintainers: [{name: me, email: a@b.c}]\n");
    case.file("values.yaml", VALUES);
    case.file("templates/_h.tpl", HELPERS);
    case.file("a.txt", "first\nsecond\n");
    case.file("files/b.json", "{\"a\": 1}");
    case.file("files/c.bin", vec![0, 255, 10, 200]);
    case.file("files/empty", "");
    case.file("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n");
    case.file("charts/sub/values.yaml", "given: false\nown: 1\n");
    case
}

const PIECES: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    " ",
    "\n",
    "\"",
    "`",
    "'",
    "(",
    ")",
    "|",
    ".",
    "$",
    ":=",
    "=",
    ",",
    "/*",
    "*/",
    "{{ end }}",
    "{{ else }}",
    "0",
    "-",
    "_",
    "é",
    "\\",
    "end",
    "#",
    "{{ break }}",
    "{{ if }}",
    "%",
    "\t",
    "\0",
    "x",
];

struct Writer<'a> {
    dice: &'a mut Dice,
    variables: Vec<String>,
    loops: usize,
}

impl<'a> Writer<'a> {
    fn new(dice: &'a mut Dice) -> Self {
        Self { dice, variables: Vec::new(), loops: 0 }
    }

    fn body(&mut self, depth: usize) -> String {
        let count = 1 + self.dice.below(4);
        let known = self.variables.len();
        let text = (0..count).map(|_| self.piece(depth)).collect();
        self.variables.truncate(known);
        text
    }

    fn piece(&mut self, depth: usize) -> String {
        match self.dice.below(if depth == 0 { 7 } else { 15 }) {
            0 | 1 | 5 => self.action(depth),
            2 => self.text(),
            3 => self.assignment(depth),
            4 => self.comment(),
            6 => self.jump(),
            7 | 8 => self.branch("if", depth),
            9 => self.branch("with", depth),
            10..=12 => self.range(depth),
            13 => self.named(depth),
            _ => self.block(depth),
        }
    }

    fn text(&mut self) -> String {
        let texts = ["x", " y ", "\n", "\n  a: b\n", "é☃", "- ", "\t", " \n\n ", "{", "}", "\r\n", "# c\n"];
        self.dice.pick(&texts).to_owned()
    }

    fn open(&mut self) -> &'static str {
        self.dice.pick(&["{{ ", "{{", "{{- ", "{{  ", "{{-\n"])
    }

    fn close(&mut self) -> &'static str {
        self.dice.pick(&[" }}", "}}", " -}}", "\n}}"])
    }

    fn wrap(&mut self, inner: &str) -> String {
        let (open, close) = (self.open(), self.close());
        format!("{open}{inner}{close}")
    }

    fn action(&mut self, depth: usize) -> String {
        let pipeline = self.pipeline('a', depth.min(2) + 1);
        self.wrap(&pipeline)
    }

    fn comment(&mut self) -> String {
        self.dice
            .pick(&["{{/* c */}}", "{{- /* c\n */ -}}", "{{/* c */ }}", "{{ /* c */}}", "{{- /**/}}"])
            .to_owned()
    }

    fn assignment(&mut self, depth: usize) -> String {
        let pipeline = self.pipeline('a', depth.min(2) + 1);
        if !self.variables.is_empty() && self.dice.often(40) {
            let name = self.variable();
            return self.wrap(&format!("{name} = {pipeline}"));
        }
        let name = self.dice.pick(&["$x", "$y", "$long_name1", "$é"]).to_owned();
        let text = self.wrap(&format!("{name} := {pipeline}"));
        self.variables.push(name);
        text
    }

    fn variable(&mut self) -> String {
        let at = self.dice.below(self.variables.len() + 1);
        self.variables.get(at).cloned().unwrap_or_else(|| "$".to_owned())
    }

    fn jump(&mut self) -> String {
        if self.loops == 0 && !self.dice.often(5) {
            return self.text();
        }
        let word = self.dice.pick(&["continue", "break"]);
        let condition = self.condition();
        format!("{{{{ if {condition} }}}}{{{{ {word} }}}}{{{{ end }}}}")
    }

    fn condition(&mut self) -> String {
        let pipeline = self.pipeline('b', 1);
        if self.dice.often(15) {
            self.variables.push("$c".to_owned());
            return format!("$c := {pipeline}");
        }
        pipeline
    }

    fn branch(&mut self, word: &str, depth: usize) -> String {
        let known = self.variables.len();
        let kind = if word == "with" { 'a' } else { 'b' };
        let condition = if kind == 'a' { self.pipeline('a', 1) } else { self.condition() };
        let mut text = self.wrap(&format!("{word} {condition}")) + &self.body(depth - 1);
        while self.dice.often(20) {
            let condition = self.pipeline('b', 1);
            text += &(self.wrap(&format!("else {word} {condition}")) + &self.body(depth - 1));
        }
        if self.dice.often(40) {
            text += &(self.wrap("else") + &self.body(depth - 1));
        }
        self.variables.truncate(known);
        text + &self.wrap("end")
    }

    fn range(&mut self, depth: usize) -> String {
        let known = self.variables.len();
        let kind = *self.dice.pick(&[&'l', &'m', &'n', &'a', &'L']);
        let over = self.pipeline(kind, 1);
        let names = self.dice.pick(&["", "$v := ", "$k, $v := ", "$i, $_ := "]);
        self.variables.extend(
            names.trim_end_matches(" := ").split(", ").filter(|name| !name.is_empty()).map(str::to_owned),
        );
        self.loops += 1;
        let mut text = self.wrap(&format!("range {names}{over}")) + &self.body(depth - 1);
        self.loops -= 1;
        self.variables.truncate(known);
        if self.dice.often(25) {
            text += &(self.wrap("else") + &self.body(depth - 1));
        }
        text + &self.wrap("end")
    }

    fn named(&mut self, depth: usize) -> String {
        let name = self.template_name();
        let with = if self.dice.often(80) { self.pipeline('a', 1) } else { String::new() };
        if self.dice.often(30) {
            let body = self.body(depth - 1);
            return format!("{{{{ define {name} }}}}{body}{{{{ end }}}}");
        }
        self.wrap(&format!("template {name} {with}"))
    }

    fn block(&mut self, depth: usize) -> String {
        let with = self.pipeline('a', 1);
        let body = self.body(depth - 1);
        format!("{{{{ block \"blk\" {with} }}}}{body}{{{{ end }}}}")
    }

    /// A name that the parser takes: no pipeline.
    fn template_name(&mut self) -> String {
        let names: Vec<_> = literals('N').iter().filter(|name| !name.starts_with('(')).collect();
        (*self.dice.pick(&names)).to_owned()
    }

    fn pipeline(&mut self, kind: char, depth: usize) -> String {
        let mut text = self.command(kind, depth);
        while depth > 0 && self.dice.often(35) {
            text += self.dice.pick(&[" | ", "|", " |\n"]);
            text += &self.call(None, depth - 1, true);
        }
        text
    }

    fn command(&mut self, kind: char, depth: usize) -> String {
        if depth == 0 || self.dice.spent() || self.dice.often(35) {
            return self.literal(kind);
        }
        self.call(Some(kind), depth - 1, false)
    }

    fn argument(&mut self, kind: char, depth: usize) -> String {
        let kind = if self.dice.often(12) { 'a' } else { kind };
        if depth == 0 || !self.dice.often(35) {
            return self.literal(kind);
        }
        let inner = if self.dice.often(20) {
            self.pipeline(kind, depth)
        } else {
            self.call(Some(kind), depth - 1, false)
        };
        let fields = if self.dice.often(8) { self.dice.pick(&[".x", ".a", ".c.d", ".Major"]) } else { "" };
        format!("({inner}){fields}")
    }

    /// A call; a piped one lacks its last argument.
    fn call(&mut self, kind: Option<char>, depth: usize, piped: bool) -> String {
        if self.dice.often(6) {
            return self.method();
        }
        let fits = |ret: char| kind.is_none_or(|kind| kind == 'a' || ret == kind || ret == 'a');
        let known: Vec<_> =
            FUNCTIONS.iter().filter(|(name, _, ret)| fits(*ret) && !is_left_to_chance(name)).collect();
        if known.is_empty() {
            return self.literal(kind.unwrap_or('a'));
        }
        let (name, kinds, _) = known[self.dice.below(known.len())];
        let mut kinds = self.arguments(kinds);
        if piped {
            kinds.pop();
        }
        let arguments: String =
            kinds.into_iter().map(|kind| " ".to_owned() + &self.argument(kind, depth)).collect();
        format!("{name}{arguments}")
    }

    fn arguments(&mut self, pattern: &str) -> Vec<char> {
        let mut kinds = Vec::new();
        for c in pattern.chars() {
            match (c, kinds.last().copied()) {
                ('*', Some(last)) => {
                    kinds.pop();
                    kinds.extend(std::iter::repeat_n(last, self.dice.below(4)));
                }
                _ => kinds.push(c),
            }
        }
        if self.dice.often(4) {
            kinds.pop();
        } else if self.dice.often(3) {
            kinds.push('a');
        }
        kinds
    }

    fn method(&mut self) -> String {
        self.dice.pick(METHODS).to_owned()
    }

    fn literal(&mut self, kind: char) -> String {
        if kind != 'a' && self.dice.often(8) {
            return self.literal('a');
        }
        if !self.variables.is_empty() && self.dice.often(20) {
            let field = if self.dice.often(20) { ".x" } else { "" };
            return self.variable() + field;
        }
        let of = literals(kind);
        self.dice.pick(of).to_owned()
    }
}
