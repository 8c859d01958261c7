//! The JSON Schemas of every JSON output, made from the types that are printed.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};

use crate::command::{
    Built, Described, IndexExplained, Inspected, PromptExplained, SelectionExplained, Shown,
    UriExplained, Verified,
};
use crate::report::Findings;

/// The version of the JSON forms, which every one of them carries.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// Returns name and text of each schema, as they stand in `schemas/NAME.json`, sorted by name.
#[must_use]
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        schema::<Built>("build"),
        schema::<Findings>("check"),
        schema::<Described>("describe"),
        schema::<IndexExplained>("explain-index"),
        schema::<PromptExplained>("explain-prompt"),
        schema::<SelectionExplained>("explain-selection"),
        schema::<UriExplained>("explain-uri"),
        schema::<Inspected>("inspect"),
        schema::<Shown>("show"),
        schema::<Verified>("verify"),
    ]
}

fn schema<T: JsonSchema>(name: &'static str) -> (&'static str, String) {
    // What is written, not what is read: every field that is not left out is there.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    (name, text)
}
