//! The tools of relay itself: one table, and everything derived from it.
//!
//! A row of [`TOOLS`] declares a tool. Its entry in `tools/list`, how its arguments are decoded,
//! its limits and its section of `docs/tools.md` are derived from that row; the runtime adds only
//! the implementation.

mod arguments;
mod offered;
mod reach;
mod spec;
mod table;

pub use arguments::{ArgumentError, Arguments, decode};
pub use offered::{Offered, UnknownTool};
pub use reach::{NoCommand, REACH, Reach, SHELL, command_arguments, reach};
pub use spec::{Gating, Group, Keep, Kind, Parameter, ToolSpec};
pub use table::{BRIEFING, TAGS_PLACEHOLDER, TOOLS, find};
