//! Paths that a text names.

use super::machine::Machine;
use super::own::Own;
use crate::effect::{Touch, What};
use crate::paths::{self, Path, PathClass};
use crate::state::{Folder, Frame};
use crate::value::Text;

/// The longest kept path of a folder: each relative path is read together with it.
const FOLDER_BYTES_MAX: usize = 256;

/// Returns the class of a path, relative to the current folder.
pub(super) fn path_of(run: &Machine<'_>, text: &Text<'_>, frame: &Frame) -> Path {
    paths::classify(&text.bytes, &frame.state.folder, run.ground)
}

/// Adds an action on a path as an effect of the program itself.
pub(super) fn own_path(run: &mut Machine<'_>, touch: Touch, text: &Text<'_>, own: &mut Own) {
    let path = path_of(run, text, &own.frame);
    let what = touched(run, touch, &path, own.frame.is_many);
    own.add(what, text.span);
}

/// Adds an action on a path as an effect of the shell.
pub(super) fn shell_path(run: &mut Machine<'_>, touch: Touch, text: &Text<'_>, frame: &Frame) {
    let path = path_of(run, text, frame);
    let what = touched(run, touch, &path, frame.is_many);
    run.effects.add(what, text.span);
}

/// Adds a path that the program reads.
pub(super) fn own_read(run: &mut Machine<'_>, text: &Text<'_>, own: &mut Own) -> Path {
    let path = path_of(run, text, &own.frame);
    if path.class != PathClass::Null {
        let what = touched(run, Touch::Read, &path, own.frame.is_many);
        own.add(what, text.span);
    }
    path
}

/// Adds a path that the shell reads.
pub(super) fn shell_read(run: &mut Machine<'_>, text: &Text<'_>, frame: &Frame) -> Path {
    let path = path_of(run, text, frame);
    if path.class != PathClass::Null {
        let what = touched(run, Touch::Read, &path, frame.is_many);
        run.effects.add(what, text.span);
    }
    path
}

fn touched(run: &mut Machine<'_>, touch: Touch, path: &Path, is_many: bool) -> What {
    What::Path {
        touch,
        path: run.effects.value(&path.value()),
        class: path.class,
        is_many: is_many || path.is_pattern,
        is_tree: path.is_system_tree,
        is_secret: path.is_secret,
    }
}

/// Returns the folder that a text names, relative to another one.
pub(super) fn enter(run: &mut Machine<'_>, text: &Text<'_>, folder: &Folder) -> Folder {
    let entered = paths::enter(&text.bytes, folder, run.ground);
    match &entered {
        Folder::Known(path) if path.len() > FOLDER_BYTES_MAX => {
            run.unparsed(text.span, "the path of a folder is too long");
            Folder::Unknown
        }
        _ => entered,
    }
}
