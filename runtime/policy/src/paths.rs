//! The class of a path: scratch, work tree, system, device.

use std::borrow::Cow;

use crate::location::{Location, below};
use crate::path_rules::{PathPattern, PathRules};
use crate::state::Folder;
use crate::value::{Mark, is_hole, is_match, is_root, is_wildcard, may_match, root_of};

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

/// A path with its class and its doubts.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    pub(crate) class: PathClass,
    /// Whether it may match several files.
    pub(crate) is_pattern: bool,
    /// Whether it holds a secret.
    pub(crate) is_secret: bool,
    /// Whether a recursive change below it breaks the host: `/`, `/etc`, `/usr`, `/var`, `/home`.
    pub(crate) is_system_tree: bool,
    /// The path, normalised.
    pub(crate) bytes: Vec<u8>,
    /// Whether it is relative to an unknown folder.
    is_adrift: bool,
}

impl Path {
    /// Returns the path for effects: `.` for the work tree, and with an unknown first part if it is
    /// relative to an unknown folder.
    pub(crate) fn value(&self) -> Cow<'_, [u8]> {
        match (self.is_adrift, self.bytes.as_slice()) {
            (true, bytes) => [Mark::Hole.text(), b"/", bytes].concat().into(),
            (false, b"") => Mark::Work.text().into(),
            (false, bytes) => bytes.into(),
        }
    }
}

/// Start-up files and folders of a home, and of a work tree.
const ADMITTING: &[&str] = &[
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
const ADMITTING_CONFIG: &[&str] = &[
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
const ADMITTING_BELOW: &[(&str, &[&str])] = &[
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
const SECRET_NAMES: &[&str] = &[
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
const SECRET_ENDS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".kdbx"];

/// Files and folders that decide about agents: settings and hooks of clients, and relay's own.
/// In any folder.
const AGENT_CONFIG: &[&str] = &[
    ".claude",
    ".claude.json",
    ".codex",
    ".cursor",
    ".gemini",
    ".copilot",
    ".opencode",
    ".clinerules",
    ".windsurf",
    ".mcp.json",
    "mcp.json",
    "opencode.json",
    "managed-settings.json",
    "hook.toml",
    "server.toml",
    "trust.toml",
];

/// Returns whether a path holds settings or hooks of an agent's client, or relay's own bundle, trust,
/// hook or audit files.
pub(crate) fn is_agent_config(path: &[u8]) -> bool {
    let mut parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        // Some systems take a name in any case.
        let part = &*part.to_ascii_lowercase();
        let is_listed = AGENT_CONFIG.iter().any(|name| is_or_may_be(part, name.as_bytes()));
        let is_own = parts.peek().is_none() && part.ends_with(b".relay");
        let is_vscode = part == b".vscode"
            && parts.peek().is_some_and(|next| matches!(*next, b"mcp.json" | b"settings.json"));
        if is_listed || is_own || is_vscode {
            return true;
        }
    }
    false
}

/// Returns whether a name, perhaps with wildcards, may be this one. A `*` of the shell matches no dot
/// at the beginning of a name.
fn is_or_may_be(part: &[u8], name: &[u8]) -> bool {
    if !part.iter().any(|byte| is_wildcard(*byte)) {
        return part == name;
    }
    let is_shown = part.first().is_some_and(|first| is_wildcard(*first));
    // A `*` alone names every file.
    !(is_shown && name.starts_with(b".")) && part != Mark::Star.text() && may_match(name, part)
}

/// The context of paths, known before a text is read: the rules of a project, and the location of
/// commands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'g> {
    pub(crate) rules: &'g PathRules,
    pub(crate) location: &'g Location,
}

impl Ground<'_> {
    /// Returns the folder in which a text begins.
    pub(crate) fn start(self) -> Folder {
        let Some(cwd) = self.location.cwd() else { return Folder::Work };
        match self.named(cwd.to_vec()).as_slice() {
            b"" => Folder::Work,
            path => Folder::Known(path.into()),
        }
    }

    /// Returns the name of the work tree, if it has one.
    fn work(&self) -> Option<&[u8]> {
        let cwd = self.location.cwd().filter(|_| self.location.may_be_work())?;
        has_plain_name(cwd).then_some(cwd)
    }

    /// Returns the absolute form of a normalised path; `None` if it is unknown.
    fn absolute(&self, path: &[u8]) -> Option<Vec<u8>> {
        let joined = |folder: &[u8], rest: &[u8]| normalise(&[folder, b"/", rest].concat());
        match root_of(path) {
            Some((Mark::Home, rest)) => self.location.home().map(|home| joined(home, rest)),
            Some((_, rest)) => self.work().map(|work| joined(work, rest)),
            None if path.starts_with(b"/") => Some(path.to_vec()),
            None => self.work().map(|work| joined(work, path)),
        }
    }

    /// Returns a normalised path relative to the work tree, else to the home, else to the root.
    fn named(&self, path: Vec<u8>) -> Vec<u8> {
        if *self.location == Location::default() {
            return path;
        }
        let Some(absolute) = self.absolute(&path) else { return path };
        if let Some(rest) = self.work().and_then(|work| below(&absolute, work)) {
            return rest.to_vec();
        }
        self.in_home(&absolute).unwrap_or(absolute)
    }

    fn in_home(&self, absolute: &[u8]) -> Option<Vec<u8>> {
        let home = self.location.home().filter(|_| self.location.has_own_home())?;
        let rest = below(absolute, home)?;
        Some(match rest {
            [] => Mark::Home.text().to_vec(),
            rest => [Mark::Home.text(), b"/", rest].concat(),
        })
    }

    /// Returns the other forms of a normalised path that rules may match: relative to the home, and
    /// to the root.
    pub(crate) fn others(&self, path: &[u8]) -> Vec<Vec<u8>> {
        if *self.location == Location::default() {
            return Vec::new();
        }
        let absolute = self.absolute(path);
        let in_home = absolute.as_deref().and_then(|absolute| self.in_home(absolute));
        in_home.into_iter().chain(absolute).collect()
    }
}

/// Returns whether all parts of an absolute path are ordinary: files below `.git` or
/// `site-packages` are judged by their whole path.
fn has_plain_name(path: &[u8]) -> bool {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let has_meaning = |part: &[u8]| {
        ADMITTING_BELOW.iter().any(|(folder, _)| folder.as_bytes() == part)
            || matches!(part, b".local" | b"site-packages" | b"dist-packages")
    };
    own(path, PathClass::Work) == PathClass::Work
        && !is_secret(path)
        && !path.split(|byte| *byte == b'/').any(has_meaning)
}

/// Returns the class of a path, relative to a folder.
pub(crate) fn classify(written: &[u8], folder: &Folder, ground: Ground<'_>) -> Path {
    let written = &*with_whole_patterns(written);
    let joined = join(written, folder);
    let is_pattern = written.iter().any(|byte| is_wildcard(*byte));
    let known = joined.iter().position(|byte| is_hole(*byte));
    let is_unknown_folder = matches!(folder, Folder::Unknown) && !is_rooted(written);
    let bytes = normalise(joined.get(..known.unwrap_or(joined.len())).unwrap_or(&joined));
    let bytes = if is_unknown_folder { bytes } else { ground.named(bytes) };
    let others = if is_unknown_folder { Vec::new() } else { ground.others(&bytes) };
    let said = ground.rules.said(&bytes, &others);
    let mut class = class(&bytes);
    // Through a pattern, a name that begins with a dash becomes an option.
    let is_option = !written.starts_with(b"-")
        && bytes
            .rsplit(|byte| *byte == b'/')
            .next()
            .is_some_and(|name| matches!(name, [b'-', _, ..]));
    if is_option {
        class = class.max(PathClass::Admits);
    }
    // Rules that raise take precedence over rules that lower.
    if said.critical {
        class = class.max(PathClass::Critical);
    } else if said.admits {
        class = class.max(PathClass::Admits);
    } else if said.scratch && matches!(class, PathClass::Work | PathClass::Home | PathClass::System)
    {
        class = PathClass::Scratch;
    }
    if known.is_some() || is_unknown_folder {
        class = match class {
            // Such a beginning is dangerous with every rest.
            PathClass::System | PathClass::Critical | PathClass::Device | PathClass::Connection
                if bytes.len() > 1 && !is_unknown_folder =>
            {
                class
            }
            _ => PathClass::Unknown,
        };
    }
    Path {
        class,
        is_pattern,
        is_secret: said.secret || is_secret(&bytes) || others.iter().any(|form| is_secret(form)),
        is_system_tree: said.critical || is_system_tree(&bytes),
        bytes: if known.is_some() { joined.into_owned() } else { bytes },
        is_adrift: is_unknown_folder,
    }
}

/// Returns a path without `.`, `..` and repeated `/`, relative to a folder; unchanged if a part of
/// it is unknown.
pub(crate) fn normalised(written: &[u8], folder: &Folder, ground: Ground<'_>) -> Vec<u8> {
    let written = &*with_whole_patterns(written);
    let joined = join(written, folder);
    if has_hole(&joined) {
        return joined.into_owned();
    }
    let path = normalise(&joined);
    match folder {
        Folder::Unknown if !is_rooted(written) => path,
        _ => ground.named(path),
    }
}

/// Returns an absolute path without `.`, `..` and repeated `/`, in any tree or home.
pub(crate) fn absolute(written: &[u8]) -> Vec<u8> {
    normalise(written)
}

/// Returns whether a project may declare the paths of a pattern as scratch: they share a literal
/// folder of an ordinary class that is not a whole tree of the system.
#[must_use]
pub fn may_be_scratch(pattern: &PathPattern) -> bool {
    let Some(folder) = pattern.folder() else { return false };
    let is_root = folder.iter().filter(|byte| **byte == b'/').count() <= 1;
    match class(&folder) {
        PathClass::System => !(is_root && is_system_tree(&folder)),
        PathClass::Work | PathClass::Home | PathClass::Scratch => true,
        _ => false,
    }
}

/// Returns the folder that a path names, relative to another one.
pub(crate) fn enter(written: &[u8], folder: &Folder, ground: Ground<'_>) -> Folder {
    let written = &*with_whole_patterns(written);
    if has_hole(written) || (matches!(folder, Folder::Unknown) && !is_rooted(written)) {
        return Folder::Unknown;
    }
    match ground.named(normalise(&join(written, folder))).as_slice() {
        b"" => Folder::Work,
        path if path == Mark::Work.text() => Folder::Work,
        path => Folder::Known(path.into()),
    }
}

/// Returns a path in which `[…]` is one character, as `?` is, and a folder such as `.?`, which may be
/// `..`, is unknown.
fn with_whole_patterns(written: &[u8]) -> Cow<'_, [u8]> {
    if !written.iter().any(|byte| is_wildcard(*byte)) {
        return written.into();
    }
    let mut whole = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some((byte, after)) = rest.split_first() {
        whole.push(*byte);
        let is_query = Mark::Query.is(*byte);
        rest = bracket_end(after)
            .filter(|_| is_query)
            .and_then(|end| after.get(end..))
            .unwrap_or(after);
    }
    let last = whole.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    let may_be_parent =
        |part: &[u8]| part.starts_with(b".") && part != b".." && may_match(b"..", part);
    let folders = whole.get(..last).unwrap_or_default();
    if folders.split(|byte| *byte == b'/').any(may_be_parent) {
        let parts = whole.split(|byte| *byte == b'/');
        let known = parts.map(|part| if may_be_parent(part) { Mark::Hole.text() } else { part });
        return known.collect::<Vec<_>>().join(&b'/').into();
    }
    whole.into()
}

/// Returns the place after the `]` of a bracket pattern, whose `[` comes before; `None` without one in
/// this part of the path. A `]` at the beginning and classes such as `[:alpha:]` belong to it.
fn bracket_end(rest: &[u8]) -> Option<usize> {
    let is_open = |byte: u8| byte == b'[' || Mark::Query.is(byte);
    let mut at = usize::from(matches!(rest.first(), Some(b'!' | b'^')));
    at += usize::from(rest.get(at) == Some(&b']'));
    loop {
        match (rest.get(at)?, rest.get(at + 1)) {
            (b'/', _) => return None,
            (b']', _) => return Some(at + 1),
            (open, Some(kind @ (b':' | b'.' | b'='))) if is_open(*open) => {
                let inside = rest.get(at + 2..)?;
                let end = inside.windows(2).position(|pair| pair == [*kind, b']'])?;
                at += end + 4;
            }
            _ => at += 1,
        }
    }
}

fn has_hole(path: &[u8]) -> bool {
    path.iter().any(|byte| is_hole(*byte))
}

/// Returns whether a path is independent of the folder.
fn is_rooted(path: &[u8]) -> bool {
    path.first().is_some_and(|first| *first == b'/' || is_root(*first))
}

fn join<'w>(written: &'w [u8], folder: &Folder) -> Cow<'w, [u8]> {
    match folder {
        Folder::Known(folder) if !is_rooted(written) => {
            let mut joined = Vec::with_capacity(folder.len() + 1 + written.len());
            joined.extend_from_slice(folder);
            joined.push(b'/');
            joined.extend(written);
            joined.into()
        }
        _ => written.into(),
    }
}

/// Removes `.`, `..` and repeated `/`. A path that leaves its starting point keeps its leading
/// `..`.
fn normalise(path: &[u8]) -> Vec<u8> {
    let own = root_of(path);
    let (root, rest): (&[u8], &[u8]) = match (path, own) {
        ([b'/', rest @ ..], _) => (b"/", rest),
        (_, Some((root, rest))) => (root.text(), rest),
        _ => (b"", path),
    };
    let is_own = own.is_some();
    if !is_own && is_normal(rest) {
        return within_process(path).to_vec();
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in rest.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match parts.last() {
                Some(last) if *last != b".." => {
                    parts.pop();
                }
                None if root == b"/" => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    let mut normal = Vec::with_capacity(path.len() + 1);
    normal.extend_from_slice(root);
    for (number, part) in parts.iter().enumerate() {
        if number > 0 || is_own {
            normal.push(b'/');
        }
        normal.extend_from_slice(part);
    }
    match within_process(&normal) {
        within if within.len() < normal.len() => within.to_vec(),
        _ => normal,
    }
}

/// Returns a path as its process sees it: below `/proc/self/root` lies what lies below `/`.
fn within_process(path: &[u8]) -> &[u8] {
    let mut within = path;
    while let Some(rest) = within.strip_prefix(b"/proc/") {
        let Some(end) = rest.iter().position(|byte| *byte == b'/') else { break };
        let (process, rest) = rest.split_at(end);
        let is_process =
            matches!(process, b"self" | b"thread-self") || process.iter().all(u8::is_ascii_digit);
        match rest.strip_prefix(b"/root") {
            Some(b"") if is_process => return b"/",
            Some(below @ [b'/', ..]) if is_process => within = below,
            _ => break,
        }
    }
    within
}

/// Returns whether a path is already normal, as most are.
fn is_normal(path: &[u8]) -> bool {
    // The beginning and the end count as a `/`.
    let mut before = [b'/', b'/'];
    for byte in path.iter().chain(b"/") {
        let [first, second] = before;
        if *byte == b'/' && (second == b'/' || (second == b'.' && matches!(first, b'/' | b'.'))) {
            return false;
        }
        before = [second, *byte];
    }
    true
}

/// Returns the class of a known path.
fn class(path: &[u8]) -> PathClass {
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
fn own(path: &[u8], class: PathClass) -> PathClass {
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

fn class_of_absolute(rest: &[u8]) -> PathClass {
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

fn is_system_tree(path: &[u8]) -> bool {
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

/// Returns whether a path is of a file that runs or admits in any home, or by the rules of the project. The class of a path
/// outside of the own home says that it is of the system.
pub(crate) fn admits(rules: &PathRules, forms: &[Vec<u8>]) -> bool {
    let in_home = |path: &Vec<u8>| {
        let rest = path.strip_prefix(b"/")?;
        let homes: [&[u8]; 3] = [b"root/", b"home/", b"Users/"];
        let rest = homes.iter().find_map(|home| rest.strip_prefix(*home))?;
        let below = rest.iter().position(|byte| *byte == b'/');
        let below = below.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        Some([rest, below].iter().any(|path| own(path, PathClass::Home) == PathClass::Admits))
    };
    forms.iter().any(|path| in_home(path).unwrap_or_default())
        || forms.first().is_some_and(|path| rules.said(path, forms).admits)
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

fn is_secret(path: &[u8]) -> bool {
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
