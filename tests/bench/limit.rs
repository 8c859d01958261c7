//! The least that this machine takes for the same bytes: figures beside those of relay, in the same run.

use std::fs;
use std::path::Path;
use std::time::Instant;

use harness::command;
use sha2::{Digest, Sha256};

use crate::figures::number::median;
use crate::figures::{Part, beside};
use crate::stdio::Session;
use crate::{Result, Setting, cost};

/// Runs of a limit, of which the median counts.
const ROUNDS: usize = 21;
/// Answers that `cat` returns, of which the first fifth warms up.
const ECHOES: usize = 2_500;

/// The part of [`echo_us`].
pub(crate) const ECHO: Part = beside("`cat` returns the bytes of the answer, p50", "µs");

/// Returns the time in which `cat` returns a line of the bytes of an answer, in microseconds: any server is woken
/// for a request, and wakes its client.
pub(crate) fn echo_us(setting: &Setting, answer: &str) -> Result<f64> {
    let mut cat = Session::start(command("/bin/cat", &setting.folder))?;
    let mut times = Vec::with_capacity(ECHOES);
    for _ in 0..ECHOES {
        let start = Instant::now();
        cat.ask(answer)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    cat.end()?;
    Ok(median(times.get_mut(ECHOES / 5..).unwrap_or_default()))
}

/// Returns the time to start `true` and wait for its end, in seconds.
pub(crate) fn process_s(setting: &Setting) -> Result<f64> {
    let run = || Ok(cost::cost(command("/bin/true", &setting.folder), 0)?.wall_s);
    Ok(median(&mut (0..ROUNDS).map(|_| run()).collect::<Result<Vec<f64>>>()?))
}

/// Returns the time to hash a file that is in memory, in seconds.
pub(crate) fn hashing_s(path: &Path) -> Result<f64> {
    let bytes = fs::read(path)?;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::hint::black_box(Sha256::digest(&bytes));
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(median(&mut times))
}

/// Returns the time to look at each file below a folder, read it and hash it, in seconds of one core.
pub(crate) fn reading_s(folder: &Path) -> Result<f64> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        if read_below(folder)? == 0 {
            return Err(format!("{} has no files", folder.display()).into());
        }
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(median(&mut times))
}

/// Reads and hashes the files below a folder; returns their number.
fn read_below(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if fs::metadata(&path)?.is_dir() {
            count += read_below(&path)?;
        } else {
            std::hint::black_box(Sha256::digest(fs::read(&path)?));
            count += 1;
        }
    }
    Ok(count)
}
