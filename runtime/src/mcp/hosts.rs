//! The resources about hosts: the inventory, one host of it, and the ssh_config of the server. They are those
//! of the caller, and current at each read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use relay_bundle::Corrupt;
use relay_engine::audit_record;
use relay_engine::tool::Keep;
use relay_policy::host::canonical_host;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};

use crate::tool::clamp::clamp;
use crate::tool::inventory;
use crate::trust::placed::Placed;

/// The URIs, which clients of relay-shell know.
const INVENTORY: &str = "relay-shell://inventory";
const INVENTORY_HOST: &str = "relay-shell://inventory/{host}";
const SSH_CONFIG: &str = "relay-shell://ssh-config";
/// The label of the template in records.
pub(super) const HOST_LABEL: &str = "resource:inventory_host";
/// The variable of the template.
const HOST: &str = "host";
const MIME: &str = "application/json";
/// The longest name of a host in a URI.
const NAME_BYTES_MAX: usize = 255;

/// A resource that was read.
pub(super) struct Read {
    pub(super) text: String,
    pub(super) mime: &'static str,
    /// The label in records.
    pub(super) label: &'static str,
    /// The values of variables, for the record.
    pub(super) args: BTreeMap<String, String>,
}

/// Returns whether these resources are in the lists of a caller.
pub(super) fn are_listed(placed: &Placed) -> bool {
    inventory::is_seen(placed).unwrap_or(false)
}

/// Returns the resources for a caller.
pub(super) fn resources(placed: &Placed) -> Result<Vec<Resource>, Corrupt> {
    if !inventory::is_seen(placed)? {
        return Ok(Vec::new());
    }
    let of = |uri: &str, name: &str, description: &str| {
        Resource::new(uri, name).with_description(description).with_mime_type(MIME)
    };
    Ok(vec![
        of(INVENTORY, "inventory", "The hosts that you may name, as a JSON list"),
        of(SSH_CONFIG, "ssh-config", "The aliases of the server's ssh_config, and its path"),
    ])
}

/// Returns the URI templates for a caller.
pub(super) fn templates(placed: &Placed) -> Result<Vec<ResourceTemplate>, Corrupt> {
    if !inventory::is_seen(placed)? {
        return Ok(Vec::new());
    }
    let template = ResourceTemplate::new(INVENTORY_HOST, "inventory_host")
        .with_description("One host: its address, user, port, jump and groups, as JSON")
        .with_mime_type(MIME);
    Ok(vec![template])
}

/// Reads a resource about hosts, at most `bytes_max` bytes of it; `None` for other URIs, and for those that
/// the caller does not see.
pub(super) fn read(placed: &Placed, uri: &str, bytes_max: usize) -> Result<Option<Read>, Corrupt> {
    let (front, _) = INVENTORY_HOST.split_at(INVENTORY.len() + 1);
    let is_ours = [INVENTORY, SSH_CONFIG].contains(&uri) || uri.starts_with(front);
    if !is_ours || !inventory::is_seen(placed)? {
        return Ok(None);
    }
    let (value, label, args) = match uri.strip_prefix(front) {
        Some(written) => {
            let name = percent_decode_str(written).decode_utf8().ok();
            let name = name.map(Cow::into_owned).filter(|name| is_name(name));
            let Some(name) = name else { return Ok(None) };
            let Some(host) = inventory::one(placed, &name)? else { return Ok(None) };
            (host, HOST_LABEL, recorded(placed, &name))
        }
        None if uri == SSH_CONFIG => (config(placed)?, "resource:ssh-config", BTreeMap::new()),
        None => {
            let all: Vec<Value> =
                inventory::all(placed)?.into_iter().map(inventory::shown).collect();
            (Value::from(all), "resource:inventory", BTreeMap::new())
        }
    };
    let text = clamp(format!("{value:#}"), bytes_max, Keep::Start);
    Ok(Some(Read { text, mime: MIME, label, args }))
}

/// Returns the host of a request for its record: an alias, or the length of another name.
fn recorded(placed: &Placed, name: &str) -> BTreeMap<String, String> {
    let hosts = placed.loaded.fleet().hosts().map_or(&[][..], |hosts| &hosts.hosts);
    let alias = hosts.iter().find(|host| host.alias == canonical_host(name));
    let given = BTreeMap::from([(HOST.to_owned(), name.to_owned())]);
    match alias {
        Some(host) => BTreeMap::from([(HOST.to_owned(), host.alias.clone())]),
        None => audit_record::typed_arguments(&given, &[HOST])
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}

/// Returns whether a text may be the name of a host, as calls take it.
fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:[]".contains(&byte);
    !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_plain)
}

/// Returns the path of the ssh_config, and its aliases that the caller may name.
fn config(placed: &Placed) -> Result<Value, Corrupt> {
    let Some((path, aliases)) = placed.loaded.fleet().files().config() else {
        return Ok(json!({ "path": null, "aliases": [] }));
    };
    let mut shown = Vec::new();
    for alias in aliases {
        if inventory::one(placed, alias)?.is_some() {
            shown.push(alias);
        }
    }
    Ok(json!({ "path": path.display().to_string(), "aliases": shown }))
}

/// Returns the values that complete a variable of a template; `None` for other templates and variables, and
/// for callers that do not see it.
pub(super) fn completions(
    placed: &Placed,
    uri_template: &str,
    variable: &str,
) -> Result<Option<Vec<String>>, Corrupt> {
    if uri_template != INVENTORY_HOST || variable != HOST || !inventory::is_seen(placed)? {
        return Ok(None);
    }
    Ok(Some(inventory::all(placed)?.into_iter().map(|host| host.alias.clone()).collect()))
}
