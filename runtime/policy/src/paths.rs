//! The class of a path: scratch, work tree, system, device.

mod known;
mod normal;

use std::borrow::Cow;

use crate::location::{Location, below};
use crate::path_rules::{PathPattern, PathRules};
use crate::state::Folder;
use crate::value::{Mark, is_hole, is_wildcard, root_of};

pub use known::PathClass;
use known::{class, has_plain_name, is_secret, is_system_tree, own};
pub(crate) use known::{is_agent_config, may_be_secret};
use normal::{has_hole, is_rooted, join, normalise, with_whole_patterns};

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

/// The context of a text, known before it is read: the rules about paths of a project, the location of
/// commands, and the variables that a call gives them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'g> {
    pub(crate) rules: &'g PathRules,
    pub(crate) location: &'g Location,
    pub(crate) variables: &'g [(String, String)],
}

impl Ground<'_> {
    /// Returns the folder in which a text begins.
    pub(crate) fn start(self) -> Folder {
        if self.location.is_adrift() {
            return Folder::Unknown;
        }
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
