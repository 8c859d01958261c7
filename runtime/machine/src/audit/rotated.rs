//! The files that an audit file was before a rotation: `FILE.1`, `FILE-20270131`, also with `.gz`.
//!
//! A program that finds an empty file goes on with the chain of the newest one. A running program
//! knows the end of its chain, and asks here whether another one went further.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use relay_engine::audit_chain::Link;

use super::locked::Locked;
use super::tail;
use crate::file::regular_file;

/// The end of the name of a compressed file.
const GZIP: &str = ".gz";
/// The most files that are looked at, from the newest: others are older than a readable one.
const LOOKED_AT_MAX: usize = 3;
/// The most bytes of a compressed file that are unpacked: it takes about a second.
const UNPACKED_BYTES_MAX: u64 = 512 << 20;
/// The bytes at the end of an unpacked file in which its last record is searched.
const KEPT_BYTES: usize = 64 << 10;
/// The bytes that are unpacked at once.
const BLOCK_BYTES: usize = 64 << 10;

/// The newest file before this one, and the end of its chain.
#[derive(Debug, Default)]
pub(super) struct Before {
    pub(super) link: Option<Link>,
    /// Other programs wait for this lock before they append to that file.
    _locked: Option<Locked>,
}

/// Reads the end of the newest file that `path` was before, if this user can read one. `held` is a file whose lock this program already has.
pub(super) fn newest(path: &Path, held: Option<&File>) -> io::Result<Before> {
    let held = held.map(File::metadata).transpose()?.map(|it| (it.dev(), it.ino()));
    for candidate in candidates(path).into_iter().take(LOOKED_AT_MAX) {
        // Without the right to read it, an older one or a new chain follows.
        let Ok(file) = regular_file::open(&candidate) else { continue };
        let metadata = file.metadata()?;
        if is_compressed(&candidate) {
            match unpacked_end(file, &candidate) {
                Some(link) => return Ok(Before { link: Some(link), _locked: None }),
                None => continue,
            }
        }
        let file = Arc::new(file);
        let is_held = held == Some((metadata.dev(), metadata.ino()));
        let locked = if is_held { None } else { Some(Locked::of(&file)?) };
        let link = tail::of(&file, file.metadata()?.len())?.link;
        if link.is_some() {
            return Ok(Before { link, _locked: locked });
        }
    }
    Ok(Before::default())
}

/// Returns the files that have the name of a rotated one, the newest first.
fn candidates(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let rank = rank(entry.file_name().to_str()?.strip_prefix(name)?)?;
            let metadata = fs::metadata(entry.path()).ok()?;
            Some((Reverse((metadata.mtime(), metadata.mtime_nsec())), rank, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, _, path)| path).collect()
}

/// Returns the order of a rotated file among those of one time, the newest first, by the end of its
/// name; `None` for other files.
fn rank(end: &str) -> Option<(u64, Reverse<String>)> {
    let end = end.strip_suffix(GZIP).unwrap_or(end);
    let is_date = |text: &str| {
        text.len() >= 8 && text.bytes().all(|it| it.is_ascii_digit() || b"-_.T:".contains(&it))
    };
    match end.split_at_checked(1)? {
        (".", number) if number.len() < 8 => {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            Some((number.parse().ok().filter(|_| is_number)?, Reverse(String::new())))
        }
        ("-" | ".", date) if is_date(date) => Some((0, Reverse(date.to_owned()))),
        _ => None,
    }
}

fn is_compressed(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(GZIP.as_bytes())
}

/// Returns the last record of a compressed file; `None`, with a report, for a damaged or huge one.
fn unpacked_end(file: File, path: &Path) -> Option<Link> {
    let read = || -> io::Result<Vec<u8>> {
        let mut source = MultiGzDecoder::new(io::BufReader::new(file)).take(UNPACKED_BYTES_MAX);
        let (mut kept, mut block) = (Vec::new(), vec![0; BLOCK_BYTES]);
        loop {
            let read = source.read(&mut block)?;
            kept.extend_from_slice(block.get(..read).unwrap_or_default());
            let surplus = kept.len().saturating_sub(KEPT_BYTES);
            kept.drain(..surplus);
            if read == 0 {
                break;
            }
        }
        if source.limit() == 0 {
            let reason = format!("it has over {UNPACKED_BYTES_MAX} bytes unpacked");
            return Err(io::Error::other(reason));
        }
        Ok(kept)
    };
    match read() {
        Ok(kept) => tail::of_bytes(&kept).link,
        Err(error) => {
            let path = path.display();
            tracing::warn!("the chain cannot go on with the audit file `{path}`: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_rotated_files_are_known() {
        for rotated in
            [".1", ".12.gz", "-20270131", "-20270131.gz", "-20270131-120000", ".20270131"]
        {
            assert!(rank(rotated).is_some(), "{rotated}");
        }
        for other in ["", ".", ".gz", ".bak", "-old", ".1.bak", "x", "-1", ".lock", ".é"] {
            assert!(rank(other).is_none(), "{other}");
        }
        assert!(rank(".1") < rank(".2.gz"));
        assert!(rank("-20270131") < rank("-20270130"));
    }
}
