//! Which key a host must show.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use proptest::prelude::*;
use relay_ssh::Place;
use relay_ssh::known_hosts::{FILE_BYTES_MAX, KnownHosts, PINS_MAX, Verdict, append, entry, read};

use super::entry::{self as properties, ed25519};
use super::program;

/// The public key of equal bytes as a line writes it.
fn ed(byte: u8) -> String {
    let line = entry("x", 22, &ed25519(byte)).unwrap();
    line.trim_start_matches("x ").trim_end().to_owned()
}

/// A key of another type.
fn ecdsa() -> Vec<u8> {
    let point = [&[4], [7; 64].as_slice()].concat();
    [b"\0\0\0\x13ecdsa-sha2-nistp256\0\0\0\x08nistp256\0\0\0\x41", point.as_slice()].concat()
}

fn line_of(host: &str, key: &[u8]) -> String {
    entry("x", 22, key).unwrap().replacen('x', host, 1)
}

fn known(text: &str) -> KnownHosts {
    KnownHosts::new([("file", text.as_bytes())])
}

/// Returns the verdict as a word, with its line.
fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Known { at } => format!("known {}", at.line),
        Verdict::Unknown => "unknown".to_owned(),
        Verdict::Changed { at } => format!("changed {}", at.line),
        Verdict::Revoked { at } => format!("revoked {}", at.line),
    }
}

fn check(text: &str, host: &str, port: u16, expected: &str) {
    assert_eq!(word(known(text).verdict(host, port, &ed25519(1))), expected, "{text}");
}

#[test]
fn a_key_is_judged_as_openssh_does() {
    let (one, two) = (ed(1), ed(2));
    let other_type = line_of("h", &ecdsa());
    let at = |hosts: &str| format!("{hosts} {one}\n");
    check(&at("[h]:2201"), "h", 2201, "known 1");
    check(&at("h"), "h", 22, "known 1");
    // The bare name vouches, and never denies.
    check(&at("h"), "h", 2201, "known 1");
    check(&format!("h {two}\n"), "h", 2201, "unknown");
    check(&format!("[h]:2201 {two}\nh {one}\n"), "h", 2201, "changed 1");
    check(&at("[h]:2201"), "h", 22, "unknown");
    check(&at("[*.example.org]:2201"), "a.example.org", 2201, "known 1");
    check(&at("*.example.org,!a.example.org"), "a.example.org", 22, "unknown");
    check(&at("!a.example.org,*.example.org"), "b.example.org", 22, "known 1");
    check(&at("H?ST"), "hOst", 22, "known 1");
    check(&at("::1"), "::1", 22, "known 1");
    check(&at("[fe80::1%eth0]:2201"), "FE80::1%eth0", 2201, "known 1");
    check(&format!("  h\t{}\r\n", one.replace(' ', "\t")), "h", 22, "known 1");
    check(&format!("h {two}\nh {one} comment of mine\n"), "h", 22, "known 2");
    check(&other_type, "h", 22, "changed 1");
    check(&format!("@revoked * {one}\nh {one}\n"), "h", 22, "revoked 1");
    check(&format!("h {one}\n@revoked\th\t{one}\n"), "h", 22, "revoked 2");
    check(&format!("@revoked other {one}\nh {one}\n"), "h", 22, "known 2");
    check(&format!("@cert-authority h {one}\n"), "h", 22, "unknown");
    check(&format!("h ssh-ed25519 AAAA!!\nh ssh-xyz AAAA\nh {one}\n"), "h", 22, "known 3");
    check("", "h", 22, "unknown");
    // Stricter than OpenSSH: the bare host's revoked key is refused on its other ports.
    check(&format!("@revoked h {one}\n[h]:2201 {one}\n"), "h", 2201, "revoked 1");
}

#[test]
fn a_client_offers_the_types_that_are_known() {
    let types = |text: &str, port| {
        known(text).key_types("h", port).into_iter().collect::<Vec<_>>().join(" ")
    };
    let text = format!("h {}\n{}@cert-authority h {}\n", ed(1), line_of("h", &ecdsa()), ed(3));
    assert_eq!(types(&text, 22), "ecdsa-sha2-nistp256 ssh-ed25519");
    assert_eq!(types(&text, 2201), "");
    assert_eq!(types(&format!("@revoked h {}\n", ed(1)), 22), "");
}

#[test]
fn authorities_are_those_of_the_host() {
    let text = format!(
        "@cert-authority *.example.org,!b.example.org {}\n@cert-authority [a.example.org]:2201 {}\n\
         @revoked * {}\n",
        ed(1),
        ed(2),
        ed(3)
    );
    let known = known(&text);
    let lines = |host, port| -> Vec<usize> {
        known.authorities(host, port).into_iter().map(|(at, _)| at.line).collect()
    };
    assert_eq!(lines("a.example.org", 22), [1]);
    assert_eq!(lines("a.example.org", 2201), [1, 2]);
    assert_eq!(lines("b.example.org", 2201), [0; 0]);
    assert_eq!(known.authorities("a.example.org", 22)[0].1, ed25519(1));
    assert!(known.revoked("b.example.org", 22, &ed25519(3)).is_some());
    assert!(known.revoked("b.example.org", 22, &ed25519(1)).is_none());
}

#[test]
fn pins_come_before_files() {
    let text = format!("h {}\n@cert-authority h {}\n@revoked * {}\n", ed(1), ed(4), ed(3));
    let mut known = known(&text);
    let at = |line| Place { file: "server.toml".into(), line };
    known.pin("H", 22, at(5), &format!("{} a comment", ed(2))).unwrap();
    known.pin("h", 22, at(6), &ed(3)).unwrap();
    let verdict = |byte| word(known.verdict("h", 22, &ed25519(byte)));
    assert_eq!([verdict(1), verdict(2), verdict(3)], ["changed 5", "known 5", "revoked 3"]);
    assert!(known.authorities("h", 22).is_empty());
    assert_eq!(known.key_types("h", 22).into_iter().collect::<Vec<_>>(), ["ssh-ed25519"]);
    // Another port is another name.
    assert_eq!(word(known.verdict("h", 2201, &ed25519(1))), "known 1");

    let error = known.pin("h", 22, at(7), "ssh-ed25519 AAAA").unwrap_err().to_string();
    assert_eq!(
        error,
        "server.toml:7: the key is incomplete or damaged: write a line of a `.pub` file, such as \
         `ssh-ed25519 AAAA…`"
    );
    let many = (2..=PINS_MAX).find_map(|line| known.pin("h", 22, at(line), &ed(2)).err());
    assert_eq!(many.unwrap().to_string(), "server.toml:16: a host may have at most 16 pins");
}

#[test]
fn unreadable_lines_are_reported_and_the_rest_counts() {
    let short = "AAAAB3NzaC1yc2EAAAABAwAAAAEF";
    let text = format!(
        "h\n@marker h {0}\n@revoked @revoked h {0}\n|1|AA|AA {0}\nh ssh-xyz AAAA\nh ssh-ed25519 A!\n\
         h ssh-rsa {1}\nh ssh-ed25519 {short}\nh ssh-rsa {short}\nh ssh-ed25519 AAAA\n\
         h ssh-ed25519-cert-v01@openssh.com AAAA\n\n# comment\nh {0}\n",
        ed(1),
        ed(1).split(' ').nth(1).unwrap(),
    );
    let known = known(&text);
    let words: Vec<String> = known.warnings().iter().map(ToString::to_string).collect();
    let reasons = [
        "the key is missing: write its type and its base64 text",
        "the marker is unknown: write one of `@cert-authority` and `@revoked`, or none",
        "the marker is unknown: write one of `@cert-authority` and `@revoked`, or none",
        "the hash of the host is damaged",
        "the type of the key is unknown",
        "the key is invalid base64",
        "the key has another type than the line says",
        "the key has another type than the line says",
        "the RSA key has under 1024 bits",
        "the key is incomplete or damaged",
        "a certificate is no host key: write its authority's key after `@cert-authority`",
    ];
    let expected: Vec<String> = (1..)
        .zip(reasons)
        .map(|(line, reason)| format!("file:{line}: this line is skipped: {reason}"))
        .collect();
    assert_eq!(words, expected);
    assert_eq!(word(known.verdict("h", 22, &ed25519(1))), "known 14");
}

#[test]
fn a_file_that_exists_and_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert!(read(&path("missing")).unwrap().is_empty());
    assert!(read(Path::new("/dev/null")).unwrap().is_empty());
    let error = read(folder.path()).unwrap_err().to_string();
    assert!(error.contains(folder.path().to_str().unwrap()), "{error}");
    assert!(error.ends_with(
        "cannot be read: it is a folder, a pipe or a device: name a regular file: correct the file or \
         name another one"
    ));
    fs::write(path("large"), vec![b'\n'; FILE_BYTES_MAX + 1]).unwrap();
    assert!(read(&path("large")).unwrap_err().to_string().contains("over 8388608 bytes"));
    fs::write(path("latin"), [b"# \xe9\nh ", ed(1).as_bytes()].concat()).unwrap();
    let known = KnownHosts::of_files([&*path("missing"), &*path("latin")]).unwrap();
    assert_eq!(word(known.verdict("h", 22, &ed25519(1))), "known 2");
    assert!(KnownHosts::of_files([&*path("latin"), &*path("large")]).is_err());
}

#[test]
fn a_new_host_is_appended_on_a_line_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".ssh/known_hosts");
    let line = entry("Web.example.org", 2201, &ed25519(1)).unwrap();
    assert_eq!(line, format!("[web.example.org]:2201 {}\n", ed(1)));
    append(&path, &line).unwrap();
    append(&path, &line).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), line);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));

    fs::write(&path, "# no end").unwrap();
    append(&path, &line).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("# no end\n{line}"));

    let many: Vec<_> = (0..20)
        .map(|number| {
            let (path, line) = (path.clone(), format!("h{number} {}\n", ed(2)));
            std::thread::spawn(move || append(&path, &line).unwrap())
        })
        .collect();
    many.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 22);
    assert!(append(folder.path(), &line).is_err());
}

#[test]
fn a_host_that_is_a_pattern_is_never_appended() {
    let long = "a".repeat(256);
    for host in ["", "*", "a,b", "a b", "a\nb", "#a", "@revoked", "|1|", "!a", "-a", "é", &long] {
        assert!(entry(host, 22, &ed25519(1)).is_err(), "{host:?}");
    }
    assert!(entry("h", 22, b"").is_err());
    assert_eq!(entry("::1", 22, &ed25519(1)).unwrap(), format!("::1 {}\n", ed(1)));
}

/// Matches by trying every split: the definition of a pattern.
fn naive(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|at| naive(rest, &name[at..])),
        Some((byte, rest)) => name
            .split_first()
            .is_some_and(|(first, after)| (*byte == b'?' || byte == first) && naive(rest, after)),
    }
}

fn naive_list(list: &str, name: &str) -> bool {
    let (mut yes, mut no) = (false, false);
    for pattern in list.to_lowercase().split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) => no |= naive(pattern.as_bytes(), name.as_bytes()),
            None => yes |= naive(pattern.as_bytes(), name.as_bytes()),
        }
    }
    yes && !no
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_list_matches_as_its_definition(list in "[!]?[ab*?A]{1,6}(,[!]?[ab*?]{0,6}){0,3}", host in "[abA]{1,7}") {
        let found = known(&format!("{list} {}\n", ed(1))).verdict(&host, 22, &ed25519(1));
        let expected = naive_list(&list, &host.to_lowercase());
        prop_assert_eq!(word(found) == "known 1", expected);
    }

    #[test]
    fn any_text_keeps_the_properties(text in "(a|b|[*]|,|!|@revoked|@cert-authority|ssh-ed25519|AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB| |\n|\\[|\\]:2201|#|\\|1\\|){0,40}") {
        properties::known_hosts(format!("a 2201\n{text}").as_bytes());
        properties::known_hosts(text.as_bytes());
    }

    #[test]
    fn any_bytes_keep_the_properties(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        properties::known_hosts(&bytes);
    }
}

#[test]
fn seeds_keep_the_properties() {
    for (target, inputs) in properties::seeds() {
        for input in inputs.iter().filter(|_| target == "ssh_known_hosts") {
            properties::known_hosts(input);
        }
    }
}

/// Returns the verdict that follows from the lines which `ssh-keygen -F` finds for a name and, unless
/// there is one, for the bare name.
fn by_keygen(path: &str, text: &str, (host, port): (&str, u16), key: &str) -> Option<String> {
    let find = |name: &str| -> Option<Vec<usize>> {
        let output = program::run("ssh-keygen", &["-F", name, "-f", path])?;
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers = text.lines().filter(|line| line.starts_with('#'));
        let number = |line: &str| {
            let after = line.split("found: line ").nth(1).unwrap();
            after.split(' ').next().unwrap().parse().unwrap()
        };
        Some(numbers.map(number).collect())
    };
    let lines: Vec<&str> = text.lines().collect();
    let named = if port == 22 { host.to_owned() } else { format!("[{host}]:{port}") };
    let (own, bare) = (find(&named)?, find(host)?);
    let has = |number: &&usize| lines[**number - 1].contains(key);
    let marked = |number: &&usize| lines[**number - 1].starts_with('@');
    let revoked = |number: &&usize| lines[**number - 1].starts_with("@revoked") && has(number);
    let mut both: Vec<usize> = own.iter().chain(&bare).copied().collect();
    both.sort_unstable();
    if let Some(number) = both.iter().find(revoked) {
        return Some(format!("revoked {number}"));
    }
    let own: Vec<usize> = own.iter().filter(|number| !marked(number)).copied().collect();
    if let Some(number) = own.iter().find(has) {
        return Some(format!("known {number}"));
    }
    if let Some(number) = own.first() {
        return Some(format!("changed {number}"));
    }
    let bare = bare.iter().find(|number| !marked(number) && has(number));
    Some(bare.map_or_else(|| "unknown".to_owned(), |number| format!("known {number}")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hosts_are_found_as_ssh_keygen_finds_them(
        lines in prop::collection::vec((0..7_usize, "[!]?(ab|a|b|[*]|a[*]|[?]b|\\[a[*]\\]:2201|\\[ab\\]:2201)(,[!]?(ab|[*]b|\\[[?]b\\]:2201)){0,2}", 1..4_u8), 0..6),
        is_hashed in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known_hosts");
        let path = path.to_str().unwrap();
        let marker = |kind| ["@revoked ", "@cert-authority "].get(kind).copied().unwrap_or("");
        let line = |(kind, hosts, key): &(usize, String, u8)| format!("{}{hosts} {}\n", marker(*kind), ed(*key));
        let mut text: String = lines.iter().map(line).collect();
        fs::write(path, &text).unwrap();
        if is_hashed && program::run("ssh-keygen", &["-q", "-H", "-f", path]).is_some() {
            text = fs::read_to_string(path).unwrap();
        }
        let known = known(&text);
        prop_assert_eq!(known.warnings(), &[]);
        for (host, port) in [("ab", 22), ("ab", 2201), ("b", 2201)] {
            let Some(expected) = by_keygen(path, &text, (host, port), &ed(1)) else { break };
            prop_assert_eq!(word(known.verdict(host, port, &ed25519(1))), expected, "{} {} {}", text, host, port);
        }
    }
}
