//! Names and addresses of hosts that are safe in a file, in a path and on the wire.

/// The longest name of a host, in bytes. Names of DNS have 253.
pub(crate) const HOST_BYTES_MAX: usize = 255;

/// Returns whether `host` is one plain name or address, also an IPv6 address with its zone.
pub(crate) fn is_plain(host: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._:%".contains(letter);
    !host.is_empty()
        && host.len() <= HOST_BYTES_MAX
        && !host.starts_with('-')
        && host.chars().all(plain)
}
