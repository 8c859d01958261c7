//! What the server keeps of what happened: the audit file, the log, counters, and what callers were sent.

pub(crate) mod audit;
pub(crate) mod log;
pub(crate) mod memory;
pub(crate) mod metrics;
pub(crate) mod sent_texts;
