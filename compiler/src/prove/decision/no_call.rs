//! An expected decision about no call.

use miette::Diagnostic;
use thiserror::Error;

use crate::prove::case::Case;
use crate::source::Span;

/// An expected decision is about no call
///
/// A decision is about one call: a command of a tool that runs commands, on its host, or the
/// arguments of another tool.
#[derive(Debug, Error, Diagnostic)]
#[error("{fault}")]
#[diagnostic(code(expect::no_call))]
struct OtherCall {
    fault: String,
    #[help]
    help: String,
    #[label(primary, "is no call")]
    at: Span,
}

/// The reason for which a claim is about no call.
pub(in crate::prove) enum NoCall {
    /// The tool runs on another host, and none is named.
    NoHost(String),
    /// The tool has no host, or it is among the arguments.
    Host(String),
    /// The arguments of a tool that runs no command are no object of JSON.
    NoArguments(String),
}

pub(super) fn report(case: &mut Case<'_, '_>, at: Span, fault: NoCall) {
    let (fault, help) = match fault {
        NoCall::NoHost(tool) => {
            (format!("`{tool}` runs on another host"), "name it with `host=`".to_owned())
        }
        NoCall::Host(tool) => (
            format!("`{tool}` takes no `host=`"),
            "`host=` is for tools that run commands on another host: `tool=ssh_exec`".to_owned(),
        ),
        NoCall::NoArguments(tool) => (
            format!("`{tool}` runs no command, and this is no object of JSON"),
            r##"write the arguments of the call: `#"{"name": "value"}"#`, or `"{}"`"##.to_owned(),
        ),
    };
    case.fail(at, OtherCall { fault, help, at });
}
