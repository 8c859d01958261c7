//! `include PATTERN…`: joins documents, and follows them from the project's first one.

use globset::GlobBuilder;
use hashbrown::HashMap;
use miette::Diagnostic;
use thiserror::Error;

use super::item::item;
use super::node::{self, Node, Reader};
use super::path::{self, PathError};
use super::{document, facts, when};
use crate::ast::{Ast, Document, Item};
use crate::diagnostic::Diagnostics;
use crate::language::Top;
use crate::language::include::INCLUDE;
use crate::source::{FileId, Listed, ReadError, Sources, Span, Spanned};

/// Parses the project's document and everything it includes, in the order of the text; files of
/// one pattern are taken sorted by path.
pub(crate) fn project(sources: &Sources<'_>, out: &mut Diagnostics) -> Ast {
    let mut ast = Ast::default();
    match sources.load(sources.root()) {
        Ok(file) => {
            let mut includes = Includes { sources, chain: Vec::new(), seen: HashMap::new() };
            includes.follow(file, &mut ast, out);
        }
        // The caller checks that the file can be read before it compiles, and reports in its own
        // words.
        Err(_) => ast.documents.clear(),
    }
    ast
}

/// Parses one document.
fn document(file: FileId, bytes: &[u8], out: &mut Diagnostics) -> Document {
    let nodes = document::parse(file, bytes, out);
    let broken = nodes.is_none();
    let mut document = Document { file, includes: Vec::new(), items: Vec::new(), broken };
    for node in nodes.unwrap_or_default() {
        match Top::of(&node.name.value) {
            Some(Top::Include) => document.includes.extend(self::node(&node, out)),
            // Facts name their lines, as the shipped facts do.
            Some(Top::Facts) => {
                let facts = facts::block(&node, &facts::Lines::new(0, bytes), out);
                document.items.push(Item::Facts(facts));
            }
            Some(Top::When) => document.items.push(Item::When(when::node(&node, out))),
            Some(top) => document.items.extend(item(top, &node, out)),
            None => node::unknown(&node, None, "a project", out),
        }
    }
    document
}

/// Reads an `include` node.
fn node(node: &Node, out: &mut Diagnostics) -> Vec<Spanned<String>> {
    let mut reader = Reader::new(node, &INCLUDE, out);
    let patterns = reader.texts(out);
    reader.finish(out);
    patterns
}

/// Includes may follow one another this deep.
pub(crate) const INCLUDE_DEPTH_MAX: usize = 32;

struct Includes<'s, 'f> {
    sources: &'s Sources<'f>,
    /// The documents that are open: each was included by the one before it.
    chain: Vec<FileId>,
    /// Every document so far, with the include that brought it; `None` for the first one.
    seen: HashMap<FileId, Option<Span>>,
}

impl Includes<'_, '_> {
    fn follow(&mut self, file: FileId, ast: &mut Ast, out: &mut Diagnostics) {
        let source = self.sources.file(file);
        let document = self::document(file, source.bytes(), out);
        let includes = document.includes.clone();
        ast.broken |= document.broken;
        ast.documents.push(document);
        self.chain.push(file);
        self.seen.entry(file).or_insert(None);
        for include in &includes {
            for path in self.matches(&source.path, include, out) {
                self.one(&path, include, ast, out);
            }
        }
        self.chain.pop();
    }

    fn one(&mut self, path: &str, include: &Spanned<String>, ast: &mut Ast, out: &mut Diagnostics) {
        let at = include.at;
        let file = match self.sources.load(path) {
            Ok(file) => file,
            Err(reason) => {
                out.report(at, Unreadable { path: path.into(), reason, at });
                return;
            }
        };
        if let Some(kind) = foreign(path) {
            out.report(at, Foreign { path: path.into(), kind, at });
            return;
        }
        if self.chain.contains(&file) {
            let chain = self.chain.iter().map(|id| self.sources.file(*id).path.clone());
            let chain: Vec<_> = chain.chain([path.to_owned()]).collect();
            out.report(at, Cycle { path: path.into(), chain: chain.join(" -> "), at });
            return;
        }
        if let Some(Some(first_at)) = self.seen.get(&file) {
            out.report(at, Twice { path: path.into(), first_at: *first_at, at });
            return;
        }
        if self.chain.len() == INCLUDE_DEPTH_MAX {
            out.report(at, TooDeep { path: path.into(), at });
            return;
        }
        self.seen.insert(file, Some(at));
        self.follow(file, ast, out);
    }

    fn matches(
        &self,
        document: &str,
        include: &Spanned<String>,
        out: &mut Diagnostics,
    ) -> Vec<String> {
        let at = include.at;
        let pattern = match path::resolve(document, &include.value) {
            Ok(pattern) => pattern,
            Err(fault) => {
                out.report(at, BadPath { path: include.value.clone(), fault, at });
                return Vec::new();
            }
        };
        let Some(magic) = pattern.find(['*', '?', '[', '{']) else { return vec![pattern] };
        let glob = match GlobBuilder::new(&pattern).literal_separator(true).build() {
            Ok(glob) => glob.compile_matcher(),
            Err(error) => {
                let reason = error.kind().to_string();
                out.report(at, BadPattern { pattern: include.value.clone(), reason, at });
                return Vec::new();
            }
        };
        // Matches lie below the literal part.
        let fixed = pattern.get(..magic).unwrap_or_default();
        let folder = fixed.rsplit_once('/').map_or("", |(folder, _)| folder);
        let listed = match self.sources.list(folder) {
            Ok(listed) => listed,
            Err(ReadError::NotFound) => Vec::new(),
            Err(reason) => {
                out.report(at, Unreadable { path: folder.into(), reason, at });
                return Vec::new();
            }
        };
        // An unreadable folder may hold documents that match.
        for Listed { path, link: _, fault } in &listed {
            if let Some(reason) = fault.clone().filter(|_| path.ends_with('/')) {
                out.report(at, Unreadable { path: path.clone(), reason, at });
            }
        }
        let found: Vec<_> =
            listed.into_iter().map(|file| file.path).filter(|path| glob.is_match(path)).collect();
        if found.is_empty() {
            out.report(at, NoMatch { pattern: include.value.clone(), at });
        }
        found
    }
}

/// Returns the kind of a file that no document is, by the ending of its name.
fn foreign(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "md" | "mdc" | "markdown" => Some("Markdown"),
        "j2" | "jinja" => Some("a template"),
        "txt" => Some("a text"),
        "json" => Some("JSON"),
        "toml" => Some("TOML"),
        "yaml" | "yml" => Some("YAML"),
        _ => None,
    }
}

/// The lines of the file would be read as nodes, and each would be a fault.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is {kind}, and `include` joins documents of KDL")]
#[diagnostic(
    code(include::foreign),
    help(
        "a text becomes a prompt by `prompts {{ folder \"FOLDER\" }}`, or `prompts {{ prompt NAME file=\"{path}\" }}`"
    )
)]
struct Foreign {
    path: String,
    kind: &'static str,
    #[label(primary, "included here")]
    at: Span,
}

/// The declarations of the document are unknown, so the project cannot be built.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot include `{path}`: {reason}")]
#[diagnostic(code(include::unreadable), help("paths are relative to the document that names them"))]
struct Unreadable {
    path: String,
    reason: ReadError,
    #[label(primary, "included here")]
    at: Span,
}

/// A document that includes itself would never end.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` includes itself: {chain}")]
#[diagnostic(code(include::cycle), help("remove this include"))]
struct Cycle {
    path: String,
    chain: String,
    #[label(primary, "closes the circle")]
    at: Span,
}

/// The limit ends a chain of documents that is too long for a person to follow.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is included through more than {INCLUDE_DEPTH_MAX} documents")]
#[diagnostic(
    code(include::too_deep),
    help("include it from a document that is nearer to the project's own")
)]
struct TooDeep {
    path: String,
    #[label(primary, "one too deep")]
    at: Span,
}

/// The nodes of a document are joined once, so the second include has no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is included twice")]
#[diagnostic(code(include::twice), severity(Warning), help("remove one; the second adds nothing"))]
struct Twice {
    path: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// The path is invalid. A bundle must be the same on each machine, so documents are joined from the
/// project's own folder, by paths with one meaning everywhere.
#[derive(Debug, Error, Diagnostic)]
#[error("{fault}: `{path}`")]
#[diagnostic(
    code(include::path),
    help("write a path relative to this document, inside the project's folder, with `/`")
)]
struct BadPath {
    path: String,
    fault: PathError,
    #[label(primary, "this path")]
    at: Span,
}

/// An invalid pattern would include nothing, or other files than intended.
#[derive(Debug, Error, Diagnostic)]
#[error("bad pattern `{pattern}`: {reason}")]
#[diagnostic(
    code(include::pattern),
    help("`*` matches within a folder, `**` any folders, `?` one character, `[a-z]` one of them")
)]
struct BadPattern {
    pattern: String,
    reason: String,
    #[label(primary, "this pattern")]
    at: Span,
}

/// An include without a file is a mistyped path, or a file that was not committed.
#[derive(Debug, Error, Diagnostic)]
#[error("no file matches `{pattern}`")]
#[diagnostic(code(include::no_match), help("add a file, or remove the include"))]
struct NoMatch {
    pattern: String,
    #[label(primary, "includes nothing")]
    at: Span,
}
