//! Paths, their classes and the patterns of paths.

use relay_policy::classify::{Rules, classify};
use relay_policy::effect::What;
use relay_policy::paths::PathClass;

use super::CLASS;
use super::meant::Meant::{Maybe, No, Surely};
use super::meant::{Meant, any, word};
use crate::policy::entry::FACTS;

/// A path to which something happens.
pub(super) struct Touched {
    pub(super) path: String,
    /// Whether a part of it may be any text.
    pub(super) is_open: bool,
    /// Whether a part of it stands for names within its folder.
    pub(super) is_pattern: bool,
    pub(super) class: PathClass,
    pub(super) is_secret: bool,
    /// Whether it happens to all below it.
    pub(super) is_whole: bool,
}

impl Touched {
    /// Returns a word as a path, seen from the work tree.
    pub(super) fn of_word(word: &str, is_open: bool, is_exact: bool) -> Self {
        let plain = word.replace('…', "x");
        let (home, rest) = match plain.strip_prefix("~/") {
            Some(rest) => ("~/", rest),
            None => ("", plain.as_str()),
        };
        let rest = match is_exact {
            true => format!("'{}'", rest.replace('\'', "'\\''")),
            false => rest.to_owned(),
        };
        let verdict = classify(&format!("cat -- {home}{rest}"), &FACTS, &Rules::default());
        let effects = &verdict.effects;
        let read = effects.all().iter().find_map(|effect| match effect.what {
            What::Path { path, class, is_secret, .. } => Some((path, class, is_secret)),
            _ => None,
        });
        let (path, class, is_secret) = match read {
            Some((path, class, is_secret)) => {
                (effects.display(path).into_owned(), class, is_secret)
            }
            None => (word.to_owned(), PathClass::Unknown, false),
        };
        Self { path, is_open, is_pattern: !is_exact, class, is_secret, is_whole: true }
    }
}

/// Returns whether a path is of a class, or matches a pattern.
pub(super) fn is_of(pattern: &str, touched: &Touched) -> Meant {
    let Touched { path, is_open, is_pattern, class, is_secret, is_whole } = touched;
    let of_class = |is_it: bool| match is_it {
        true if !is_open => Surely,
        true => Maybe,
        false if *is_open || *class == PathClass::Unknown => Maybe,
        false => No,
    };
    let (patterns, except): (Vec<&str>, &[&str]) = match pattern {
        "*" => return Surely,
        "secret" => {
            let name = path.rsplit('/').next().unwrap_or_default();
            let is_unknown = *is_pattern && name.contains(['*', '?']);
            let may_be = is_unknown && SECRETS.iter().any(|secret| of_names(secret, name) != No);
            return if may_be && !is_secret { Maybe } else { of_class(*is_secret) };
        }
        "critical" => return of_class(*class == PathClass::Critical),
        "admits" => return of_class(*class == PathClass::Admits),
        "scratch" => return of_class(*class == PathClass::Scratch),
        "device" => return of_class(*class == PathClass::Device),
        name if name == CLASS.0 => (CLASS.1.to_vec(), CLASS.2),
        pattern => (vec![pattern], &[]),
    };
    if *is_open {
        return Maybe;
    }
    let of = |patterns: &[&str]| {
        any(patterns.iter().map(|pattern| match glob(pattern, path, *is_pattern) {
            Surely => Surely,
            No if *is_whole && may_be_below(pattern, path) => Maybe,
            other => other,
        }))
    };
    let meant = match of(&patterns) {
        No if *class == PathClass::Unknown => return Maybe,
        meant => meant,
    };
    match of(except) {
        No => meant,
        Maybe => meant.min(Maybe),
        Surely => No,
    }
}

/// Returns the root of a path or pattern, and its parts.
pub(super) fn parts(path: &str) -> (&str, Vec<&str>) {
    let (root, rest) = match path {
        "~" => ("~", ""),
        _ if path.starts_with('/') => ("/", &path[1..]),
        _ if path.starts_with("~/") => ("~", &path[2..]),
        _ if path.starts_with("**/") => ("any", path),
        "." => (".", ""),
        _ => (".", path.strip_prefix("./").unwrap_or(path)),
    };
    (root, rest.split('/').filter(|part| !part.is_empty()).collect())
}

/// Returns whether a path matches a pattern of paths. A part with unknown letters may be any name.
pub(super) fn glob(pattern: &str, path: &str, is_pattern: bool) -> Meant {
    fn each(pattern: &[&str], path: &[&str], is_pattern: bool) -> Meant {
        match (pattern.split_first(), path.split_first()) {
            (None, None) => Surely,
            (None, Some(_)) => No,
            (Some((&"**", rest)), None) => each(rest, path, is_pattern),
            (Some((&"**", rest)), Some((_, others))) => {
                each(rest, path, is_pattern).max(each(pattern, others, is_pattern))
            }
            (Some(_), None) => No,
            (Some((part, rest)), Some((name, others))) => {
                let is_unknown = is_pattern && name.contains(['…', '*', '?']);
                let meant = match is_unknown {
                    true => of_names(part, name),
                    false => word(part, name, true),
                };
                if meant == No { No } else { meant.min(each(rest, others, is_pattern)) }
            }
        }
    }
    let ((root, pattern), (of, path)) = (parts(pattern), parts(path));
    match root == "any" || root == of {
        // It leaves the work tree, and may come back.
        true if root == "." && path.first() == Some(&"..") => Maybe,
        true => each(&pattern, &path, is_pattern),
        false => No,
    }
}

/// Returns whether one of the names for which a pattern of the shell stands may match a part of a pattern.
pub(super) fn of_names(part: &str, name: &str) -> Meant {
    // A shell finds no hidden name so.
    if part.starts_with('.') && name.starts_with(['*', '?']) {
        return No;
    }
    word(part, name, false).min(Maybe)
}

/// Names and endings of files with secrets, as far as wildcards may mean them.
pub(super) const SECRETS: &[&str] = &[
    ".netrc",
    ".pgpass",
    ".env",
    "shadow",
    "gshadow",
    "credentials",
    ".git-credentials",
    ".htpasswd",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    "kubeconfig",
    "environ",
    ".vault-token",
    ".npmrc",
    ".pypirc",
    ".my.cnf",
    "master.key",
    "secrets.yaml",
    "secrets.yml",
    "secrets.json",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    ".env.*",
];

/// Returns whether a path of a pattern may lie below a folder.
pub(super) fn may_be_below(pattern: &str, folder: &str) -> bool {
    let ((root, pattern), (of, names)) = (parts(pattern), parts(folder));
    if root != "any" && root != of {
        return false;
    }
    for (number, name) in names.iter().enumerate() {
        match pattern.get(number) {
            Some(&"**") => return true,
            Some(part) => {
                let is_unknown = name.contains(['…', '*', '?']);
                if !is_unknown && word(part, name, true) == No {
                    return false;
                }
            }
            None => return false,
        }
    }
    pattern.len() > names.len()
}
