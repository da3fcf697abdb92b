use super::*;

fn names(text: &str) -> Result<Vec<String>, String> {
    let manifests = read("f.yaml", text.as_bytes(), &Limits::default()).map_err(|error| error.message)?;
    let shown = |m: Manifest| {
        let word = |pointer| crate::k8s::text(&m.object, pointer).to_owned();
        format!("{} {} {}", m.place.whole(), word("/apiVersion"), word("/kind"))
    };
    Ok(manifests.into_iter().map(shown).collect())
}

fn error(text: &str) -> String {
    names(text).unwrap_err()
}

const A: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

#[test]
fn documents_streams_and_lists_are_read() {
    let two = format!("# head\n---\n{A}---\n---\n{A}");
    assert_eq!(
        names(&two).unwrap(),
        ["f.yaml:3: document 1 v1 ConfigMap", "f.yaml:8: document 2 v1 ConfigMap"]
    );
    let json = "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n\n{\"apiVersion\":\"v1\",\"kind\":\"B\"}\n";
    assert_eq!(names(json).unwrap(), ["f.yaml:1: document 1 v1 A", "f.yaml:3: document 2 v1 B"]);
    let typed = "apiVersion: example.test/v1\nkind: GearList\nmetadata: {resourceVersion: '5'}\nitems:\n- metadata: {name: a}\n- {metadata: {name: b}, kind: Gear, apiVersion: example.test/v2}\n";
    assert_eq!(
        names(typed).unwrap(),
        [
            "f.yaml:5: document 1, item 1 example.test/v1 Gear",
            "f.yaml:6: document 1, item 2 example.test/v2 Gear"
        ]
    );
    assert_eq!(names("apiVersion: v1\nkind: PodList\nitems: null\n").unwrap(), Vec::<String>::new());
    assert_eq!(names("").unwrap(), Vec::<String>::new());
}

#[test]
fn kinds_that_end_as_lists_do_may_be_objects() {
    let own = "apiVersion: example.test/v1\nkind: AllowList\nmetadata: {name: a}\n";
    assert_eq!(names(own).unwrap(), ["f.yaml:1: document 1 example.test/v1 AllowList"]);
    let with_items = "apiVersion: example.test/v1\nkind: Cart\nmetadata: {name: a}\nitems: [1]\n";
    assert_eq!(names(with_items).unwrap(), ["f.yaml:1: document 1 example.test/v1 Cart"]);
}

#[test]
fn lists_that_are_none_are_named() {
    let list = |rest: &str| error(&format!("apiVersion: v1\nkind: List\n{rest}"));
    assert_eq!(list("items: {a: 1}\n"), "f.yaml:3: document 1: items is a mapping, not a list");
    assert_eq!(list("items:\n- 5\n"), "f.yaml:4: document 1, item 1: a number, not a Kubernetes object");
    assert_eq!(list("items: [null]\n"), "f.yaml:3: document 1, item 1: nothing, not a Kubernetes object");
    assert_eq!(list(""), "f.yaml:1: document 1: List without items");
    assert_eq!(
        list("items:\n- apiVersion: v1\n  kind: List\n  items: []\n"),
        "f.yaml:4: document 1, item 1: a List inside of a list"
    );
    assert_eq!(
        list("items:\n- metadata: {name: a}\n"),
        "f.yaml:4: document 1, item 1: apiVersion is missing"
    );
    assert_eq!(
        list("metadata: {continue: abc}\nitems: []\n"),
        "f.yaml:3: document 1: metadata.continue: the list is only a part"
    );
    // kubectl gives kind and version only to items that have neither.
    assert_eq!(
        error("apiVersion: v1\nkind: PodList\nitems:\n- {kind: Pod, metadata: {name: a}}\n"),
        "f.yaml:4: document 1, item 1: apiVersion is missing"
    );
}

#[test]
fn what_says_no_kind_is_no_object() {
    assert_eq!(error("- 1\n"), "f.yaml:1: document 1: a list, not a Kubernetes object");
    assert_eq!(error("hello\n"), "f.yaml:1: document 1: a text, not a Kubernetes object");
    assert_eq!(error(&format!("{A}---\nkind: A\n")), "f.yaml:5: document 2: apiVersion is missing");
    assert_eq!(error("apiVersion: v1\nkind: 5\n"), "f.yaml:2: document 1: kind is a number, not a text");
    assert_eq!(error("apiVersion: 1\nkind: A\n"), "f.yaml:1: document 1: apiVersion is a number, not a text");
    assert_eq!(
        error("apiVersion: a/b/c\nkind: A\n"),
        "f.yaml:1: document 1: apiVersion \"a/b/c\" is neither VERSION nor GROUP/VERSION"
    );
    assert_eq!(error("items: []\n"), "f.yaml:1: document 1: apiVersion is missing");
}

#[test]
fn nothing_of_a_file_is_passed_over() {
    assert_eq!(error(&format!("{A}--- foo\n{A}")), "f.yaml:4: invalid Yaml document separator: foo");
    assert_eq!(
        error(&format!("{A}...\n{A}")),
        "f.yaml:5: document 1: something follows behind the end of the document"
    );
    let flow = "{apiVersion: v1, kind: A}\n{apiVersion: v1, kind: B}\n";
    assert_eq!(error(flow), "f.yaml:2: document 1: something follows behind the end of the document");
    assert_eq!(names(&format!("{A}...\n")).unwrap().len(), 1);
    assert!(
        error(&format!("{A}kind: B\n")).ends_with("key \"kind\" already set in map"),
        "{}",
        error(&format!("{A}kind: B\n"))
    );
    let latin = read("f.yaml", b"a: 1\nb: \xe9\n", &Limits::default()).unwrap_err();
    assert_eq!(latin.message, "f.yaml:2: the text is not UTF-8");
    assert_eq!(
        error(&format!("{A}---\na: [\n")),
        "f.yaml:6: document 2: yaml: did not find expected node content"
    );
}
