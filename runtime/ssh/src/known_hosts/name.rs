//! The name under which a file knows a host and a port.

/// The port whose hosts are known by their bare name.
pub(crate) const PORT: u16 = 22;

/// The longest host that a file can know, in bytes. Names of DNS have 253.
const HOST_BYTES_MAX: usize = 255;

/// Returns the name in lower case: the host, or `[host]:port` unless the port is 22.
pub(crate) fn of(host: &str, port: u16) -> String {
    let host = host.to_ascii_lowercase();
    if port == PORT { host } else { format!("[{host}]:{port}") }
}

/// Returns whether `host` is one plain name or address: a line with it is about this host alone.
pub(crate) fn is_plain(host: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._:%".contains(letter);
    !host.is_empty()
        && host.len() <= HOST_BYTES_MAX
        && !host.starts_with('-')
        && host.chars().all(plain)
}
