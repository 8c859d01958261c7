//! The folder that a process begins in.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use relay_bundle::{Place, ShellSettings};
use relay_engine::system_error::reason;
use relay_policy::location::Location;
use thiserror::Error;

/// The folder of one process, and the location that rules judge it in.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    /// Its path, without links.
    pub(crate) path: PathBuf,
    pub(crate) location: Location,
}

/// Why no process can begin in a folder. The texts repeat nothing that the caller typed.
#[derive(Debug, Error)]
pub(crate) enum FolderError {
    /// It cannot be entered.
    #[error("cannot enter `cwd`: {}", reason(.0))]
    Unreachable(io::Error),
    /// Its path has characters that no rule can judge.
    #[error("the path of `cwd` is not UTF-8, is too long, or has control characters")]
    Unnamed,
    /// The project's folders are elsewhere.
    #[error("`cwd` is outside of the folders of this server: {}", folders.join(", "))]
    Outside {
        folders: Vec<String>,
        /// Where the project names them.
        at: Option<Place>,
    },
}

/// Finds the folder that a call asks for: empty for the default one, and relative to that.
pub(super) fn find(
    settings: &ShellSettings,
    home: Option<&str>,
    asked: &str,
) -> Result<Folder, FolderError> {
    let named = settings.folders.as_deref().unwrap_or_default();
    let default = match named.first() {
        Some(first) => PathBuf::from(&first.value),
        None => env::current_dir().map_err(FolderError::Unreachable)?,
    };
    let path = default.join(asked).canonicalize().map_err(FolderError::Unreachable)?;
    if !path.is_dir() {
        return Err(FolderError::Unreachable(io::ErrorKind::NotADirectory.into()));
    }
    let is_in = |folder: &str| {
        Path::new(folder).canonicalize().is_ok_and(|folder| path.starts_with(folder))
    };
    if settings.folders.is_some() && !named.iter().any(|folder| is_in(&folder.value)) {
        let folders = named.iter().map(|folder| folder.value.clone()).collect();
        let at = named.first().and_then(|folder| folder.at.clone());
        return Err(FolderError::Outside { folders, at });
    }
    let text = path.to_str().ok_or(FolderError::Unnamed)?;
    let location = Location::new(Some(text), home);
    Ok(Folder { location: location.map_err(|_| FolderError::Unnamed)?, path })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use relay_bundle::Setting;

    use super::*;

    fn only(folders: &[&Path]) -> ShellSettings {
        let named = folders
            .iter()
            .map(|folder| Setting::default_of(folder.to_str().expect("UTF-8").to_owned()));
        ShellSettings { folders: Some(named.collect()), ..ShellSettings::default() }
    }

    #[test]
    fn a_folder_is_judged_where_it_is() {
        let base = tempfile::tempdir().expect("a folder");
        let base = base.path().canonicalize().expect("it exists");
        for folder in ["app/src", "etc"] {
            fs::create_dir_all(base.join(folder)).expect("a folder");
        }
        fs::write(base.join("app/file"), "").expect("a file");
        symlink(base.join("etc"), base.join("app/link")).expect("a link");
        let settings = only(&[&base.join("app")]);
        let found = |asked: &str| find(&settings, None, asked).map(|folder| folder.path);
        assert_eq!(found("").expect("the default"), base.join("app"));
        assert_eq!(found("src").expect("below it"), base.join("app/src"));
        assert_eq!(found("src/..").expect("itself"), base.join("app"));
        for outside in ["..", "/", "link", "../etc", "src/../../etc"] {
            let error = found(outside).expect_err(outside);
            assert!(matches!(error, FolderError::Outside { .. }), "{outside}: {error}");
        }
        for missing in ["none", "file"] {
            let error = found(missing).expect_err(missing);
            assert!(matches!(error, FolderError::Unreachable(_)), "{missing}: {error}");
        }
        let any = find(&ShellSettings::default(), None, base.to_str().expect("UTF-8"));
        assert_eq!(any.expect("any folder").path, base);
    }

    #[test]
    fn a_folder_that_only_begins_alike_is_outside() {
        let base = tempfile::tempdir().expect("a folder");
        for folder in ["app", "app-other"] {
            fs::create_dir(base.path().join(folder)).expect("a folder");
        }
        let settings = only(&[&base.path().join("app")]);
        assert!(find(&settings, None, "../app-other").is_err());
    }
}
