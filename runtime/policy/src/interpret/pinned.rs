//! Programs pinned by a project: those in its folders of tools, and the wrappers of its build.
//!
//! Such a program follows from the project, like the code of its tests (docs/tiers.md 7.6), so it
//! counts as the program of that name. A program written by the text itself is judged by the text
//! instead.

use super::machine::{Machine, Pinned, PinnedKind};
use crate::effect::{Act, CallId, Effects, Hidden, Touch, What};
use crate::facts::NodeRow;
use crate::location::below;
use crate::paths;
use crate::span::Span;
use crate::state::Folder;
use crate::tier::Floor;
use crate::value::{Field, Mark, is_mark, is_root};

/// The folders of tools, each after its parent folder.
const FOLDERS: &[(&[u8], &[u8])] =
    &[(b".venv", b"bin"), (b"venv", b"bin"), (b"node_modules", b".bin"), (b"vendor", b"bin")];
/// Wrappers of a build, in any folder of the work tree.
const WRAPPERS: &[&[u8]] = &[b"gradlew", b"mvnw"];
/// Wrappers that Rails and Bundler write to `bin`.
const BINSTUBS: &[&[u8]] = &[b"rails", b"rake", b"rspec", b"bundle", b"rubocop"];
/// The file that a shell reads to find the programs of a virtual environment.
const ACTIVATION: &[u8] = b"activate";

/// Returns the facts of a pinned program, and its word reduced to the name.
pub(super) fn program<'c>(
    run: &mut Machine<'_>,
    id: CallId,
    word: &Field<'c>,
    folder: &Folder,
) -> Option<(NodeRow, Field<'c>)> {
    let Named { path, name, is_own } = pinned(run, &word.text.bytes, folder)?;
    let node = run.facts.program(&name).and_then(|id| run.facts.node(id))?;
    let start = word.text.bytes.len().checked_sub(name.len())?;
    if is_made(run, &path) {
        return None;
    }
    if is_own {
        note(run, id, path, word.text.span);
    } else {
        // The program of another project may differ from the described one, so its facts are only
        // the lower bound.
        let reason = "no fact describes a program at this path";
        run.within(id, |run| run.doubt(Floor::UnknownProgram, word.text.span, reason));
    }
    Some((node, Field { text: word.text.after(start), ..word.clone() }))
}

/// Reads the activation of a virtual environment; returns whether the file is one.
pub(super) fn activates(
    run: &mut Machine<'_>,
    id: CallId,
    file: &Field<'_>,
    folder: &Folder,
) -> bool {
    let Some(Named { path, name, is_own }) = pinned(run, &file.text.bytes, folder) else {
        return false;
    };
    if !is_own || name != ACTIVATION || is_made(run, &path) {
        return false;
    }
    note(run, id, path, file.text.span);
    true
}

/// Returns whether the text has fetched or written a file, so that its code is known or fetched.
fn is_made(run: &Machine<'_>, path: &[u8]) -> bool {
    run.files.is_fetched(path) || !run.files.made_texts(path).is_empty()
}

fn note(run: &mut Machine<'_>, call: CallId, path: Vec<u8>, span: Span) {
    run.within(call, |run| run.does(Act::RunsPinned, span));
    run.pinned.push(Pinned { kind: PinnedKind::Program, path, call: Some(call), span });
}

/// Notes a module imported by code: the folder may hold a file of its name.
pub(super) fn imports(run: &mut Machine<'_>, path: Vec<u8>, span: Span) {
    let call = run.effects.current();
    if run.step(1, span) {
        run.pinned.push(Pinned { kind: PinnedKind::Module, path, call, span });
    }
}

/// Adds a doubt about each pinned file that the text writes, before or after its use: a loop may
/// repeat it.
pub(super) fn check(run: &mut Machine<'_>) {
    for Pinned { kind, path, call, span } in std::mem::take(&mut run.pinned) {
        if !is_written(&run.effects, &path, kind) {
            continue;
        }
        let doubt = |run: &mut Machine<'_>| match kind {
            PinnedKind::Program => {
                let reason = "the text writes the program that it runs";
                run.doubt(Floor::UnknownProgram, span, reason);
            }
            PinnedKind::Module => {
                run.runs(Hidden::Opaque, span, "the text writes a module that the code imports");
            }
        };
        match call {
            Some(call) => run.within(call, doubt),
            None => doubt(run),
        }
    }
}

/// A program in a folder of tools, or a wrapper of a build.
struct Named {
    /// Its path, relative to the work tree.
    path: Vec<u8>,
    name: Vec<u8>,
    /// Whether it belongs to the project of the text.
    is_own: bool,
}

/// Returns the pinned program that a word names.
fn pinned(run: &Machine<'_>, word: &[u8], folder: &Folder) -> Option<Named> {
    let is_rooted = word.first().is_some_and(|first| *first == b'/' || is_root(*first));
    let is_literal = word.iter().all(|byte| !is_mark(*byte) || is_root(*byte));
    let is_adrift = matches!(folder, Folder::Unknown) && !is_rooted;
    if !word.contains(&b'/') || !is_literal {
        return None;
    }
    let path = paths::normalised(word, folder, run.ground);
    let path = match path.as_slice() {
        [first, b'/', rest @ ..] if Mark::Work.is(*first) => rest,
        path => path,
    };
    let mut parts = path.rsplit(|byte| *byte == b'/');
    let name = parts.next()?;
    let (inner, outer) = (parts.next(), parts.next());
    let is_own = !is_adrift
        && path.first().is_some_and(|first| *first != b'/' && !is_mark(*first))
        && !path.starts_with(b"..");
    let is_tool = FOLDERS.iter().any(|(around, own)| (outer, inner) == (Some(*around), Some(*own)));
    let is_stub = inner == Some(b"bin") && BINSTUBS.contains(&name);
    let is_pinned = is_tool || is_stub || WRAPPERS.contains(&name);
    is_pinned.then(|| Named { path: path.to_vec(), name: name.to_vec(), is_own })
}

/// The programs that make a virtual environment; its tools come from its packages.
const ENVIRONMENTS: &[&str] = &["python", "python3", "uv", "virtualenv"];

/// Returns whether a text writes a file, a folder around it, or an unknown path that may be one of
/// these. Changes of its mode and builds in such a folder are ignored.
fn is_written(effects: &Effects, file: &[u8], kind: PinnedKind) -> bool {
    effects.all().iter().any(|effect| {
        let What::Path { touch: Touch::Write | Touch::Append, path, .. } = effect.what else {
            return false;
        };
        let call = effect.by.and_then(|id| effects.call(id));
        // The output folder of a build comes from the facts of the program; its span is then the
        // whole call.
        let is_build = call.is_some_and(|call| call.span == effect.span);
        let makes_environment = call.is_some_and(|call| {
            let program = effects.display(call.program);
            ENVIRONMENTS.iter().any(|name| program == *name)
        });
        let path = match effects.bytes_of(path) {
            [first, b'/', rest @ ..] if Mark::Work.is(*first) => rest,
            path if path == Mark::Work.text() => b"",
            path => path,
        };
        let is_around = path.is_empty() || below(file, path).is_some();
        let is_tools = path
            .split(|byte| *byte == b'/')
            .any(|part| FOLDERS.iter().any(|(around, _)| *around == part));
        match path.iter().position(|byte| is_mark(*byte)) {
            Some(known) => file.starts_with(path.get(..known).unwrap_or(path)),
            None if path == file || below(path, file).is_some() => true,
            None if kind == PinnedKind::Module => false,
            None => is_around && (!is_build || is_tools) && !makes_environment,
        }
    })
}
