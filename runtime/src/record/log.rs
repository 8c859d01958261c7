//! The log: lines of text on standard error. On stdio, standard output is for the protocol.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::settings::args::Transport;
use crate::settings::{LOG_VARIABLE, Settings};

/// Starts the log. An unknown level in `RELAY_LOG` is reported and otherwise ignored.
///
/// `chatty_target` is that of the library that repeats text of callers: it is left out unless
/// everything is logged.
pub(crate) fn start(settings: &Settings, chatty_target: &str) {
    let usual = match settings.transport {
        Transport::Stdio => LevelFilter::WARN,
        Transport::Http(_) => LevelFilter::INFO,
    };
    let asked = settings.log_level.as_deref();
    let level = asked.and_then(|text| text.parse().ok());
    let own = level.unwrap_or(usual);
    let targets =
        Targets::new().with_target("relay_runtime", own).with_target("relay_machine", own);
    let targets = if own > LevelFilter::DEBUG {
        // At this level, libraries also log texts of callers.
        targets.with_default(own)
    } else if own > LevelFilter::INFO {
        // rmcp repeats text of callers with each rejected request.
        targets.with_target(chatty_target, LevelFilter::OFF).with_default(LevelFilter::WARN)
    } else {
        targets
            .with_target(chatty_target, LevelFilter::OFF)
            .with_default(own.min(LevelFilter::ERROR))
    };
    // The name of a module helps only with the lines of libraries, which come at these levels.
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(own > LevelFilter::INFO);
    // A second start in one process (a test of the library) keeps the first log.
    _ = tracing_subscriber::registry().with(targets).with(lines).try_init();
    if let (Some(text), None) = (asked, level) {
        tracing::warn!(
            "{LOG_VARIABLE} is `{text}`, which is none of off, error, warn, info, debug, trace"
        );
    }
}
