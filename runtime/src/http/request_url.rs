//! The URL of a request as its client knows it, and the normal form in which two are compared (RFC
//! 3986, sections 6.2.2 and 6.2.3).

use std::borrow::Cow;

use hyper::Uri;
use iri_string::format::ToDedicatedString as _;
use iri_string::types::UriStr;

/// The path of MCP at this server.
pub(super) const MCP_PATH: &str = "/mcp";

/// A URL in its normal form, up to its path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NormalUrl {
    scheme: String,
    host: String,
    port: u16,
    path: String,
}

/// Returns the URL of `path` at the server whose `/mcp` clients reach as `resource`.
pub(super) fn of<'u>(resource: &'u str, path: &str) -> Cow<'u, str> {
    if path == MCP_PATH {
        return resource.into();
    }
    let folder = resource.trim_end_matches('/').strip_suffix(MCP_PATH).unwrap_or(resource);
    format!("{}{path}", folder.trim_end_matches('/')).into()
}

/// Returns the normal form of an HTTP URL.
pub(super) fn normal(url: &str) -> Option<NormalUrl> {
    let url = UriStr::new(url).ok()?;
    url.ensure_rfc3986_normalizable().ok()?;
    let url = url.normalize().to_dedicated_string().to_string();
    // A query may have characters that `Uri` rejects.
    let url: Uri = url.split(['?', '#']).next()?.parse().ok()?;
    let (scheme, authority) = (url.scheme_str()?, url.authority()?);
    let usual = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    // The form has no user, so a URL with one has no form.
    if authority.as_str().contains('@') {
        return None;
    }
    let (host, port) = (authority.host().to_owned(), authority.port_u16().unwrap_or(usual));
    Some(NormalUrl { scheme: scheme.to_owned(), host, port, path: url.path().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_urls_have_one_normal_form() {
        let same = |one: &str, other: &str| {
            let (one, other) = (normal(one), normal(other));
            one.is_some() && one == other
        };
        let url = "https://relay.example/mcp";
        for equal in [
            "HTTPS://Relay.Example/mcp",
            "https://relay.example:443/mcp",
            "https://relay.example:/mcp",
            "https://relay.example/%6dcp",
            "https://relay.example/a/../mcp",
            "https://relay.example/./mcp",
            "https://relay.example/mcp?a=b",
            "https://relay.example/mcp?#",
            "https://relay.example/mcp#a",
        ] {
            assert!(same(url, equal), "{equal}");
        }
        for other in [
            "http://relay.example/mcp",
            "https://relay.example:8443/mcp",
            "https://relay.example/MCP",
            "https://relay.example/mcp/",
            "https://relay.example/mcp%2f",
            "https://relay.example.evil.example/mcp",
            "https://ann@relay.example/mcp",
            "https://relay.example",
            "//relay.example/mcp",
            "/mcp",
            "relay",
            "",
        ] {
            assert!(!same(url, other), "{other}");
        }
        assert!(same("https://relay.example", "https://relay.example/"));
        assert!(same("http://[::1]:80/mcp", "http://[::1]/mcp"));
    }

    #[test]
    fn other_paths_are_beside_the_resource() {
        assert_eq!(of("https://a.example/x/mcp", "/mcp"), "https://a.example/x/mcp");
        assert_eq!(of("https://a.example/x/mcp", "/metrics"), "https://a.example/x/metrics");
        assert_eq!(of("https://a.example", "/metrics"), "https://a.example/metrics");
    }
}
