//! The tools of relay itself: one table, and everything derived from it.
//!
//! A row of [`TOOLS`] declares a tool. Its entry in `tools/list`, how its arguments are decoded,
//! its limits and its section of `docs/tools.md` are derived from that row; the runtime adds only
//! the implementation.

mod arguments;
mod forward_spec;
mod limits;
mod offered;
mod reach;
mod spec;
mod table;
mod typed;
mod words;

pub use arguments::{ArgumentError, Arguments, decode};
pub use forward_spec::{ForwardKind, ForwardSpec, NotAForward};
pub use limits::Limits;
pub use offered::{Offered, UnknownTool};
pub(crate) use reach::REMOTE_PATH;
pub use reach::{NoCommand, REACH, Reach, SHELL, command_arguments, host_list, reach};
pub use spec::{Bound, Gating, Group, Keep, Kind, Limit, Output, Parameter, Time, ToolSpec};
pub use table::{BRIEFING, FANOUT_MAX, TAGS_PLACEHOLDER, TOOLS, find};
pub use typed::{INTERRUPT, Typed, gone_on, pending_after, typed};
pub use words::{join_words, plain_words, quote_word, split_words};
