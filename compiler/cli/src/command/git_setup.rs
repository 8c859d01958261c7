//! `relay git-setup`: makes git show bundles as text.
//!
//! Git runs only programs that the user's own settings name, and this verb leaves those to the
//! user: it writes the pattern of bundle files, and prints the settings for the user to run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bold};
use crate::process::Repository;
use crate::revision;
use crate::text::{shown_path, wrapped};

/// The names of bundles.
const PATTERN: &str = "*.relay";
/// The attribute by which git shows them: the driver that the settings define.
const ATTRIBUTE: &str = "diff=relay";
/// The settings. A heading of `inspect --canonical` names the subject of the lines after it.
const SETTINGS: &str = "\
git config diff.relay.textconv \"relay inspect --canonical --keep-going\"
git config diff.relay.xfuncname \"^== (.*)\"
";
/// The effect of the settings.
const AFTERWARDS: &str = "\
Then `git diff`, `git log -p` and `git show` print bundles as text. Leave diff.relay.cachetextconv off: git would show \
texts that another version of relay has printed. For a project there is no difftool, since git gives it one file without \
those that it includes: `relay diff main:project.kdl project.kdl` compares all of it.";
/// The maximum size of a file of attributes that git reads.
const ATTRIBUTES_BYTES_MAX: u64 = 100 << 20;

pub(crate) fn run(output: &mut Output) -> Result<Exit, Failure> {
    let root = Repository::default().root()?.map_err(|reason| {
        Failure::error(format!("there is no work tree of git here: {reason}"))
            .help("run relay in a git repository; `git init` makes one")
    })?;
    let path = PathBuf::from(revision::os_string(&root)).join(".gitattributes");
    let line = format!("`{PATTERN} {ATTRIBUTE}`");
    if set_up(&path)? {
        output.message(format_args!("wrote {line} to {}; commit it\n", shown_path(&path)));
    } else {
        output.message(format_args!("{} already has {line}\n", shown_path(&path)));
    }
    output.message(format_args!("\n{}\n", bold("Settings of git, once in each clone:")));
    output.result(SETTINGS)?;
    let width = output.message_look().width;
    output.message(format_args!("\n{}", wrapped(AFTERWARDS, "", width)));
    Ok(Exit::Yes)
}

/// Writes the attribute to the file at `path`; returns false if the file has it.
fn set_up(path: &Path) -> Result<bool, Failure> {
    let refuse = |what: &str| {
        Err(Failure::error(format!("cannot write `{}`: it is {what}", shown_path(path)))
            .help(format!("git reads only a file there; write `{PATTERN} {ATTRIBUTE}` to one")))
    };
    let old = match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => return refuse("a link"),
        Ok(found) if !found.is_file() => return refuse("not a file"),
        Ok(found) if found.len() > ATTRIBUTES_BYTES_MAX => return refuse("too large for git"),
        Ok(_) => fs::read(path).map_err(|error| Failure::file("read", path, &error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Failure::file("read", path, &error)),
    };
    if has_attribute(&old) {
        return Ok(false);
    }
    disk::replace(path, &with_attribute(old))?;
    Ok(true)
}

/// Returns whether the file gives bundles the attribute: the last line about it counts.
fn has_attribute(file: &[u8]) -> bool {
    let mut has = false;
    for line in String::from_utf8_lossy(file).lines() {
        let mut words = line.split_ascii_whitespace();
        if words.next().is_none_or(|pattern| pattern.trim_matches('"') != PATTERN) {
            continue;
        }
        for word in words {
            let name = word.trim_start_matches(['-', '!']).split('=').next().unwrap_or_default();
            // `binary` turns diffs off.
            if matches!(name, "diff" | "binary") {
                has = word == ATTRIBUTE;
            }
        }
    }
    has
}

/// Returns the file with a line for bundles at its end, with the file's own line ends.
fn with_attribute(mut file: Vec<u8>) -> Vec<u8> {
    let mut lines = file.split(|byte| *byte == b'\n');
    let is_windows = file.contains(&b'\n') && lines.next().is_some_and(|it| it.ends_with(b"\r"));
    let end = if is_windows { "\r\n" } else { "\n" };
    if !file.is_empty() && !file.ends_with(b"\n") {
        file.extend(end.as_bytes());
    }
    file.extend(format!("{PATTERN} {ATTRIBUTE}{end}").as_bytes());
    file
}
