//! Shared by tests: projects in memory, and reports as `relay` prints them to a pipe.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use relay_bundle::{Bundle, Contents};
use relay_compiler::{Compiled, Files, Listed, Options, ReadError, Sources, compile};
use relay_engine::view::View;

use crate::shipped;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent").to_owned()
}

/// The files of a project, in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(pub(crate) BTreeMap<String, Vec<u8>>);

impl Memory {
    /// A project of these files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| ((*path).to_owned(), text.as_bytes().to_vec());
        Self(files.iter().map(file).collect())
    }

    /// The files below a folder.
    pub(crate) fn folder(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        read_below(folder, folder, &mut files);
        Self(files)
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        if let Some(bytes) = self.0.get(path) {
            return Ok(bytes.clone());
        }
        let folder = format!("{path}/");
        if self.0.keys().any(|other| other.starts_with(&folder)) {
            return Err(ReadError::WrongKind { expected: "a file" });
        }
        Err(ReadError::NotFound)
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let paths = self.0.keys().filter(|path| path.starts_with(&below));
        let listed: Vec<_> =
            paths.map(|path| Listed { path: path.clone(), link: false, fault: None }).collect();
        if listed.is_empty() { Err(ReadError::NotFound) } else { Ok(listed) }
    }
}

fn read_below(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            read_below(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("below the root");
            let name = name.to_str().expect("UTF-8").replace('\\', "/");
            files.insert(name, fs::read(&path).expect("a file"));
        }
    }
}

/// Returns the sources of a project, as `relay` hands them to the compiler.
pub(crate) fn sources<'f>(files: &'f dyn Files, project: &str) -> Sources<'f> {
    Sources::new(files, project).with_facts(shipped::facts())
}

/// Compiles a project and renders its report.
pub(crate) fn compiled(files: &Memory, project: &str, options: &Options) -> (Compiled, String) {
    let sources = sources(files, project);
    let compiled = compile(&sources, options);
    let report = relay_cli::findings(&sources, &compiled.diagnostics);
    (compiled, report)
}

/// The contents of the bundle of a compiled project, if there is one.
pub(crate) fn contents(compiled: &Compiled) -> Option<Contents> {
    let bytes = compiled.bundle.clone()?;
    let bundle = Bundle::open(Box::new(bytes)).expect("what was written opens");
    Some(bundle.contents().expect("what was written can be read"))
}

/// Returns what everyone sees of a bundle without audiences.
pub(crate) fn view(bundle: &Bundle) -> View<'_> {
    View::of_audience(bundle, 0).expect("the bundle is good")
}
