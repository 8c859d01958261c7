//! Git by plumbing: the commit of a name, its files, and their bytes.
//!
//! Nothing here changes a repository, and git is the only program that runs: no filter, hook, file
//! system monitor or pager that a repository's settings name, and no transport. Objects missing in
//! a partial clone are not fetched.

use std::ffi::OsStr;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use relay_compiler::ReadError;

use super::pipe::{self, Pipe};
use crate::failure::{Failure, reason};

/// The maximum length of a line of git's answers, and of the kept part of its errors.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// The maximum length of an answer other than a list of files.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// Settings that would start programs.
const SETTINGS: [&str; 5] =
    ["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

const VARIABLES: [(&str, &str); 8] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    // For older versions of git, which ignore the one above: all transports are forbidden.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // A hash names its own commit, with replacement by `refs/replace` switched off.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // The only pattern is `:/`, and it is meant as one.
    ("GIT_LITERAL_PATHSPECS", "0"),
    // Errors appear in the language of all other messages.
    ("LC_ALL", "C"),
    ("LANGUAGE", "C"),
];

/// Variables that name another repository than a folder's own; git sets them for its hooks.
const ELSEWHERE: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
];

/// The repository of a folder: the current one, unless another is named.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repository {
    folder: Option<PathBuf>,
}

/// The place of a folder in its repository.
#[derive(Debug)]
pub(crate) struct Inside {
    /// The folder's path from the root of the work tree; absent outside of a work tree, as in a
    /// bare repository.
    pub(crate) prefix: Option<Vec<u8>>,
    /// Whether the repository lacks commits before some that it has.
    pub(crate) is_shallow: bool,
}

impl Repository {
    /// Takes the repository around `folder`.
    pub(crate) fn of(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// Returns the folder's place in its repository, or git's reason why it is outside of any.
    pub(crate) fn inside(&self) -> Result<Result<Inside, String>, Failure> {
        let questions = ["--is-inside-work-tree", "--is-shallow-repository", "--show-prefix"];
        let arguments = [&["rev-parse"], &questions[..]].concat();
        let said = match self.ask(&words(&arguments))? {
            Ok(said) => said,
            Err(reason) => return Ok(Err(reason)),
        };
        // A prefix may contain line ends, so it is asked for last.
        let mut lines = said.splitn(3, |byte| *byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let (is_inside, is_shallow, prefix) = (line() == b"true", line() == b"true", line());
        let prefix = prefix.strip_suffix(b"\n").unwrap_or(prefix);
        Ok(Ok(Inside { prefix: is_inside.then(|| prefix.to_vec()), is_shallow }))
    }

    /// Returns the root of the work tree, or git's reason for a missing one.
    pub(crate) fn root(&self) -> Result<Result<Vec<u8>, String>, Failure> {
        let said = self.ask(&words(&["rev-parse", "--show-toplevel"]))?;
        Ok(said.map(|mut root| {
            // A path may end with a line end of its own.
            root.pop_if(|last| *last == b'\n');
            root
        }))
    }

    /// Returns the hash of the commit that `revision` names; `None` for an unknown one.
    pub(crate) fn commit(&self, revision: &OsStr) -> Result<Option<String>, Failure> {
        let mut commit = revision.to_owned();
        commit.push("^{commit}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options"].map(OsStr::new);
        let said = self.ask(&[&arguments[..], &[&commit]].concat())?;
        let hash = said.ok().and_then(|said| String::from_utf8(said).ok());
        Ok(hash.map(|hash| hash.trim_end().to_owned()).filter(|hash| is_hash(hash)))
    }

    /// Gives `take` each file of a commit: `MODE blob HASH`, a tab, and the path.
    pub(crate) fn files_of_commit(
        &self,
        commit: &str,
        take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.records(&["ls-tree", "-r", "-z", "--full-tree", commit], take)
    }

    /// Gives `take` each file of the index: `MODE HASH STAGE`, a tab, and the path.
    pub(crate) fn files_of_index(
        &self,
        take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // From the root of the work tree: `ls-files` lists only files below the current folder.
        self.records(&["ls-files", "-s", "-z", "--full-name", "--", ":/"], take)
    }

    /// Starts to read objects.
    pub(crate) fn objects(&self) -> Objects {
        Objects { repository: self.clone(), running: None, broken: None }
    }

    /// Gives `take` each record of an answer that ends its records with NUL.
    fn records(
        &self,
        arguments: &[&str],
        mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut running = self.start(&words(arguments), Stdio::null())?;
        let mut record = Vec::new();
        loop {
            record.clear();
            let answer = (&mut running.output).take(LINE_BYTES_MAX).read_until(0, &mut record);
            if answer.map_err(|error| broken(&error))? == 0 {
                break;
            }
            match record.pop() {
                Some(0) => take(&record)?,
                _ => return Err(broken(&io::Error::other("its answer is not complete"))),
            }
        }
        match running.end()? {
            Ok(()) => Ok(()),
            Err(reason) => Err(Failure::error(format!("git cannot list the files: {reason}"))),
        }
    }

    /// Returns git's answer, or its reason for a missing one.
    fn ask(&self, arguments: &[&OsStr]) -> Result<Result<Vec<u8>, String>, Failure> {
        let mut running = self.start(arguments, Stdio::null())?;
        let mut said = Vec::new();
        let read = (&mut running.output).take(ANSWER_BYTES_MAX).read_to_end(&mut said);
        read.map_err(|error| broken(&error))?;
        Ok(running.end()?.map(|()| said))
    }

    #[expect(clippy::disallowed_methods, reason = "revisions come from git")]
    fn start(&self, arguments: &[&OsStr], input: Stdio) -> Result<Running, Failure> {
        let mut command = Command::new("git");
        command.args(SETTINGS).envs(VARIABLES);
        if let Some(folder) = &self.folder {
            command.arg("-C").arg(folder);
            ELSEWHERE.iter().for_each(|name| _ = command.env_remove(name));
        }
        command.args(arguments).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| {
            Failure::error(format!("cannot run `git`: {}", reason(&error)))
                .help("install git, or compare folders, projects or bundles on disk")
        })?;
        Running::of(child).map_err(|error| broken(&error))
    }
}

/// The objects of a repository, read by one process that runs until this is dropped.
pub(crate) struct Objects {
    repository: Repository,
    running: Option<(Running, ChildStdin)>,
    /// The error that ended git: each further file gets it at once instead of a wait.
    broken: Option<String>,
}

/// The header of an object, as git prints it.
struct Header {
    is_blob: bool,
    bytes: u64,
}

impl Objects {
    /// Returns the bytes of a blob, at most `bytes_max`.
    pub(crate) fn read(&mut self, hash: &str, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        if let Some(reason) = &self.broken {
            return Err(ReadError::Io { reason: reason.clone() });
        }
        let answer = self.ask(hash, bytes_max);
        answer.unwrap_or_else(|reason| {
            self.running = None;
            self.broken = Some(reason.clone());
            Err(ReadError::Io { reason })
        })
    }

    /// Returns the bytes of a blob or its error; `Err` if git itself has failed.
    fn ask(&mut self, hash: &str, bytes_max: u64) -> Result<Result<Vec<u8>, ReadError>, String> {
        let (mut running, mut input) = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let answer = exchange(&mut running, &mut input, hash, bytes_max);
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Err(running.reason(&error)),
        };
        // The rest of an object over the limit stays unread: the next object has a new process.
        if !matches!(answer, Err(ReadError::TooLarge { .. })) {
            self.running = Some((running, input));
        }
        Ok(answer)
    }

    fn start(&self) -> Result<(Running, ChildStdin), String> {
        let arguments = ["cat-file", "--batch"].map(OsStr::new);
        let reason = |failure| match failure {
            Failure::Stopped { message, .. } => message,
            Failure::ClosedPipe => "git ended".to_owned(),
        };
        let mut running = self.repository.start(&arguments, Stdio::piped()).map_err(reason)?;
        let input = running.child.stdin.take().ok_or("git has no input")?;
        Ok((running, input))
    }
}

/// Asks for one object. An answer is a line, and the object's bytes and a line end if it exists.
fn exchange(
    running: &mut Running,
    input: &mut ChildStdin,
    hash: &str,
    bytes_max: u64,
) -> io::Result<Result<Vec<u8>, ReadError>> {
    input.write_all(format!("{hash}\n").as_bytes())?;
    input.flush()?;
    let mut line = Vec::new();
    (&mut running.output).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::Error::other("git ended without an answer"));
    }
    let Some(Header { is_blob, bytes }) = header(&line, hash)? else {
        let reason = "git does not hold its contents here, as in a partial clone: `git show \
                      REVISION:PATH` fetches them";
        return Ok(Err(ReadError::Io { reason: reason.into() }));
    };
    if bytes > bytes_max {
        return Ok(Err(ReadError::TooLarge { bytes, limit: bytes_max }));
    }
    let mut contents = Vec::new();
    (&mut running.output).take(bytes).read_to_end(&mut contents)?;
    let mut end = [0];
    running.output.read_exact(&mut end)?;
    if contents.len() as u64 != bytes || end != [b'\n'] {
        return Err(io::Error::other("git's answer is not complete"));
    }
    Ok(if is_blob { Ok(contents) } else { Err(ReadError::WrongKind { expected: "a file" }) })
}

/// Reads `HASH KIND BYTES`; `None` for `HASH missing`.
fn header(line: &[u8], hash: &str) -> io::Result<Option<Header>> {
    let unknown = || io::Error::other("git answered something else");
    let line = std::str::from_utf8(line).map_err(|_| unknown())?;
    let rest = line.strip_prefix(hash).and_then(|rest| rest.strip_prefix(' '));
    let rest = rest.ok_or_else(unknown)?;
    if rest == "missing" {
        return Ok(None);
    }
    let (kind, bytes) = rest.split_once(' ').ok_or_else(unknown)?;
    let bytes = bytes.parse().map_err(|_| unknown())?;
    Ok(Some(Header { is_blob: kind == "blob", bytes }))
}

/// A git that runs. It is killed when this is dropped.
struct Running {
    child: Child,
    output: Pipe,
    errors: Pipe,
}

impl Running {
    fn of(mut child: Child) -> io::Result<Self> {
        let none = || io::Error::other("git has no output");
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let output = Pipe::of(output.ok_or_else(none)?)?;
        let errors = Pipe::of(errors.ok_or_else(none)?)?;
        Ok(Self { child, output, errors })
    }

    /// Waits for the end; returns git's reason for a failure.
    fn end(mut self) -> Result<Result<(), String>, Failure> {
        let reason = self.said().map_err(|error| broken(&error))?;
        let status = pipe::wait(&mut self.child).map_err(|error| broken(&error))?;
        Ok(if status.success() { Ok(()) } else { Err(reason) })
    }

    /// Returns why git failed: its own message, if it has ended, or else the error of reading.
    fn reason(mut self, error: &io::Error) -> String {
        let said = match error.kind() {
            io::ErrorKind::TimedOut => None,
            // It may still run; then it has said all. Programs that it has started may write on, or be silent
            // and hold its errors open.
            _ => {
                self.output.close();
                self.errors.has_ended();
                let said = self.child.kill().and_then(|()| self.said());
                said.ok().filter(|said| said != NOTHING_SAID)
            }
        };
        match said {
            Some(said) => format!("git failed: {said}"),
            None => format!("git failed: {}", reason(error)),
        }
    }

    /// Returns the first line that git wrote to its standard error, also if another program keeps it open.
    fn said(&mut self) -> io::Result<String> {
        let mut said = Vec::new();
        let read = (&mut self.errors).take(LINE_BYTES_MAX).read_to_end(&mut said);
        if said.is_empty() {
            read?;
        }
        let said = String::from_utf8_lossy(&said);
        let line = said.lines().next().unwrap_or(NOTHING_SAID);
        Ok(line.trim_start_matches("fatal: ").to_owned())
    }
}

const NOTHING_SAID: &str = "git printed no error";

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended before. This process ends soon, and leaves it to the system.
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }
}

fn broken(error: &io::Error) -> Failure {
    Failure::error(format!("git failed: {}", reason(error)))
        .help("run `git status` to see whether git works in this repository")
}

fn words<'w>(arguments: &[&'w str]) -> Vec<&'w OsStr> {
    arguments.iter().copied().map(OsStr::new).collect()
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
