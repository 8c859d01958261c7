//! The reference of `server.toml` and `trust.toml`: `docs/server.md` and the output of
//! `--reference`.
//!
//! Names, types, ranges, defaults and meanings of keys come from the types that read the files, so
//! the reference has a line for every key.

use relay_bundle::trust::Trust;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::args;
use super::config::Config;

/// The page, with a placeholder for each inserted part.
const PAGE: &str = include_str!("reference/page.md");

/// The cell for a missing value of a key.
const NONE: &str = "–";

type Schema = Map<String, Value>;

/// Returns the page.
pub(crate) fn render() -> String {
    let parts = [
        ("{{usage}}", args::HELP),
        ("{{server.toml}}", include_str!("reference/server.toml")),
        ("{{server.toml keys}}", &tables::<Config>()),
        ("{{trust.toml}}", include_str!("reference/trust.toml")),
        ("{{trust.toml keys}}", &tables::<Trust>()),
    ];
    let page = PAGE.trim_end().to_owned();
    parts.iter().fold(page, |page, (mark, part)| page.replace(mark, part.trim()))
}

/// Describes the keys of the file that `T` reads: keys outside of tables first, then table by
/// table.
fn tables<T: JsonSchema>() -> String {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut out = String::new();
    if let Some(schema) = schema.as_object() {
        write_table(&mut out, "", schema);
    }
    out
}

/// Writes the keys of one table, whose name ends with a dot unless it is empty.
fn write_table(out: &mut String, name: &str, schema: &Schema) {
    let Some(keys) = schema.get("properties").and_then(Value::as_object) else { return };
    let keys = keys.iter().filter_map(|(key, schema)| Some((key, schema.as_object()?)));
    let (tables, values): (Vec<_>, Vec<_>) = keys.partition(|(_, key)| table(key).is_some());
    if !values.is_empty() {
        out.push_str("\n| key | type | unit | range | default | meaning |\n");
        out.push_str("|---|---|---|---|---|---|\n");
    }
    for (key, value) in values {
        let cells = [
            &format!("`{key}`"),
            &type_name(value),
            unit(key, value),
            &range(value),
            &default(key, value, schema),
            &meaning(value),
        ];
        out.push_str(&format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")));
    }
    for (key, value) in tables {
        let (heading, inner) = match table(value) {
            Some(Table::One(inner)) => (format!("[{name}{key}]"), inner),
            Some(Table::Many(inner)) => (format!("[[{name}{key}]]"), inner),
            None => continue,
        };
        out.push_str(&format!("\n### `{heading}`\n\n{}\n", meaning(value)));
        write_table(out, &format!("{name}{key}."), inner);
    }
}

/// The table or the array of tables that a key holds.
enum Table<'s> {
    One(&'s Schema),
    Many(&'s Schema),
}

fn table(schema: &Schema) -> Option<Table<'_>> {
    let items = schema.get("items").and_then(Value::as_object);
    match items.filter(|items| items.contains_key("properties")) {
        Some(items) => Some(Table::Many(items)),
        None => schema.contains_key("properties").then_some(Table::One(schema)),
    }
}

fn type_name(schema: &Schema) -> String {
    let inner = |key| schema.get(key).and_then(Value::as_object).map(type_name);
    match json_type(schema) {
        "string" => schema.get("format").and_then(Value::as_str).unwrap_or("text").to_owned(),
        "array" => format!("list of {}s", inner("items").unwrap_or_default()),
        "object" => format!("table of {}s", inner("additionalProperties").unwrap_or_default()),
        other => other.to_owned(),
    }
}

fn json_type(schema: &Schema) -> &str {
    let one = match schema.get("type") {
        // The type of an optional value is a list with null.
        Some(Value::Array(types)) => types.first(),
        one => one,
    };
    one.and_then(Value::as_str).unwrap_or_default()
}

/// Returns the unit at the end of a number's name.
fn unit(key: &str, schema: &Schema) -> &'static str {
    let key = key.strip_suffix("-max").unwrap_or(key);
    match key.rsplit('-').next() {
        _ if json_type(schema) != "integer" => NONE,
        Some("bytes") => "bytes",
        Some("ms") => "milliseconds",
        Some("s") => "seconds",
        Some("min") => "minutes",
        _ => NONE,
    }
}

fn range(schema: &Schema) -> String {
    if let Some(items) = schema.get("items").or(schema.get("additionalProperties")) {
        return items.as_object().map_or(NONE.to_owned(), range);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        // An optional value may be null in the schema, which TOML lacks.
        let values = values.iter().filter(|value| !value.is_null());
        let values: Vec<_> = values.map(|value| format!("`{value}`")).collect();
        return values.join(", ");
    }
    let bound = |name| schema.get(name).and_then(Value::as_u64);
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) if most < u32::MAX.into() => format!("{least} to {most}"),
        (Some(least), _) => format!("{least} or more"),
        (None, _) => NONE.to_owned(),
    }
}

fn default(key: &str, schema: &Schema, table: &Schema) -> String {
    let required = table.get("required").and_then(Value::as_array);
    if required.is_some_and(|keys| keys.iter().any(|required| required == key)) {
        return "required".to_owned();
    }
    match schema.get("default") {
        Some(value @ (Value::Number(_) | Value::String(_) | Value::Bool(_))) => {
            format!("`{value}`")
        }
        _ => NONE.to_owned(),
    }
}

fn meaning(schema: &Schema) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
