//! What happens to a path, and how hard that is to undo.

use super::call::Own;
use super::classifier::Classifier;
use super::hit::{Cause, Effect, note};
use crate::paths::{self, Path, PathClass};
use crate::shell::{Folder, Frame};
use crate::text::{Text, display};
use crate::tier::Tier;

/// The longest path of a folder that is kept: each path that is seen from it is read with it.
const FOLDER_BYTES_MAX: usize = 256;

impl Classifier<'_> {
    /// Judges what happens to a path, as something that the program itself does.
    pub(super) fn own_path(
        &mut self,
        effect: Effect,
        text: &Text<'_>,
        frame: &Frame,
        own: &mut Own,
    ) {
        let (tier, cause) = self.path_tier(effect, text, frame);
        own.hit(tier, text.span, cause);
    }

    /// Returns what a path is, seen from the folder that commands run in.
    pub(super) fn path_of(&self, text: &Text<'_>, frame: &Frame) -> Path {
        paths::classify(&text.bytes, &frame.folder, &self.rules.paths)
    }

    /// Judges what happens to a path.
    pub(super) fn path(&mut self, effect: Effect, text: &Text<'_>, frame: &Frame) {
        let (tier, cause) = self.path_tier(effect, text, frame);
        self.hit(tier, text.span, cause);
    }

    /// Returns the folder that a text names, seen from another one.
    pub(super) fn enter(&mut self, text: &Text<'_>, folder: &Folder) -> Folder {
        let entered = paths::enter(&text.bytes, folder);
        match &entered {
            Folder::Known(path) if path.len() > FOLDER_BYTES_MAX => {
                self.unparsed(text.span, "the path of a folder is too long");
                Folder::Unknown
            }
            _ => entered,
        }
    }

    /// Notes a path that is read.
    pub(super) fn reads(&mut self, text: &Text<'_>, frame: &Frame) -> Path {
        let path = self.path_of(text, frame);
        if path.class != PathClass::Null {
            note(&mut self.axes.reads, &display(&path.bytes));
        }
        path
    }

    fn path_tier(&mut self, effect: Effect, text: &Text<'_>, frame: &Frame) -> (Tier, Cause) {
        let path = self.path_of(text, frame);
        if path.class != PathClass::Null {
            note(&mut self.axes.writes, &display(&path.bytes));
        }
        let is_many = frame.is_many || path.is_pattern;
        (path_tier(effect, &path, is_many), Cause::Path { effect, class: path.class, is_many })
    }
}

/// Returns how hard what happens to a path is to undo: rules 7, 8 and 9 of the convention.
fn path_tier(effect: Effect, path: &Path, is_many: bool) -> Tier {
    use Effect as E;
    use PathClass as P;
    match (effect, path.class) {
        (E::Remove | E::Take, P::Null) if path.bytes.starts_with(b"/dev/") => Tier::Irreversible,
        (E::Change | E::ChangeTree, P::Null) => Tier::Stateful,
        (_, P::Null | P::Connection) => Tier::ReadOnly,
        (E::Remove | E::Empty, _) if is_many => Tier::Irreversible,
        (E::Remove | E::Empty, P::Scratch | P::Work | P::Home) => Tier::Stateful,
        (E::Empty, P::Admits) => Tier::Stateful,
        (E::Remove, P::Admits) => Tier::Stateful,
        (E::Remove | E::Empty, _) => Tier::Irreversible,
        (E::ChangeTree, _) if path.is_system_tree => Tier::Irreversible,
        (E::Change, _) if is_many && path.is_system_tree => Tier::Irreversible,
        (E::Change | E::ChangeTree, P::Device) => Tier::Stateful,
        (_, P::Device) => Tier::Irreversible,
        (E::Write | E::Take, P::Critical) => Tier::Irreversible,
        (_, P::Scratch | P::Work | P::Home) => Tier::Reversible,
        (_, P::Admits | P::System | P::Critical | P::Unknown) => Tier::Stateful,
    }
}
