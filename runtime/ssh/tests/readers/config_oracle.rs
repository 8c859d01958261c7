//! The settings of hosts in random ssh_config files, as ssh itself has them.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use relay_ssh::config::{Config, Disk, HostKeyChecking, HostSettings, LocalUser};

use super::program;

/// Lines of a configuration on which all versions of OpenSSH agree (before 9.9, `Match !final` asks for a
/// second pass), with `{x}` for the path of a second file and `{me}` for the local user.
const LINES: [&str; 68] = [
    "Host a",
    "Host b",
    "Host ab",
    "Host a*",
    "Host ?b",
    "Host * !a",
    "Host !b *",
    "Host *",
    "Host A",
    "Match all",
    "Match host a",
    "Match host a,b",
    "Match host !a,*",
    "Match host h.*",
    "Match host H.EXAMPLE",
    "Match originalhost a*",
    "Match user u1",
    "Match user !u1,*",
    "Match localuser {me}",
    "Match localuser nobody",
    "Match final",
    "Match canonical",
    "Match final host h.example",
    "Match originalhost ab user u1,{me}",
    "Match !host a",
    "Match final all",
    "Match host=a user=u1",
    "HostName h.example",
    "HostName %h.Example",
    "HostName 10.0.0.1",
    "HostName B",
    "HostName ::1",
    "User u1",
    "User u2",
    "User \"u 3\"",
    "Port 2222",
    "Port 22",
    "Port=2201",
    "IdentityFile /k1",
    "IdentityFile /k2",
    "IdentityFile \"/k 3\"",
    "IdentityFile none",
    "CertificateFile /c1",
    "IdentitiesOnly yes",
    "IdentitiesOnly no",
    "ProxyJump j1",
    "ProxyJump u@j2:2222",
    "ProxyJump j1,j2",
    "ProxyJump none",
    "ProxyCommand none",
    "StrictHostKeyChecking yes",
    "StrictHostKeyChecking accept-new",
    "StrictHostKeyChecking off",
    "StrictHostKeyChecking ASK",
    "ConnectTimeout 1m",
    "ConnectTimeout none",
    "ConnectTimeout 0",
    "ServerAliveInterval 0",
    "ServerAliveInterval none",
    "ServerAliveInterval 7",
    "ServerAliveCountMax 9",
    "HostKeyAlias alias",
    "UserKnownHostsFile /u1 /u2",
    "GlobalKnownHostsFile /g1",
    "Include {x}",
    "Include {x}*",
    "ForwardAgent yes",
    "IgnoreUnknown foo*",
];

/// Lines that refuse the file.
const FAULTS: [&str; 12] = [
    "Nonsense x",
    "Port 0",
    "Port 70000",
    "User",
    "User \"x",
    "Port 22 33",
    "IdentitiesOnly maybe",
    "Foobar x",
    "Match",
    "Match host",
    "ConnectTimeout 1x",
    "ProxyJump a:x",
];

/// Writes a line in one of the ways that mean the same.
fn written(line: &str, way: usize) -> String {
    let (keyword, value) = line.split_once([' ', '=']).unwrap_or((line, ""));
    match way % 8 {
        1 => format!("  {line}"),
        2 => format!("\t{keyword}\t{value}"),
        3 => format!("{}  {value}  ", keyword.to_uppercase()),
        4 if !value.is_empty() => format!("{keyword} = {value}"),
        5 if !line.starts_with("ProxyJump") && !line.starts_with("ProxyCommand") => {
            format!("{line} # {keyword} comment")
        }
        6 => format!("# {line}\n\n{line}\r"),
        7 if !value.is_empty() => format!("{keyword}={value}"),
        _ => line.to_owned(),
    }
}

pub(crate) fn config_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        60 => prop::sample::select(LINES.as_slice()),
        1 => prop::sample::select(FAULTS.as_slice()),
    ];
    let lines = prop::collection::vec((line, 0..8_usize), 0..14);
    lines.prop_map(|lines| {
        lines.iter().fold(String::new(), |mut text, (line, way)| {
            writeln!(text, "{}", written(line, *way)).unwrap();
            text
        })
    })
}

/// Returns the settings as `ssh -G` prints them, of keywords that were given.
fn printed(settings: &HostSettings, local: &LocalUser) -> Vec<String> {
    let mut all = vec![
        format!("user {}", settings.user.as_ref().unwrap_or(&local.name)),
        format!("hostname {}", settings.hostname),
        format!("port {}", settings.port.unwrap_or(22)),
    ];
    let mut add = |name: &str, value: Option<String>| {
        all.extend(value.map(|value| format!("{name} {value}")));
    };
    let paths = |paths: &[PathBuf]| -> Vec<String> {
        paths.iter().map(|path| path.display().to_string()).collect()
    };
    for file in paths(settings.identity_files.as_deref().unwrap_or_default()) {
        add("identityfile", Some(file));
    }
    for file in paths(&settings.certificate_files) {
        add("certificatefile", Some(file));
    }
    let jumps = settings.proxy_jump.iter().flatten().map(|jump| {
        let user = jump.user.as_ref().map_or_else(String::new, |user| format!("{user}@"));
        jump.port.map_or_else(
            || format!("{user}{}", jump.host),
            |port| format!("{user}{}:{port}", jump.host),
        )
    });
    let jumps: Vec<String> = jumps.collect();
    add("proxyjump", (!jumps.is_empty()).then(|| jumps.join(",")));
    add(
        "identitiesonly",
        settings.identities_only.map(|flag| if flag { "yes" } else { "no" }.to_owned()),
    );
    add("hostkeyalias", settings.host_key_alias.clone());
    let known = |files: &Option<Vec<PathBuf>>| files.as_ref().map(|files| paths(files).join(" "));
    add("userknownhostsfile", known(&settings.user_known_hosts_files));
    add("globalknownhostsfile", known(&settings.global_known_hosts_files));
    let checking = settings.strict_host_key_checking.map(|checking| match checking {
        HostKeyChecking::Yes => "true",
        HostKeyChecking::AcceptNew => "accept-new",
        HostKeyChecking::Ask => "ask",
        HostKeyChecking::No => "false",
    });
    add("stricthostkeychecking", checking.map(str::to_owned));
    let time = |time: Option<Duration>| time.map(|time| time.as_secs().to_string());
    add("connecttimeout", time(settings.connect_timeout));
    add("serveraliveinterval", time(settings.server_alive_interval));
    add("serveralivecountmax", settings.server_alive_count_max.map(|count| count.to_string()));
    all
}

/// Returns the lines of `ssh -G` for keywords that both print; `None` if it fails.
fn by_ssh(path: &str, user: Option<&str>, alias: &str, own: &[String]) -> Option<Vec<String>> {
    let target = user.map_or_else(|| alias.to_owned(), |user| format!("{user}@{alias}"));
    let output = program::run("ssh", &["-G", "-F", path, &target])?;
    if !output.status.success() {
        return None;
    }
    let has = |name: &str| own.iter().any(|line| line.split(' ').next() == Some(name));
    let always = ["user", "hostname", "port", "proxyjump", "hostkeyalias", "certificatefile"];
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| {
        let name = line.split(' ').next().unwrap();
        (has(name) || always.contains(&name)) && *line != "identityfile none"
    });
    let printed = has("user").then_some(());
    printed.map(|()| lines.map(str::to_owned).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hosts_have_the_settings_that_ssh_prints(text in config_text(), included in config_text()) {
        let Some(version) = program::run("ssh", &["-G", "-F", "/dev/null", "x"]) else { return Ok(()) };
        let me = String::from_utf8(version.stdout).unwrap();
        let me = me.lines().find_map(|line| line.strip_prefix("user ")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("config"), folder.path().join("other"));
        let filled = |text: &str| text.replace("{me}", me).replace("{x}", other.to_str().unwrap());
        fs::write(&path, filled(&text)).unwrap();
        fs::write(&other, filled(&included.replace("Include", "#"))).unwrap();
        let local = LocalUser { name: me.to_owned(), home: "/home/me".to_owned() };
        let config = Config::read(&path, local.clone(), &Disk);
        for (alias, user) in [("a", None), ("ab", Some("u1")), ("b", None)] {
            let settings = config.as_ref().map_err(ToString::to_string);
            let settings = settings.and_then(|config| {
                config.host(alias, user).map_err(|refused| refused.to_string())
            });
            let own = settings.as_ref().map(|settings| printed(settings, &local)).unwrap_or_else(|_| vec!["user".to_owned()]);
            let theirs = by_ssh(path.to_str().unwrap(), user, alias, &own);
            let mut own = settings.is_ok().then_some(own);
            let mut theirs = theirs;
            own.iter_mut().chain(theirs.iter_mut()).for_each(|lines| lines.sort());
            prop_assert_eq!(own, theirs, "{:?}\n{} of\n{}\nwith\n{}", settings, alias, text, included);
        }
    }
}
