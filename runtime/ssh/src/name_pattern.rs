//! Patterns of host and user names in the files of OpenSSH: `*`, `?`, and `!` in lists
//! (ssh_config(5), PATTERNS).

/// The longest pattern of a comma list, in bytes. OpenSSH drops a list with a longer one.
const PATTERN_BYTES_MAX: usize = 1022;

/// Returns whether all of `name` matches `pattern`, case and all.
///
/// The time is at most the product of both lengths: only the last `*` is tried again.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(read) {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                retry = Some((at, read));
            }
            Some(wanted) if *wanted == b'?' || wanted == byte => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                at = after_star;
                read = from + 1;
                retry = Some((after_star, read));
            }
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}

/// Returns whether `name` matches a comma list: one of its patterns, unless one after a `!`
/// does.
pub(crate) fn list_matches(list: &[u8], name: &[u8]) -> bool {
    let mut found = false;
    for pattern in list.split(|byte| *byte == b',') {
        let (is_negated, pattern) = match pattern.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        if pattern.len() > PATTERN_BYTES_MAX {
            return false;
        }
        if matches(pattern, name) {
            if is_negated {
                return false;
            }
            found = true;
        }
    }
    found
}

/// Returns whether a host name matches a comma list, in any case of its ASCII letters.
pub(crate) fn host_list_matches(list: &[u8], host: &[u8]) -> bool {
    list_matches(&list.to_ascii_lowercase(), &host.to_ascii_lowercase())
}
