//! The name under which a file knows a host and a port.

/// The port whose hosts are known by their bare name.
pub(crate) const PORT: u16 = 22;

/// Returns the name in lower case: the host, or `[host]:port` unless the port is 22.
pub(crate) fn of(host: &str, port: u16) -> String {
    let host = host.to_ascii_lowercase();
    if port == PORT { host } else { format!("[{host}]:{port}") }
}
