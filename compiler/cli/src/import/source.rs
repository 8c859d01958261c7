//! The files that an import reads: within limits, and never out of the project's folder.

use relay_compiler::{Files, Listed, ReadError};

use super::below::Below;
use super::part::Part;
use super::row::{Origin, Row};

/// The most bytes of a file that becomes one prompt.
pub(super) const MARKDOWN_BYTES_MAX: usize = 100_000;
/// The most bytes of a file that holds several.
pub(super) const LIST_BYTES_MAX: usize = 1024 * 1024;
/// The most files of one folder.
const FILES_MAX: usize = 2000;

/// The folder to import, in the project's folder.
pub(crate) struct Source<'f> {
    /// The files of the project's folder.
    pub(crate) files: &'f dyn Files,
    /// The path of the folder to import: empty, or it ends with `/`.
    pub(crate) below: String,
    /// The names of the files right in it, sorted.
    pub(crate) names: Vec<String>,
    /// The files of other programs in the folders below it.
    pub(crate) inside: Below,
}

/// The parts that were found so far, and the rows of what has none.
#[derive(Default)]
pub(crate) struct Found {
    /// The parts, in the order in which they are written.
    pub(crate) parts: Vec<Part>,
    /// The rows of the files that are left out.
    pub(crate) rows: Vec<Row>,
}

impl Source<'_> {
    /// Returns the path of a file or folder to import, from the project's folder.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}{name}", self.below)
    }

    /// Returns the text of a file with `\n` after each line; `None` if the file is missing, or unusable, which
    /// is noted.
    pub(super) fn text(
        &self,
        path: &str,
        bytes_max: usize,
        origin: Origin,
        found: &mut Found,
    ) -> Option<String> {
        let reason = match self.files.read(path) {
            Ok(bytes) if bytes.len() > bytes_max => {
                format!("it has {} bytes, over the limit of {bytes_max}", bytes.len())
            }
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => {
                    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                    return Some(text.replace("\r\n", "\n").replace('\r', "\n"));
                }
                Err(_) => "it is not UTF-8".to_owned(),
            },
            Err(ReadError::NotFound) => return None,
            Err(error) => error.to_string(),
        };
        found.rows.push(Row::left_out(origin, path, 1, reason));
        None
    }

    /// Returns the files below a folder that end with one of `endings`, by path; none if the folder is missing.
    /// Files that cannot be read, and other files, are noted.
    pub(super) fn list(
        &self,
        folder: &str,
        endings: &[&str],
        origin: Origin,
        found: &mut Found,
    ) -> Vec<String> {
        let folder = self.path(folder);
        let listed = match self.files.list(&folder) {
            Ok(listed) => listed,
            Err(ReadError::NotFound) => return Vec::new(),
            Err(error) => {
                found.rows.push(Row::left_out(origin, folder, 1, error.to_string()));
                return Vec::new();
            }
        };
        let mut paths = Vec::new();
        for Listed { path, link: _, fault } in listed {
            let reason = match fault {
                Some(fault) => fault.to_string(),
                None if !endings.iter().any(|ending| path.ends_with(ending)) => {
                    format!("it does not end with {}", endings.join(" or "))
                }
                None if paths.len() == FILES_MAX => {
                    format!("the folder has more than {FILES_MAX} files")
                }
                None => match self.files.read(&path) {
                    Ok(_) => {
                        paths.push(path);
                        continue;
                    }
                    Err(error) => error.to_string(),
                },
            };
            found.rows.push(Row::left_out(origin, path, 1, reason));
        }
        paths
    }
}

/// Returns how a path below a folder is called without its ending.
pub(super) fn name_below<'p>(path: &'p str, folder: &str, ending: &str) -> &'p str {
    let name = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
    name.strip_suffix(ending).unwrap_or(name)
}

/// The folder of the files that an import writes, in the project's folder.
pub(crate) const COPIES: &str = "imported";
