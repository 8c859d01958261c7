//! A job as the bytes and descriptors of a request.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::error::StartError;
use crate::attached;
use crate::job::{BODY_BYTES_MAX, Job, STRINGS_MAX, Streams};
use crate::message::{INLINE_BYTES_MAX, Place, Request};
use crate::wire::Writer;

/// The bytes that each text takes besides its own, and the two counts.
const LENGTH_BYTES: usize = 4;

/// Checks a job and returns its body.
pub(super) fn encode(job: &Job) -> Result<Vec<u8>, StartError> {
    check(job)?;
    let mut out = Writer::default();
    for count in [job.argv.len(), job.environment.len()] {
        out.u32(u32::try_from(count).unwrap_or(u32::MAX));
    }
    out.text(&[bytes(&job.program)]).text(&[bytes(&job.cwd)]);
    for argument in &job.argv {
        out.text(&[argument.as_bytes()]);
    }
    for (name, value) in &job.environment {
        out.text(&[name.as_bytes(), b"=", value.as_bytes()]);
    }
    Ok(out.0)
}

fn check(job: &Job) -> Result<(), StartError> {
    if !job.program.is_absolute() || !job.cwd.is_absolute() {
        return Err(StartError::Invalid("the paths of program and folder must be absolute"));
    }
    if job.argv.is_empty() {
        return Err(StartError::Invalid(
            "the first argument is the program's name, and is missing",
        ));
    }
    let strings = job.argv.len().saturating_add(job.environment.len());
    if strings > STRINGS_MAX {
        return Err(StartError::TooMany { strings });
    }
    let is_name = |name: &OsStr| !name.is_empty() && !name.as_bytes().contains(&b'=');
    if !job.environment.iter().all(|(name, _)| is_name(name)) {
        return Err(StartError::Invalid("a variable's name is empty or has a `=`"));
    }
    let paths = [job.program.as_os_str(), job.cwd.as_os_str()];
    let variables = job.environment.iter().flat_map(|(name, value)| [name, value]);
    let texts = job.argv.iter().chain(variables).map(|text| text.as_os_str()).chain(paths);
    let mut length = 2 * LENGTH_BYTES;
    for text in texts {
        if text.as_bytes().contains(&0) {
            return Err(StartError::Invalid("a path, an argument or a variable has a NUL byte"));
        }
        // A variable counts as two texts, for its `=`.
        length = length.saturating_add(text.len()).saturating_add(LENGTH_BYTES);
    }
    if length > BODY_BYTES_MAX {
        return Err(StartError::TooLarge { bytes: length });
    }
    Ok(())
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Makes the request that starts a job, and the descriptors that go with it. A large body is one of
/// them, as a file. So many observed calls are reported; 0 means that the job runs unobserved.
pub(super) fn start(
    number: u64,
    body: Vec<u8>,
    streams: Streams,
    observed_max: u32,
) -> Result<(Request, Vec<OwnedFd>), StartError> {
    let (terminal, mut descriptors) = match streams {
        Streams::Terminal(size) => (Some(size), Vec::new()),
        Streams::Descriptors { input, output, error } => (None, vec![input, output, error]),
    };
    let body = if body.len() <= INLINE_BYTES_MAX {
        Place::Inline(body)
    } else {
        descriptors.push(attached::write(&body).map_err(StartError::Admit)?);
        Place::Attached(u32::try_from(body.len()).unwrap_or(u32::MAX))
    };
    Ok((Request::Start { number, terminal, observed_max, body }, descriptors))
}
