//! Properties of the readers that hold for any bytes. Fuzz targets call them too.

use relay_ssh::known_hosts::{KnownHosts, Verdict, entry};

/// Reads a known_hosts file after a first line with a host and a port, and judges keys by it.
pub(crate) fn known_hosts(bytes: &[u8]) {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = bytes.get(first.len() + 1..).unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let (host, port) = first.rsplit_once(' ').unwrap_or((&first, ""));
    let port = port.parse().unwrap_or(22);
    let known = KnownHosts::new([("file", text)]);
    let lines = text.split(|byte| *byte == b'\n').count();
    assert!(known.warnings().iter().all(|warning| (1..=lines).contains(&warning.at.line)));

    let mut keys = vec![ed25519(1), ed25519(2), Vec::new()];
    keys.extend(known.authorities(host, port).into_iter().map(|(_, key)| key.to_vec()));
    for key in keys {
        let verdict = known.verdict(host, port, &key);
        let types = known.key_types(host, port);
        match &verdict {
            Verdict::Known { at } => assert!(at.line <= lines && !key.is_empty()),
            Verdict::Unknown => assert!(types.is_empty(), "{types:?}"),
            Verdict::Changed { .. } => assert!(!types.is_empty()),
            Verdict::Revoked { at } => {
                assert_eq!(known.revoked(host, port, &key).as_ref(), Some(at));
            }
        }
        let Ok(line) = entry(host, port, &key) else { continue };
        let is_read = key.starts_with(b"\0\0\0\x0bssh-ed25519");
        assert_eq!(line.matches('\n').count(), 1);
        // One line with the key is enough, unless a line refuses the key.
        let more = KnownHosts::new([("file", text), ("new", line.as_bytes())]);
        let after = more.verdict(host, port, &key);
        match verdict {
            Verdict::Revoked { .. } => assert_eq!(after, verdict),
            _ if is_read => assert!(matches!(after, Verdict::Known { .. }), "{line} {after:?}"),
            _ => {}
        }
        // A revoked key is refused before everything else.
        let refused = line.replacen(line.split(' ').next().unwrap(), "@revoked *", 1);
        let none = KnownHosts::new([("file", text), ("new", refused.as_bytes())]);
        let after = none.verdict(host, port, &key);
        assert!(!is_read || matches!(after, Verdict::Revoked { .. }), "{refused} {after:?}");
    }
}

/// Returns an Ed25519 key of equal bytes in wire form.
pub(crate) fn ed25519(byte: u8) -> Vec<u8> {
    [b"\0\0\0\x0bssh-ed25519\0\0\0\x20", [byte; 32].as_slice()].concat()
}

/// Returns good inputs to begin with, each with its target.
pub(crate) fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let owned = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    vec![("ssh_known_hosts", owned(&KNOWN_HOSTS))]
}

/// A line of each kind. The keys are those of [`ed25519`] with 1 and 2.
const KNOWN_HOSTS: [&str; 4] = [
    "web.example.org 22\n\
     # comment\n\
     web.example.org,10.0.0.1 ssh-ed25519 \
     AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB me\n\
     @revoked * ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC\n",
    "db 2222\n[db]:2222,!other,d? ssh-ed25519 \
     AAAAC3NzaC1lZDI1NTE5AAAAIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC\n\
     @cert-authority *.example.org,db ssh-ed25519 \
     AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n",
    "::1 22\n|1|AAAAAAAAAAAAAAAAAAAAAAAAAAA=|AAAAAAAAAAAAAAAAAAAAAAAAAAA= ssh-ed25519 \
     AAAAC3NzaC1lZDI1NTE5AAAAIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC\r\n",
    "a 22\na ecdsa-sha2-nistp256 AAAA\na ssh-xyz AAAA\n@marker a\na\n\ta\tssh-rsa\tAAAA",
];
