//! A rule means a host by its alias, by its groups and by its address, whichever of them a request has.

use serde_json::json;

use super::{Judged, Who};

const ANYONE: Who<'_> = ("", "");

/// The hosts of the tests: `core1` and `core2` have one address and differ in their ports.
const HOSTS: &str = r#"
hosts outside=permit {
    groups core edge lab
    host core1 address="10.0.0.1" { groups core }
    host core2 address="10.0.0.1" port=2222 { groups core lab }
    host edge1 address="edge.corp.example" { groups edge }
    host six address="fd00::1" { groups edge }
}
"#;

/// Every spelling of `core1` or its address, in tools and in texts.
const CORE: [&str; 8] = [
    "core1",
    "CORE1",
    "10.0.0.1",
    "ops@10.0.0.1",
    "10.0.0.1.",
    "0x0a000001",
    "167772161",
    "::ffff:10.0.0.1",
];

fn is_denied(judged: &Judged, tool: &str, arguments: serde_json::Value) -> bool {
    judged.call(ANYONE, tool, arguments.as_object().expect("an object")).outcome.word() == "deny"
}

#[test]
fn a_deny_means_a_host_by_each_of_its_names() {
    for selector in ["host", "connects"] {
        for name in ["core1", "core", "10.0.0.1", "10.0.*", "cor?"] {
            let policy = format!("{HOSTS} policy open {{ deny it {{ {selector} {name:?} }} }}");
            let judged = Judged::of(&policy);
            for spelled in CORE {
                let arguments = json!({ "host": spelled, "command": "ls" });
                assert!(is_denied(&judged, "ssh_exec", arguments), "{selector} {name} {spelled}");
                let fleet = json!({ "hosts": format!("edge1,{spelled}"), "command": "ls" });
                assert!(is_denied(&judged, "ssh_fanout", fleet), "{selector} {name} {spelled}");
                let jump = json!({ "host": "edge1", "jump": spelled, "command": "ls" });
                assert!(is_denied(&judged, "ssh_exec", jump), "{selector} {name} {spelled}");
                let bracketed = if spelled.contains("::") {
                    format!("[{spelled}]")
                } else {
                    spelled.to_owned()
                };
                let jump = format!("me@{}:22", bracketed.trim_start_matches("ops@"));
                let jump = json!({ "host": "edge1", "jump": jump, "command": "ls" });
                assert!(is_denied(&judged, "ssh_exec", jump), "{selector} {name} {spelled}");
                let text = format!("ssh {} ls", spelled.trim_start_matches("::ffff:"));
                let local = json!({ "command": text });
                assert!(is_denied(&judged, "shell_exec", local), "{selector} {name} {text}");
            }
            // `N` may be `@core1`, which makes a user of what precedes it.
            for command in [
                "ssh $H ls",
                "ssh 10.0.0.$N ls",
                "ssh core$N ls",
                "ssh CORE$N ls",
                "ssh ops@core$N ls",
                "ssh edge$N ls",
                "ssh 0xa0000$N ls",
                "ssh ${N}161 ls",
                "ssh $N. ls",
            ] {
                let open = json!({ "command": command });
                assert!(is_denied(&judged, "shell_exec", open), "{selector} {name} {command}");
            }
            for other in ["edge1", "edge.corp.example", "fd00:0::1", "10.1.0.1"] {
                let arguments = json!({ "host": other, "command": "ls" });
                assert!(!is_denied(&judged, "ssh_exec", arguments), "{selector} {name} {other}");
            }
        }
    }
}

#[test]
fn a_deny_over_connections_means_them_in_every_text() {
    let judged = Judged::of(&format!("{HOSTS} policy open {{ deny it {{ connects core edge }} }}"));
    for command in [
        "curl http://10.0.0.1/x",
        "curl https://EDGE.corp.example:8443/",
        "nc 0xa000001 80",
        "scp f core1:/tmp/",
        "rsync -a . ops@10.0.0.1:/srv/",
        "curl 'http://[fd00::1]/'",
        "ssh -J core2 elsewhere ls",
        "curl http://other$N/",
        "mytool http://10.0.0.1/",
        "scp f '[fd00::1]:/tmp/'",
        "rsync -a . 'ops@[fd00::1]:/srv/'",
        "wget 'https://[fd00::1%25eth0]/'",
        "ping fd00::1%eth0",
        "curl --connect-to '::[fd00::1]:80' http://other/",
        "curl --connect-to ::core1:80 http://other/",
        "curl --resolve other:80:fd00::1 http://other/",
        "curl --resolve other:80:10.0.0.9,10.0.0.1 http://other/",
        "ssh -L 8080:core1:80 elsewhere",
        "ssh -L '127.0.0.1:8080:[fd00::1]:80' elsewhere",
        "ssh -L 8080/core1/80 elsewhere",
        "ssh -R 8080:10.0.0.1:80 elsewhere",
        "ssh -L /tmp/socket:core1:80 elsewhere",
        "ssh -o LocalForward='8080 core1:80' elsewhere",
        "ssh -o 'RemoteForward 8080 [fd00::1]:80' elsewhere",
        "ssh -oLocalForward=8080:10.0.0.1:80 elsewhere",
    ] {
        assert!(is_denied(&judged, "shell_exec", json!({ "command": command })), "{command}");
    }
    for command in [
        "curl http://10.0.0.3/",
        "ssh -L 8080:10.0.0.3:80 elsewhere",
        "ssh -D 1080 elsewhere",
        "docker run -p 127.0.0.1:8080:80 nginx",
        "curl --connect-to '::[fd00::2]:80' http://other/",
    ] {
        assert!(!is_denied(&judged, "shell_exec", json!({ "command": command })), "{command}");
    }
}

#[test]
fn an_exception_for_a_group_holds_for_its_addresses() {
    let deny = r#"deny it { connects "*" { except core } }"#;
    let judged = Judged::of(&format!("{HOSTS} policy open {{ {deny} }}"));
    for host in CORE {
        let arguments = json!({ "host": host, "command": "ls" });
        assert!(!is_denied(&judged, "ssh_exec", arguments), "{host}");
    }
    for command in ["ssh edge1 ls", "ssh $H ls", "curl http://10.0.0.2/"] {
        assert!(is_denied(&judged, "shell_exec", json!({ "command": command })), "{command}");
    }
}

#[test]
fn a_permission_needs_every_host_of_an_address() {
    let allow = |host: &str| {
        let allow = format!("allow it {{ program systemctl; sub restart; host {host} }}");
        Judged::of(&format!("{HOSTS} policy guarded {{ {allow} }}"))
    };
    let may = |judged: &Judged, host: &str| {
        let arguments = json!({ "host": host, "command": "systemctl restart nginx" });
        !is_denied(judged, "ssh_exec", arguments)
    };
    // Both hosts of the address are in the group, and one of them in `lab`.
    let core = allow("core");
    assert!(may(&core, "core1") && may(&core, "core2") && may(&core, "10.0.0.1"));
    let lab = allow("lab");
    assert!(may(&lab, "core2") && !may(&lab, "core1") && !may(&lab, "10.0.0.1"));
    let edge = allow("edge");
    assert!(may(&edge, "edge1") && may(&edge, "fd00:0:0::1") && !may(&edge, "core1"));
}

#[test]
fn scopes_hold_for_the_hosts_of_a_group() {
    let judged =
        Judged::of(&format!("{HOSTS} policy open {{ scope host=core {{ mode readonly }} }}"));
    let touch = |host: &str| json!({ "host": host, "command": "touch /tmp/x" });
    assert!(is_denied(&judged, "ssh_exec", touch("core2")));
    assert!(is_denied(&judged, "ssh_exec", touch("10.0.0.1")));
    assert!(!is_denied(&judged, "ssh_exec", touch("edge1")));
}

#[test]
fn a_large_inventory_leaves_an_uncertain_host_a_doubt() {
    let hosts: String = (0..200)
        .map(|it| format!("host h{it} address=\"10.9.0.{it}\" {{ groups all }}\n"))
        .collect();
    let policy = r#"policy open { deny it { connects all } }"#;
    let judged = Judged::of(&format!("hosts {{ groups all\n{hosts} }}\n{policy}"));
    for command in ["ssh $H ls", "ssh h1$N ls", "ssh h7 ls", "curl http://10.9.0.7"] {
        assert!(is_denied(&judged, "shell_exec", json!({ "command": command })), "{command}");
    }
    assert!(!is_denied(&judged, "shell_exec", json!({ "command": "ssh x.corp.example ls" })));
}

#[test]
fn a_host_on_the_way_is_connected_to_and_runs_nothing() {
    let hosts = r#"hosts {
        host gate address="10.0.0.9"
        host inner jump=gate
        host deep jump=inner
    }"#;
    let denies = |rule: &str, tool: &str, arguments: serde_json::Value| {
        is_denied(
            &Judged::of(&format!("{hosts}\npolicy open {{ deny it {{ {rule} }} }}")),
            tool,
            arguments,
        )
    };
    let run = |host: &str| json!({ "host": host, "command": "ls" });
    for spelled in ["gate", "10.0.0.9"] {
        let rule = format!("connects {spelled:?}");
        for host in ["gate", "inner", "deep", "DEEP"] {
            assert!(denies(&rule, "ssh_exec", run(host)), "{rule} {host}");
        }
        let rule = format!("host {spelled:?}");
        assert!(denies(&rule, "ssh_exec", run("gate")) && !denies(&rule, "ssh_exec", run("deep")));
    }
    assert!(!denies("connects inner", "ssh_exec", run("gate")));
}

#[test]
fn a_fleet_without_hosts_is_every_host() {
    let judged = Judged::of(&format!("{HOSTS} policy open {{ deny it {{ host edge }} }}"));
    for hosts in ["", "  ", "core1, edge1", "core1\tedge1", "edge1"] {
        let arguments = json!({ "hosts": hosts, "command": "ls" });
        assert!(is_denied(&judged, "ssh_fanout", arguments), "{hosts:?}");
        assert!(is_denied(&judged, "ssh_check", json!({ "hosts": hosts })), "{hosts:?}");
    }
    assert!(is_denied(&judged, "ssh_check", json!({})));
    assert!(!is_denied(&judged, "ssh_fanout", json!({ "hosts": "core1 core2", "command": "ls" })));
}

#[test]
fn a_probe_of_other_hosts_is_no_reading() {
    let judged = Judged::of(&format!("{HOSTS} policy readonly"));
    for (hosts, is_read) in
        [("", true), ("core1,six", true), ("10.0.0.1", true), ("core1 other", false)]
    {
        assert_eq!(!is_denied(&judged, "ssh_check", json!({ "hosts": hosts })), is_read, "{hosts}");
    }
}

#[test]
fn paths_of_transfers_and_keys_are_those_of_rules() {
    let denies = |rule: &str, tool: &str, arguments: serde_json::Value| {
        is_denied(
            &Judged::of(&format!("{HOSTS} policy open {{ deny it {{ {rule} }} }}")),
            tool,
            arguments,
        )
    };
    let copy = |local: &str, remote: &str| json!({ "host": "core1", "local_path": local, "remote_path": remote });
    let upload =
        |rule: &str, local: &str, remote: &str| denies(rule, "ssh_upload", copy(local, remote));
    let download =
        |rule: &str, local: &str, remote: &str| denies(rule, "ssh_download", copy(local, remote));
    assert!(upload("reads secret", "/home/a/.ssh/id_ed25519", "/tmp/x"));
    assert!(
        upload("sends body", "/srv/x", "/tmp/x") && !upload("sends secret", "/srv/x", "/tmp/x")
    );
    assert!(upload("sends secret", "/home/a/.ssh/id_ed25519", "/tmp/x"));
    let all = |rule: &str, tool: &str| {
        let folder = json!({
            "host": "core1", "local_path": "/srv", "remote_path": "/var", "recursive": true
        });
        denies(rule, tool, folder)
    };
    assert!(
        all(r#"reads "/srv/app/**""#, "ssh_upload") && all(r#"writes "/var/lib/x""#, "ssh_upload")
    );
    assert!(!upload(r#"reads "/srv/app/**""#, "/srv", "/var"));
    assert!(
        all(r#"reads "/var/lib/x/**""#, "ssh_download")
            && !all(r#"reads "/etc/**""#, "ssh_download")
    );
    assert!(upload(r#"writes "/etc/**""#, "/srv/x", "/etc/motd"));
    assert!(upload(r#"writes "/etc/**""#, "/srv/x", "/srv/../etc/motd"));
    assert!(upload(r#"writes "~/.ssh/**""#, "/srv/x", ".ssh/authorized_keys"));
    assert!(upload(r#"writes "~/.ssh/**""#, "/srv/x", "~/.ssh/authorized_keys"));
    assert!(!upload(r#"writes "/etc/**""#, "/srv/x", "/srv/y"));
    assert!(download("reads secret", "/srv/x", "/home/a/.ssh/id_ed25519"));
    assert!(download("reads secret", "/srv/x", ".ssh/id_ed25519"));
    assert!(download(r#"writes "/etc/**""#, "/etc/x", "/srv/y"));
    for tool in ["ssh_exec", "ssh_spawn", "ssh_fanout"] {
        let key = json!({
            "host": "core1", "hosts": "core1", "command": "ls", "key_path": "/home/a/.ssh/id_rsa"
        });
        assert!(denies("reads secret", tool, key), "{tool}");
    }
    let none = json!({ "host": "core1", "command": "ls", "key_path": "", "jump": "" });
    assert!(!denies(r#"reads "*""#, "ssh_exec", none));
}

/// A project whose `hosts` refuse others denies each call about one, by any of its arguments; a text is
/// the affair of rules.
#[test]
fn a_host_outside_is_refused_unless_others_are_permitted() {
    let refusing = HOSTS.replace("outside=permit", "outside=refuse");
    let judged = Judged::of(&format!("{refusing} policy open"));
    let permitting = Judged::of(&format!("{HOSTS} policy open"));
    for other in ["other.example", "ops@other.example", "10.1.0.1", "core1.other", "core11"] {
        for (tool, arguments) in [
            ("ssh_exec", json!({ "host": other, "command": "ls" })),
            ("ssh_exec", json!({ "host": "core1", "jump": other, "command": "ls" })),
            ("ssh_fanout", json!({ "hosts": format!("core1 {other}"), "command": "ls" })),
            ("ssh_check", json!({ "hosts": other })),
            ("ssh_keyscan", json!({ "hosts": other })),
            ("ssh_upload", json!({ "host": other, "local_path": "/a", "remote_path": "/b" })),
        ] {
            assert!(is_denied(&judged, tool, arguments.clone()), "{tool} {arguments}");
            assert!(!is_denied(&permitting, tool, arguments.clone()), "{tool} {arguments}");
            let arguments = arguments.as_object().expect("an object");
            let decision = judged.call(ANYONE, tool, arguments);
            assert_eq!(decision.rule_name(), "outside-host", "{tool}");
        }
    }
    for own in CORE {
        let arguments = json!({ "host": own, "command": "ls" });
        assert!(!is_denied(&judged, "ssh_exec", arguments), "{own}");
    }
    assert!(!is_denied(&judged, "shell_exec", json!({ "command": "ssh other.example ls" })));
}
