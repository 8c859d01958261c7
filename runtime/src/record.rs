//! The history that the server keeps: the audit file, the log, counters, and the texts that callers were sent.

pub(crate) mod audit;
pub(crate) mod log;
pub(crate) mod memory;
pub(crate) mod metrics;
pub(crate) mod sent_texts;
pub(crate) mod verb;
