//! The subject of a question, as the gateway names it: an id, and perhaps a tenant, groups and a role.

use serde_json::{Map, Value};

use super::question::Unasked;
use crate::caller::principal::{Principal, check_groups};

/// The most bytes of an id, a tenant or a role.
const NAME_BYTES_MAX: usize = 512;

const BAD_NAME: Unasked =
    Unasked::Malformed("an id, a tenant or a role is no text of 1 to 512 bytes");
const BAD_GROUPS: Unasked =
    Unasked::Malformed("the groups are no list of at most 256 texts of 1 to 512 bytes");

/// The parts of a subject.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) id: String,
    pub(super) tenant: Option<String>,
    pub(super) groups: Vec<String>,
    pub(super) role: Option<String>,
}

impl Parts {
    /// Returns the subject.
    pub(super) fn check(self) -> Result<Principal, Unasked> {
        let Self { id, tenant, groups, role } = self;
        if ![Some(&id), tenant.as_ref(), role.as_ref()].into_iter().flatten().all(|it| is_name(it))
        {
            return Err(BAD_NAME);
        }
        if check_groups(&groups).is_err() || groups.iter().any(|it| has_control(it)) {
            return Err(BAD_GROUPS);
        }
        Ok(Principal { id, issuer: None, tenant, groups, role })
    }
}

/// Reads the subject of an evaluation.
pub(super) fn of_json(subject: &Map<String, Value>) -> Result<Principal, Unasked> {
    // AuthZEN leaves the types of subjects open, and `users` has one kind of id.
    text(subject.get("type")).and_then(|kind| kind.ok_or(BAD_NAME))?;
    let id = text(subject.get("id"))?.ok_or(BAD_NAME)?;
    let properties = match subject.get("properties") {
        None => &Map::new(),
        Some(Value::Object(properties)) => properties,
        Some(_) => return Err(Unasked::Malformed("the subject's properties are no object")),
    };
    let groups = properties.get("groups").map_or(Ok(Vec::new()), groups)?;
    let [tenant, role] = ["tenant", "role"].map(|name| text(properties.get(name)));
    Parts { id, tenant: tenant?, groups, role: role? }.check()
}

/// Reads a list of groups.
pub(super) fn groups(value: &Value) -> Result<Vec<String>, Unasked> {
    let items = value.as_array().ok_or(BAD_GROUPS)?;
    items.iter().map(|it| it.as_str().map(ToOwned::to_owned).ok_or(BAD_GROUPS)).collect()
}

fn text(value: Option<&Value>) -> Result<Option<String>, Unasked> {
    match value {
        None => Ok(None),
        Some(Value::String(text)) if is_name(text) => Ok(Some(text.clone())),
        Some(_) => Err(BAD_NAME),
    }
}

fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len()) && !has_control(text)
}

fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}
