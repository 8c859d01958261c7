//! The settings of hosts in ssh_config files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use relay_ssh::config::{
    Config, ConfigError, Disk, FILES_MAX, Files, HostKeyChecking, HostSettings, IdentityAgent,
    LINES_MAX, LocalUser, Refused,
};

use super::config_oracle::config_text;
use super::entry as properties;

/// Files in memory.
pub(crate) struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Memory {
    fn of(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| (PathBuf::from(path), (*text).into())).collect())
    }
}

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.get(path).cloned())
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let inside = self.0.keys().filter_map(|path| path.strip_prefix(folder).ok());
        Ok(inside.filter_map(|path| Some(path.iter().next()?.to_owned())).collect())
    }
}

fn local() -> LocalUser {
    LocalUser { name: "me".to_owned(), home: "/home/me".to_owned() }
}

fn read(files: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::read(Path::new("/c"), local(), &Memory::of(files))
}

fn host(text: &str, alias: &str) -> Result<HostSettings, Refused> {
    read(&[("/c", text)]).unwrap().host(alias, None)
}

/// Returns user, host and port as `ssh -G` does, or the fault.
fn line(text: &str, alias: &str) -> String {
    let config = match read(&[("/c", text)]) {
        Ok(config) => config,
        Err(error) => return error.to_string(),
    };
    match config.host(alias, None) {
        Ok(settings) => {
            let user = settings.user.unwrap_or_else(|| "me".to_owned());
            format!("{user} {} {}", settings.hostname, settings.port.unwrap_or(22))
        }
        Err(refused) => refused.to_string(),
    }
}

#[test]
fn a_file_is_read_as_ssh_reads_it() {
    let cases = [
        ("Host a\n User one\n User two\nHost *\n User three\n", "one a 22"),
        ("Host a\n  User=one\n  Port = 2222\n", "one a 2222"),
        ("Host a\n\tUser\tone\n\tPort\t2222\n", "one a 2222"),
        ("Host \"a\"\n  User \"one two\"\n", "one two a 22"),
        ("Host a\n  User one # me\n", "one a 22"),
        ("Host * !a\n  User one\nHost a\n  User two\n", "two a 22"),
        ("User glob\nHost a\n  Port 2222\n", "glob a 2222"),
        ("Host a\n Port 2222\nMatch host a\n User m\n", "m a 2222"),
        ("Host a\n Port 2222\nMatch host zzz\n User m\n", "me a 2222"),
        ("Match all\n User m\n", "m a 22"),
        ("Host a\n HostName %h.Example.org\n", "me a.example.org 22"),
        ("HOST a\n uSeR one\n", "one a 22"),
        ("Host ?\n User q\n", "q a 22"),
        ("Host aa\n User q\n", "me a 22"),
        ("Host a\r\n User one\r\n", "one a 22"),
        ("# caf\u{e9}\n\n   # more\nUser one", "one a 22"),
        ("Match originalhost a user me\n HostName b\nMatch host b\n User x\n", "x b 22"),
        ("Match !host a\n User x\nMatch localuser m?\n Port 3\n", "me a 3"),
        ("Match final host b\n User x\nHost a\n HostName B\n", "x b 22"),
        ("Match canonical\n User x\n", "me a 22"),
        ("Match !final\n User x\nHost b\n Port 3\nHost a\n HostName b\n", "x b 22"),
        ("HostName 0:0::1\n", "me ::1 22"),
        ("HostName fe80::1%%eth0\n", "me fe80::1%eth0 22"),
        ("IgnoreUnknown UseK*,x\nusekeychain yes\nUser one\n", "one a 22"),
        (
            "Host a\n Nonsense yes\n",
            "/c:2: `nonsense` is an unknown keyword: correct it, or list it in an `IgnoreUnknown` above",
        ),
        (
            "Host other\n Port 99999\n",
            "/c:2: `99999` is invalid for `Port`: write a number from 1 to 65535",
        ),
        ("Port ssh\n", "/c:1: `ssh` is invalid for `Port`: write a number from 1 to 65535"),
        ("User\n", "/c:1: `User` has no value: write one after it"),
        ("User \"\"\n", "/c:1: `User` has no value: write one after it"),
        (
            "User a b\n",
            "/c:1: `User` has one value: remove the rest of the line, or put quotes around all of it",
        ),
        ("\nUser \"a\n", "/c:2: a quote has no end: close it, or write `\\` before it"),
        (
            "StrictHostKeyChecking maybe",
            "/c:1: `maybe` is invalid for `StrictHostKeyChecking`: write `yes`, `accept-new`, `ask` or `no`",
        ),
        (
            "ConnectTimeout 1x",
            "/c:1: `1x` is invalid for `ConnectTimeout`: write seconds, or a time such as `1m30s`",
        ),
        (
            "UserKnownHostsFile none /x",
            "/c:1: `UserKnownHostsFile` has `none` and more: write one of them",
        ),
        ("Match host", "/c:1: `Match host` is incomplete: write a pattern after each criterion"),
        ("Match all host a", "/c:1: `all` is the only criterion of its `Match`: remove the others"),
        (
            "ProxyJump a,,b",
            "/c:1: `a,,b` is invalid for `ProxyJump`: write `none`, or at most 8 of `user@host:port` with \
             commas between",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(line(text, "a"), expected, "{text}");
    }
    let error = Config::read(
        Path::new("/c"),
        local(),
        &Memory(BTreeMap::from([("/c".into(), b"User \xff".to_vec())])),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "/c:1: the line is invalid text: write UTF-8 without zero bytes"
    );
}

#[test]
fn a_line_that_starts_a_program_refuses_its_hosts() {
    let program = "starts a program, which no policy sees: use `ProxyJump`, or set it to `none` for this host";
    let library = "loads a library: set it to `none` for this host";
    let criterion =
        "is not supported, and the host could match: use `host`, `originalhost` or `user`";
    let refused = [
        ("ProxyCommand nc %h %p", format!("`ProxyCommand` {program}")),
        ("ProxyCommand none # not none", format!("`ProxyCommand` {program}")),
        ("ProxyJump none\nProxyCommand nc", format!("2: `ProxyCommand` {program}")),
        ("KnownHostsCommand /bin/x", format!("`KnownHostsCommand` {program}")),
        ("ProxyUseFdpass yes", format!("`ProxyUseFdpass` {program}")),
        ("PKCS11Provider /lib/x.so", format!("`PKCS11Provider` {library}")),
        ("SecurityKeyProvider /lib/x.so", format!("`SecurityKeyProvider` {library}")),
        ("Match exec \"true\"\n User x", format!("`Match exec` {criterion}")),
        ("Match host a exec true\n User x", format!("`Match exec` {criterion}")),
        ("Match exec true host a\n User x", format!("`Match exec` {criterion}")),
        ("Match !exec true", format!("`Match exec` {criterion}")),
        ("Match localnetwork 10.0.0.0/8", format!("`Match localnetwork` {criterion}")),
        ("Match tagged x", format!("`Match tagged` {criterion}")),
        (
            "LocalCommand x\nPermitLocalCommand yes",
            "`LocalCommand` starts a program, which no policy sees: set `PermitLocalCommand no` for this host"
                .to_owned(),
        ),
        (
            "CanonicalizeHostname yes",
            "`CanonicalizeHostname` rewrites the name of the host by DNS: write the full name in `HostName`"
                .to_owned(),
        ),
        (
            "RevokedHostKeys /etc/ssh/revoked",
            "`RevokedHostKeys` is not read: write `@revoked * KEY` lines in a known_hosts file, or set it to \
             `none`"
                .to_owned(),
        ),
        ("RefuseConnection closed", "`RefuseConnection` refuses the host".to_owned()),
        (
            "PubkeyAuthentication no",
            "`PubkeyAuthentication` forbids login by key, and relay has no other: allow it for this host"
                .to_owned(),
        ),
        (
            "HostName %p.example",
            "`HostName` has an unsupported token: only %%, %d, %h, %k, %n, %r and %u are, and in `HostName` \
             %% and %h"
                .to_owned(),
        ),
        (
            "IdentityFile keys/x",
            "`IdentityFile` has a relative path: write an absolute one, or one below `~/`".to_owned(),
        ),
        (
            "IdentityFile ${HOME}/x",
            "`IdentityFile` names a variable of the environment: write its value".to_owned(),
        ),
        (
            "HostName a/b",
            "`HostName` is no plain host name or address: use letters, digits, `-`, `.`, `_`, and `:` in \
             addresses"
                .to_owned(),
        ),
        ("User a;b", "`User` is no plain user name: use letters and digits".to_owned()),
    ];
    for (text, reason) in refused {
        let reason = if reason.starts_with('`') { format!("1: {reason}") } else { reason };
        assert_eq!(line(text, "a"), format!("/c:{reason}"), "{text}");
        // Other hosts are as before.
        let own = format!("Host a\n{}\n", text.replace("Match ", "Match host a "));
        assert!(host(&own, "a").is_err(), "{own}");
        assert!(host(&own, "b").is_ok(), "{own}");
    }
    let fine = [
        "ProxyCommand none\nProxyCommand nc",
        "ProxyJump j\nProxyCommand nc",
        "LocalCommand x",
        "PermitLocalCommand no\nLocalCommand x\nPermitLocalCommand yes",
        "KnownHostsCommand none",
        "CanonicalizeHostname no # comment",
        "SecurityKeyProvider internal",
        "Match host b exec true\n User x",
        "Match user other exec true\n User x",
        "Host b\nInclude /x",
        "ForwardAgent yes\nCiphers +aes128-cbc\nSendEnv LANG LC_*",
    ];
    for text in fine {
        let included = ("/x", "Match exec true\n");
        let config = read(&[("/c", text), included]).unwrap();
        assert!(config.host("a", None).is_ok(), "{text}");
    }
    // Names from a caller are plain.
    for alias in ["", "-oProxyCommand=x", "a b", "../a", "a\n"] {
        assert!(host("", alias).is_err(), "{alias:?}");
    }
    let config = read(&[("/c", "")]).unwrap();
    assert!(config.host("a", Some("-x")).is_err());
    assert!(config.host("a", Some("x y")).is_ok());
}

#[test]
fn every_setting_of_the_list_is_read() {
    let text = "Host a\n\
        HostName A.example.org\n User u\n Port 2222\n\
        IdentityFile ~/.ssh/%r@%h-%n\n IdentityFile %d/%u/%k%%\n IdentityFile /one\n IdentityFile /one\n\
        CertificateFile ~/c\n IdentitiesOnly yes\n IdentityAgent ~/agent\n\
        ProxyJump u@j1:2201,[::1]:22,ssh://j2\n HostKeyAlias alias\n\
        UserKnownHostsFile ~/k1 /k2\n GlobalKnownHostsFile none\n\
        StrictHostKeyChecking accept-new\n ConnectTimeout 1m30s\n\
        ServerAliveInterval 15\n ServerAliveCountMax 4\n ForwardAgent yes\n";
    let settings = host(text, "a").unwrap();
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    let jumps = settings.proxy_jump.unwrap();
    let jump = |at: usize| (jumps[at].user.as_deref(), jumps[at].host.as_str(), jumps[at].port);
    assert_eq!(jump(0), (Some("u"), "j1", Some(2201)));
    assert_eq!(jump(1), (None, "::1", Some(22)));
    assert_eq!(jump(2), (None, "j2", None));
    assert_eq!(settings.hostname, "a.example.org");
    assert_eq!((settings.user.as_deref(), settings.port), (Some("u"), Some(2222)));
    assert_eq!(
        settings.identity_files,
        Some(paths(&["/home/me/.ssh/u@a.example.org-a", "/home/me/me/alias%", "/one"]))
    );
    assert_eq!(settings.certificate_files, paths(&["/home/me/c"]));
    assert_eq!(settings.identities_only, Some(true));
    assert_eq!(settings.identity_agent, Some(IdentityAgent::Socket("/home/me/agent".into())));
    assert_eq!(settings.host_key_alias.as_deref(), Some("alias"));
    assert_eq!(settings.user_known_hosts_files, Some(paths(&["/home/me/k1", "/k2"])));
    assert_eq!(settings.global_known_hosts_files, Some(Vec::new()));
    assert_eq!(settings.strict_host_key_checking, Some(HostKeyChecking::AcceptNew));
    assert_eq!(settings.connect_timeout, Some(Duration::from_secs(90)));
    assert_eq!(settings.server_alive_interval, Some(Duration::from_secs(15)));
    assert_eq!(settings.server_alive_count_max, Some(4));
    let ignored: Vec<String> =
        settings.ignored.iter().map(|(at, name)| format!("{at} {name}")).collect();
    assert_eq!(ignored, ["/c:20 ForwardAgent"]);

    let nothing = HostSettings { hostname: "b".to_owned(), ..HostSettings::default() };
    assert_eq!(host(text, "b").unwrap(), nothing);
    let none = host("IdentityFile none\nProxyJump NONE\nIdentityAgent none", "b").unwrap();
    assert_eq!(none.identity_files, Some(Vec::new()));
    assert_eq!(none.proxy_jump, Some(Vec::new()));
    assert_eq!(none.identity_agent, Some(IdentityAgent::None));

    let config = read(&[("/c", "Match user root\n Port 1\nMatch user me\n Port 2\nUser root")]);
    let config = config.unwrap();
    let port = |user| config.host("a", user).unwrap().port;
    assert_eq!([port(None), port(Some("root")), port(Some("x"))], [Some(2), Some(1), None]);
    let path = config.host("a", Some("a/b"));
    assert!(path.is_ok());
    assert!(read(&[("/c", "IdentityFile /k/%r")]).unwrap().host("a", Some("../x")).is_err());
}

#[test]
fn files_are_included_at_their_line() {
    let files = [
        ("/c", "Host a\n Include inc.d/*.conf\nHost *\n User outer\n Port 1\nInclude ~/more /none"),
        ("/home/me/.ssh/inc.d/2.conf", "Port 2\nHost b\n User two\n"),
        ("/home/me/.ssh/inc.d/1.conf", "User one\nMatch all\nHost c d* !e\n"),
        ("/home/me/.ssh/inc.d/.hidden.conf", "User hidden\n"),
        ("/home/me/more", "Host d\n HostName d.example.org\nHost a\n"),
    ];
    let config = read(&files).unwrap();
    let seen = |alias| {
        let found = config.host(alias, None).unwrap();
        format!("{} {} {}", found.user.unwrap(), found.hostname, found.port.unwrap())
    };
    assert_eq!(seen("a"), "one a 2");
    // An included block is off where its line is off.
    assert_eq!(seen("b"), "outer b 1");
    assert_eq!(seen("d"), "outer d.example.org 1");
    assert_eq!(config.aliases(), ["a", "c", "b", "d"]);

    let fault = |files: &[(&str, &str)]| read(files).unwrap_err().to_string();
    assert_eq!(
        fault(&[("/c", "\nInclude /c")]),
        "/c:2: files are included over 16 levels deep: remove the circle"
    );
    assert_eq!(
        fault(&[("/c", &"Include /x\n".repeat(FILES_MAX)), ("/x", "")]),
        "/c:256: over 256 files are included: include fewer"
    );
    assert_eq!(
        fault(&[("/c", &"\n".repeat(LINES_MAX + 1))]),
        "/c:20001: the files have over 1048576 bytes or 20000 lines in all: shorten them"
    );
    assert_eq!(
        fault(&[("/c", "Include /x"), ("/x", "\nNo")]),
        "/x:2: `No` has no value: write one after it"
    );
    for path in ["/x/%h", "$HOME/x", "~other/x", "/x/[ab]"] {
        let expected = format!("/c:1: `Include {path}` is not supported: ");
        assert!(fault(&[("/c", &format!("Include {path}"))]).starts_with(&expected));
    }
    assert!(fault(&[]).starts_with("ssh_config file `/c` cannot be read: "));
}

#[test]
fn a_file_that_others_may_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    fs::write(&path, "User one\n").unwrap();
    let read = || Config::read(&path, local(), &Disk).map(|config| config.host("a", None));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(read().unwrap().unwrap().user.as_deref(), Some("one"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).unwrap();
    let error = read().unwrap_err().to_string();
    assert!(error.ends_with("cannot be read: others may write it: `chmod go-w` it"), "{error}");
    let folder = Config::read(folder.path(), local(), &Disk).unwrap_err().to_string();
    assert!(folder.ends_with("name a regular file"), "{folder}");
}

#[test]
fn an_ignored_unknown_keyword_of_other_hosts_refuses_the_host() {
    let text = "Host b\n IgnoreUnknown Foo\nHost *\n Foo 1\n";
    assert!(host(text, "b").is_ok());
    assert_eq!(
        line(text, "a"),
        "/c:4: `foo` is an unknown keyword: move its `IgnoreUnknown` above the first `Host`"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lines_keep_the_properties(text in config_text(), bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        properties::config([text.as_bytes(), &bytes].concat().as_slice());
        properties::config(&bytes);
    }
}

#[test]
fn seeds_keep_the_properties() {
    for (target, inputs) in properties::seeds() {
        for input in inputs.iter().filter(|_| target == "ssh_config") {
            properties::config(input);
        }
    }
}
