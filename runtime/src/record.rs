//! The server's history: the audit file, the log, counters, and the texts sent to callers.

pub(crate) mod audit;
pub(crate) mod log;
pub(crate) mod memory;
pub(crate) mod metrics;
pub(crate) mod sent_texts;
pub(crate) mod verb;
