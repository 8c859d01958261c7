//! `REV:PATH` as typed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::revision::tree::os_string;
use crate::text::shown_path;

/// A path in a revision, as typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The revision; empty for the index.
    pub(crate) revision: OsString,
    /// The path.
    pub(crate) path: PathBuf,
}

impl Named {
    /// Reads `REV:PATH`, or `:PATH` for the index, if `typed` is one of them.
    ///
    /// As for git, a colon in braces belongs to the revision: `HEAD@{12:00}:PATH`.
    pub(crate) fn of(typed: &Path) -> Result<Option<Self>, Failure> {
        let bytes = typed.as_os_str().as_encoded_bytes();
        let mut depth = 0_usize;
        let colon = bytes.iter().position(|byte| {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            *byte == b':' && depth == 0
        });
        let Some((revision, path)) = colon.and_then(|at| bytes.split_at_checked(at)) else {
            return Ok(None);
        };
        let mut path = path.get(1..).unwrap_or_default();
        if revision.is_empty() {
            let refuse = |reason: &str, help: &str| {
                let typed = shown_path(typed);
                Err(Failure::error(format!("cannot read `{typed}`: {reason}")).help(help))
            };
            match path {
                [b'/', ..] => {
                    let help = "write REV:PATH, as in `main:project.kdl`";
                    return refuse("`:/` begins a search for a commit", help);
                }
                [b'0', b':', rest @ ..] => path = rest,
                [b'1'..=b'3', b':', ..] => {
                    let help = "resolve the conflict, or name a commit, as in `MERGE_HEAD:PATH`";
                    return refuse("only the files of the index without conflict are read", help);
                }
                _ => {}
            }
        }
        let (revision, path) = (os_string(revision), PathBuf::from(os_string(path)));
        Ok(Some(Self { revision, path }))
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Named;

    #[test]
    fn the_first_colon_outside_of_braces_divides() {
        for (typed, revision, path) in [
            ("main:a/b.kdl", "main", "a/b.kdl"),
            ("main:a:b", "main", "a:b"),
            ("HEAD@{12:00}:a", "HEAD@{12:00}", "a"),
            (":a", "", "a"),
            (":0:a", "", "a"),
            (":./a", "", "./a"),
            ("main:", "main", ""),
        ] {
            let named = Named { revision: revision.into(), path: PathBuf::from(path) };
            assert_eq!(Named::of(Path::new(typed)).unwrap(), Some(named), "{typed}");
        }
        assert_eq!(Named::of(Path::new("a/project.kdl")).unwrap(), None);
        assert!(Named::of(Path::new(":/fix")).is_err());
        assert!(Named::of(Path::new(":2:a")).is_err());
    }
}
