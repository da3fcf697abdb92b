//! The language against Go's own answers, and the bounds that Go lacks.

use std::path::Path;
use std::rc::Rc;

use serde_json::Value as Json;

use super::error::Error;
use super::funcs::{Engine, Fault, Func, Host, Registry, Signature, Strings};
use super::object::{Field, Method, NilPointer, Object, Struct};
use super::set::{MissingKey, Set};
use super::types::{INTS, MapType, STRINGS, Type};
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

fn golden(file: &str) -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/template").join(file);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn the_language_answers_as_go_does() {
    let golden = golden("language.json");
    let mut wrong = Vec::new();
    for case in golden["answers"].as_array().unwrap() {
        let template = case["template"].as_str().unwrap();
        let answer = render(template, &Value::from_json(&golden["data"]));
        let (output, error) = match answer {
            Ok(output) => (output, String::new()),
            Err(error) => (String::new(), error.to_string()),
        };
        let wanted = case["error"].as_str().unwrap_or_default();
        if error != wanted || (wanted.is_empty() && output != case["output"].as_str().unwrap()) {
            let go = if wanted.is_empty() { case["output"].as_str().unwrap() } else { wanted };
            wrong.push(format!("{template:?}\n  go:  {go:?}\n  own: {output:?}{error:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
