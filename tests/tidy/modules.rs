//! The modules of a crate and who imports from whom, read from its sources.
//!
//! A parent imports its children, whether or not it names them. A path is followed through
//! re-exports to the module that declares the thing. Modules named `tests` are left out: they name
//! what they test, and stay unnamed themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module: the names from the root of its crate.
type Module = Vec<String>;

/// A crate's modules, each with the modules that it imports from.
pub(super) type Graph = BTreeMap<Module, BTreeSet<Module>>;

/// Reads the graph of the crate whose sources are these files.
pub(super) fn of_files(source: &Path, files: &[std::path::PathBuf]) -> Graph {
    let texts = files.iter().filter(|file| !file.ends_with("main.rs")).map(|file| {
        let below = file.strip_prefix(source).unwrap().with_extension("");
        let names = below.iter().map(|name| name.to_str().unwrap().to_owned());
        let module: Module = names.filter(|name| name != "lib").collect();
        (module, fs::read_to_string(file).unwrap())
    });
    graph(texts.collect())
}

/// Reads the graph of a crate of these modules.
pub(super) fn graph(texts: BTreeMap<Module, String>) -> Graph {
    let is_test = |module: &&Module| module.iter().any(|name| name == "tests");
    let modules = texts.keys().filter(|module| !is_test(module));
    let parsed: BTreeMap<Module, Parsed> =
        modules.map(|module| (module.clone(), parse(&texts[module]))).collect();
    let imports = |(module, file): (&Module, &Parsed)| {
        let children = parsed
            .keys()
            .filter(|other| other.split_last().is_some_and(|(_, rest)| rest == *module));
        let named = file.paths.iter().filter_map(|path| resolve(&parsed, module, path, 0));
        let mut imports: BTreeSet<Module> = named.chain(children.cloned()).collect();
        imports.remove(module);
        (module.clone(), imports)
    };
    parsed.iter().map(imports).collect()
}

/// Folds a graph to the modules right below the root.
pub(super) fn top_level(graph: &Graph) -> Graph {
    let mut folded = Graph::new();
    for (module, imports) in graph.iter().filter(|(module, _)| !module.is_empty()) {
        let own = &module[..1];
        let tops = imports.iter().filter(|other| !other.is_empty() && other[..1] != *own);
        folded.entry(own.to_vec()).or_default().extend(tops.map(|other| other[..1].to_vec()));
    }
    folded
}

/// Returns the imports that are part of a circle, as `a -> b`.
pub(super) fn circles(graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for (from, imports) in graph {
        for to in imports.iter().filter(|to| reaches(graph, to, from)) {
            found.push(format!("{} -> {}", name(from), name(to)));
        }
    }
    found
}

fn reaches(graph: &Graph, from: &Module, to: &Module) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            open.extend(graph.get(module).into_iter().flatten());
        }
    }
    false
}

fn name(module: &Module) -> String {
    if module.is_empty() { "the crate's root".to_owned() } else { module.join("::") }
}

/// The modules that a file names.
#[derive(Default)]
struct Parsed {
    /// Paths from `crate`, `self` or a child, in order of mention.
    paths: Vec<Vec<String>>,
    /// Names that `use` brings in, with the path of each.
    names: BTreeMap<String, Vec<String>>,
}

/// Returns the module that declares what `path` names; `None` for what is of another crate.
fn resolve(
    parsed: &BTreeMap<Module, Parsed>,
    module: &Module,
    path: &[String],
    depth: usize,
) -> Option<Module> {
    let (first, mut rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Module::new(),
        "self" | "super" => module.clone(),
        _ if parsed.contains_key(&[module.as_slice(), std::slice::from_ref(first)].concat()) => {
            rest = path;
            module.clone()
        }
        _ => return None,
    };
    if first == "super" {
        at.pop();
    }
    while let Some((segment, after)) = rest.split_first() {
        let below = [at.as_slice(), std::slice::from_ref(segment)].concat();
        if segment == "super" {
            at.pop();
        } else if parsed.contains_key(&below) {
            at = below;
        } else {
            let brought = parsed.get(&at).and_then(|file| file.names.get(segment));
            let declared = brought.filter(|_| depth < 8 && at != *module);
            return declared.and_then(|path| resolve(parsed, &at, path, depth + 1)).or(Some(at));
        }
        rest = after;
    }
    Some(at)
}

fn parse(text: &str) -> Parsed {
    let tokens = tokens(text);
    let mut parsed = Parsed::default();
    // Modules within the file, by the depth of braces that they are at.
    let (mut inline, mut depth): (Vec<usize>, usize) = (Vec::new(), 0);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let before = at.checked_sub(1).map_or("", |before| tokens[before].as_str());
        match token.as_str() {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inline.pop_if(|opened| *opened == depth);
            }
            "mod" if tokens.get(at + 2).is_some_and(|next| next == "{") => {
                if tokens[at + 1] == "tests" {
                    at = block_end(&tokens, at + 2);
                    continue;
                }
                inline.push(depth);
            }
            "use" => {
                let mut leaves = Vec::new();
                at = use_tree(&tokens, at + 1, &[], &mut leaves);
                for (path, name) in leaves {
                    if let Some(path) = from_file(path, inline.len()) {
                        parsed.names.insert(name, path.clone());
                        parsed.paths.push(path);
                    }
                }
                continue;
            }
            // Visibility is different from an import: `pub(in crate::parse)`.
            "pub" if tokens.get(at + 2).is_some_and(|next| next == "in") => {
                at += 3;
                while tokens.get(at).is_some_and(|token| token != ")") {
                    at += 1;
                }
            }
            word if is_word(word)
                && before != "::"
                && tokens.get(at + 1).is_some_and(|next| next == "::") =>
            {
                let mut path = vec![word.to_owned()];
                while tokens.get(at + 1).is_some_and(|next| next == "::")
                    && tokens.get(at + 2).is_some_and(|next| is_word(next))
                {
                    path.push(tokens[at + 2].clone());
                    at += 2;
                }
                parsed.paths.extend(from_file(path, inline.len()));
            }
            _ => {}
        }
        at += 1;
    }
    parsed
}

/// Returns the place after the block that begins at `at`.
fn block_end(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            _ => {}
        }
    }
    at
}

/// Returns a path as seen from the file's own module; `None` if it names something in the file.
fn from_file(mut path: Vec<String>, inline: usize) -> Option<Vec<String>> {
    for _ in 0..inline {
        match path.first().map(String::as_str) {
            Some("super") => _ = path.remove(0),
            Some("crate") => return Some(path),
            _ => return None,
        }
    }
    if inline > 0 && path.first().is_none_or(|first| first != "super") {
        path.insert(0, "self".to_owned());
    }
    (!path.is_empty()).then_some(path)
}

/// Reads one tree of a `use` into its paths, each with the name that it brings in; returns where
/// the tree ends.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    prefix: &[String],
    leaves: &mut Vec<(Vec<String>, String)>,
) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    at = use_tree(tokens, at, &path, leaves);
                    at += usize::from(tokens.get(at).is_some_and(|token| token == ","));
                }
                return at + 1;
            }
            word if is_word(word) && word != "as" => {
                if word != "self" || path.is_empty() {
                    path.push(word.to_owned());
                }
                at += 1;
            }
            "*" => at += 1,
            _ => break,
        }
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if tokens.get(at).is_some_and(|token| token == "as") {
        name = tokens.get(at + 1).cloned().unwrap_or_default();
        at += 2;
    }
    leaves.push((path, name));
    at
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns words and signs; comments, texts and characters are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_text(rest) {
            length
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' {
            character(rest)
        } else if is_word(rest) {
            let end = |c: char| !(c.is_alphanumeric() || c == '_');
            let length = rest.find(end).unwrap_or(rest.len());
            tokens.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of a raw text, if one begins here.
fn raw_text(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or(text.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let begins = text.len() - body.len();
    Some(begins + body.find(&end).map_or(body.len(), |at| at + end.len()))
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a character, or of the quote alone where a lifetime begins.
fn character(text: &str) -> usize {
    let mut after = text.chars().skip(1);
    match (after.next(), after.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted(text, '\''),
        _ => 1,
    }
}
