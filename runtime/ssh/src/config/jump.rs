//! The value of a `ProxyJump`.

use super::error::LineError;
use super::limits::JUMPS_MAX;
use super::settings::Jump;
use crate::host_name;
use crate::user_name;

/// Reads the rest of the line; `none` is an empty list.
///
/// # Errors
///
/// It is something else than `none` or a list of `user@host:port`.
pub(crate) fn read(rest: &str) -> Result<Vec<Jump>, LineError> {
    let text = rest.split('#').next().unwrap_or_default().trim_end();
    if text.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    let jumps: Option<Vec<Jump>> = text.split(',').map(one).collect();
    let few = jumps.filter(|jumps| jumps.len() <= JUMPS_MAX);
    few.ok_or_else(|| LineError::Jump { value: text.to_owned() })
}

fn one(text: &str) -> Option<Jump> {
    let text = text.strip_prefix("ssh://").unwrap_or(text);
    let (user, address) = match text.rsplit_once('@') {
        Some((user, address)) => (Some(user), address),
        None => (None, text),
    };
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, if after.is_empty() { "" } else { after.strip_prefix(':')? })
        }
        None => address.split_once(':').unwrap_or((address, "")),
    };
    let port = if port.is_empty() { None } else { Some(self::port(port)?) };
    let is_valid = host_name::is_plain(host) && user.is_none_or(user_name::is_plain);
    is_valid.then(|| Jump { user: user.map(str::to_owned), host: host.to_owned(), port })
}

/// Reads the number of a port.
pub(crate) fn port(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port > 0)
}
