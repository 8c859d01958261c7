//! The forms of a path: as the call names it, and as the file system resolves it.
//!
//! A rule about a folder must hold for a link into it. So a call is denied if either form is, and
//! allowed only if both are.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where relative paths begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Base {
    /// The folder of the call.
    pub(crate) cwd: Option<PathBuf>,
    /// The home of the user.
    pub(crate) home: Option<PathBuf>,
}

impl Base {
    /// Returns a path from the root; `None` if it is relative and the folder is unknown.
    fn absolute(&self, path: &str) -> Option<PathBuf> {
        match (path.strip_prefix("~/").or((path == "~").then_some("")), &self.home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            (Some(_), None) => None,
            (None, _) if path.starts_with('/') => Some(PathBuf::from(path)),
            (None, _) => self.cwd.as_ref().map(|cwd| cwd.join(path)),
        }
    }

    /// Returns the forms of a path, each once: folded, and resolved as far as it exists. A path whose
    /// place is unknown is left as it is.
    pub(crate) fn forms(&self, path: &str) -> Vec<String> {
        // Some tools take addresses of files.
        let path = path.strip_prefix("file://").unwrap_or(path);
        let Some(absolute) = self.absolute(path) else { return vec![path.to_owned()] };
        let mut forms = vec![text(&folded(&absolute))];
        let resolved = resolved(&absolute);
        if !forms.contains(&resolved) {
            forms.push(resolved);
        }
        forms
    }
}

/// Returns the form of an absolute path as the file system resolves it, as far as it exists.
pub(crate) fn resolved(path: &Path) -> String {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        if let Ok(found) = fs::canonicalize(at) {
            let mut whole = found;
            whole.extend(rest.iter().rev());
            return text(&folded(&whole));
        }
        match (at.parent(), at.components().next_back()) {
            (Some(parent), Some(last)) => {
                rest.push(last.as_os_str());
                at = parent;
            }
            _ => return text(&folded(path)),
        }
    }
}

/// Returns an absolute path free of `.` and `..`.
pub(crate) fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => _ = folded.pop(),
            Component::Normal(name) => folded.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    folded
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_has_the_forms_of_its_name_and_of_its_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("it exists");
        fs::create_dir_all(root.join("real/deep")).expect("a folder");
        symlink(root.join("real/deep"), root.join("link")).expect("a link");
        symlink("nowhere", root.join("dangling")).expect("a link");
        let base = Base { cwd: Some(root.clone()), home: Some(root.join("real")) };
        let below = |name: &str| format!("{}/{name}", root.display());
        assert_eq!(base.forms("a/./b/../c"), [below("a/c")]);
        assert_eq!(base.forms("link/new/x"), [below("link/new/x"), below("real/deep/new/x")]);
        // The system follows the link before it goes up.
        assert_eq!(base.forms("link/../x"), [below("x"), below("real/x")]);
        assert_eq!(base.forms("~/x"), [below("real/x")]);
        assert_eq!(base.forms("file:///etc/../etc/x"), ["/etc/x"]);
        assert_eq!(Base::default().forms("x"), ["x"]);
    }
}
