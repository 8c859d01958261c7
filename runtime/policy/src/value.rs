//! Values of a shell: bytes with their place in the text, and their doubts.

mod common;
mod field;
mod join;
mod mark;
mod stream;
mod text;

pub(crate) use common::may_match;
pub(crate) use field::Field;
pub(crate) use join::Join;
#[cfg(test)]
pub(crate) use join::assert_laws;
pub(crate) use mark::{
    Mark, cut_of, display, is_computed, is_exact, is_hole, is_mark, is_match, is_root, is_wildcard,
    join_elements, may_be_option, part_of, root_of, split_elements,
};
pub(crate) use stream::{Content, Stream, Written};
pub(crate) use text::{Text, TextBuilder};
