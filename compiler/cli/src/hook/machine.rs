//! The machine file of an installation: `hook.toml`.

use std::path::{Path, PathBuf};

use relay_hook::{MACHINE_FILE, MachineFile, USER_FILE};
use toml_edit::{Array, Item, value};

use super::file::Change;
use super::place::{Place, Scope};
use super::program::check_text;
use crate::failure::Failure;
use crate::text::shown_path;

/// The first lines of a file that relay wrote.
const HEAD: &str = "\
# Written by `relay hook install`. relay-hook reads it on each call; docs/hooks.md has every key.
";

/// The members of a machine file, as they are given to `relay hook install`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The bundle.
    pub(crate) bundle: Option<PathBuf>,
    /// The trust file.
    pub(crate) trust: Option<PathBuf>,
    /// The principal.
    pub(crate) principal: Option<String>,
    /// The tenant.
    pub(crate) tenant: Option<String>,
    /// The groups; empty if none is given.
    pub(crate) groups: Vec<String>,
    /// The role.
    pub(crate) role: Option<String>,
}

/// The machine file of an installation.
#[derive(Debug)]
pub(crate) struct MachineChange {
    /// The change.
    pub(crate) change: Change,
    /// Its contents afterwards.
    pub(crate) file: MachineFile,
}

/// Returns the path of the machine file of an installation: that of all users if there is one.
pub(crate) fn path(place: &Place, scope: Scope, named: Option<&Path>) -> Result<PathBuf, Failure> {
    let of_all = place.system(MACHINE_FILE);
    if scope == Scope::Managed || of_all.symlink_metadata().is_ok() {
        if let Some(named) = named {
            return Err(Failure::error(format!(
                "`{}` counts before `{}`, so `--config` would be idle",
                shown_path(&of_all),
                shown_path(named)
            ))
            .help("leave `--config` out"));
        }
        return Ok(of_all);
    }
    let path = match named {
        Some(named) => {
            std::path::absolute(named).map_err(|error| Failure::file("find", named, &error))?
        }
        None => place.home(USER_FILE),
    };
    check_text(&path)?;
    Ok(path)
}

impl MachineChange {
    /// Prepares the machine file: it is written if it is missing, and left as it is if it agrees with the
    /// options.
    pub(crate) fn prepare(
        path: &Path,
        base: &Path,
        scope: Scope,
        wanted: &Wanted,
    ) -> Result<Self, Failure> {
        let mut change = Change::of(path, base, scope)?;
        let shown = shown_path(path);
        let Some(old) = &change.old else {
            let text = new_text(wanted)?.ok_or_else(|| {
                Failure::error(format!("there is no machine file `{shown}` yet"))
                    .help("give its contents: `--bundle FILE --trust FILE`")
            })?;
            let file = parse(&text, path)?;
            change.new = Some(text);
            return Ok(Self { change, file });
        };
        let file = parse(old, path)?;
        if let Some((key, is)) = contradiction(&file, wanted)? {
            return Err(Failure::error(format!("`{shown}` says `{key} = {is}`, and the options say otherwise"))
                .help("edit the file, or remove it and install anew; every client that is installed reads it"));
        }
        Ok(Self { change, file })
    }
}

/// Returns whether relay wrote a machine file, and it is still as it was written.
pub(crate) fn is_own(text: &str) -> bool {
    let Ok(file) = toml::from_str::<MachineFile>(text) else { return false };
    let wanted = Wanted {
        bundle: Some(file.bundle),
        trust: Some(file.trust),
        principal: Some(file.principal).filter(|name| name != "os-user"),
        tenant: file.tenant,
        groups: file.groups,
        role: file.role,
    };
    new_text(&wanted).is_ok_and(|own| own.as_deref() == Some(text))
}

/// Returns the text of a new file; `None` without a bundle or a trust file.
fn new_text(wanted: &Wanted) -> Result<Option<String>, Failure> {
    let Wanted { bundle, trust, principal, tenant, groups, role } = wanted;
    let (Some(bundle), Some(trust)) = (bundle, trust) else { return Ok(None) };
    let mut text = HEAD.to_owned();
    let mut push = |key: &str, item: Item| {
        text.push_str(&format!("{key} = {}\n", item.to_string().trim()));
    };
    push("bundle", value(path_text(bundle)?));
    push("trust", value(path_text(trust)?));
    push("principal", value(principal.as_deref().unwrap_or("os-user")));
    if let Some(tenant) = tenant {
        push("tenant", value(tenant));
    }
    if !groups.is_empty() {
        push("groups", value(Array::from_iter(groups)));
    }
    if let Some(role) = role {
        push("role", value(role));
    }
    Ok(Some(text))
}

/// Returns the key and the value of a file that an option contradicts.
fn contradiction(
    file: &MachineFile,
    wanted: &Wanted,
) -> Result<Option<(&'static str, String)>, Failure> {
    let Wanted { bundle, trust, principal, tenant, groups, role } = wanted;
    for (key, given, is) in [("bundle", bundle, &file.bundle), ("trust", trust, &file.trust)] {
        if let Some(given) = given
            && absolute(given)? != *is
        {
            return Ok(Some((key, format!("\"{}\"", shown_path(is)))));
        }
    }
    if !groups.is_empty() && *groups != file.groups {
        return Ok(Some(("groups", Array::from_iter(&file.groups).to_string())));
    }
    let texts = [
        ("principal", principal, Some(&file.principal)),
        ("tenant", tenant, file.tenant.as_ref()),
        ("role", role, file.role.as_ref()),
    ];
    let differs = texts.into_iter().find(|(_, given, is)| given.is_some() && given.as_ref() != *is);
    Ok(differs.map(|(key, _, is)| (key, is.map_or("(none)".to_owned(), |is| format!("\"{is}\"")))))
}

fn parse(text: &str, path: &Path) -> Result<MachineFile, Failure> {
    let help = "docs/hooks.md has every key of it";
    let file: MachineFile = crate::toml_text::parse(text).map_err(|fault| {
        let shown = shown_path(path);
        Failure::error(format!("the machine file `{shown}` is not valid: {shown}:{fault}"))
            .help(help)
    })?;
    // As the hook checks it, before anything is written.
    file.check(path).map_err(|fault| Failure::error(fault.to_string()).help(help))?;
    Ok(file)
}

fn path_text(path: &Path) -> Result<String, Failure> {
    let path = absolute(path)?;
    check_text(&path)?;
    Ok(path.to_string_lossy().into_owned())
}

/// Returns a path from the root. A link stays a link: a new bundle may come by a new link.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::file("find", path, &error))
}
