//! Output forms of kubectl: `json`, `yaml`, `jsonpath`, `custom-columns`.

use serde_json::Value;

use super::{Flow, Kubectl, Stop, jsonpath};
use crate::yaml;

/// Prints an object or a list in a form given with `-o`.
pub(super) fn print(kubectl: &mut Kubectl<'_, '_>, form: &str, object: &Value) -> Flow<()> {
    let (kind, template) = form.split_once('=').unwrap_or((form, ""));
    let text = match kind {
        "json" => format!("{object:#}\n"),
        "yaml" => yaml::from_json(object),
        "jsonpath" => match jsonpath::evaluate(template, object) {
            Ok(text) => text,
            Err(message) => return Err(Stop::Unknown(format!("jsonpath `{template}`: {message}"))),
        },
        "custom-columns" => columns(kubectl, template, object)?,
        _ => return Err(Stop::Unknown(format!("kubectl output `{form}`"))),
    };
    kubectl.shell.write(kubectl.streams, 1, &text);
    Ok(())
}

fn columns(kubectl: &Kubectl<'_, '_>, template: &str, object: &Value) -> Flow<String> {
    let columns: Vec<(&str, &str)> = template.split(',').filter_map(|c| c.split_once(':')).collect();
    let single = std::slice::from_ref(object);
    let objects = object.get("items").and_then(Value::as_array).map_or(single, Vec::as_slice);
    let mut rows: Vec<Vec<String>> = Vec::new();
    if !kubectl.arguments.on("no-headers") {
        rows.push(columns.iter().map(|(name, _)| (*name).to_owned()).collect());
    }
    for object in objects {
        let mut row = Vec::new();
        for (_, path) in &columns {
            let path = path.trim_matches(['{', '}']);
            let dotted = if path.starts_with(['.', '[']) { path.to_owned() } else { format!(".{path}") };
            let value = jsonpath::evaluate(&format!("{{{dotted}}}"), object)
                .map_err(|message| Stop::Unknown(format!("column `{path}`: {message}")))?;
            row.push(if value.is_empty() { "<none>".to_owned() } else { value.replace(' ', ",") });
        }
        rows.push(row);
    }
    let width = |at: usize| rows.iter().filter_map(|r| r.get(at)).map(String::len).max().unwrap_or(0);
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().enumerate().map(|(at, cell)| format!("{cell:w$}", w = width(at))).collect();
        format!("{}\n", cells.join("   ").trim_end())
    };
    Ok(rows.iter().map(line).collect())
}
