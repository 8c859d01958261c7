//! The tier of an action on a path: rules 7, 8 and 9 of the convention.

use crate::effect::Touch;
use crate::paths::PathClass;
use crate::tier::Tier;

/// The reach of an action on a path.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// Whether it affects many paths, one after the other.
    pub(super) is_many: bool,
    /// Whether the path is a whole tree of the system.
    pub(super) is_tree: bool,
    /// Whether the path is below `/dev`.
    pub(super) is_device: bool,
}

/// Returns the tier; `None` for an action that only reads.
pub(super) fn tier(touch: Touch, class: PathClass, extent: Extent) -> Option<Tier> {
    use PathClass as P;
    use Touch as T;
    let Extent { is_many, is_tree, is_device } = extent;
    Some(match (touch, class) {
        (T::Read, _) => return None,
        (T::Remove | T::Take, P::Null) if is_device => Tier::Irreversible,
        (T::Change | T::ChangeTree, P::Null) => Tier::Stateful,
        (_, P::Null | P::Connection) => Tier::ReadOnly,
        (T::Remove | T::Empty, _) if is_many => Tier::Irreversible,
        (T::Remove | T::Empty, P::Scratch | P::Work | P::Home) => Tier::Stateful,
        (T::Remove | T::Empty, P::Admits) => Tier::Stateful,
        (T::Remove | T::Empty, _) => Tier::Irreversible,
        (T::ChangeTree, _) if is_tree => Tier::Irreversible,
        (T::Change, _) if is_many && is_tree => Tier::Irreversible,
        (T::Change | T::ChangeTree, P::Device) => Tier::Stateful,
        (_, P::Device) => Tier::Irreversible,
        (T::Write | T::Take, P::Critical) => Tier::Irreversible,
        (_, P::Scratch | P::Work | P::Home) => Tier::Reversible,
        (_, P::Admits | P::System | P::Critical | P::Unknown) => Tier::Stateful,
    })
}
