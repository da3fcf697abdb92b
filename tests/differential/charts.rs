//! Whole charts: dependencies with conditions, tags, aliases and imports, globals, schemas, ignored files, CRDs, hooks.

use super::case::Case;
use super::dice::Dice;
use super::outputs::{flags, manifest};
use super::question::Question;
use super::values::flow;
use super::{sets, yaml_texts};

const SHOW: &str = "kind: ConfigMap\nv: {{ .Values | toJson | toJson }}\nc: {{ .Chart.Name }}/{{ .Chart.Version }} {{ .Chart.IsRoot }}\nr: {{ .Release | toJson | toJson }}\ns: {{ keys .Subcharts | sortAlpha }}\nt: {{ .Template | toJson }}\nf: {{ range $p, $_ := .Files }}{{ $p }};{{ end }}\n";

pub(crate) fn question(dice: &mut Dice) -> Question {
    let mut case = Case::default();
    let names = ["sub", "two", "lib"].map(|name| dice.often(50).then_some(name));
    let names: Vec<_> = names.into_iter().flatten().collect();
    let dependencies = names.iter().map(|name| dependency(dice, name)).collect::<String>();
    case.file("Chart.yaml", metadata(dice, "demo", &dependencies));
    case.file("values.yaml", values(dice));
    case.file("templates/t.yaml", SHOW);
    for name in names {
        subchart(dice, &mut case, name, 1);
    }
    extras(dice, &mut case);
    for _ in 0..dice.below(2) {
        case.values.push(values(dice).into_bytes());
    }
    if dice.often(20) {
        case.set.push(("set", sets::expression(dice, "set")));
    }
    flags(dice, &mut case);
    if dice.often(15) {
        case.kube_version =
            dice.pick(&["1.30.0", "v1.29.1-gke.1", "1.31", "x", "v1.2.3.4", "1.30.0+k3s1", "2"]).to_owned();
    }
    if dice.often(10) {
        case.api_versions = vec!["a.b/v1".to_owned(), "apps/v1/Deployment".to_owned()];
    }
    Question::Render(Box::new(case))
}

fn metadata(dice: &mut Dice, name: &str, dependencies: &str) -> String {
    let list = if dependencies.is_empty() { String::new() } else { format!("dependencies:\n{dependencies}") };
    let more = dice.some(3, |dice| dice.pick(METADATA).to_owned()).concat();
    let version = dice.pick(&["0.1.0", "0.1.0", "0.1.0", "1", "v1.0", "x", "1.2.3-a+b", "\"\""]);
    let text = format!("apiVersion: v2\nname: {name}\nversion: {version}\n{more}{list}");
    if dice.often(4) { dice.mutate(&text, &[":", "\n", " ", "-", "[", "\t", "x"]) } else { text }
}

const METADATA: &[&str] = &[
    "appVersion: 1.10\n",
    "appVersion: \"2\"\n",
    "kubeVersion: \">=1.20\"\n",
    "kubeVersion: \"<1.20\"\n",
    "kubeVersion: x\n",
    "type: application\n",
    "type: library\n",
    "type: x\n",
    "description: d\n",
    "keywords: [a]\n",
    "deprecated: true\n",
    "annotations: {a: b}\n",
    "annotations: {a: 1}\n",
    "maintainers: [{name: m}]\n",
    "maintainers: [null]\n",
    "home: h\n",
    "sources: [s]\n",
    "icon: i\n",
    "unknown: x\n",
    "deprecated: \"x\"\n",
    "tags: t\n",
    "condition: c\n",
    "kubeVersion: \">=1.30.0-0\"\n",
    "keywords: a\n",
    "appVersion: [1]\n",
    "type: Library\n",
    "name: other\n",
    "apiVersion: v1\n",
    "apiVersion: v9\n",
    "dependencies: null\n",
    "appVersion: 1.0e3\n",
    "appVersion: 0x10\n",
    "description: \"a\\tb\"\n",
];

fn dependency(dice: &mut Dice, name: &str) -> String {
    if dice.often(15) {
        return String::new();
    }
    let version = dice.pick(&["1.0.0", "1.x", "\"\"", "^1", ">=2", "\"*\"", "x"]);
    let lines = dice.some(4, |dice| dice.pick(DEPENDENCY).to_owned());
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    let twin = if dice.often(12) {
        format!("- name: {name}\n  version: 1.x\n  alias: twin\n")
    } else {
        String::new()
    };
    format!("- name: {name}\n  version: {version}\n{lines}{twin}")
}

const DEPENDENCY: &[&str] = &[
    "condition: sub.enabled",
    "condition: a.b,sub.enabled",
    "condition: global.on",
    "tags: [front]",
    "tags: [front, back]",
    "alias: ali",
    "import-values: [data]",
    "import-values: [{child: a, parent: b}]",
    "repository: http://x",
    "enabled: false",
    "import-values: [{child: exports.data, parent: .}]",
    "condition: two.enabled",
    "import-values: [none]",
    "alias: \"bad name\"",
    "import-values: [{child: null, parent: b}]",
    "condition: \"\"",
    "import-values: [1]",
    "alias: two",
    "enabled: true",
    "condition: ali.enabled",
    "import-values: [{child: nested.a, parent: b.c}, data]",
];

fn values(dice: &mut Dice) -> String {
    if dice.often(4) {
        return String::from_utf8_lossy(&yaml_texts::text(dice)).into_owned();
    }
    let keys = ["a", "b", "sub", "two", "global", "tags", "ali", "exports", "lib", "c", "twin", "nested"];
    let lines = dice.some(6, |dice| {
        let key = dice.pick(&keys);
        let value = if dice.often(40) { dice.pick(SUBVALUES).to_owned() } else { flow(dice, 2) };
        format!("{key}: {value}\n")
    });
    lines.concat()
}

const SUBVALUES: &[&str] = &[
    "{enabled: false}",
    "{enabled: true, a: 1}",
    "{front: true}",
    "{front: false, back: false}",
    "{on: false}",
    "{data: {x: 1, n: {y: null}}}",
    "{global: {g: 2}}",
    "{a: null}",
    "null",
    "{a: {b: {c: null, d: 1}}}",
    "{enabled: \"x\"}",
    "{on: true, deep: {z: 1}}",
    "{data: null}",
    "{inner: {a: 5, enabled: false}}",
    "{sub: {a: 1}}",
    "{front: \"x\"}",
];

fn subchart(dice: &mut Dice, case: &mut Case, name: &str, depth: usize) {
    let at = if depth == 1 { format!("charts/{name}") } else { format!("charts/sub/charts/{name}") };
    let version = dice.pick(&["1.0.0", "1.0.0", "1.0.0", "2.1.0", "1.5.0-beta"]);
    let kind = if name == "lib" { "type: library\n" } else { "" };
    let inner = depth == 1 && name == "sub" && dice.often(35);
    let list = if inner && dice.often(50) {
        "dependencies:\n- name: inner\n  version: 1.x\n  condition: inner.enabled\n  import-values: [data]\n"
    } else {
        ""
    };
    let more = if dice.often(15) { dice.pick(METADATA) } else { "" };
    case.file(
        format!("{at}/Chart.yaml"),
        format!("apiVersion: v2\nname: {name}\nversion: {version}\n{kind}{more}{list}"),
    );
    case.file(format!("{at}/values.yaml"), values(dice));
    case.file(format!("{at}/templates/t.yaml"), SHOW);
    if dice.often(20) {
        case.file(format!("{at}/crds/c.yaml"), "kind: CustomResourceDefinition\n");
    }
    if dice.often(15) {
        case.file(format!("{at}/values.schema.json"), schema(dice));
    }
    if dice.often(20) {
        case.file(format!("{at}/templates/_h.tpl"), format!("{{{{ define \"who\" }}}}{name}{{{{ end }}}}"));
    }
    if inner {
        subchart(dice, case, "inner", 2);
    }
}

fn extras(dice: &mut Dice, case: &mut Case) {
    for _ in 0..dice.below(5) {
        let (path, text) = extra(dice);
        case.file(path, text);
    }
}

fn extra(dice: &mut Dice) -> (String, String) {
    match dice.below(9) {
        0 => ("values.schema.json".to_owned(), schema(dice)),
        1 => (".helmignore".to_owned(), dice.some(4, |dice| dice.pick(IGNORES).to_owned() + "\n").concat()),
        2 => (
            format!(
                "crds/{}",
                dice.pick(&["a.yaml", "b.yml", "c.txt", "sub/d.json", "E.YAML", "_f.yaml", ".g.yaml"])
            ),
            manifest(dice),
        ),
        3 => (
            format!("templates/{}", dice.pick(&["_h.tpl", "z.yaml", "NOTES.txt", "tests/t.yaml", "a.txt"])),
            dice.pick(TEMPLATES).to_owned(),
        ),
        4 => (format!("files/{}", dice.pick(&["a", "b.txt", "é", "a b", ".x"])), "text\n".to_owned()),
        5 => (
            dice.pick(&[
                "README.md",
                "LICENSE",
                "charts/README.md",
                "charts/_ignored/Chart.yaml",
                "charts/.x/Chart.yaml",
                "charts/loose.txt",
                "templates/.x.yaml",
                "charts/bad.tgz",
                "charts/nochart/x",
                "Chart.lock",
            ])
            .to_owned(),
            "name: x\n".to_owned(),
        ),
        6 => ("requirements.yaml".to_owned(), "dependencies:\n- name: sub\n  version: 1.x\n".to_owned()),
        _ => (format!("templates/{}.yaml", dice.pick(&["m", "n", "sub/o"])), manifest(dice)),
    }
}

const IGNORES: &[&str] = &[
    "*.txt",
    "files/",
    "/crds",
    "!README.md",
    "# c",
    "",
    "templates/z.yaml",
    "a*",
    "**",
    "charts/two",
    "[",
    "files/*",
    "t?.yaml",
    "/values.yaml",
    "*",
    "!*.yaml",
    "charts/",
    "\\*",
    ".helmignore",
    "files",
    "sub/",
    "/",
    "./a",
    "[a-z]*.md",
    "README.md/",
];

const TEMPLATES: &[&str] = &[
    "{{ define \"who\" }}root{{ end }}",
    "w: {{ include \"who\" . }}\n",
    "{{ .Values.sub.a }}",
    "kind: Pod\nmetadata: {annotations: {helm.sh/hook: test}}\n",
    "a: {{ .Values.a.b.c }}\n",
    "x: {{ .Subcharts.sub.Values | toJson }}\n",
    "y: {{ .Values.global | toJson }}\n",
    "{{ fail \"stop\" }}",
    "{{ range $k, $v := .Subcharts }}{{ $k }}: {{ $v.Chart.Name }}\n{{ end }}",
    "{{ .Files.Get \"files/a\" }}",
    "z: {{ .Capabilities.KubeVersion }} {{ .Capabilities.APIVersions.Has \"a.b/v1\" }}\n",
    "{{ if }}",
    "q: {{ .Chart | toJson | toJson }}\n",
    "d: {{ .Chart.Dependencies | toJson | toJson }}\n",
    "m: {{ toYaml .Chart | nindent 2 }}\n",
];

fn schema(dice: &mut Dice) -> String {
    let rules = dice.some(3, |dice| dice.pick(RULES).to_owned());
    let properties = dice.some(3, |dice| {
        let (key, rule) = (dice.pick(&["a", "b", "sub", "global", "c"]), dice.pick(PROPERTY));
        format!("\"{key}\": {rule}")
    });
    let text = format!(
        "{{{}{}\"properties\": {{{}}}}}",
        rules.join(","),
        if rules.is_empty() { "" } else { "," },
        properties.join(", ")
    );
    if dice.often(8) { dice.mutate(&text, &["{", "}", ",", "\"", "x", "1"]) } else { text }
}

const RULES: &[&str] = &[
    "\"type\": \"object\"",
    "\"type\": \"array\"",
    "\"required\": [\"a\"]",
    "\"required\": [\"a\", \"zz\"]",
    "\"additionalProperties\": false",
    "\"minProperties\": 3",
    "\"maxProperties\": 1",
    "\"$schema\": \"http://json-schema.org/draft-07/schema#\"",
    "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\"",
    "\"anyOf\": [{\"required\": [\"x\"]}, {\"required\": [\"y\"]}]",
    "\"propertyNames\": {\"pattern\": \"^[a-c]$\"}",
    "\"not\": {\"required\": [\"a\"]}",
    "\"if\": {\"required\": [\"a\"]}, \"then\": {\"required\": [\"b\"]}",
    "\"patternProperties\": {\"^s\": {\"type\": \"string\"}}",
    "\"dependentRequired\": {\"a\": [\"b\"]}",
    "\"oneOf\": [{}, {\"type\": \"object\"}]",
    "\"allOf\": [{\"maxProperties\": 2}]",
    "\"type\": \"nope\"",
    "\"definitions\": {\"d\": {\"type\": \"integer\"}}",
    "\"unevaluatedProperties\": false",
    "\"$schema\": \"http://json-schema.org/draft-04/schema#\"",
    "\"title\": \"t\"",
];

const PROPERTY: &[&str] = &[
    "{\"type\": \"string\"}",
    "{\"type\": \"integer\"}",
    "{\"type\": [\"string\", \"null\"]}",
    "{\"enum\": [1, \"x\", null]}",
    "{\"minimum\": 5}",
    "{\"maximum\": 0}",
    "{\"const\": 1}",
    "{\"type\": \"object\", \"required\": [\"q\"]}",
    "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
    "{\"minLength\": 3}",
    "{\"pattern\": \"^z\"}",
    "{\"format\": \"ipv4\"}",
    "{\"$ref\": \"#/definitions/d\"}",
    "false",
    "true",
    "{\"multipleOf\": 2}",
    "{\"uniqueItems\": true, \"minItems\": 3}",
    "{\"type\": \"number\", \"exclusiveMinimum\": 1}",
    "{\"additionalProperties\": {\"type\": \"boolean\"}}",
    "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"integer\"}]}",
    "{\"contains\": {\"const\": 1}}",
    "{\"maxLength\": 1}",
];
