//! The only module that starts other programs: `relay-serve`, and `git` for provenance and for the
//! files of a revision.

mod ancestors;
mod git;
mod pipe;
mod server;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use relay_compiler::Git;

use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::text::shown_path;

pub(crate) use ancestors::agent_above;
pub(crate) use git::{Inside, Objects, Repository};
pub(crate) use server::{Event, Server, Transport, exit_of, is_input_terminal};

/// Runs `relay serve`: becomes `relay-serve`, a separate program free of the compiler.
pub(crate) fn serve(arguments: &[OsString]) -> Result<Exit, Failure> {
    become_program(&server::program()?, arguments)
}

/// Replaces this process with `program`; returns only if that fails (or, on systems that lack that
/// operation, after the program has ended).
#[expect(clippy::disallowed_methods, reason = "the purpose of `relay serve` is to start a program")]
fn become_program(program: &Path, arguments: &[OsString]) -> Result<Exit, Failure> {
    let mut command = Command::new(program);
    command.args(arguments);
    #[cfg(unix)]
    let failed = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let failed = match command.status() {
        Ok(status) if status.success() => return Ok(Exit::Yes),
        Ok(status) if status.code() == Some(1) => return Ok(Exit::No),
        Ok(_) => return Ok(Exit::Unknown),
        Err(error) => error,
    };
    Err(Failure::error(format!("cannot start `{}`: {}", shown_path(program), reason(&failed))))
}

/// Returns the commit of `folder`, and whether anything below it differs from that commit.
///
/// The file system monitor is off, because the repository's settings choose its program.
pub(crate) fn git_state(folder: &Path) -> Result<Git, Failure> {
    let commit = ask_git(folder, &["rev-parse", "--verify", "HEAD"])?.trim().to_owned();
    // A bundle beside the project is an output of the build rather than an input.
    let paths = ["--", ".", ":(exclude,glob)**/*.relay"];
    let status = ["status", "--porcelain", "--untracked-files=normal"];
    let changes = ask_git(folder, &[status, paths].concat())?;
    Ok(Git { commit, dirty: !changes.is_empty() })
}

#[expect(clippy::disallowed_methods, reason = "the provenance comes from git")]
fn ask_git(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let help = "omit --provenance to build outside a git repository";
    let output = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "-C"])
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            Failure::error(format!("cannot run `git`: {}", reason(&error))).help(help)
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said =
            said.lines().next().unwrap_or("git printed no error").trim_start_matches("fatal: ");
        return Err(Failure::error(format!(
            "cannot find the git commit of `{}`: {said}",
            shown_path(folder)
        ))
        .help(help));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
