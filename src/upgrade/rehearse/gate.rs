//! The value that switches a chart's CustomResourceDefinitions on and off, found by trying.

use std::sync::Arc;

use serde_json::Value;

use crate::chart::Chart;
use crate::chart::Values;
use crate::k8s;
use crate::render::{Manifest, Options, Render};
use crate::upgrade::actors::Renderer;

/// Renders that a search may cost.
const TRIES: usize = 24;

/// Values with one switch turned, and the switch as `--set` names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Path of the value, e.g. `crds.enabled`.
    pub path: String,
    /// What it is turned to.
    pub value: bool,
    /// The user's values with the switch turned.
    pub values: Arc<Values>,
    /// The switch alone.
    pub alone: Arc<Values>,
}

/// The first boolean whose turn removes every CustomResourceDefinition from the release manifest; `None` when the
/// manifest has none or nothing removes them.
pub fn gates(
    renderer: &dyn Renderer,
    chart: &Arc<Chart>,
    config: &Arc<Values>,
    options: &Options,
) -> Option<Gate> {
    let render = renderer.render(chart, config, options).ok()?;
    if !has_crds(&render) {
        return None;
    }
    let mut switches = Vec::new();
    collect(&render.values, &mut Vec::new(), &mut switches);
    // Names that speak of CRDs are tried first; every other boolean is as good.
    switches
        .sort_by_key(|(path, _)| (!path.iter().any(|part| part.to_lowercase().contains("crd")), path.len()));
    switches.into_iter().take(TRIES).find_map(|(path, value)| {
        let turn = |mut values: Values| {
            set(&mut values, &path, Value::Bool(!value));
            Arc::new(values)
        };
        let values = turn(Values::clone(config));
        let turned = renderer.render(chart, &values, options).ok()?;
        let alone = || turn(Values::new());
        (!has_crds(&turned)).then(|| Gate { path: path.join("."), value: !value, values, alone: alone() })
    })
}

fn has_crds(render: &Render) -> bool {
    let objects = render.manifests.iter().flat_map(Manifest::objects);
    objects.into_iter().any(|object| k8s::text(&object, "/kind") == "CustomResourceDefinition")
}

/// Paths of all booleans; keys with dots can't be named by `--set` without escapes and are left out.
fn collect(values: &Values, path: &mut Vec<String>, out: &mut Vec<(Vec<String>, bool)>) {
    for (key, value) in values.iter().filter(|(key, _)| !key.contains('.') && *key != "global") {
        path.push(key.clone());
        match value {
            Value::Bool(value) => out.push((path.clone(), *value)),
            Value::Object(map) if path.len() < 6 => collect(map, path, out),
            _ => {}
        }
        path.pop();
    }
}

fn set(values: &mut Values, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            values.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = values.entry(first.clone()).or_insert_with(|| Value::Object(Values::new()));
            if !inner.is_object() {
                *inner = Value::Object(Values::new());
            }
            if let Value::Object(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chart::Helm;
    use crate::render::Manifest;
    use crate::upgrade::actors::Subject;
    use crate::upgrade::actors::helm::template_options;

    struct Fake;

    impl Renderer for Fake {
        fn render(
            &self,
            chart: &Arc<Chart>,
            config: &Arc<Values>,
            _: &Options,
        ) -> Result<Arc<Render>, String> {
            let defaults = json!({"a": true, "definitions": {"install": true}});
            let on = config.get("definitions").and_then(|d| d.get("install")) != Some(&json!(false));
            let kind = if on { "CustomResourceDefinition" } else { "ConfigMap" };
            Ok(Arc::new(Render {
                chart: Arc::clone(chart),
                values: Arc::new(defaults.as_object().cloned().unwrap_or_default()),
                config: Arc::clone(config),
                crds: Vec::new(),
                manifests: vec![Manifest {
                    source: String::new(),
                    text: "".into(),
                    object: Arc::new(json!({"kind": kind})).into(),
                }],
                hooks: Vec::new(),
                notes: None,
                warnings: Vec::new(),
            }))
        }
    }

    #[test]
    fn the_switch_is_found_whatever_its_name() {
        let subject = Subject { release: "r".into(), namespace: "n".into() };
        let options = template_options(Helm::V4, &subject);
        let gate = gates(&Fake, &Arc::new(Chart::default()), &Arc::new(Values::new()), &options)
            .expect("definitions.install");
        assert_eq!((gate.path.as_str(), gate.value), ("definitions.install", false));
    }
}
