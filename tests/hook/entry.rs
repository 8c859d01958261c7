//! The checks of one event that hold for any bytes. Fuzz targets call them too.

use std::path::Path;

use relay_hook::{CLIENTS, Output, respond};

/// Answers any bytes as an event of the client that the first byte names, and checks the answer: it is
/// whole, and nothing but one JSON object is let through.
pub(crate) fn event(bytes: &[u8], config: &Path) -> Option<Output> {
    let (first, event) = bytes.split_first()?;
    let installed = CLIENTS.get(usize::from(*first) % CLIENTS.len())?;
    let output = respond(installed, Some(config), event, |_| {});
    let Output { out, err, code, .. } = &output;
    assert!(matches!(code, 0 | 2), "{code}");
    assert!(out.len() <= 64 << 10 && err.len() <= 16 << 10, "{} {}", out.len(), err.len());
    let answer: Option<serde_json::Value> = serde_json::from_slice(out).ok();
    assert!(out.is_empty() || answer.as_ref().is_some_and(serde_json::Value::is_object));
    if *code == 2 {
        assert!(!err.is_empty() && !out.is_empty(), "a denial in all its forms");
    }
    let is_object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(event);
    if is_object.is_err() {
        let is_cancelled = answer.is_some_and(|answer| answer["cancel"] == true);
        assert!(*code == 2 || is_cancelled, "let through: {}", String::from_utf8_lossy(event));
    }
    Some(output)
}
