//! JSON Schemas of the JSON output, generated from its types.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};

/// The version of the JSON formats, a field of each.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// Returns the schema of a type as text.
pub(crate) fn text<T: JsonSchema>() -> String {
    // The schema of serialized values: every field that is never skipped is required.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
