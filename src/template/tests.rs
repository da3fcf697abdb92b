//! The language against Go's own answers, and the bounds that Go lacks.

use std::path::Path;
use std::rc::Rc;

use serde_json::Value as Json;

use super::error::Error;
use super::funcs::{Engine, Fault, Func, Host, Registry, Signature, Strings};
use super::object::{Field, Method, NilPointer, Object, Struct};
use super::set::{MissingKey, Set};
use super::types::{INTS, MapType, Type};
use super::value::{GoStr, List, Map, Value};
use crate::func;
use crate::limits::Limits;

struct NoHost;

impl Host for NoHost {
    fn now(&mut self) -> i128 {
        0
    }

    fn random(&mut self, buffer: &mut [u8]) {
        buffer.fill(0);
    }

    fn lookup(&mut self, _: &str, _: &str, _: &str, _: &str) -> Result<Value, String> {
        Ok(Value::Map(Map::dict()))
    }

    fn resolve(&mut self, _: &str) -> String {
        String::new()
    }
}

// The functions of scripts/oracle/template/main.go.

fn include(engine: &mut dyn Engine, name: &str, data: &Value) -> Result<GoStr, Fault> {
    Ok(engine.execute(&GoStr::from(name), data)?)
}

fn tpl(engine: &mut dyn Engine, text: &str, data: &Value) -> Result<GoStr, Fault> {
    Ok(engine.execute_text(&GoStr::from(text), data)?)
}

fn dict(pairs: &[Value]) -> Result<Map, Fault> {
    let map = Map::dict();
    for pair in pairs.chunks_exact(2) {
        map.set(super::printf::sprint(&pair[..1])?, pair[1].clone());
    }
    Ok(map)
}

fn set(map: &Map, key: &str, value: &Value) -> Map {
    map.set(key, value.clone());
    map.clone()
}

fn strs(strings: Strings<'_>) -> Vec<String> {
    strings.iter().map(str::to_owned).collect()
}

static VALUES: MapType = MapType {
    name: "main.values",
    elem: Type::Interface,
    methods: &[
        Method { name: "Keys", func: func!("Keys", |map: &Map| i64::try_from(map.len()).unwrap()) },
        Method {
            name: "Joined",
            func: func!("Joined", |_: &Map, sep: &str, parts: Strings<'_>| {
                parts.iter().collect::<Vec<_>>().join(sep)
            }),
        },
    ],
};

fn point(name: &'static str, x: i64, label: &str, any: Value) -> Rc<dyn Object> {
    let any = Field { interface: true, ..Field::new("Any", any) };
    Rc::new(Struct::new(name, vec![Field::new("X", x), Field::new("Name", label), any]))
}

fn version(major: i64, minor: i64) -> Rc<dyn Object> {
    static METHODS: &[Method] = &[Method {
        name: "String",
        func: func!("String", |version: &Value| match version {
            Value::Object(object) => object.text().unwrap_or_default(),
            _ => String::new(),
        }),
    }];
    Rc::new(Struct {
        methods: METHODS,
        text: Some(format!("v{major}.{minor}")),
        addressed: None,
        printed: Vec::new(),
        ..Struct::new("*main.version", vec![Field::new("Major", major), Field::new("Minor", minor)])
    })
}

const fn row(
    name: &'static str,
    params: &'static [Type],
    variadic: bool,
    result: Type,
    call: super::funcs::Call,
) -> Func {
    Func { name, signature: Signature { params, variadic, result }, call }
}

static FUNCS: &[Func] = &[
    func!(engine "include", include),
    func!(engine "tpl", tpl),
    func!("dict", dict),
    func!("list", |items: &[Value]| Value::list(items.to_vec())),
    func!("set", set),
    func!("get", |map: &Map, key: &str| map.get(key).unwrap_or_default()),
    func!("strs", strs),
    row("bytes", &[Type::String], false, Type::Bytes, |_, args| {
        Ok(Value::Bytes(args[0].as_str().unwrap().clone()))
    }),
    row("ints", &[Type::Int], true, Type::Slice(&INTS), |_, args| {
        Ok(Value::List(List::new(&INTS, args.to_vec())))
    }),
    row("i64", &[Type::Int64], false, Type::Int64, |_, args| Ok(args[0].clone())),
    row("u64", &[Type::Uint64], false, Type::Uint64, |_, args| Ok(args[0].clone())),
    row("values", &[Type::Map(&super::types::DICT)], false, Type::Map(&VALUES), |_, args| {
        Ok(Value::Map(args[0].as_map().unwrap().with_type(&VALUES)))
    }),
    func!("takeInt", |n: i64| n),
    func!("takeF", |f: f64| f),
    func!("takeB", |b: bool| b),
    func!("takeS", |s: &str| s.to_owned()),
    func!("takeM", |m: &Map| i64::try_from(m.len()).unwrap()),
    func!("takeL", |l: &List| i64::try_from(l.len()).unwrap()),
    func!("takeV", |_: &str, rest: &[Value]| i64::try_from(rest.len()).unwrap()),
    func!("null", || Value::Nil),
    func!("nilmap", || Map::nil(&super::types::DICT)),
    func!("nillist", || List::nil(&super::types::LIST)),
    func!("fail", |message: &str| -> Result<String, Fault> { Err(Fault::new(message)) }),
    func!("struct", |x: i64, name: &str| point("main.point", x, name, Value::Nil)),
    func!("pointer", |x: i64, name: &str| point("*main.point", x, name, Value::str("y"))),
    func!("version", version),
    row("nilpoint", &[], false, Type::Object("*main.point"), |_, _| {
        Ok(Value::Object(Rc::new(NilPointer("*main.point"))))
    }),
];

fn render_with(text: &str, data: &Value, limits: &Limits) -> Result<String, Box<Error>> {
    let mut set = Set::new("root", Registry::go().with(FUNCS), MissingKey::Zero);
    set.parse("t", text.as_bytes())?;
    let out = set.exec(&mut NoHost, limits).render("t", data)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn render(text: &str, data: &Value) -> Result<String, Box<Error>> {
    render_with(text, data, &Limits::default())
}

/// All files in `golden/template`, each what a real program answered.
fn golden() -> Vec<Json> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/template");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    files.iter().map(|file| serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()).collect()
}

/// How an answer differs from Go's, or `None`.
fn difference(case: &Json, data: &Json) -> Option<String> {
    let template = case["template"].as_str().unwrap();
    let (output, error) = match render(template, &Value::from_json(data)) {
        Ok(output) => (output, String::new()),
        Err(error) => (String::new(), error.to_string()),
    };
    let wanted = case["error"].as_str().unwrap_or_default();
    // What Go wrote before an error reaches nobody.
    let go = if wanted.is_empty() { case["output"].as_str().unwrap() } else { "" };
    (error != wanted || output != go)
        .then(|| format!("{template:?}\n  go:  {go:?} {wanted:?}\n  own: {output:?} {error:?}"))
}

#[test]
fn the_language_answers_as_go_does() {
    let mut wrong = Vec::new();
    for golden in golden() {
        let answers = golden["answers"].as_array().unwrap();
        wrong.extend(answers.iter().filter_map(|case| difference(case, &golden["data"])));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn error_of(text: &str, limits: &Limits) -> String {
    match render_with(text, &Value::Map(Map::dict()), limits) {
        Ok(output) => format!("no error, {} bytes", output.len()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn hostile_templates_end_in_an_error() {
    let limits = Limits { template_steps: 100_000, output_bytes: 1 << 20, ..Limits::default() };
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let cases: &[(String, &str)] = &[
        (
            format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000)),
            "max expression depth exceeded",
        ),
        (nested("{{ if 1 }}", "{{ end }}"), "max expression depth exceeded"),
        (format!("{{{{ if 0 }}}}{{{{ else {}", "if 0 }}{{ else ".repeat(100_000)), "max expression depth"),
        (
            "{{ define \"r\" }}{{ template \"r\" }}{{ end }}{{ template \"r\" }}".to_owned(),
            "exceeded maximum template depth",
        ),
        ("{{ define \"r\" }}{{ include \"r\" . }}{{ end }}{{ include \"r\" . }}".to_owned(), "nest too deep"),
        (
            "{{ define \"r\" }}{{ tpl \"{{ include `r` . }}\" . }}{{ end }}{{ include \"r\" . }}".to_owned(),
            "nest too deep",
        ),
        ("{{ range 9223372036854775807 }}{{ end }}".to_owned(), "more than 100000 steps"),
        ("{{ range 1000000 }}aaaaaaaaaaaaaaaaaaaaaaaa{{ end }}".to_owned(), "the output is longer than"),
        (
            "{{ $x := \"ab\" }}{{ range 100 }}{{ $x = print $x $x }}{{ end }}".to_owned(),
            "a string is longer than",
        ),
        ("{{ $d := dict }}{{ $_ := set $d \"self\" $d }}{{ $d }}".to_owned(), "nests too deep"),
        (
            "{{ $d := dict }}{{ $_ := set $d \"a\" $d }}{{ $_ := set $d \"b\" $d }}{{ print $d }}".to_owned(),
            "nests too deep",
        ),
    ];
    for (text, wanted) in cases {
        let error = error_of(text, &limits);
        assert!(
            error.contains(wanted),
            "{}…: {}",
            &text[..40.min(text.len())],
            &error[..200.min(error.len())]
        );
    }
}

#[test]
fn a_deep_stack_takes_what_go_takes() {
    let parens = format!("{{{{ {}1{} }}}}", "(".repeat(9_999), ")".repeat(9_999));
    let calls =
        "{{ define \"r\" }}{{ if . }}{{ include \"r\" .next }}.{{ end }}{{ end }}{{ include \"r\" . }}";
    let answers = super::stack::deep(|| {
        let data = (0..1_000).fold(Value::Nil, |next, _| Value::Map([("next", next)].into_iter().collect()));
        (
            render(&parens, &Value::Nil).map_err(|e| e.to_string()),
            render(calls, &data).map_err(|e| e.to_string()),
        )
    });
    let (parens, calls) = answers.unwrap();
    assert_eq!(parens.as_deref(), Ok("1"));
    assert_eq!(calls, Ok(".".repeat(1_000)));
}

#[test]
fn a_text_is_executed_in_a_copy_of_the_set() {
    let data = Value::Nil;
    let text = "{{ define \"a\" }}outer{{ end }}{{ tpl `{{ define \"a\" }}inner{{ end }}{{ include \"a\" . }}` . }} \
                {{ include \"a\" . }} {{ tpl `{{ define \"b\" }}{{ end }}` . }}";
    assert_eq!(render(text, &data).unwrap(), "inner outer ");
    let error = render("{{ tpl `{{ tpl \"{{ .a.b }}\" . }}` (dict) }}", &data).unwrap_err();
    assert_eq!(
        error.to_string(),
        "template: t:1:3: executing \"t\" at <tpl `{{ tpl \"{{ .a.b }}\" . }}` (dict)>: error calling tpl: \
         template: root:1:3: executing \"root\" at <tpl \"{{ .a.b }}\" .>: error calling tpl: \
         template: root:1:5: executing \"root\" at <.a.b>: nil pointer evaluating interface {}.b"
    );
    assert_eq!(error.root().detail(), "nil pointer evaluating interface {}.b");
    let error = render("{{ tpl `{{ if }}` . }}", &data).unwrap_err();
    assert!(
        error.to_string().ends_with("error calling tpl: template: root:1: missing value for if"),
        "{error}"
    );
}

#[test]
fn missing_keys_follow_the_option() {
    let run = |missing_key, text: &str| {
        let mut set = Set::new("root", Registry::go(), missing_key);
        set.parse("t", text.as_bytes()).unwrap();
        let data = Value::Map(Map::dict());
        let out = set.exec(&mut NoHost, &Limits::default()).render("t", &data);
        out.map(|out| String::from_utf8(out).unwrap()).map_err(|error| error.to_string())
    };
    assert_eq!(run(MissingKey::Invalid, "{{ .a }}{{ .a.b }}").unwrap(), "<no value><no value>");
    assert_eq!(run(MissingKey::Zero, "{{ .a }}").unwrap(), "<no value>");
    let strict = "template: t:1:3: executing \"t\" at <.a>: map has no entry for key \"a\"";
    assert_eq!(run(MissingKey::Error, "{{ .a }}").unwrap_err(), strict);
}

#[test]
fn plain_text_costs_no_more_than_copying() {
    let text = "name: value # a line of a custom resource definition\n".repeat(20_000);
    let start = std::time::Instant::now();
    assert_eq!(render(&text, &Value::Nil).unwrap().len(), text.len());
    // A memcpy takes well under a millisecond; an action per line would take far longer than this bound.
    assert!(start.elapsed().as_millis() < 200, "{:?}", start.elapsed());
}

/// The conformance file that the crate `gtmpl-ng` ships, where cargo unpacked it.
fn conformance_file() -> Option<String> {
    let home = std::env::var_os("CARGO_HOME").map(std::path::PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")))?;
    let mut registries: Vec<_> = std::fs::read_dir(home.join("registry/src")).ok()?.flatten().collect();
    registries.sort_by_key(std::fs::DirEntry::path);
    let file = |registry: &std::fs::DirEntry| registry.path().join("gtmpl-ng-1.0.0/tests/go_conformance.txt");
    registries.iter().find_map(|registry| std::fs::read_to_string(file(registry)).ok())
}

#[test]
fn the_conformance_cases_of_gtmpl_ng_hold() {
    let missing = "gtmpl-ng 1.0.0 is not among cargo's sources (scripts/oracle/conformance fetches it)";
    let Some(cases) = crate::shared::needed(conformance_file(), missing) else { return };
    // The head of the file names, in backquotes, where that crate differs from Go.
    let head: String = cases.lines().filter(|line| line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let mut wrong = Vec::new();
    let mut right = 0;
    for line in cases.lines().filter(|line| !line.starts_with('#')) {
        let [template, outcome, expected] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if head.contains(&format!("`{template}`")) {
            continue;
        }
        let mut set = Set::new("t", Registry::go(), MissingKey::Invalid);
        let answer = set.parse("t", template.replace("\\n", "\n").as_bytes());
        let answer = answer.and_then(|()| set.exec(&mut NoHost, &Limits::default()).render("t", &Value::Nil));
        let shown = answer.map(|out| format!("{:?}", String::from_utf8_lossy(&out)));
        match (&shown, outcome) {
            (Ok(out), "OK") if out == expected => right += 1,
            (Err(_), "ERR") => right += 1,
            _ => wrong.push(format!("{template}\n  wanted {outcome} {expected}\n  own {shown:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), wrong.len() + right, wrong.join("\n"));
    assert!(right > 400, "only {right} cases were read");
}
