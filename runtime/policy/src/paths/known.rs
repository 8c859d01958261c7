//! The kinds of paths that are known on every host, and the names of files that admit, hold secrets or
//! decide about agents.

use crate::value::{Mark, is_match, is_wildcard, may_match, root_of};

/// A kind of path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathClass {
    /// `/dev/null` and the shell's own descriptors.
    Null,
    /// A folder for temporary files.
    Scratch,
    /// The work tree.
    Work,
    /// The user's own home.
    Home,
    /// A file that runs code or grants access: start-up files, hooks, keys.
    Admits,
    /// Unknown: it is not literal, or it leaves the work tree.
    Unknown,
    /// Any other path on the host.
    System,
    /// A file essential for a host.
    Critical,
    /// A device.
    Device,
    /// A connection (`/dev/tcp`).
    Connection,
}

impl PathClass {
    /// Returns its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Scratch => "a path in scratch",
            Self::Work => "a path of the work tree",
            Self::Home => "a path of the home",
            Self::Admits => "a file that runs or admits",
            Self::Unknown => "a path that is not known",
            Self::System => "a path of the system",
            Self::Critical => "a file that the host cannot do without",
            Self::Device => "a device",
            Self::Connection => "a connection",
        }
    }
}

/// Start-up files and folders of a home, and of a work tree.
pub(super) const ADMITTING: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".cshrc",
    ".tcshrc",
    ".kshrc",
    ".login",
    ".logout",
    ".zlogout",
    ".xsessionrc",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".ssh",
    ".gnupg",
    ".gitconfig",
    ".netrc",
    ".pgpass",
    ".vimrc",
    ".exrc",
    ".tmux.conf",
    ".screenrc",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".envrc",
    ".npmrc",
    ".pypirc",
    ".aws",
    ".kube",
    ".docker",
    ".claude",
    ".codex",
    ".cursor",
    ".mcp.json",
    ".husky",
    ".githooks",
    ".direnvrc",
    ".pam_environment",
    ".crontab",
    ".forward",
    ".rhosts",
    ".shosts",
    "authorized_keys",
    ".emacs",
    ".emacs.d",
    ".oh-my-zsh",
    ".gdbinit",
    ".lldbinit",
    ".psqlrc",
    ".sqliterc",
    ".my.cnf",
    ".irbrc",
    ".pryrc",
    ".gemrc",
    ".Rprofile",
    ".ghci",
    ".hgrc",
    ".wgetrc",
    ".curlrc",
    ".condarc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".mailcap",
    ".devcontainer",
    "pip.conf",
    "sitecustomize.py",
    "usercustomize.py",
    "LaunchAgents",
];

/// The same below `.config`.
pub(super) const ADMITTING_CONFIG: &[&str] = &[
    "systemd",
    "autostart",
    "fish",
    "git",
    "environment.d",
    "nvim",
    "direnv",
    "gcloud",
    "gh",
    "zsh",
    "tmux",
    "emacs",
    "pip",
    "nix",
    "containers",
    "mise",
    "i3",
    "sway",
    "hypr",
];

/// The same below other folders.
pub(super) const ADMITTING_BELOW: &[(&str, &[&str])] = &[
    (".config", ADMITTING_CONFIG),
    (".git", &["hooks", "config"]),
    (".vscode", &["tasks.json", "settings.json", "launch.json"]),
    (".cargo", &["config.toml", "config"]),
    (".m2", &["settings.xml"]),
    (".gradle", &["init.gradle", "init.d"]),
    (".bundle", &["config"]),
    ("share", &["applications"]),
];

/// Names of files with secrets, in any folder.
pub(super) const SECRET_NAMES: &[&str] = &[
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
];

/// Endings of files with secrets.
pub(super) const SECRET_ENDS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".kdbx"];

/// Files and folders that decide about agents: settings and hooks of clients, and relay's own.
/// In any folder.
pub(super) const AGENT_CONFIG: &[&str] = &[
    ".claude",
    ".claude.json",
    ".codex",
    ".cursor",
    ".gemini",
    ".copilot",
    ".opencode",
    ".clinerules",
    ".windsurf",
    ".cline",
    ".codeium",
    ".mcp.json",
    "mcp.json",
    "opencode.json",
    "managed-settings.json",
    "hook.toml",
    "server.toml",
    "trust.toml",
];

/// The folders above those in which servers and hooks of relay keep settings, state and records, each
/// with the one above it: `/etc/relay`, `/var/lib/relay`, `~/.local/state/relay` and the like.
const RELAY_ABOVE: [(&[u8], &[u8]); 5] = [
    (b"", b"etc"),
    (b"var", b"lib"),
    (b"var", b"log"),
    (b".local", b"state"),
    (b".local", b"share"),
];
/// The beginning of the names of the key and of the kept checkpoints of an audit file.
const AUDIT_CHECKPOINT: &[u8] = b"audit-checkpoint";

/// Returns whether a path holds settings or hooks of an agent's client, or relay's own bundle, trust,
/// hook or audit files.
pub(crate) fn is_agent_config(path: &[u8]) -> bool {
    let mut parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).peekable();
    // The part before; empty at the root of the system.
    let mut before = if path.starts_with(b"/") { Vec::new() } else { b".".to_vec() };
    while let Some(part) = parts.next() {
        // Some systems take a name in any case.
        let part = &*part.to_ascii_lowercase();
        let is_listed = AGENT_CONFIG.iter().any(|name| is_or_may_be(part, name.as_bytes()));
        let is_own = parts.peek().is_none() && part.ends_with(b".relay");
        let is_vscode = part == b".vscode"
            && parts.peek().is_some_and(|next| matches!(*next, b"mcp.json" | b"settings.json"));
        let next = parts.peek().map(|next| next.to_ascii_lowercase());
        let is_folder_of = |folder: &[u8], names: &[&[u8]]| {
            part == folder && next.as_deref().is_some_and(|next| names.contains(&next))
        };
        let is_below = is_folder_of(b".github", &[b"hooks", b"copilot"])
            || is_folder_of(b".config", &[b"opencode", b"relay"])
            || is_folder_of(b"cline", &[b"hooks"]);
        let is_own_folder = next.as_deref().is_some_and(|next| {
            let is_above = |(first, second): &(&[u8], &[u8])| {
                is_or_may_be(&before, first) && is_or_may_be(part, second)
            };
            is_or_may_be(next, b"relay") && RELAY_ABOVE.iter().any(is_above)
        });
        let is_checkpoint = part.starts_with(AUDIT_CHECKPOINT);
        if is_listed || is_own || is_vscode || is_below || is_own_folder || is_checkpoint {
            return true;
        }
        before = part.to_vec();
    }
    false
}

/// Returns whether a name, perhaps with wildcards, may be this one. A `*` of the shell matches no dot
/// at the beginning of a name.
pub(super) fn is_or_may_be(part: &[u8], name: &[u8]) -> bool {
    if !part.iter().any(|byte| is_wildcard(*byte)) {
        return part == name;
    }
    let is_shown = part.first().is_some_and(|first| is_wildcard(*first));
    // A `*` alone names every file.
    !(is_shown && name.starts_with(b".")) && part != Mark::Star.text() && may_match(name, part)
}

/// Returns whether all parts of an absolute path are ordinary: files below `.git` or
/// `site-packages` are judged by their whole path.
pub(super) fn has_plain_name(path: &[u8]) -> bool {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let has_meaning = |part: &[u8]| {
        ADMITTING_BELOW.iter().any(|(folder, _)| folder.as_bytes() == part)
            || matches!(part, b".local" | b"site-packages" | b"dist-packages")
    };
    own(path, PathClass::Work) == PathClass::Work
        && !is_secret(path)
        && !path.split(|byte| *byte == b'/').any(has_meaning)
}

/// Returns the class of a known path.
pub(super) fn class(path: &[u8]) -> PathClass {
    if let Some((root, rest)) = root_of(path) {
        let (within, outside) = match root {
            Mark::Home => (PathClass::Home, PathClass::System),
            _ => (PathClass::Work, PathClass::Unknown),
        };
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        return if rest.starts_with(b"..") { outside } else { own(rest, within) };
    }
    match path {
        [b'/', rest @ ..] => class_of_absolute(rest),
        _ if path.starts_with(b"..") => PathClass::Unknown,
        _ => own(path, PathClass::Work),
    }
}

/// Returns the class of a path below home or work tree.
pub(super) fn own(path: &[u8], class: PathClass) -> PathClass {
    let mut before: &[u8] = b"";
    let mut parts = path.split(|byte| *byte == b'/').enumerate().peekable();
    while let Some((at, part)) = parts.next() {
        let is_pattern = part.iter().any(|byte| is_wildcard(*byte));
        let is_listed = |names: &[&str]| {
            names.iter().any(|name| match is_pattern {
                true => !Mark::Star.begins(part) && is_match(part, name.as_bytes()),
                false => name.as_bytes() == part,
            })
        };
        let below = ADMITTING_BELOW.iter().find(|(folder, _)| folder.as_bytes() == before);
        // A shell finds programs in these folders.
        let is_bin =
            part == b"bin" && (before == b".local" || (at == 0 && class == PathClass::Home));
        let admits = match below {
            Some((_, names)) => is_listed(names),
            None => is_listed(ADMITTING),
        };
        // Python runs lines of such a file when it starts.
        let is_startup =
            matches!(before, b"site-packages" | b"dist-packages") && part.ends_with(b".pth");
        if admits || is_startup || (is_bin && parts.peek().is_some()) {
            return PathClass::Admits;
        }
        before = part;
    }
    class
}

pub(super) fn class_of_absolute(rest: &[u8]) -> PathClass {
    let mut parts = rest.split(|byte| *byte == b'/');
    let first = parts.next().unwrap_or(b"");
    let second = parts.next().unwrap_or(b"");
    match (first, second) {
        (b"tmp", _) | (b"var", b"tmp") | (b"dev", b"shm") => PathClass::Scratch,
        (b"dev", b"fd") if parts.nth(1).is_some() => PathClass::System,
        (
            b"dev",
            b"null" | b"zero" | b"full" | b"random" | b"urandom" | b"tty" | b"stdin" | b"stdout"
            | b"stderr" | b"fd" | b"ptmx",
        ) => PathClass::Null,
        (b"dev", b"tcp" | b"udp") => PathClass::Connection,
        (b"dev", _) => PathClass::Device,
        (b"boot", _) => PathClass::Critical,
        (b"etc", b"passwd" | b"shadow" | b"group" | b"gshadow" | b"sudoers" | b"fstab") => {
            PathClass::Critical
        }
        (b"proc", b"sysrq-trigger") => PathClass::Critical,
        (b"proc", b"self") if rest.starts_with(b"proc/self/fd") => PathClass::Null,
        _ => PathClass::System,
    }
}

pub(super) fn is_system_tree(path: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(b"/") else { return false };
    let first = rest.split(|byte| *byte == b'/').next().unwrap_or(b"");
    matches!(
        first,
        b"" | b"etc"
            | b"usr"
            | b"var"
            | b"home"
            | b"bin"
            | b"sbin"
            | b"lib"
            | b"lib64"
            | b"boot"
            | b"root"
            | b"dev"
            | b"proc"
            | b"sys"
    ) && !rest.starts_with(b"var/tmp")
        && !rest.starts_with(b"dev/shm")
}

/// Returns whether a path with wildcards may be of a file with secrets.
pub(crate) fn may_be_secret(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(b"");
    if !name.iter().any(|byte| is_wildcard(*byte)) {
        return false;
    }
    // A `*` of the shell matches no dot at the beginning of a name.
    let is_shown = name.first().is_some_and(|first| is_wildcard(*first));
    let ends = SECRET_ENDS.iter().map(|end| [b"*", end.as_bytes()].concat());
    let names = SECRET_NAMES.iter().map(|name| name.as_bytes().to_vec());
    let mut patterns = names.chain(ends).chain([b".env.*".to_vec()]);
    patterns.any(|pattern| !(is_shown && pattern.starts_with(b".")) && may_match(&pattern, name))
}

pub(super) fn is_secret(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(b"");
    let is_key = |end: &[u8]| name.len() > end.len() && name.ends_with(end);
    let mut folders = path.split(|byte| *byte == b'/');
    SECRET_NAMES.iter().any(|secret| secret.as_bytes() == name)
        || SECRET_ENDS.iter().any(|end| is_key(end.as_bytes()))
        || name.starts_with(b".env.")
        || folders.any(|folder| {
            matches!(folder, b".ssh" | b".gnupg" | b".aws" | b".kube" | b".password-store")
        }) && !name.ends_with(b".pub")
            && name != b"known_hosts"
}
