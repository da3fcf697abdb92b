//! values.schema.json: the JSON Schema that a chart's values must satisfy.
