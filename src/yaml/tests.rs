//! Go's answers (`golden/yaml`), hostile texts, and what no oracle knows: documents and places.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

fn golden(folder: &str, file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/yaml").join(folder).join(file);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The bytes that `\xNN` stand for.
fn unescape(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    bytes
}

/// Names and texts of a file of cases.
fn cases(data: &str) -> Vec<(String, Vec<u8>)> {
    let data = format!("\n{data}");
    data.split("\n=== ")
        .skip(1)
        .map(|part| {
            let (name, text) = part.split_once('\n').unwrap_or((part, ""));
            match name.strip_suffix(" !bytes") {
                Some(name) => (name.to_owned(), unescape(text)),
                None => (name.to_owned(), text.as_bytes().to_vec()),
            }
        })
        .collect()
}

/// What we make of a text, in the form of the oracle's answers.
fn answer(text: &[u8]) -> Value {
    let limits = Limits::default();
    let value = match to_json(text, &limits) {
        Ok(value) => value,
        Err(error) => return json!({ "error": error.bare() }),
    };
    let mut answer = json!({ "json": json::encode(&value) });
    if let Err(error) = to_json_strict(text, &limits) {
        answer["strict"] = error.bare().into();
    }
    answer["yaml"] = try_from_json(&value).unwrap_or_else(|error| format!("error: {error}")).into();
    answer["yaml3"] = from_json_indented(&to_floats(text, &limits).unwrap(), 2).into();
    answer
}

fn compare(file: &str) {
    let texts = String::from_utf8(golden("cases", &format!("{file}.yaml"))).unwrap();
    let expected: Value = serde_json::from_slice(&golden("expected", &format!("{file}.json"))).unwrap();
    let cases = cases(&texts);
    assert_eq!(cases.len(), expected.as_object().unwrap().len(), "{file}: cases and answers");
    let mut wrong = Vec::new();
    for (name, text) in cases {
        let mut wanted = expected[&name].clone();
        // Go marks bytes that are no UTF-8 by an escape; it reads back as the character we write.
        if let Some(json) = wanted.get_mut("json") {
            *json = json.as_str().unwrap().replace("\\ufffd", "\u{FFFD}").into();
        }
        let ours = answer(&text);
        if ours != wanted {
            wrong.push(format!("{name}\n  Go:   {wanted}\n  ours: {ours}"));
        }
    }
    assert!(wrong.is_empty(), "{file}: {} cases differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn scalars_as_go() {
    compare("scalars");
}

#[test]
fn block_scalars_as_go() {
    compare("blocks");
}

#[test]
fn structure_as_go() {
    compare("structure");
}

#[test]
fn bytes_as_go() {
    compare("bytes");
}

#[test]
fn writing_as_go() {
    compare("writing");
}

fn message(text: &[u8]) -> String {
    to_json(text, &Limits::default()).map_or_else(|e| e.bare().to_owned(), |v| format!("no error: {v:.80}"))
}

#[test]
fn hostile_texts_end_soon_and_clean() {
    let bomb = (1..12).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
        let alias = format!("*a{},", n - 1).repeat(9);
        format!("{text}a{n}: &a{n} [{alias}]\n")
    });
    let excessive = "yaml: document contains excessive aliasing";
    let deep = "nesting is deeper than 1000 levels (--limit-yaml-depth)";
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("200k [", b"[".repeat(200_000), "depth"),
        ("200k {", b"{".repeat(200_000), "depth"),
        ("200k [ on lines", b"[\n".repeat(200_000), "depth"),
        ("200k - ", b"- ".repeat(200_000), "depth"),
        ("200k ? ", b"? ".repeat(200_000), "depth"),
        ("alias bomb", bomb.into_bytes(), excessive),
        ("two aliases of itself", b"&a [*a, *a]".to_vec(), "yaml: anchor 'a' value contains itself"),
        ("NUL", b"a\0".repeat(100_000), "yaml: control characters are not allowed"),
        ("0xFF", b"\xFF".repeat(100_000), "yaml: invalid leading UTF-8 octet"),
    ];
    for (name, text, wanted) in cases {
        let got = message(&text);
        let ok = if wanted == "depth" {
            got.contains(deep) || got.contains("exceeded max depth of 10000")
        } else {
            got == wanted
        };
        assert!(ok, "{name}: {got:.200}");
    }
}

#[test]
fn aliases_may_not_nest_beyond_the_depth() {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for n in 1..2_000 {
        text.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1));
    }
    let got = message(text.as_bytes());
    assert!(got.contains("nesting is deeper") || got.contains("excessive aliasing"), "{got}");
}

#[test]
fn large_texts_take_linear_time() {
    let megabyte = 1 << 20;
    let long_flow = format!("[{}]", "{a: b}, ".repeat(megabyte / 8));
    let long_line = format!("a: {}", "é x ".repeat(megabyte / 5));
    let many_keys: String = (0..50_000).map(|n| format!("key{n}: &a{n} v\nal{n}: *a{n}\n")).collect();
    let escapes = format!("a: \"{}\"", "\\n\\u00e9 ".repeat(megabyte / 9));
    let folded = format!("a: >\n{}", "  some words\n\n".repeat(megabyte / 14));
    let plain = format!("a:\n{}", "  some words\n".repeat(megabyte / 13));
    let comments = "# comment\n".repeat(megabyte / 10);
    let quotes = format!("a: '{}'", "it''s ".repeat(megabyte / 6));
    let keys_to_be = format!("{{{}}}", "a, ".repeat(megabyte / 3));
    let started = std::time::Instant::now();
    for text in [long_flow, long_line, many_keys, escapes, folded, plain, comments, quotes, keys_to_be] {
        let value = to_json(text.as_bytes(), &Limits::default()).unwrap();
        let written = from_json(&value);
        assert!(written.len() > 3);
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn the_deepest_value_survives_every_walk() {
    let walk = || {
        let depth = stack::levels() - 1;
        let text = format!("{}1{}", "{a: [".repeat(depth / 2), "]}".repeat(depth / 2));
        let value = to_json(text.as_bytes(), &Limits::default()).unwrap();
        let copy = value.clone();
        assert_eq!(copy, value);
        assert_eq!(to_json(from_json(&value).as_bytes(), &Limits::default()).as_ref(), Ok(&value));
        assert!(json::decode(json::encode_pretty(&value, " ").as_bytes()).is_ok());
        assert!(!from_json_indented(&value, 4).is_empty());
        assert!(!serde_json::to_string(&value).unwrap().is_empty());
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(walk).unwrap();
    thread.join().unwrap();
    stack::deep(walk).unwrap();
}

#[test]
fn nodes_are_limited() {
    let limits = Limits { yaml_nodes: 10, ..Limits::default() };
    let error = to_json(b"[1,2,3,4,\n5,6,7,8,9,10,11]", &limits).unwrap_err();
    assert_eq!(error.bare(), "yaml: line 2: document expands to more than 10 nodes (--limit-yaml-nodes)");
    assert_eq!(error.line, 2);
}

#[test]
fn errors_carry_true_lines() {
    for (text, line) in
        [("a: 1\nb: c: d\n", 2), ("a: 1\nb: [1\nc: 2\n", 3), ("a: 1\n\n\tb: 2\n", 3), ("a: &x 1\nb: *y\n", 2)]
    {
        let error = to_json(text.as_bytes(), &Limits::default()).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
    }
}

#[test]
fn values_are_maps_of_floats() {
    let values = |text: &str| to_values(text.as_bytes(), &Limits::default());
    assert_eq!(Value::Object(values("k: 1\nm: [2]").unwrap()), json!({ "k": 1.0, "m": [2.0] }));
    assert_eq!(values(""), Ok(Map::new()));
    assert_eq!(values("null"), Ok(Map::new()));
    let refused = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type \
                   map[string]interface {}";
    assert_eq!(values("- a").unwrap_err().message, refused);
    let broken =
        "error converting YAML to JSON: yaml: line 2: mapping values are not allowed in this context";
    assert_eq!(values("a: 1\nb: c: d").unwrap_err().message, broken);
}

#[test]
fn documents_are_split_at_separators() {
    for (text, wanted) in [
        ("", vec![]),
        ("a: 1\n", vec![(1, "a: 1\n")]),
        ("a: 1\n---\nb: 2", vec![(1, "a: 1\n"), (3, "b: 2")]),
        ("---\na: 1\n--- # c\nb: 2\n", vec![(1, "---\na: 1\n"), (4, "b: 2\n")]),
        ("a: 1\n---\n---\nb: 2\n", vec![(1, "a: 1\n"), (3, "---\nb: 2\n")]),
        ("a: |\n  ---\n---", vec![(1, "a: |\n  ---\n")]),
    ] {
        assert_eq!(documents(text).collect::<Vec<_>>(), wanted, "{text:?}");
    }
    let failed = try_documents("a: 1\n---x\nb: 2").next().unwrap().unwrap_err();
    assert_eq!((failed.message.as_str(), failed.line), ("invalid Yaml document separator: x", 2));
}

#[test]
fn documents_of_values_are_merged() {
    let limits = Limits::default();
    let values = values_of_documents("a: {b: 1, c: 1}\n---\na: {b: 2}\nd: x\n---\n", &limits).unwrap();
    assert_eq!(Value::Object(values), json!({ "a": { "b": 2.0, "c": 1.0 }, "d": "x" }));
    let error = values_of_documents("a: 1\n---\n\nb: c: d\n", &limits).unwrap_err();
    let wanted = "cannot unmarshal yaml document: error converting YAML to JSON: yaml: line 2: mapping values are not \
                  allowed in this context";
    assert_eq!((error.message.as_str(), error.line), (wanted, 4));
}

#[test]
fn places_are_found() {
    let text = "# c\na:\n  - x\n  - b/c: 1\n    d~: {e: 2,\n      f: 3}\nyes: &y {z: 1}\nw: *y\n";
    for (pointer, line) in [
        ("", Some(2)),
        ("/a", Some(2)),
        ("/a/1", Some(4)),
        ("/a/1/b~1c", Some(4)),
        ("/a/1/d~0/f", Some(6)),
        ("/true", Some(7)),
        ("/w/z", Some(7)),
        ("/a/2", None),
        ("/b", None),
    ] {
        assert_eq!(locate(text, pointer), line, "{pointer}");
    }
}

#[test]
fn a_part_is_checked_like_the_whole() {
    let limits = Limits { yaml_depth: 20, ..Limits::default() };
    let wanted = |key: &str| key == "kind";
    for text in [
        "kind: A\nspec: {kind: [1, x], b: |\n  t\n}\n",
        "kind: A\nspec:\n  kind: B\n",
        "spec: &s {kind: B, other: 1}\n<<: *s\nmore: true\n",
        "spec: {<<: [{kind: B}, {a: 1}]}\nkind: [a, {kind: c, d: e}]\n",
        "kind: A\nspec: [.nan, -.inf]\n",
        "kind: .inf\nspec: .nan\n",
        "kind: A\nspec: {~: 1}\n",
        "~: {kind: A}\nkind: B\n",
        "kind: A\nspec: {18446744073709551615: x}\n",
        "kind: A\nspec: {[a]: x}\n",
        "kind: A\nspec: !!binary '%'\n",
        "kind: A\nspec: !!int x\n",
        "kind: A\nspec: *unknown\n",
        "kind: A\nspec: &a [*a]\n",
        "kind: A\nspec: {<<: 1}\n",
        "kind: A\nspec: [[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]]]\n",
        "true: {kind: x}\n1: kind\nkind: 1\n",
        "[kind, a]\n",
        "kind\n",
        ":",
        ": a",
        "d: .inf\nd:",
        "d: .inf\nd: 1\nkind: a",
        "",
    ] {
        let mut whole = to_json(text.as_bytes(), &limits);
        if let Ok(Value::Object(map)) = &mut whole {
            map.retain(|key, _| wanted(key));
        }
        assert_eq!(to_json_partly(text.as_bytes(), wanted, &limits), whole, "{text}");
    }
}

#[test]
fn plain_scalars_end_where_their_words_end() {
    let value = |text: &str| to_json(text.as_bytes(), &Limits::default()).unwrap();
    for (text, expected) in [
        ("a b  c\td", serde_json::json!("a b  c\td")),
        ("a b ", serde_json::json!("a b")),
        ("a #b", serde_json::json!("a")),
        ("a# b#c", serde_json::json!("a# b#c")),
        ("a :b", serde_json::json!("a :b")),
        ("a b: c d", serde_json::json!({"a b": "c d"})),
        ("a : c", serde_json::json!({"a": "c"})),
        ("[a b, c d]", serde_json::json!(["a b", "c d"])),
        ("[a ]", serde_json::json!(["a"])),
        ("a b \n c", serde_json::json!("a b c")),
        ("a b\r\n c \u{2028} d", serde_json::json!("a b c\u{2028}d")),
        ("k: |\n  a\r\n  b\u{85}  c\n", serde_json::json!({"k": "a\nb\nc\n"})),
        ("# x\u{2028}a: 1 # y\rb: 2\n", serde_json::json!({"a": 1, "b": 2})),
        ("[\t a,\t# x\n\tb]", serde_json::json!(["a", "b"])),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
}

#[test]
fn a_second_byte_order_mark_costs_each_line_a_character() {
    let read = |text: &str| to_json(text.as_bytes(), &Limits::default());
    assert_eq!(read("\u{feff}a: 1\n").unwrap(), json!({"a": 1}));
    let twice = read("\u{feff}\u{feff}a: 1\n xb: 2\nyc: 3\n");
    assert_eq!(twice.unwrap(), json!({"a": 1, "xb": 2, "c": 3}));
}
