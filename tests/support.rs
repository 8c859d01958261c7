//! What tests share: projects in memory, reports drawn as a person sees them in a pipe.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, SourceCode};
use relay_bundle::{Bundle, Contents};
use relay_compiler::{
    Compiled, Diagnostics, Files, Listed, Options, ReadError, Sources, Texts, compile,
};

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
        let listed: Vec<_> = paths.map(|path| Listed { path: path.clone(), link: false }).collect();
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

/// Compiles a project and draws its report.
pub(crate) fn compiled(files: &Memory, project: &str, options: &Options) -> (Compiled, String) {
    let sources = Sources::new(files, project);
    let compiled = compile(&sources, options);
    let report = report(&sources, &compiled.diagnostics);
    (compiled, report)
}

/// What the bundle of a compiled project holds; `None` if there is no bundle.
pub(crate) fn contents(compiled: &Compiled) -> Option<Contents> {
    let bytes = compiled.bundle.clone()?;
    let bundle = Bundle::open(Box::new(bytes)).expect("what was written opens");
    Some(bundle.contents().expect("what was written can be read"))
}

/// Draws diagnostics without colour, 100 columns wide.
pub(crate) fn report(sources: &Sources<'_>, diagnostics: &Diagnostics) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .with_links(false);
    let texts = sources.texts();
    let mut drawn = String::new();
    for report in diagnostics.sorted() {
        let report = WithTexts { diagnostic: &*report.diagnostic, texts: &texts };
        handler.render_report(&mut drawn, &report).expect("drawing into a string");
        drawn.push('\n');
    }
    drawn
}

/// A diagnostic with the files that its labels lie in.
struct WithTexts<'d> {
    diagnostic: &'d (dyn Diagnostic + Send + Sync),
    texts: &'d Texts,
}

impl std::fmt::Debug for WithTexts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self.diagnostic, f)
    }
}

impl std::fmt::Display for WithTexts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.diagnostic)
    }
}

impl std::error::Error for WithTexts<'_> {}

impl Diagnostic for WithTexts<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.diagnostic.code()
    }

    fn severity(&self) -> Option<miette::Severity> {
        self.diagnostic.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.diagnostic.help()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.texts)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        self.diagnostic.labels()
    }
}
