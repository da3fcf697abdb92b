use super::*;

/// What is read, as JSON, or what is wrong.
fn read(text: &str) -> Result<String, String> {
    let map = decode(text.as_bytes()).map_err(|fault| fault.message)??;
    Ok(crate::yaml::json::encode(&Value::Map(map).to_json().map_err(|fault| fault.message)?))
}

/// As both Helms answer (3.22.0, 4.3.1).
const CASES: &[(&str, Result<&str, &str>)] = &[
    (
        "a = 1\nb = [1, \"x\", {c = 2.5}]\n[t]\nk = true\n[[u]]\n[[u]]\nv = 1",
        Ok(r#"{"a":1,"b":[1,"x",{"c":2.5}],"t":{"k":true},"u":[{},{"v":1}]}"#),
    ),
    ("a.b.c = 1\na.d = 2", Ok(r#"{"a":{"b":{"c":1},"d":2}}"#)),
    (
        "d = 2024-01-02\ne = 07:32:00\nf = 2024-01-02T03:04:05Z\ng = 2024-01-02 03:04",
        Ok(
            r#"{"d":"2024-01-02T00:00:00Z","e":"0000-01-01T07:32:00Z","f":"2024-01-02T03:04:05Z","g":"2024-01-02T03:04:00Z"}"#,
        ),
    ),
    ("s = \"\"\"\nx\\\n   y\\u00e9\"\"\"\nr = '''\na'b'''", Ok(r#"{"r":"a'b","s":"xyé"}"#)),
    ("x = 0x1F\ny = 1_000\nz = 0b11", Ok(r#"{"x":31,"y":1000,"z":3}"#)),
    ("1", Err("line 1: unexpected EOF; expected key separator '='")),
    ("a = ", Err("line 1 (last key \"a\"): unexpected EOF; expected value")),
    ("a = \n", Err("line 1 (last key \"a\"): expected value but found '\\n' instead")),
    ("a = [1,,2]", Err("line 1 (last key \"a\"): unexpected comma")),
    ("[a]\n[a]", Err("line 2: Key 'a' has already been defined.")),
    ("a = 1\na = 2", Err("line 2 (last key \"a\"): Key 'a' has already been defined.")),
    ("a = 1\n[a.b]", Err("line 2: Key 'a' was already created as a hash.")),
    ("[[a]]\n[a]", Err("line 2: Key 'a' has already been defined.")),
    ("a = 01", Err("line 1 (last key \"a\"): Invalid integer \"01\": cannot have leading zeroes")),
    (
        "a = 1__0",
        Err("line 1 (last key \"a\"): Invalid integer \"1__0\": underscores must be surrounded by digits"),
    ),
    (
        "a = 1.",
        Err("line 1 (last key \"a\"): Invalid float \"1.\": '.' must be followed by one or more digits"),
    ),
    (
        "a = 99999999999999999999",
        Err("line 1 (last key \"a\"): 99999999999999999999 is out of range for int64"),
    ),
    ("a = 1e400", Err("line 1 (last key \"a\"): 1e400 is out of range for float64")),
    ("a = tru", Err("line 1 (last key \"a\"): expected value but found \"tru\" instead")),
    ("b = in", Err("line 1 (last key \"b\"): expected value but found \"n\" instead")),
    ("a = \"x", Err("line 1 (last key \"a\"): unexpected EOF; expected '\"'")),
    ("a = \"\\q\"", Err("line 1 (last key \"a\"): invalid escape in string '\\q'")),
    ("a = \"\\ud800\"", Err("line 1 (last key \"a\"): Escaped character '\\ud800' is not valid UTF-8.")),
    ("a = 'x\ny'", Err("line 1 (last key \"a\"): strings cannot contain newlines")),
    ("a = 2024-13-01", Err("line 1 (last key \"a\"): invalid datetime: \"2024-13-01\"")),
    ("a = {b = 1, b = 2}", Err("line 1 (last key \"a.b\"): Key 'a.b' has already been defined.")),
    (
        "a = {b = 1",
        Err(
            "line 1 (last key \"a.b\"): expected a comma or an inline table terminator '}', but got end of file instead",
        ),
    ),
    ("[a", Err("line 1: expected '.' or ']' to end table name, but got '\\x00' instead")),
    ("[[a]", Err("line 1: expected end of table array name delimiter ']', but got '\\x00' instead")),
    ("= 1", Err("line 1: unexpected '=': key name appears blank")),
    (".a = 1", Err("line 1: unexpected '.': keys cannot start with a '.'")),
    (
        "a = 1 b",
        Err("line 1: expected a top-level item to end with a newline, comment, or EOF, but got 'b' instead"),
    ),
    ("a = 0b2", Err("line 1 (last key \"a\"): not a binary number: '0b2'")),
    ("a = +0x1", Err("line 1 (last key \"a\"): cannot use sign with non-decimal numbers: '+0x'")),
    (
        "a = \"\\xZ\"",
        Err(
            "line 1 (last key \"a\"): expected two hexadecimal digits after '\\x', but got \"\\\\xZ\" instead",
        ),
    ),
    ("a = \"\"\"x\"\"\"\"\"\"", Err("line 1 (last key \"a\"): unexpected '\"\"\"\"\"\"'")),
    ("a = 07:3", Err("line 1 (last key \"a\"): invalid datetime: \"07:3\"")),
    ("\0", Err("line 1: files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8")),
    ("a\r= 1", Err("line 1: TOML files cannot contain control characters: '0x0d'")),
    ("\"é k\" = [{\"\" = 1}]", Ok(r#"{"é k":[{"":1}]}"#)),
    ("a = {b.c = 1, b = 2}", Ok(r#"{"a":{"b":{"c":1}}}"#)),
];

#[test]
fn documents_read_as_in_go() {
    for (text, expected) in CASES {
        let expected = expected.map(str::to_owned).map_err(|words| format!("toml: {words}"));
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn times_have_their_kinds_and_are_written_as_they_were() {
    let text = "a = 2024-01-02\nb = 03:04:05.5\nc = 2024-01-02T03:04:05\nd = 2024-01-02T03:04:05+02:00\n";
    let map = decode(text.as_bytes()).ok().unwrap().unwrap();
    assert_eq!(map.get("a").unwrap().type_name(), "time.Time");
    assert_eq!(super::super::toml_text::encode(&Value::Map(map)).unwrap(), text);
}
