//! Properties of the readers that hold for any bytes. Fuzz targets call them too.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use relay_ssh::config::{Config, Files, HostSettings, LocalUser};
use relay_ssh::inventory::{Inventory, InventoryHost};
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

/// Two files: the text before and after the first form feed. The second is found under any other name.
struct Two<'a>(&'a [u8], &'a [u8]);

impl Files for Two<'_> {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(Some(if path == Path::new("/c") { self.0 } else { self.1 }.to_vec()))
    }

    fn names(&self, _: &Path) -> io::Result<Vec<OsString>> {
        Ok(["a", "b", ".c"].map(OsString::from).into())
    }
}

/// Reads an ssh_config file, and the settings of each alias in it.
pub(crate) fn config(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\x0c');
    let files = Two(parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let local = LocalUser { name: "me".to_owned(), home: "/home/me".to_owned() };
    let Ok(read) = Config::read(Path::new("/c"), local.clone(), &files) else { return };
    for alias in read.aliases().into_iter().take(8).chain(["a", "::1"]) {
        for user in [None, Some("root")] {
            let Ok(settings) = read.host(alias, user) else { continue };
            assert_eq!(read.host(alias, user).as_ref(), Ok(&settings));
            let host = &settings.hostname;
            assert!(!host.is_empty() && !host.starts_with('-') && !host.contains('/'), "{host}");
            assert!(user.is_none() || settings.user.as_deref() == user);
            let identities = settings.identity_files.iter().flatten();
            let known = settings.user_known_hosts_files.iter().flatten();
            for path in identities.chain(known).chain(&settings.certificate_files) {
                assert!(path.is_absolute(), "{}", path.display());
            }
        }
    }
    // The first value wins: lines before all others are in force for every host.
    let before = [b"User first\nPort 7\nProxyCommand none\n", files.0].concat();
    let Ok(read) = Config::read(Path::new("/c"), local.clone(), &Two(&before, files.1)) else {
        return;
    };
    if let Ok(settings) = read.host("a", None) {
        let HostSettings { user, port, proxy_jump, .. } = settings;
        assert_eq!((user.as_deref(), port), (Some("first"), Some(7)));
        assert!(proxy_jump.is_none_or(|jumps| jumps.is_empty()));
    }
    // A command before all others refuses every host.
    let before = [b"ProxyCommand nc\n", files.0].concat();
    let Ok(read) = Config::read(Path::new("/c"), local, &Two(&before, files.1)) else { return };
    assert!(read.host("a", None).is_err());
}

/// Reads an inventory, and returns whether it is valid: its hosts are plain, and a text that JSON
/// refuses is refused.
pub(crate) fn inventory(bytes: &[u8]) -> bool {
    let json: Result<serde_json::Value, _> = serde_json::from_slice(bytes);
    let inventory = match Inventory::of_text("file", bytes, "/home/me") {
        Ok(inventory) => inventory,
        Err(error) => {
            assert!(error.to_string().starts_with("file:"), "{error}");
            return false;
        }
    };
    let json = json.expect("valid JSON");
    let hosts = json.as_object().expect("an object");
    assert_eq!(inventory.aliases().count(), hosts.len());
    for alias in inventory.aliases() {
        let host = inventory.host(alias).expect("a host");
        let members = hosts.get(alias).and_then(|members| members.as_object()).expect("an object");
        let InventoryHost { hostname, user, port, identity_file, jump, known_hosts } = host;
        let given = [
            hostname.is_some(),
            user.is_some(),
            port.is_some(),
            identity_file.is_some(),
            jump.is_some(),
            known_hosts.is_some(),
        ];
        let given = given.into_iter().filter(|is_given| *is_given).count();
        assert_eq!(given, members.values().filter(|value| !value.is_null()).count());
        assert!(identity_file.as_ref().is_none_or(|path| path.is_absolute()));
        let names = hostname.iter().chain(jump.iter().flatten().map(|jump| &jump.host));
        for name in names {
            assert!(!name.is_empty() && !name.starts_with('-') && !name.contains([' ', '/', '\n']));
        }
    }
    true
}

/// Returns an Ed25519 key of equal bytes in wire form.
pub(crate) fn ed25519(byte: u8) -> Vec<u8> {
    [b"\0\0\0\x0bssh-ed25519\0\0\0\x20", [byte; 32].as_slice()].concat()
}

/// Returns good inputs to begin with, each with its target.
pub(crate) fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let owned = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    vec![
        ("ssh_config", owned(&CONFIGS)),
        ("ssh_inventory", owned(&INVENTORIES)),
        ("ssh_known_hosts", owned(&KNOWN_HOSTS)),
    ]
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

/// Files with each kind of line.
const CONFIGS: [&str; 5] = [
    "# comment\nHost a b* !bc\n  HostName=%h.example.org\n\tUser \"me too\" # c\n  Port 2222\n\
     IdentityFile ~/.ssh/%r@%h\nIdentityFile /k%%\nCertificateFile %d/c\nIdentitiesOnly yes\n",
    "Include conf.d/*.conf ~/x\nMatch final host a,!b user root\n ProxyJump u@j:22,[::1]:1\nMatch all\n\
     StrictHostKeyChecking accept-new\nConnectTimeout 1h30m\n\x0cHost d\nUserKnownHostsFile ~/k /l\n",
    "IgnoreUnknown Foo*,bar\nFoobar x\nHost *\nProxyCommand none\nProxyJump none\nHostKeyAlias k\n\
     GlobalKnownHostsFile none\nServerAliveInterval 5\nServerAliveCountMax 3\nIdentityAgent none\n",
    "Host x\nProxyCommand nc %h %p\nKnownHostsCommand y\nLocalCommand z\nPermitLocalCommand yes\n\
     Match !exec \"true\" localuser me originalhost x\nCanonicalizeHostname no\nForwardAgent yes\n",
    "Match canonical all\nHost \\\"q\\\" 'r s'\nUser t\\ u\nPKCS11Provider none\nHost",
];

/// Inventories with every member.
const INVENTORIES: [&str; 2] = [
    r#"{"web": {"hostname": "web.example.org", "user": "deploy", "port": 2222, "identity_file": "~/.ssh/id",
        "jump": "u@j1:2201,[::1]:22", "known_hosts": "accept-new"}}"#,
    r#"{"a": {"host": "10.0.0.1", "identityfile": "/k", "proxyjump": "none", "known_hosts": "strict"},
        "b": {"user": null, "known_hosts": "ignore"}, "c": {}}"#,
];
