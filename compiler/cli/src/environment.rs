//! The only module that reads the environment: variables, the location of programs, and the clock.
//!
//! Written files are independent of the clock; the validity of signing keys depends on it.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Returns whether this is a CI run: `CI` is set, and not to `false` or `0`.
pub(crate) fn is_ci() -> bool {
    variable("CI").is_some_and(|value| value != "false" && value != "0")
}

/// Returns whether `TERM` is `dumb`: the terminal cannot move its cursor.
pub(crate) fn is_terminal_dumb() -> bool {
    variable("TERM").is_some_and(|value| value == "dumb")
}

/// Returns the folder for data of this user, `…/relay`, if there is a home folder.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let data = variable("XDG_DATA_HOME").map(PathBuf::from).filter(absolute);
    let home = || Some(PathBuf::from(variable("HOME")?).join(".local/share"));
    Some(data.or_else(home)?.join("relay"))
}

/// Returns the path of a program: beside this one, else in `PATH`.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let sibling = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(&file)));
    let path = variable("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|folder| folder.join(&file));
    sibling.into_iter().chain(in_path).find(|candidate| candidate.is_file())
}

/// Returns the path of this program.
pub(crate) fn own_program() -> Option<PathBuf> {
    env::current_exe().ok()
}

/// Returns the path of a program in `PATH`.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = variable("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// Returns the folder for temporary files.
pub(crate) fn temporary_folder() -> PathBuf {
    env::temp_dir()
}

/// Returns the home that the environment names, which clients use.
pub(crate) fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

/// Returns the result of some work, and how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Returns the seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "this module is the one that reads the clock")]
pub(crate) fn now() -> u64 {
    // With a clock before 1970 all keys become valid later, which is the safe answer.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[expect(clippy::disallowed_methods, reason = "this module is the one that reads the environment")]
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
