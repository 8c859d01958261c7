//! Faults that refuse a whole configuration.

use std::io;
use std::path::PathBuf;

use super::limits::{
    ARGUMENTS_MAX, BYTES_MAX, FILES_MAX, IGNORE_UNKNOWN_BYTES_MAX, INCLUDE_DEPTH_MAX, JUMPS_MAX,
    LINE_BYTES_MAX, LINES_MAX,
};
use crate::place::Place;

/// A fault that refuses a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Reading a file failed.
    #[error("ssh_config file `{}` cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line is invalid.
    #[error("{at}: {reason}")]
    Line {
        /// The line.
        at: Place,
        /// Why it is invalid.
        reason: LineError,
    },
}

/// Reasons why a line is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It is invalid UTF-8, or has a zero byte.
    #[error("the line is invalid text: write UTF-8 without zero bytes")]
    Text,
    /// A quote is open at the end.
    #[error("a quote has no end: close it, or write `\\` before it")]
    Quote,
    /// Its keyword is unknown.
    #[error(
        "`{keyword}` is an unknown keyword: correct it, or list it in an `IgnoreUnknown` above"
    )]
    Keyword {
        /// The keyword, in lower case.
        keyword: String,
    },
    /// Nothing, or an empty value, follows its keyword.
    #[error("`{keyword}` has no value: write one after it")]
    Missing {
        /// The keyword.
        keyword: String,
    },
    /// More follows its value.
    #[error(
        "`{keyword}` has one value: remove the rest of the line, or put quotes around all of it"
    )]
    Extra {
        /// The keyword.
        keyword: &'static str,
    },
    /// Too many values follow its keyword.
    #[error("`{keyword}` has over {ARGUMENTS_MAX} values: write fewer")]
    Many {
        /// The keyword.
        keyword: String,
    },
    /// Its value is invalid.
    #[error("`{value}` is invalid for `{keyword}`: write {expected}")]
    Value {
        /// The keyword.
        keyword: &'static str,
        /// The value.
        value: String,
        /// The values that are valid.
        expected: &'static str,
    },
    /// `none` has others beside it.
    #[error("`{keyword}` has `none` and more: write one of them")]
    NoneAndMore {
        /// The keyword.
        keyword: &'static str,
    },
    /// A jump is invalid.
    #[error(
        "`{value}` is invalid for `ProxyJump`: write `none`, or at most {JUMPS_MAX} of \
         `user@host:port` with commas between"
    )]
    Jump {
        /// The jump.
        value: String,
    },
    /// A criterion of a `Match` is incomplete.
    #[error("`Match {criterion}` is incomplete: write a pattern after each criterion")]
    Criterion {
        /// The criterion, or nothing.
        criterion: String,
    },
    /// `Match all` has more criteria.
    #[error("`all` is the only criterion of its `Match`: remove the others")]
    AllAndMore,
    /// An `Include` has an unsupported path.
    #[error(
        "`Include {path}` is not supported: write a path with `*` and `?` alone, absolute, below `~/`, \
         or relative to `~/.ssh`"
    )]
    Include {
        /// The path.
        path: String,
    },
    /// Files include each other.
    #[error("files are included over {INCLUDE_DEPTH_MAX} levels deep: remove the circle")]
    Deep,
    /// There are too many files.
    #[error("over {FILES_MAX} files are included: include fewer")]
    Files,
    /// A line is too long.
    #[error("the line has over {LINE_BYTES_MAX} bytes: shorten it")]
    Long,
    /// The lists of unknown keywords are too long.
    #[error("the `IgnoreUnknown` lists have over {IGNORE_UNKNOWN_BYTES_MAX} bytes: shorten them")]
    Unknown,
    /// There is too much text.
    #[error("the files have over {BYTES_MAX} bytes or {LINES_MAX} lines in all: shorten them")]
    Large,
}
