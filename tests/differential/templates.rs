//! Templates: actions, pipelines, control structures and their mistakes, in a chart with all kinds of values.

use super::case::Case;
use super::dice::Dice;
use super::functions::FUNCTIONS;
use super::known::LEFT_TO_CHANCE;
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

    fn template_name(&mut self) -> String {
        let names = [
            "\"h.dot\"",
            "\"h.name\"",
            "\"h.nested\"",
            "\"h.empty\"",
            "\"h.labels\"",
            "\"h.fail\"",
            "\"none\"",
            "`h.dot`",
            "\"blk\"",
        ];
        self.dice.pick(&names).to_owned()
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
            FUNCTIONS.iter().filter(|(name, _, ret)| fits(*ret) && !LEFT_TO_CHANCE.contains(name)).collect();
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
        let methods = [
            ".Files.Get \"a.txt\"",
            ".Files.Get \"none\"",
            ".Files.Lines \"a.txt\"",
            "(.Files.Glob \"files/*\").AsConfig",
            "(.Files.Glob \"**\").AsSecrets",
            ".Files.GetBytes \"files/c.bin\"",
            ".Files.Glob \"*.txt\"",
            ".Files.Lines \"files/empty\"",
            ".Capabilities.APIVersions.Has \"apps/v1\"",
            "$.Capabilities.KubeVersion.GitVersion",
            ".Files.Get",
            ".Files.Get 1",
            ".Files.Nope",
            ".Capabilities.APIVersions.Has",
            ".Chart.Nope",
            ".Capabilities.Nope",
            ".Release.Nope",
            ".Chart.IsRoot",
            "(.Files.Glob \"[\").AsConfig",
            ".Values.m.Get \"a\"",
            ".Files.AsConfig",
            ".Chart.Validate",
            ".Values.s.x",
            ".Values.nil.x",
        ];
        self.dice.pick(&methods).to_owned()
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

fn literals(kind: char) -> &'static [&'static str] {
    match kind {
        's' => &[
            "\"abc\"",
            "\"\"",
            ".Values.s",
            ".Values.u",
            ".Values.ml",
            ".Values.q",
            "`raw\\n`",
            "\"é\\u00e9\\x41\\t\\\"\"",
            ".Values.e",
            "\"  a b  \"",
            "\"fooBar baz-qux_x\"",
            "\"a,b,,c\"",
            "\"1\"",
            "\"-12.50\"",
            "\"\\xff\"",
            "\"<a&'>\"",
            "\"$x ${1}\"",
            "\"HTTPServer2\"",
            "\"\\u2028\"",
            "\"0x1F\"",
            "\"1e3\"",
            "\" \\n\"",
        ],
        'i' => &[
            "1",
            "0",
            "-1",
            ".Values.n",
            "3",
            "-5",
            ".Values.big",
            "0x1F",
            "0b101",
            "0o17",
            "017",
            "1_000",
            "'a'",
            ".Values.neg",
            "2147483648",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "'\\n'",
            "\"12\"",
            ".Values.zero",
            "0x_1f",
        ],
        'n' => {
            &["0", "1", "2", "3", "5", "10", "-1", ".Values.n", "7", "\"4\"", "20", "-3", "2.0", "'\\x02'"]
        }
        'f' => &[
            "1.5",
            "0.1",
            "-2.75",
            "3",
            ".Values.f",
            "1e3",
            "1e-7",
            ".Values.huge",
            ".Values.tiny",
            "0x1p-2",
            ".Values.big",
            "\"2.5\"",
            "1e21",
            "100000000",
            "-0.0",
            "2.5",
            "1.0",
            "1e400",
            "1e308",
            "1i",
            "1+2i",
            "0.30000000000000004",
            "\"nan\"",
            "\"inf\"",
        ],
        'b' => &[
            "true",
            "false",
            ".Values.yes",
            ".Values.no",
            ".Values.s",
            ".Values.nil",
            ".Values.el",
            "1",
            ".Release.IsInstall",
            ".Values.none",
            ".Values.f",
        ],
        'l' => &[
            ".Values.l",
            ".Values.ls",
            ".Values.ln",
            ".Values.el",
            "(list 1 2 3)",
            "(list)",
            "(list \"a\" nil 1.5)",
            ".Values.m.c.d",
            "(until 3)",
            "(splitList \",\" \"a,b\")",
            ".Chart.Keywords",
            ".Chart.Maintainers",
            "(list (list 1) (dict))",
            ".Capabilities.APIVersions",
            "\"abc\"",
            ".Values.nil",
            ".Chart.Sources",
        ],
        'L' => &[".Values.ls", "(list \"a\" \"b\")", "(splitList \",\" \"a,b\")", ".Chart.Keywords"],
        'm' => &[
            ".Values.m",
            ".Values.em",
            ".Values.m.c",
            "(dict)",
            "(dict \"a\" 1 \"b\" \"x\")",
            ".Values.sub",
            ".Values",
            ".Values.global",
            ".Values.nil",
            ".Release",
            ".Chart.Annotations",
            ".Subcharts",
            ".Files",
            "(dict \"a\" (dict \"b\" nil))",
            "(split \",\" \"a,b\")",
            ".Template",
            ".Chart",
        ],
        'M' => &[
            "(dict)",
            "(dict \"a\" 1 \"b\" \"x\")",
            "(deepCopy .Values.m)",
            "(dict \"a\" (dict \"b\" 2) \"l\" (list 1))",
            "(dict \"b\" nil)",
            "(fromJson `{\"a\":{\"b\":1}}`)",
        ],
        'k' => &["\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"k-y\"", "\"none\"", "\"\"", "1", "\"1\""],
        'p' => &[
            "\"a+\"",
            "\"[a-z]+\"",
            "\"(l)(o)?\"",
            "\"^\\\\w+\"",
            "\"(?i)H\"",
            "`\\s`",
            "`\\d+|x`",
            "\"\"",
            "\"[\"",
            "\"(\"",
            "`(?P<n>l+)`",
            "\".\"",
            "\"a{2,1}\"",
            "`\\bw`",
            "`[[:alpha:]]+`",
            "\"x*\"",
            "`(?s).`",
            "`\\pL`",
            "\"$\"",
            "`[^\\x00-\\x7f]`",
            "`(?:o| )`",
            "`(a|b)*?$`",
            "`\\Q.\\E`",
        ],
        'r' => {
            &["\"-\"", "\"$1\"", "\"${1}x\"", "\"$n\"", "\"${n}\"", "\"$$\"", "\"$0$0\"", "\"$1x\"", "\"\""]
        }
        'v' => &[
            "\"1.2.3\"",
            ".Values.ver",
            "\"v2\"",
            "\"1.2\"",
            "\"x\"",
            "\"1.2.3-alpha.1+b\"",
            ".Capabilities.KubeVersion.Version",
            ".Chart.Version",
            "\"01.2.3\"",
            "\"1.2.3-01\"",
            ".Chart.AppVersion",
            "\"99999999999999999999.1.1\"",
            "\"\"",
        ],
        'c' => &[
            "\">=1.0.0\"",
            "\"^1.2\"",
            "\"~1.2.3\"",
            "\"1.x\"",
            "\">=1.0.0-0 <2\"",
            "\"*\"",
            "\"!=1.2.3\"",
            "\"1.2 - 2.0\"",
            "\">1 || <0.5\"",
            "\"\"",
            "\"x y\"",
            "\"=>1\"",
            "\"~> 1\"",
            "\"^0.0.1-a\"",
            "\">=1.2,<3\"",
            "\">= 1.2.3-rc.1\"",
        ],
        'j' => &[
            "`{\"a\":[1,2.5,null,\"x\"]}`",
            "`[1,\"a\",{}]`",
            "\"1\"",
            "\"x\"",
            "`{\"a\":1,}`",
            "\"\"",
            "`\"s\"`",
            "`{\"a\":1}x`",
            "\"null\"",
            "`{\"big\":12345678901234567890}`",
            "`[1e400]`",
            "`{\"a\":\"\\u00e9\\ud800\"}`",
            "`{\"a\" 1}`",
            "`[tru]`",
            "`{1:2}`",
            "`[1,2`",
            "`\"a`",
            "`\"\\q\"`",
            "`{\"a\":1}}`",
            "`-`",
            "`[01]`",
            "\"\\t[\\n]\"",
        ],
        'y' => &[
            "\"a: 1\\nb: [x, y]\"",
            "\"- 1\\n- a: b\"",
            "\"a: [\"",
            "\"\"",
            "\"x\"",
            "\"a: 1\\na: 2\"",
            "\"a: !!str 1\"",
            "\"&a x: *a\"",
            "\"\\t\"",
            "\"a: b: c\"",
            "\"1: 2\\ntrue: x\"",
            "\"a: 0x1F\\nb: 1e3\\nc: .inf\"",
            "\"--- 1\\n--- 2\"",
            ".Values.ml",
            "\"a: |\\n  x\\n y\"",
            "\"- - 1\\n  - 2\"",
            "\"a: 2001-01-01\"",
            "\"null\"",
            "\"a: 12345678901234567890\"",
        ],
        'o' => &[
            "\"a = 1\\nb = [1, 2]\"",
            "\"[x]\\ny = 'z'\"",
            "\"a = \"",
            "\"\"",
            "\"a = 1.5\\nd = 2024-01-01\"",
            "\"a = 1\\na = 2\"",
            "\"a.b.c = true\"",
            "\"[[t]]\\nx = 1\\n[[t]]\\nx = 2\"",
            "\"a = \\\"x\\\\ny\\\"\"",
            "\"a = 0x1F\"",
            "\"= 1\"",
            "\"a = [1, \\\"x\\\"]\"",
            "\"a = {b = 1}\"",
            "\"[x\\n\"",
            "\"a = 1e3\\nb = inf\"",
            "\"a = 07:32:00\"",
            "\"a = 01\"",
        ],
        'u' => &[
            "\"https://u:p@h.io:80/a/b?q=1&r=%20#f\"",
            "\"/rel\"",
            "\"mailto:a@b\"",
            "\"http://[::1]:1/\"",
            "\"%zz\"",
            "\"http://a b\"",
            "\"//h/x\"",
            "\"\"",
            "\"http://h:x\"",
            "\"a:b:c\"",
            "\":x\"",
            "\"http://é/ü\"",
        ],
        '/' => &[
            "\"/a/b.c/d.e\"",
            "\"a//b/../c\"",
            "\"\"",
            "\".\"",
            "\"/\"",
            "\"../..\"",
            "\"a.tar.gz\"",
            "\"/a/./b/\"",
            "\".hidden\"",
            "\"é/ü.x\"",
        ],
        't' => &[
            "(toDate \"2006-01-02\" \"2024-02-29\")",
            "(toDate \"2006-01-02T15:04:05Z07:00\" .Values.date)",
            "(toDate \"2006-01-02 15:04 MST\" \"2024-07-01 10:20 CEST\")",
            "1700000000",
            "0",
            "(int64 1.7e9)",
            "(toDate \"15:04\" \"bad\")",
        ],
        'h' => &[
            "\"2006-01-02\"",
            "\"2006-01-02T15:04:05Z07:00\"",
            "\"Mon Jan _2 15:04:05.000 2006\"",
            "\"3:04PM MST -0700\"",
            "\"06 002 Monday January\"",
            "\"x\"",
            "\"\"",
            "\"2006-01-02T15:04:05.999999999\"",
        ],
        'z' => &[
            "\"UTC\"",
            "\"Europe/Berlin\"",
            "\"America/New_York\"",
            "\"Nowhere/None\"",
            "\"\"",
            "\"Local\"",
            "\"Asia/Kolkata\"",
        ],
        'd' => &[
            "\"1h\"",
            "\"-90m\"",
            "\"1h30m5s\"",
            "\"x\"",
            "\"1.5h\"",
            "\"0\"",
            "\"1d\"",
            "\"10ms\"",
            "\"1us\"",
            "90",
            "3.7",
            "\"\"",
            "\"2562047h\"",
            "\"9999999h\"",
        ],
        'F' => &[
            "\"%d\"",
            "\"%s\"",
            "\"%v\"",
            "\"%q\"",
            "\"%5d|%-5d|%05d\"",
            "\"%x %X\"",
            "\"%.2f\"",
            "\"%t\"",
            "\"%T\"",
            "\"%+v\"",
            "\"%#v\"",
            "\"%e %g %G\"",
            "\"%c %U\"",
            "\"%%\"",
            "\"%!\"",
            "\"%[2]v %[1]v\"",
            "\"%*d\"",
            "\"%6.2f|\"",
            "\"%-10s|\"",
            "\"%.3s\"",
            "\"%b %o %O\"",
            "\"% d %+d\"",
            "\"%#x %#q\"",
            "\"%\"",
            "\"%z\"",
            "\"%[9]d\"",
            "\"%08.3f\"",
            "\"%+q\"",
            "\"%p\"",
            "\"% x\"",
            "\"%v %v\"",
            "\"%010s\"",
            "\"%-05d\"",
            "\"%+.3e\"",
            "\"%#o\"",
            "\"%.0f\"",
            "\"%5t\"",
            "\"%w\"",
            "\"%5%\"",
            "\"%.*f\"",
            "\"%[1]*d\"",
            "\"%d %s\"",
        ],
        'x' => &[
            "\"aGVsbG8=\"",
            "\"not base!\"",
            "\"\"",
            "\"NBSWY3DP\"",
            "\"aGVsbG8\"",
            "\"/+8=\"",
            "\"gAE=\"",
            "\"YWJj\\n\"",
        ],
        'T' => &[
            "\"string\"",
            "\"map\"",
            "\"slice\"",
            "\"int\"",
            "\"float64\"",
            "\"invalid\"",
            "\"map[string]interface {}\"",
            "\"bool\"",
            "\"int64\"",
            "\"struct\"",
            "\"ptr\"",
        ],
        'N' => &[
            "\"h.dot\"",
            "\"h.name\"",
            "\"h.nested\"",
            "\"h.empty\"",
            "\"h.labels\"",
            "\"h.fail\"",
            "\"none\"",
            "\"blk\"",
            "\"demo/templates/_h.tpl\"",
            "(print \"h.\" \"dot\")",
        ],
        'G' => &[
            ".Values.tpl",
            "\"{{ . }}\"",
            "\"{{ .Values.s }}\"",
            "\"plain\"",
            "\"{{ .x.y }}\"",
            "\"{{ include \\\"h.dot\\\" 1 }}\"",
            "\"{{\"",
            "\"{{ nosuch }}\"",
            "\"{{ define \\\"t\\\" }}T{{ end }}{{ include \\\"t\\\" . }}\"",
            "\"{{ tpl \\\"{{ . }}\\\" 1 }}\"",
            "\"{{ fail \\\"f\\\" }}\"",
            "\"{{ $x := 1 }}{{ $x }}\"",
            "\"{{ .Template.Name }}\"",
            "`{{ range .Values.ls }}{{ . }},{{ end }}`",
            "\"{{ required \\\"r\\\" nil }}\"",
            "\"a\\n{{ 1 | }}\"",
            "\"\"",
        ],
        _ => &[
            ".Values.s",
            ".",
            "$",
            "nil",
            "true",
            "1",
            "1.5",
            "\"x\"",
            ".Values.nil",
            ".Values.none",
            ".Values.none.deeper",
            ".Values.l",
            ".Values.m",
            ".Values.n",
            ".Values.f",
            ".Values.big",
            ".Release.Name",
            ".Release",
            ".Chart.Name",
            ".Chart",
            ".Chart.Maintainers",
            ".Values",
            ".Values.i",
            ".Values.el",
            ".Values.em",
            ".Values.no",
            ".Values.e",
            ".Capabilities.KubeVersion",
            ".Capabilities.KubeVersion.Major",
            ".Template.Name",
            "$.Values.ls",
            ".Values.u",
            "'c'",
            "(list 1 nil)",
            "(dict)",
            ".Values.m.c",
            ".Values.huge",
            ".Release.Revision",
            ".Capabilities",
            ".Files",
            ".Subcharts.sub.Values",
            ".Capabilities.HelmVersion.Version",
            ".Values.tiny",
            ".Values.t",
            ".x",
            ".x.y",
            "(index .Values.l 2)",
            "(int 5)",
            "(semver \"1.2.3\")",
            "(until 2)",
            "(toDate \"2006-01-02\" \"2024-02-29\")",
            "(.Files.GetBytes \"a.txt\")",
            "(int64 3)",
            "$.nope",
            "$none",
            "(1)",
            ".Chart.Dependencies",
            "(tuple 1 \"a\")",
            "1i",
            "(toDecimal \"777\")",
        ],
    }
}
