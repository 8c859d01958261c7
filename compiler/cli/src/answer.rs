//! The forms in which verbs answer about a bundle: for programs and, where verbs share them, for
//! people.

pub(crate) mod gate;
pub(crate) mod message;
pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod size;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod tag_index;
pub(crate) mod tool;
