use super::*;

fn file(path: &str, data: &str) -> File {
    File { path: path.to_owned(), data: data.as_bytes().into() }
}

fn loaded(files: Vec<File>) -> Result<Chart, Error> {
    load(files, Helm::V4, &Limits::default(), 0)
}

#[test]
fn files_go_where_helm_puts_them() {
    let chart = loaded(vec![
        file("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\nappVersion: 1.10\n"),
        file("values.yaml", "a: 1\n"),
        file("templates/a.yaml", ""),
        file("crds/x.yaml", ""),
        file("README.md", ""),
        file("charts/sub/Chart.yaml", "name: sub\nversion: 0.1.0\n"),
        file("charts/sub/templates/t.yaml", ""),
        file("charts/loose.txt", ""),
        file("charts/sub.prov", ""),
        file("charts/_hidden/Chart.yaml", ""),
    ]);
    // A loose file makes a subchart without Chart.yaml, which Helm refuses.
    assert_eq!(
        chart.unwrap_err().message,
        "error unpacking subchart loose.txt in c: Chart.yaml file is missing"
    );
}

#[test]
fn metadata_is_coerced_and_checked() {
    let with = |text: &str| loaded(vec![file("Chart.yaml", text)]);
    let chart = with("apiVersion: v2\nname: c\nversion: 1\nappVersion: 1.10\nsources: [5]\n").unwrap();
    assert_eq!((chart.metadata.version.as_str(), chart.metadata.app_version.as_str()), ("1", "1.1"));
    for (text, expected) in [
        ("name: c\n", "validation: chart.metadata.version is required"),
        ("version: 1\n", "validation: chart.metadata.name is required"),
        ("name: a/b\nversion: 1\n", "validation: chart.metadata.name \"a/b\" is invalid"),
        ("name: c\nversion: x\n", "validation: chart.metadata.version \"x\" is invalid"),
        ("name: c\nversion: 1\ntype: x\n", "validation: chart.metadata.type must be application or library"),
        (
            "name: c\nversion: 1\ndependencies: [{name: d, alias: 'a b'}]\n",
            "validation: dependency \"d\" has disallowed characters in the alias",
        ),
        (
            "name: [c]\n",
            "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go struct field Metadata.name of type string",
        ),
    ] {
        assert_eq!(with(text).unwrap_err().message, expected, "{text}");
    }
    assert_eq!(loaded(Vec::new()).unwrap_err().message, "Chart.yaml file is missing");
}
