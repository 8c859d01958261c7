//! All lines of a configuration, with those of the files that it includes.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::directive::{self, Directive, Setting};
use super::error::{ConfigError, LineError};
use super::files::Files;
use super::limits::{
    BYTES_MAX, FILES_MAX, IGNORE_UNKNOWN_BYTES_MAX, INCLUDE_DEPTH_MAX, LINE_BYTES_MAX, LINES_MAX,
};
use super::words;
use crate::name_pattern;
use crate::place::Place;

/// Reads the file at `path` and all that it includes; `home` is the folder of `~`.
///
/// # Errors
///
/// A file is unreadable, a line is invalid, or a limit is reached.
pub(crate) fn read(
    path: &Path,
    home: &str,
    files: &dyn Files,
) -> Result<Vec<Directive>, ConfigError> {
    let mut reader = Reader { home, files, read: 0, bytes: 0, lines: 0, unknown: Vec::new() };
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let text = reader.text(path)?.ok_or_else(|| file_error(path, missing()))?;
    reader.lines(path, &text, 0)
}

/// A reader of files, with the use of each limit.
struct Reader<'a> {
    home: &'a str,
    files: &'a dyn Files,
    read: usize,
    bytes: usize,
    lines: usize,
    /// The lists of all `IgnoreUnknown` lines so far. Each host decides which of them holds.
    unknown: Vec<String>,
}

impl Reader<'_> {
    fn text(&mut self, path: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
        self.files.read(path).map_err(|source| file_error(path, source))
    }

    fn lines(
        &mut self,
        path: &Path,
        text: &[u8],
        depth: usize,
    ) -> Result<Vec<Directive>, ConfigError> {
        let file: Arc<str> = path.display().to_string().into();
        self.read += 1;
        self.bytes += text.len();
        let mut all = Vec::new();
        for (line, bytes) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let at = Place { file: Arc::clone(&file), line };
            self.lines += 1;
            let fault = |reason| ConfigError::Line { at: at.clone(), reason };
            if self.lines > LINES_MAX || self.bytes > BYTES_MAX {
                return Err(fault(LineError::Large));
            }
            if bytes.len() > LINE_BYTES_MAX {
                return Err(fault(LineError::Long));
            }
            let comment = bytes.trim_ascii_start().starts_with(b"#");
            if bytes.is_empty() || comment {
                continue;
            }
            let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
            let text = text.ok_or_else(|| fault(LineError::Text))?;
            let Some(words) = words::split(text).map_err(fault)? else { continue };
            let (keyword, setting) = directive::read(&words).map_err(fault)?;
            let setting = match setting {
                Setting::Include(_) => {
                    Setting::Include(self.included(&at, &words.arguments, depth)?)
                }
                Setting::Unknown(keyword) => {
                    let is_ignored = |list: &String| is_listed(list, &keyword);
                    if !self.unknown.iter().any(is_ignored) {
                        return Err(fault(LineError::Keyword { keyword }));
                    }
                    Setting::Unknown(keyword)
                }
                setting => setting,
            };
            if let Setting::IgnoreUnknown(list) = &setting {
                self.unknown.push(list.clone());
                let bytes: usize = self.unknown.iter().map(String::len).sum();
                if bytes > IGNORE_UNKNOWN_BYTES_MAX {
                    return Err(fault(LineError::Unknown));
                }
            }
            all.push(Directive { at, keyword, setting });
        }
        Ok(all)
    }

    /// Reads the files of an `Include` line.
    fn included(
        &mut self,
        at: &Place,
        paths: &[String],
        depth: usize,
    ) -> Result<Vec<Vec<Directive>>, ConfigError> {
        let fault = |reason| ConfigError::Line { at: at.clone(), reason };
        if depth >= INCLUDE_DEPTH_MAX {
            return Err(fault(LineError::Deep));
        }
        let mut all = Vec::new();
        for written in paths {
            let path = self.anchored(written);
            let path = path.ok_or_else(|| fault(LineError::Include { path: written.clone() }))?;
            for path in self.matching(&path)? {
                // A missing file is as an empty one, as in OpenSSH.
                let Some(text) = self.text(&path)? else { continue };
                if self.read >= FILES_MAX {
                    return Err(fault(LineError::Files));
                }
                all.push(self.lines(&path, &text, depth + 1)?);
            }
        }
        Ok(all)
    }

    /// Returns the absolute path of an `Include`, still with its patterns.
    fn anchored(&self, written: &str) -> Option<PathBuf> {
        // Newer versions of OpenSSH read tokens and variables here, and glob(3) reads more letters.
        if written.contains(['%', '$', '[', ']', '\\']) {
            return None;
        }
        let home = Path::new(self.home);
        match written.strip_prefix('~') {
            Some(rest) => Some(home.join(rest.strip_prefix('/')?)),
            None => Some(home.join(".ssh").join(written)),
        }
    }

    /// Returns the paths that match, in the order of their bytes. Names that begin with a dot need a
    /// pattern that does.
    fn matching(&self, path: &Path) -> Result<Vec<PathBuf>, ConfigError> {
        let mut found = vec![PathBuf::new()];
        for component in path.components() {
            let Component::Normal(pattern) = component else {
                found.iter_mut().for_each(|path| path.push(component));
                continue;
            };
            let pattern = pattern.as_bytes();
            if !pattern.iter().any(|byte| matches!(byte, b'*' | b'?')) {
                found.iter_mut().for_each(|path| path.push(component));
                continue;
            }
            let mut below = Vec::new();
            for folder in &found {
                let names = match self.files.names(folder) {
                    Err(error) if error.kind() == io::ErrorKind::NotADirectory => continue,
                    names => names.map_err(|source| file_error(folder, source))?,
                };
                let is_seen = |name: &&std::ffi::OsString| {
                    let name = name.as_bytes();
                    let is_hidden = name.starts_with(b".") && !pattern.starts_with(b".");
                    !is_hidden && name_pattern::matches(pattern, name)
                };
                below.extend(names.iter().filter(is_seen).map(|name| folder.join(name)));
                // One more than may be read, so that the limit of files is reported.
                below.sort();
                below.truncate(FILES_MAX + 1);
            }
            found = below;
        }
        Ok(found)
    }
}

/// Returns whether an `IgnoreUnknown` list covers a keyword in lower case.
pub(crate) fn is_listed(list: &str, keyword: &str) -> bool {
    name_pattern::host_list_matches(list.as_bytes(), keyword.as_bytes())
}

fn file_error(path: &Path, source: io::Error) -> ConfigError {
    ConfigError::File { path: path.to_owned(), source }
}
