//! The hosts of an inventory.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use relay_ssh::inventory::{BYTES_MAX, HOSTS_MAX, Inventory, KnownHostsRule};

use super::entry as properties;

fn read(text: &str) -> Result<Inventory, String> {
    Inventory::of_text("hosts.json", text.as_bytes(), "/home/me").map_err(|error| error.to_string())
}

#[test]
fn every_member_is_read_under_both_of_its_names() {
    let text = r#"{
        "web": {"hostname": "web.example.org", "user": "deploy", "port": 2222,
                "identity_file": "~/.ssh/id", "jump": "u@j1:2201,j2", "known_hosts": "accept-new"},
        "old": {"host": "::1", "identityfile": "/k", "proxyjump": "none", "known_hosts": "strict"},
        "bare": {"user": null},
        "any": {"known_hosts": "ignore"}
    }"#;
    let inventory = read(text).unwrap();
    assert_eq!(inventory.aliases().collect::<Vec<_>>(), ["any", "bare", "old", "web"]);
    let web = inventory.host("web").unwrap();
    assert_eq!(web.hostname.as_deref(), Some("web.example.org"));
    assert_eq!((web.user.as_deref(), web.port), (Some("deploy"), Some(2222)));
    assert_eq!(web.identity_file, Some(PathBuf::from("/home/me/.ssh/id")));
    let jumps = web.jump.as_ref().unwrap();
    assert_eq!((jumps[0].user.as_deref(), jumps[0].port), (Some("u"), Some(2201)));
    assert_eq!((jumps[1].host.as_str(), jumps[1].port), ("j2", None));
    assert_eq!(web.known_hosts, Some(KnownHostsRule::AcceptNew));
    let old = inventory.host("old").unwrap();
    assert_eq!(old.hostname.as_deref(), Some("::1"));
    assert_eq!(old.identity_file, Some(PathBuf::from("/k")));
    assert_eq!(old.jump, Some(Vec::new()));
    assert_eq!(old.known_hosts, Some(KnownHostsRule::Strict));
    assert_eq!(inventory.host("any").unwrap().known_hosts, Some(KnownHostsRule::Ignore));
    assert_eq!(inventory.host("bare"), Some(&Default::default()));
    assert_eq!(inventory.host("none"), None);
    assert_eq!(read("{}").unwrap(), Inventory::default());
}

#[test]
fn a_fault_has_its_line_and_column() {
    let cases = [
        ("", "1:1: EOF while parsing a value"),
        ("{\"a\": {}", "1:8: EOF while parsing an object"),
        ("{\"a\": {}} x", "1:11: trailing characters"),
        (
            "[]",
            "1:1: invalid type: sequence, expected an object of aliases, each with an object of settings",
        ),
        ("{\"a\": [\"x\"]}", "1:6: invalid type: sequence, expected an object of settings"),
        ("{\n \"a\": 1}", "2:7: invalid type: integer `1`, expected an object of settings"),
        (
            "{\"a\": {\n\"name\": \"x\"}}",
            "2:6: unknown field `name`, expected one of `host`, `hostname`, `user`, `port`, `identity_file`, \
             `identityfile`, `jump`, `proxyjump`, `known_hosts`",
        ),
        ("{\"a\": {\"host\": \"x\",\n \"hostname\": \"y\"}}", "2:11: duplicate field `hostname`"),
        ("{\"a\": {},\n\"a\": {}}", "2:3: the alias `a` is there twice"),
        (
            "{\"a\": {\"port\": 0}}",
            "1:16: invalid value: integer `0`, expected a number from 1 to 65535",
        ),
        (
            "{\"a\": {\"port\": 65536}}",
            "1:20: invalid value: integer `65536`, expected a number from 1 to 65535",
        ),
        (
            "{\"a\": {\"port\": \"22\"}}",
            "1:19: invalid type: string \"22\", expected a number from 1 to 65535",
        ),
        (
            "{\"a\": {\"port\": 2.5}}",
            "1:18: invalid type: floating point `2.5`, expected a number from 1 to 65535",
        ),
        (
            "{\"a\": {\"host\": \"x y\"}}",
            "1:20: invalid value: string \"x y\", expected a host name or an address",
        ),
        ("{\"a\": {\"user\": \"-x\"}}", "1:19: invalid value: string \"-x\", expected a user name"),
        ("{\"a\": {\"user\": 5}}", "1:16: invalid type: integer `5`, expected a user name"),
        (
            "{\"a\": {\"identity_file\": \"key\"}}",
            "1:29: invalid value: string \"key\", expected an absolute path, or one below `~/`",
        ),
        (
            "{\"a\": {\"jump\": \"a,,b\"}}",
            "1:21: invalid value: string \"a,,b\", expected `none`, or a few of `user@host:port` with commas \
             between",
        ),
        (
            "{\"a\": {\"known_hosts\": \"yes\"}}",
            "1:27: invalid value: string \"yes\", expected `strict`, `accept-new` or `ignore`",
        ),
        (
            "{\"a*\": {}}",
            "1:5: invalid value: string \"a*\", expected an alias of letters, digits, `-`, `.`, `_` and `:`, as in \
             `web-1`",
        ),
    ];
    for (text, expected) in cases {
        let expected = format!("hosts.json:{expected}: correct the inventory");
        assert_eq!(read(text).unwrap_err(), expected, "{text}");
    }
    let many: Vec<String> = (0..=HOSTS_MAX).map(|number| format!("\"h{number}\": {{}}")).collect();
    assert!(read(&format!("{{{}}}", many[..HOSTS_MAX].join(","))).is_ok());
    let error = read(&format!("{{{}}}", many.join(","))).unwrap_err();
    assert!(error.contains("over 10000 hosts"), "{error}");
}

#[test]
fn a_missing_or_large_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hosts.json");
    let read = || Inventory::read(&path, "/home/me").map_err(|error| error.to_string());
    assert!(read().unwrap_err().contains("hosts.json` cannot be read: "));
    fs::write(&path, "{\"a\": {}}").unwrap();
    assert_eq!(read().unwrap().aliases().collect::<Vec<_>>(), ["a"]);
    fs::write(&path, vec![b' '; BYTES_MAX + 1]).unwrap();
    assert!(read().unwrap_err().ends_with("it has over 4194304 bytes"));
    assert!(Inventory::read(Path::new("/dev/zero"), "/").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_keeps_the_properties(text in "([{}\\[\\],:\" \n]|\"a\"|\"host\"|\"port\"|\"jump\"|\"known_hosts\"|\"strict\"|22|null|-1|\"~/k\"|\"identity_file\"|\\\\u0000){0,30}") {
        properties::inventory(text.as_bytes());
    }
}

#[test]
fn seeds_keep_the_properties() {
    for (target, inputs) in properties::seeds() {
        for input in inputs.iter().filter(|_| target == "ssh_inventory") {
            assert!(properties::inventory(input), "{}", String::from_utf8_lossy(input));
        }
    }
}
