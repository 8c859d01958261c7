//! The calls of programs in a text, and their effects, in the order of a shell.
//!
//! Every decision about a text (its tier, and rules) is a function of this list alone. No part of
//! this module knows a script, or names a tier.

mod act;
mod argument;
mod call;
mod log;
mod value;
mod what;

pub use act::Act;
pub(crate) use call::Cap;
pub use call::{Argument, ArgumentKind, Call, CallId};
pub use log::Effects;
pub use value::Value;
pub use what::{Effect, Fact, Hidden, Mount, Sent, TYPED, Touch, What};
