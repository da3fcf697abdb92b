//! Services and Ingresses.

use serde_json::{Value, json};

use crate::k8s::At as _;
use crate::k8s::text;
use crate::schema::FieldError;

/// A Service: ports, and the cluster IP that stays once it is given.
pub(super) fn service(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let kind = text(object, "/spec/type");
    let headless = text(object, "/spec/clusterIP") == "None";
    let ports = object.at("/spec/ports").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if ports.is_empty() && !headless && kind != "ExternalName" {
        errors.push(FieldError::required("spec.ports", ""));
    }
    for (at, port) in ports.iter().enumerate() {
        let field = format!("spec.ports[{at}]");
        if ports.len() > 1 && text(port, "/name").is_empty() {
            errors.push(FieldError::required(format!("{field}.name"), ""));
        }
        let number = port.get("port").and_then(Value::as_i64).unwrap_or(0);
        if !(1..=65535).contains(&number) {
            errors.push(FieldError::invalid(
                format!("{field}.port"),
                &json!(number),
                "must be between 1 and 65535, inclusive",
            ));
        }
    }
    let Some(old) = old else { return };
    let class = |service: &Value| service.at("/spec/loadBalancerClass").cloned();
    let balanced = kind == "LoadBalancer" && text(old, "/spec/type") == "LoadBalancer";
    if balanced && class(object) != class(old) {
        let shown = class(object).unwrap_or_default();
        errors.push(FieldError::invalid("spec.loadBalancerClass", &shown, "may not change once set"));
    }
    let before = text(old, "/spec/clusterIP");
    let external = kind == "ExternalName" || text(old, "/spec/type") == "ExternalName";
    if !external && !before.is_empty() && text(object, "/spec/clusterIP") != before {
        let shown = object.at("/spec/clusterIPs").cloned().unwrap_or_default();
        errors.push(FieldError::invalid("spec.clusterIPs[0]", &shown, "may not change once set"));
    }
}

/// An Ingress: every path says how it matches.
pub(super) fn ingress(object: &Value, errors: &mut Vec<FieldError>) {
    let rules = object.at("/spec/rules").and_then(Value::as_array);
    for (r, rule) in rules.into_iter().flatten().enumerate() {
        let paths = rule.at("/http/paths").and_then(Value::as_array);
        for (p, path) in paths.into_iter().flatten().enumerate() {
            if text(path, "/pathType").is_empty() {
                let field = format!("spec.rules[{r}].http.paths[{p}].pathType");
                errors.push(FieldError::required(field, "pathType must be specified"));
            }
        }
    }
}
