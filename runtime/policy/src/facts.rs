//! Facts about programs, in the form that the compiler writes.
//!
//! A lost fact keeps or raises a tier: undeclared options and operands are doubts, and everything
//! that lowers (`Form`, `cap`, harmless values) is itself a fact.

mod acts;
mod check;
mod cursor;
mod decode;
mod encode;
mod encode_error;
mod join;
mod meaning;
mod model;
mod named;
mod names;
mod names_builder;
mod program_name;
mod role;
mod row;
mod row_reader;
mod table;
mod used;

pub use cursor::Damaged;
pub use encode::encode;
pub use encode_error::EncodeError;
pub use join::join;
pub use model::{
    Arity, Flag, Form, Knowledge, LanguageWords, Node, Operand, Output, Place, Position, Role,
    SHIPPED, Special, Style, Value, WordKind,
};
pub(crate) use named::Kinship;
pub(crate) use names::NameId;
pub use program_name::program_name;
pub use row::NodeId;
pub(crate) use row::{Extent, FlagId, FlagRow, FormRow, NameList, NodeBit, NodeRow, OperandRow};
pub(crate) use table::matches;
pub use table::{FactPlace, Facts};
