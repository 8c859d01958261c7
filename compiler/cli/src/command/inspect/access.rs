//! The people of a project: tenants, roles and users, and the members of each audience.

use relay_bundle::{Bundle, CallerRole, Corrupt, List, Place, Setting, Tier, Who};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::audience::{self, Names, Readers, Seen};
use crate::answer::size::{counted, grouped};
use crate::answer::table::{self, number, text};

/// A tenant.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Tenant {
    /// Its name.
    pub(super) name: String,
    /// Where it was declared: `file:line`.
    at: String,
}

/// A role, with its inherited tier and tools.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CallerRole")]
pub(crate) struct Role {
    /// Its name.
    name: String,
    /// The most tier that a call of this role may reach, 0 (reads) to 3 (cannot be undone).
    tier: Setting<Tier>,
    /// Whether a person is asked before tier 3; absent unless the project says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    approve: Option<Setting<bool>>,
    /// Whether its callers may ask for decisions on the calls of others; absent unless the project
    /// says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    decides: Option<Setting<bool>>,
    /// The role that contains this one.
    parent: Option<String>,
    /// The names and patterns of the tools that it sees; absent if it sees all.
    tools: Option<Vec<Setting<String>>>,
    /// Where it was declared.
    at: Place,
}

/// A row of `users`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct User {
    /// Whom it names.
    pub(super) who: Named,
    /// The id or the group; `null` for anyone.
    pub(super) id: Option<String>,
    /// The tenant for which it counts; `null` if for every one.
    pub(super) tenant: Option<String>,
    /// Its role.
    pub(super) role: String,
    /// Where it was declared: `file:line`.
    at: String,
}

/// Whom a row of `users` names.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Named {
    /// One caller, by id.
    User,
    /// The callers of a group.
    Group,
    /// Every caller.
    Anyone,
}

/// Callers that see the same.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Audience {
    /// Who that is; `null` if everyone. Those of one entry are of it in each of its roles.
    readers: Option<Vec<Readers>>,
    /// The instructions that it gets when it connects.
    instructions: String,
    /// How many prompts it sees.
    prompts: usize,
    /// How many resources with a fixed URI it sees.
    resources: usize,
    /// How many resources with variables in their URI it sees.
    templates: usize,
    /// How many tools it sees.
    tools: usize,
}

impl Named {
    /// Returns the word of its node.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::User => Who::User.word(),
            Self::Group => Who::Group.word(),
            Self::Anyone => Who::Anyone.word(),
        }
    }
}

/// Reads the tenants.
pub(super) fn tenants(bundle: &Bundle) -> Result<Vec<Tenant>, Corrupt> {
    let tenants = bundle.tenants().list()?.into_iter();
    Ok(tenants
        .map(|relay_bundle::Tenant { name, at }| Tenant { name, at: at.to_string() })
        .collect())
}

/// Reads the roles, each with the name of the one that contains it.
pub(super) fn roles(bundle: &Bundle) -> Vec<Role> {
    let role = |role: &CallerRole| {
        let CallerRole { name, tier, approve, decides, parent: _, tools, at } = role.clone();
        let parent = role.parent_in(bundle.roles()).map(|parent| parent.name.clone());
        Role { name, tier, approve, decides, parent, tools, at }
    };
    bundle.roles().iter().map(role).collect()
}

/// Reads the rows of `users`.
pub(super) fn users(bundle: &Bundle) -> Result<Vec<User>, Corrupt> {
    let user = |relay_bundle::User { who, id, tenant, role, at }| {
        let tenant = tenant.map(|tenant| bundle.tenants().name(tenant as usize)).transpose()?;
        let role = bundle.roles().get(role as usize);
        let (who, id) = match who {
            Who::User => (Named::User, Some(id)),
            Who::Group => (Named::Group, Some(id)),
            Who::Anyone => (Named::Anyone, None),
        };
        Ok(User {
            who,
            id,
            tenant: tenant.map(Into::into),
            role: role.map(|role| role.name.clone()).unwrap_or_default(),
            at: at.to_string(),
        })
    };
    bundle.users().list()?.into_iter().map(user).collect()
}

/// Reads the audiences.
pub(super) fn audiences(names: &Names<'_>) -> Result<Vec<Audience>, Corrupt> {
    let audience = |number| {
        let view = names.view(number)?;
        Ok(Audience {
            readers: names.readers(|other| other == number),
            instructions: view.instructions()?,
            prompts: view.count(List::Prompts),
            resources: view.count(List::Resources),
            templates: view.count(List::Templates),
            tools: view.count(List::Tools),
        })
    };
    names.numbers().map(audience).collect()
}

/// Adds its readers to each item of a list.
pub(super) fn seen<T>(
    held: Vec<T>,
    names: &Names<'_>,
    list: List,
) -> Result<Vec<Seen<T>>, Corrupt> {
    let seen_by = names.all_seen_by(list)?;
    Ok(held.into_iter().zip(seen_by).map(|(held, seen_by)| Seen { held, seen_by }).collect())
}

/// Returns the readers of each row of a list, in short; empty if everyone sees all rows.
pub(super) fn column(names: &Names<'_>, list: List) -> Result<Vec<String>, Corrupt> {
    let seen_by = names.all_seen_by(list)?;
    if seen_by.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    Ok(seen_by.iter().map(|readers| audience::short(readers.as_deref())).collect())
}

/// Returns the patterns of a role for people.
pub(super) fn patterns(tools: Option<&[Setting<String>]>) -> String {
    match tools {
        None => "all".into(),
        Some([]) => "none".into(),
        Some(tools) => tools.iter().map(|tool| tool.value.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the tenants, roles and users, and the prompts hidden from some callers, as text for
/// people; it may be empty.
pub(super) fn draw(bundle: &Bundle, names: &Names<'_>, width: usize) -> Result<String, Corrupt> {
    let mut page = String::new();
    let mut section = |text: String| {
        page.push('\n');
        page.push_str(&text);
    };
    let tenants = tenants(bundle)?;
    if !tenants.is_empty() {
        let names: Vec<&str> = tenants.iter().map(|tenant| tenant.name.as_str()).collect();
        let fact = format!("{}: {}", counted(names.len(), "tenant"), names.join(", "));
        section(table::facts(&[("tenants", fact)], width));
    }
    if !bundle.roles().is_empty() {
        let rows = roles(bundle).into_iter().map(|role| {
            let Role { name, tier, approve, decides, parent, tools, at } = role;
            let is_set = |setting: Option<Setting<bool>>| setting.is_some_and(|it| it.value);
            let asks = if is_set(approve) { " asks" } else { "" };
            let decides = if is_set(decides) { " decides" } else { "" };
            vec![
                name,
                format!("{}{asks}{decides}", tier.value.number()),
                parent.unwrap_or_default(),
                patterns(tools.as_deref()),
                at.to_string(),
            ]
        });
        let columns =
            [text("role"), number("tier"), text("parent"), text("tools"), text("declared at")];
        section(table::draw(&columns, rows.collect(), width));
    }
    let users = users(bundle)?;
    if !users.is_empty() {
        let rows = users.into_iter().map(|User { who, id, tenant, role, at }| {
            vec![who.word().into(), id.unwrap_or_default(), tenant.unwrap_or_default(), role, at]
        });
        let columns =
            [text("users"), text("id"), text("tenant"), text("role"), text("declared at")];
        section(table::draw(&columns, rows.collect(), width));
    }
    let mut rows = Vec::new();
    for (row, readers) in names.all_seen_by(List::Prompts)?.iter().enumerate() {
        if readers.is_some() {
            let name = bundle.prompt(row)?.name()?.to_owned();
            rows.push(vec![name, audience::short(readers.as_deref())]);
        }
    }
    if !rows.is_empty() {
        let others = bundle.prompt_count() - rows.len();
        section(table::draw(&[text("prompt"), text("seen by")], rows, width));
        if others > 0 {
            page.push_str(&format!("  everyone sees the other {}\n", grouped(others)));
        }
    }
    Ok(page)
}
