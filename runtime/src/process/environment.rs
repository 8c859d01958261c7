//! The variables of a process: those of the server that it may have, then those of the call.

use std::ffi::{OsStr, OsString};

use relay_bundle::ShellSettings;
use relay_policy::classify::changes_code;
use serde_json::{Map, Value};
use thiserror::Error;

/// The server's variables that every process gets.
const ALWAYS: [&str; 6] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ"];
/// The path of a process if the server has none, and where programs of a process without one are.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Variables that keep programs from asking, paging and taking locks that others wait for.
const QUIET: [(&str, &str); 8] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
];
/// Variables by which bash decides to read start-up files.
const OF_SSH: [&str; 3] = ["SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY"];
/// The beginning of the names of functions that bash imports.
const FUNCTION: &str = "BASH_FUNC_";
/// The beginning of the names of relay's own variables.
const OWN: &str = "RELAY_";

/// The environment of a call is malformed. The texts repeat nothing that the caller typed.
#[derive(Debug, Error)]
pub(crate) enum EnvironmentError {
    #[error("`env_json` is not a JSON object")]
    NoObject,
    #[error("a name in `env_json` is empty, or has `=` or a zero byte")]
    Name,
    #[error(
        "a value in `env_json` is neither a text, a number, a truth value nor null, or has a zero byte"
    )]
    Value,
}

/// Returns the variables of a process of a call, whose own are a JSON object or empty.
pub(super) fn of_call(
    settings: &ShellSettings,
    of_server: &[(OsString, OsString)],
    json: &str,
) -> Result<Vec<(OsString, OsString)>, EnvironmentError> {
    let mut variables = passed(settings, of_server);
    if json.is_empty() {
        return Ok(variables);
    }
    let own: Map<String, Value> =
        serde_json::from_str(json).map_err(|_| EnvironmentError::NoObject)?;
    for (name, value) in &own {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(EnvironmentError::Name);
        }
        let value = match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
            Value::Array(_) | Value::Object(_) => return Err(EnvironmentError::Value),
        };
        if value.as_ref().is_some_and(|value| value.contains('\0')) {
            return Err(EnvironmentError::Value);
        }
        variables.retain(|(known, _)| known != OsStr::new(name));
        variables.extend(value.map(|value| (name.into(), value.into())));
    }
    Ok(variables)
}

/// Returns the variables that every process gets.
fn passed(
    settings: &ShellSettings,
    of_server: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let is_quiet = |name: &str| QUIET.iter().any(|(known, _)| *known == name);
    let mut variables: Vec<(OsString, OsString)> = of_server
        .iter()
        .filter(|(name, _)| {
            name.to_str().is_some_and(|name| passes(settings, name) && !is_quiet(name))
        })
        .cloned()
        .collect();
    if !variables.iter().any(|(name, _)| name == OsStr::new("PATH")) {
        variables.push(("PATH".into(), PATH.into()));
    }
    variables.extend(QUIET.map(|(name, value)| (name.into(), value.into())));
    variables
}

/// Returns whether a variable of the server is passed on.
fn passes(settings: &ShellSettings, name: &str) -> bool {
    if ALWAYS.contains(&name) {
        return true;
    }
    if let Some(listed) = &settings.variables {
        return listed.iter().any(|listed| match listed.value.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == listed.value,
        });
    }
    !changes_code(name)
        && !OF_SSH.contains(&name)
        && !name.starts_with(FUNCTION)
        && !name.starts_with(OWN)
}

#[cfg(test)]
mod tests {
    use relay_bundle::Setting;

    use super::*;

    fn names(settings: &ShellSettings) -> Vec<String> {
        let own = [
            "PATH",
            "HOME",
            "EDITOR_X",
            "BASH_ENV",
            "ENV",
            "SHELLOPTS",
            "PS4",
            "BASH_FUNC_ls%%",
            "LD_PRELOAD",
            "SSH_CLIENT",
            "RELAY_KEY",
            "PAGER",
            "APP_A",
            "APP_B",
        ];
        let own = own.map(|name| (name.into(), "x".into()));
        let passed = passed(settings, &own).into_iter();
        let passed = passed.filter(|(_, value)| value == "x").map(|(name, _)| name);
        passed.map(|name| name.into_string().expect("UTF-8")).collect()
    }

    #[test]
    fn what_changes_the_code_that_runs_stays_with_the_server() {
        assert_eq!(
            names(&ShellSettings::default()),
            ["PATH", "HOME", "EDITOR_X", "APP_A", "APP_B"]
        );
    }

    #[test]
    fn a_list_is_complete() {
        let listed = ["APP_*", "LD_PRELOAD"].map(|name| Setting::default_of(name.to_owned()));
        let settings = ShellSettings { variables: Some(listed.into()), ..ShellSettings::default() };
        assert_eq!(names(&settings), ["PATH", "HOME", "LD_PRELOAD", "APP_A", "APP_B"]);
    }

    #[test]
    fn a_call_sets_and_removes() {
        let json = r#"{"A": "b", "N": 7, "PAGER": null, "YES": true}"#;
        let variables = of_call(&ShellSettings::default(), &[], json).expect("an environment");
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| known == OsStr::new(name));
            found.map(|(_, value)| value.to_str().expect("UTF-8").to_owned())
        };
        assert_eq!(value("A").as_deref(), Some("b"));
        assert_eq!((value("N").as_deref(), value("YES").as_deref()), (Some("7"), Some("true")));
        assert_eq!((value("PAGER"), value("GIT_PAGER").as_deref()), (None, Some("cat")));
        for wrong in
            ["[]", "x", "{\"\": \"a\"}", "{\"a=b\": \"c\"}", "{\"a\": []}", "{\"a\": \"\\u0000\"}"]
        {
            assert!(of_call(&ShellSettings::default(), &[], wrong).is_err(), "{wrong}");
        }
    }
}
