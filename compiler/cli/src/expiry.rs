//! The date on the command line at which a key expires.

use relay_bundle::trust::Time;
use toml_edit::Datetime;

use crate::environment;
use crate::failure::Failure;

/// Reads the value of `--not-after`: its text and its time. A date in the past is a failure, with
/// its consequence in `what`.
pub(crate) fn parse(text: &str, what: &str) -> Result<(Datetime, Time), Failure> {
    let both = Time::parse(text).zip(text.parse().ok());
    let (time, written) = both.ok_or_else(|| {
        Failure::error(format!("`{text}` is not a date"))
            .help("write a date such as 2027-01-01, or 2027-01-01T00:00:00Z")
    })?;
    if time.0 <= environment::now() {
        return Err(Failure::error(format!("--not-after {text} is in the past")).help(what));
    }
    Ok((written, time))
}
