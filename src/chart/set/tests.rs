use serde_json::json;

use super::*;

fn applied(text: &str, style: Style<'_>, helm: Helm) -> Result<Value, String> {
    let mut values = Map::new();
    parse_into(text, style, helm, &Limits::default(), &mut values).map(|()| Value::Object(values))
}

#[test]
fn values_are_typed_as_helm_types_them() {
    for (text, expected) in [
        ("a=1", json!({"a": 1})),
        ("a=1.5", json!({"a": "1.5"})),
        ("a=007", json!({"a": "007"})),
        ("a=0", json!({"a": 0})),
        ("a=TRUE,b=null,c=", json!({"a": true, "b": null, "c": ""})),
        ("a.b.c=x", json!({"a": {"b": {"c": "x"}}})),
        ("a={x,1,true}", json!({"a": ["x", 1, true]})),
        ("a={x},b=2", json!({"a": ["x"], "b": 2})),
        ("a[1].b=x", json!({"a": [null, {"b": "x"}]})),
        ("a[0][1]=x", json!({"a": [[null, "x"]]})),
        ("a\\.b=x\\,y", json!({"a.b": "x,y"})),
        ("a.", json!({})),
    ] {
        assert_eq!(applied(text, Style::Typed, Helm::V4).unwrap(), expected, "{text}");
    }
}

#[test]
fn other_styles_read_their_own_grammar() {
    assert_eq!(applied("a=1,b=true", Style::String, Helm::V4).unwrap(), json!({"a": "1", "b": "true"}));
    assert_eq!(applied("a.b=x,y=\\z", Style::Literal, Helm::V4).unwrap(), json!({"a": {"b": "x,y=\\z"}}));
    let read = &mut |name: &str| Ok(format!("<{name}>"));
    assert_eq!(applied("a=f.txt", Style::File(read), Helm::V4).unwrap(), json!({"a": "<f.txt>"}));
    let json = applied("a={\"b\":[1,2]} ,c=null", Style::Json, Helm::V4).unwrap();
    assert_eq!(json, json!({"a": {"b": [1.0, 2.0]}, "c": null}));
}

#[test]
fn errors_are_helms() {
    for (text, expected) in [
        ("a", "key \"a\" has no value"),
        ("a,b=1", "key \"a\" has no value (cannot end with ,)"),
        ("a={x", "list must terminate with '}'"),
        ("a[x]=1", "error parsing index: strconv.Atoi: parsing \"x\": invalid syntax"),
        (
            "a[99999999999999999999,]=1",
            "error parsing index: strconv.Atoi: parsing \"99999999999999999999,\": value out of range",
        ),
        ("a[-1]=1", "negative -1 index not allowed"),
        ("a[70000]=1", "index of 70000 is greater than maximum supported index of 65536"),
        (
            "a=1,a.b=2",
            "unable to parse key: interface conversion: interface {} is int64, not map[string]interface {}",
        ),
        ("a[0]x=1", "unexpected data at end of array index: ['x']"),
    ] {
        assert_eq!(applied(text, Style::Typed, Helm::V4).unwrap_err(), expected, "{text}");
    }
    assert_eq!(applied("a[1", Style::Typed, Helm::V3).unwrap_err(), "error parsing index: EOF");
    assert_eq!(applied("a[1", Style::Typed, Helm::V4).unwrap(), json!({}));
}

#[test]
fn json_nests_and_fails_as_in_go() {
    let depth = crate::limits::stack::levels() - 1;
    let deep = format!("a={}{},b=1", "[".repeat(depth), "]".repeat(depth));
    let values = applied(&deep, Style::Json, Helm::V4).unwrap();
    assert_eq!(values["b"], json!(1.0));
    for (text, wanted) in [
        ("a={", "unexpected EOF"),
        ("a={\"b\":}", "invalid character '}' looking for beginning of value"),
        ("a=tru", "unexpected EOF"),
    ] {
        assert_eq!(applied(text, Style::Json, Helm::V4).unwrap_err(), wanted, "{text}");
    }
}

#[test]
fn short_texts_make_no_long_lists_without_end() {
    let text = format!("a{}=1", "[65536]".repeat(60));
    let told = applied(&text, Style::Typed, Helm::V4).unwrap_err();
    assert!(told.contains("more than 2500000 items") && told.contains("--limit-yaml-nodes"), "{told}");
    assert!(applied("a[65536][65536]=1", Style::Typed, Helm::V4).is_ok());
}
