//! What is known about programs: the form in which the compiler hands it over.
//!
//! Facts are written so that a lost one never lowers a tier: options and operands are closed (what no
//! fact declares is a doubt), and what lowers (`Form`, `cap`, harmless values) is itself a fact.

mod decode;
mod encode;
mod model;
mod table;

pub use encode::{EncodeError, encode};
pub use model::{
    Arity, Flag, Form, Knowledge, LanguageWords, Node, Operand, Output, Place, Position, Role,
    Special, Style, Value, WordKind,
};
pub(crate) use table::FlagId;
pub use table::{Damaged, FactPlace, Facts, FlagName, NodeId};
pub(crate) use table::{FormRow, NameRow, NodeBit, NodeRow, Rows, matches};
