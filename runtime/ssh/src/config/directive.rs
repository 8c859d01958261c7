//! One line as the setting that it makes.

use std::time::Duration;

use super::criteria::{self, Criterion};
use super::error::LineError;
use super::jump;
use super::keyword::{self, Keyword};
use super::settings::{HostKeyChecking, Jump, Reason};
use super::words::Words;
use crate::place::Place;

/// A line.
#[derive(Debug)]
pub(crate) struct Directive {
    pub(crate) at: Place,
    /// The keyword, as the manual writes it.
    pub(crate) keyword: &'static str,
    pub(crate) setting: Setting,
}

/// A pattern of a `Host` line.
#[derive(Debug)]
pub(crate) struct HostPattern {
    pub(crate) is_negated: bool,
    pub(crate) pattern: String,
}

/// The settings that a line makes. Paths and names are as written.
#[derive(Debug)]
pub(crate) enum Setting {
    Host(Vec<HostPattern>),
    Match(Vec<Criterion>),
    /// The lines of each included file.
    Include(Vec<Vec<Directive>>),
    HostName(String),
    User(String),
    Port(u16),
    IdentityFile(String),
    CertificateFile(String),
    IdentitiesOnly(bool),
    IdentityAgent(String),
    /// The hosts; nothing for `none`.
    ProxyJump(Vec<Jump>),
    /// Whether it is `none`.
    ProxyCommand {
        is_none: bool,
    },
    LocalCommand,
    PermitLocalCommand(bool),
    HostKeyAlias(String),
    UserKnownHostsFile(Vec<String>),
    GlobalKnownHostsFile(Vec<String>),
    StrictHostKeyChecking(HostKeyChecking),
    /// A time; `none` sets nothing, so a later value counts.
    ConnectTimeout(Option<Duration>),
    /// As `ConnectTimeout`.
    ServerAliveInterval(Option<Duration>),
    ServerAliveCountMax(u32),
    IgnoreUnknown(String),
    /// Nothing known; the keyword in lower case.
    Unknown(String),
    /// A refusal, or nothing if the value is harmless.
    Refused(Option<Reason>),
    Ignored,
}

/// Reads the setting of a line other than an `Include`, whose files its caller reads.
///
/// # Errors
///
/// Its value is invalid.
pub(crate) fn read(words: &Words<'_>) -> Result<(&'static str, Setting), LineError> {
    let Some((name, keyword)) = keyword::find(words.keyword) else {
        return Ok(("", Setting::Unknown(words.keyword.to_ascii_lowercase())));
    };
    let value = Value { keyword: name, words };
    let setting = match keyword {
        Keyword::Host => Setting::Host(host_patterns(&value)?),
        Keyword::Match => Setting::Match(criteria::read(&words.arguments)?),
        Keyword::Include => {
            value.list()?;
            Setting::Include(Vec::new())
        }
        Keyword::HostName => Setting::HostName(value.one()?.to_owned()),
        Keyword::User => Setting::User(value.one()?.to_owned()),
        Keyword::Port => Setting::Port(value.port()?),
        Keyword::IdentityFile => Setting::IdentityFile(value.one()?.to_owned()),
        Keyword::CertificateFile => Setting::CertificateFile(value.one()?.to_owned()),
        Keyword::IdentitiesOnly => Setting::IdentitiesOnly(value.flag()?),
        Keyword::IdentityAgent => Setting::IdentityAgent(value.one()?.to_owned()),
        Keyword::ProxyJump => Setting::ProxyJump(jump::read(words.rest)?),
        Keyword::ProxyCommand => {
            Setting::ProxyCommand { is_none: words.rest.eq_ignore_ascii_case("none") }
        }
        Keyword::LocalCommand => Setting::LocalCommand,
        Keyword::PermitLocalCommand => Setting::PermitLocalCommand(value.flag()?),
        Keyword::HostKeyAlias => Setting::HostKeyAlias(value.one()?.to_owned()),
        Keyword::UserKnownHostsFile => Setting::UserKnownHostsFile(value.files()?),
        Keyword::GlobalKnownHostsFile => Setting::GlobalKnownHostsFile(value.files()?),
        Keyword::StrictHostKeyChecking => Setting::StrictHostKeyChecking(value.checking()?),
        Keyword::ConnectTimeout => Setting::ConnectTimeout(value.time()?),
        Keyword::ServerAliveInterval => Setting::ServerAliveInterval(value.time()?),
        Keyword::ServerAliveCountMax => Setting::ServerAliveCountMax(value.count()?),
        Keyword::IgnoreUnknown => Setting::IgnoreUnknown(value.one()?.to_owned()),
        Keyword::Refused { unless, reason } => {
            let is_harmless = match words.arguments.as_slice() {
                // The value of a command is the rest of the line, with any comment.
                [one] if reason != Reason::Program || one == words.rest => {
                    unless.iter().any(|word| word.eq_ignore_ascii_case(one))
                }
                _ => false,
            };
            Setting::Refused((!is_harmless).then_some(reason))
        }
        Keyword::Ignored => Setting::Ignored,
    };
    Ok((name, setting))
}

/// The words of a line, read as values of its keyword.
struct Value<'a> {
    keyword: &'static str,
    words: &'a Words<'a>,
}

impl Value<'_> {
    fn one(&self) -> Result<&str, LineError> {
        match self.words.arguments.as_slice() {
            [] => Err(self.missing()),
            [one] if one.is_empty() => Err(self.missing()),
            [one] => Ok(one),
            _ => Err(LineError::Extra { keyword: self.keyword }),
        }
    }

    fn list(&self) -> Result<&[String], LineError> {
        let list = &self.words.arguments;
        if list.iter().any(String::is_empty) { Err(self.missing()) } else { Ok(list) }
    }

    fn files(&self) -> Result<Vec<String>, LineError> {
        let list = self.list()?;
        let has_none = list.iter().any(|word| word.eq_ignore_ascii_case("none"));
        match list {
            [] => Err(self.missing()),
            [_] if has_none => Ok(Vec::new()),
            _ if has_none => Err(LineError::NoneAndMore { keyword: self.keyword }),
            _ => Ok(list.to_vec()),
        }
    }

    fn flag(&self) -> Result<bool, LineError> {
        match self.one()?.to_ascii_lowercase().as_str() {
            "yes" | "true" => Ok(true),
            "no" | "false" => Ok(false),
            _ => Err(self.invalid("`yes` or `no`")),
        }
    }

    fn checking(&self) -> Result<HostKeyChecking, LineError> {
        match self.one()?.to_ascii_lowercase().as_str() {
            "yes" | "true" => Ok(HostKeyChecking::Yes),
            "accept-new" => Ok(HostKeyChecking::AcceptNew),
            "ask" => Ok(HostKeyChecking::Ask),
            "no" | "false" | "off" => Ok(HostKeyChecking::No),
            _ => Err(self.invalid("`yes`, `accept-new`, `ask` or `no`")),
        }
    }

    fn port(&self) -> Result<u16, LineError> {
        jump::port(self.one()?).ok_or_else(|| self.invalid("a number from 1 to 65535"))
    }

    fn count(&self) -> Result<u32, LineError> {
        let text = self.one()?;
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let count =
            text.parse().ok().filter(|count| is_number && *count <= i32::MAX.cast_unsigned());
        count.ok_or_else(|| self.invalid("a number"))
    }

    fn time(&self) -> Result<Option<Duration>, LineError> {
        let text = self.one()?;
        if text == "none" {
            return Ok(None);
        }
        let time = seconds(text).map(|seconds| Some(Duration::from_secs(seconds.into())));
        time.ok_or_else(|| self.invalid("seconds, or a time such as `1m30s`"))
    }

    fn missing(&self) -> LineError {
        LineError::Missing { keyword: self.keyword.to_owned() }
    }

    fn invalid(&self, expected: &'static str) -> LineError {
        let value = self.words.arguments.join(" ");
        LineError::Value { keyword: self.keyword, value, expected }
    }
}

fn host_patterns(value: &Value<'_>) -> Result<Vec<HostPattern>, LineError> {
    let one = |word: &String| match word.strip_prefix('!') {
        Some(pattern) => HostPattern { is_negated: true, pattern: pattern.to_owned() },
        None => HostPattern { is_negated: false, pattern: word.clone() },
    };
    Ok(value.list()?.iter().map(one).collect())
}

/// Reads a time such as `90`, `90s` or `1h30m`.
fn seconds(text: &str) -> Option<u32> {
    let (mut total, mut rest) = (0_u32, text);
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (number, unit) = rest.split_at(end);
        let mut letters = unit.chars();
        let factor = match letters.next() {
            None | Some('s' | 'S') => 1,
            Some('m' | 'M') => 60,
            Some('h' | 'H') => 60 * 60,
            Some('d' | 'D') => 24 * 60 * 60,
            Some('w' | 'W') => 7 * 24 * 60 * 60,
            Some(_) => return None,
        };
        let part = number.parse::<u32>().ok()?.checked_mul(factor)?;
        total = total.checked_add(part)?;
        rest = letters.as_str();
    }
    (!text.is_empty() && total <= i32::MAX.cast_unsigned()).then_some(total)
}
