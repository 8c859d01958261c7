//! The dependencies of crates, and the names that only some of them may have.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{manifests, relative, root, sources};

/// The dependency table: a crate, and the packages that it must never depend on.
const NEVER: &[(&str, &[&str])] = &[
    (
        "relay-bundle",
        &["relay-engine", "relay-compiler", "kdl", "miette", "minijinja", "tokio", "rmcp", "clap"],
    ),
    (
        "relay-policy",
        &["relay-engine", "relay-compiler", "kdl", "miette", "tokio", "rmcp", "clap", "rand"],
    ),
    (
        "relay-engine",
        &["relay-compiler", "kdl", "miette", "minijinja", "tokio", "rmcp", "clap", "rand"],
    ),
    (
        "relay-hook",
        &["relay-compiler", "kdl", "miette", "minijinja", "tokio", "rmcp", "clap", "rand"],
    ),
    (
        "relay-keeper",
        &["relay-compiler", "relay-engine", "kdl", "miette", "rmcp", "clap", "portable-pty"],
    ),
    (
        "relay-machine",
        &["relay-compiler", "kdl", "miette", "minijinja", "tokio", "rmcp", "clap", "rand"],
    ),
    (
        "relay-ssh",
        &["relay-bundle", "relay-engine", "relay-compiler", "kdl", "miette", "rmcp", "clap"],
    ),
    (
        "relay-diff",
        &["relay-compiler", "kdl", "miette", "minijinja", "tokio", "rmcp", "clap", "rand"],
    ),
    ("relay-compiler", &["relay-runtime", "tokio", "rmcp", "axum", "clap", "russh", "getrandom"]),
    ("relay-cli", &["relay-runtime", "tokio", "rmcp", "axum", "russh"]),
    (
        "relay-runtime",
        &["relay-compiler", "relay-cli", "kdl", "miette", "minijinja", "clap", "clap_builder"],
    ),
];

/// A name in the source, and the only files or folders that may contain it.
const ONLY_IN: &[(&str, &str, &[&str])] = &[
    (
        "compiler",
        "Kdl",
        &["compiler/src/parse/document/scalar.rs", "compiler/src/parse/document/tests.rs"],
    ),
    (
        "compiler",
        "minijinja",
        &["compiler/src/resolve/template.rs", "compiler/src/resolve/template/"],
    ),
    (
        "compiler",
        "granit_parser",
        &["compiler/src/parse/front_matter/yaml.rs", "compiler/src/parse/front_matter.rs"],
    ),
    ("compiler", "pulldown_cmark", &["compiler/src/outline.rs"]),
    ("compiler", "GraphicalReportHandler", &["compiler/cli/src/report/human.rs"]),
    // The forms of a comparison lay out one outline.
    (
        "compiler/cli/src/command/diff",
        "Change::",
        &[
            "compiler/cli/src/command/diff/anchor.rs",
            "compiler/cli/src/command/diff/comparison.rs",
            "compiler/cli/src/command/diff/outline.rs",
            "compiler/cli/src/command/diff/words.rs",
        ],
    ),
    ("runtime", "memchr", &["runtime/engine/src/select/word.rs", "runtime/engine/src/redact/"]),
    ("runtime", "rmcp", &["runtime/src/mcp.rs", "runtime/src/mcp/"]),
    ("runtime", "russh", &["runtime/ssh/"]),
    (
        "runtime",
        "hmac::",
        &["runtime/engine/src/handle.rs", "runtime/ssh/src/known_hosts/host_names.rs"],
    ),
    ("runtime", "Permit {", &["runtime/src/tool/decide/permit.rs"]),
    // What a bundle says is answered through a `View`, of one caller: nothing else has the bundle.
    (
        "runtime/src",
        "loaded.bundle",
        &["runtime/src/trust/loaded.rs", "runtime/src/trust/placed.rs"],
    ),
    (
        "runtime/src",
        "relay_bundle::Bundle",
        &[
            "runtime/src/trust/loaded.rs",
            "runtime/src/trust/placed.rs",
            "runtime/src/trust/standing.rs",
        ],
    ),
    ("runtime/src", "View::", &["runtime/src/trust/placed.rs"]),
    // The interpreter notes effects; which tier they have, only the judge says.
    (
        "runtime/policy/src",
        "Tier::",
        &["runtime/policy/src/judge.rs", "runtime/policy/src/judge/", "runtime/policy/src/facts/"],
    ),
    (
        "runtime/policy/src",
        "tier::Tier",
        &["runtime/policy/src/judge.rs", "runtime/policy/src/judge/", "runtime/policy/src/facts/"],
    ),
    // The judge sees only effects; values and invocations are independent of shells.
    ("runtime/policy/src/judge", "syntax::", &[]),
    ("runtime/policy/src/value", "facts::", &[]),
    ("runtime/policy/src/state", "facts::", &[]),
    // A mark is a `Mark`: no literal has its byte.
    ("runtime/policy/src", "\\xf", &[]),
    ("runtime/policy/src/invocation", "state::", &[]),
    // A path is printed by `text::shown_path`: the names of files may hold anything.
    ("compiler/cli/src", ".display()", &[]),
    (
        "runtime",
        "unsafe ",
        &[
            "runtime/hook/src/last_word.rs",
            "runtime/keeper/src/seccomp/system.rs",
            "runtime/machine/src/map.rs",
        ],
    ),
    ("compiler", "unsafe ", &["compiler/cli/src/allocator.rs"]),
    ("runtime", "conformance_tools", &["runtime/src/mcp.rs", "runtime/src/mcp/"]),
];

#[test]
fn no_crate_has_a_forbidden_dependency() {
    for (package, never) in NEVER {
        let below = tree(package, &[]);
        for other in *never {
            assert!(!below.contains(*other), "{package} must never pull in {other}");
        }
    }
}

#[test]
fn names_occur_only_where_allowed() {
    for (crate_folder, word, allowed) in ONLY_IN {
        for path in sources(crate_folder) {
            let name = relative(&path);
            if allowed.iter().any(|allowed| name.starts_with(allowed)) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for (number, line) in text.lines().enumerate() {
                // Comments may contain any name.
                let code = line.split("//").next().unwrap_or_default();
                assert!(
                    !code.contains(word),
                    "{name}:{}: `{word}` may be named in {allowed:?} alone",
                    number + 1
                );
            }
        }
    }
}

#[test]
fn libraries_forbid_unsafe_code() {
    let libraries =
        ["compiler", "compiler/cli", "compiler/diff", "runtime/bundle", "runtime/engine"];
    let text = |library| fs::read_to_string(root().join(library).join("src/lib.rs")).unwrap();
    for library in libraries {
        assert!(text(library).contains("#![forbid(unsafe_code)]"), "{library}/src/lib.rs");
    }
    // The observation of system calls needs it; the build that users get is without.
    let forbids = r#"#![cfg_attr(not(feature = "seccomp"), forbid(unsafe_code))]"#;
    assert!(text("runtime/keeper").contains(forbids), "runtime/keeper/src/lib.rs");
}

#[test]
fn no_release_contains_the_conformance_tools() {
    let manifest = fs::read_to_string(root().join("runtime/Cargo.toml")).unwrap();
    let default = manifest.lines().find(|line| line.trim_start().starts_with("default ="));
    assert!(default.is_none_or(|line| !line.contains("conformance")), "{default:?}");
    for member in manifests() {
        let text = fs::read_to_string(&member).unwrap();
        let enables = text
            .lines()
            .any(|line| line.contains("conformance-tools") && line.contains("features"));
        assert!(!enables, "{} enables conformance-tools", relative(&member));
    }
}

#[test]
fn the_observation_of_system_calls_is_off_by_default_and_adds_no_package() {
    for member in manifests() {
        let text = fs::read_to_string(&member).unwrap();
        let default = text.lines().find(|line| line.trim_start().starts_with("default ="));
        assert!(default.is_none_or(|line| !line.contains("seccomp")), "{}", relative(&member));
        let enables =
            text.lines().any(|line| line.contains("features") && line.contains("seccomp"));
        assert!(!enables, "{} enables seccomp", relative(&member));
    }
    for package in ["relay-keeper", "relay-runtime"] {
        assert_eq!(tree(package, &["--features", "seccomp"]), tree(package, &[]), "{package}");
    }
}

#[test]
fn a_server_without_ssh_has_no_crate_of_it() {
    let crates = ["russh", "russh-sftp", "relay-ssh"];
    let all = tree("relay-runtime", &[]);
    let slim = tree("relay-runtime", &["--no-default-features"]);
    for name in crates {
        assert!(all.contains(name), "{name}: the default server has it");
        assert!(!slim.contains(name), "{name}: the slim server has it");
    }
}

#[test]
fn versions_and_lints_are_declared_once() {
    for member in manifests().into_iter().filter(|path| relative(path) != "Cargo.toml") {
        let name = relative(&member);
        let text = fs::read_to_string(&member).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{name} does not take the lints");
        let mut dependencies = false;
        for line in text.lines() {
            if line.starts_with('[') {
                dependencies = line.contains("dependencies");
            } else if dependencies && line.contains('=') && !line.starts_with('#') {
                assert!(line.contains("workspace = true"), "{name}: `{line}` has its own version");
            }
        }
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let table = workspace.split("[workspace.dependencies]").nth(1).unwrap();
    let names: Vec<&str> = table
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .collect();
    assert!(names.is_sorted(), "[workspace.dependencies] is not alphabetical: {names:?}");
}

/// The fuzz targets have a lock file of their own, which `.ci/run` takes as it is, late.
#[test]
fn the_lock_file_of_the_fuzz_targets_is_current() {
    let locked = |file: &str| -> BTreeMap<String, BTreeSet<String>> {
        let lock: toml::Table = read_toml(&root().join(file));
        let ours =
            lock["package"].as_array().unwrap().iter().filter(|it| it.get("source").is_none());
        let one = |package: &toml::Value| {
            let dependencies = package.get("dependencies").and_then(toml::Value::as_array);
            let names = dependencies.into_iter().flatten().map(|it| it.as_str().unwrap());
            // A version follows a name that several packages have.
            let names = names.map(|it| it.split(' ').next().unwrap().to_owned());
            (package["name"].as_str().unwrap().to_owned(), names.collect())
        };
        ours.map(one).collect()
    };
    let (own, fuzz) = (locked("Cargo.lock"), locked("tests/fuzz/Cargo.lock"));
    let mut compared = 0;
    for member in manifests() {
        let manifest = read_toml(&member);
        let name = manifest.get("package").map_or("", |it| it["name"].as_str().unwrap());
        let (Some(own), Some(fuzz)) = (own.get(name), fuzz.get(name)) else { continue };
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        let is_optional = |it: &toml::Value| it.get("optional").is_some();
        let wanted = dependencies.into_iter().flatten().filter(|(_, it)| !is_optional(it));
        for (dependency, _) in wanted.filter(|(name, _)| own.contains(*name)) {
            compared += 1;
            assert!(
                fuzz.contains(dependency),
                "tests/fuzz/Cargo.lock: `{name}` lacks `{dependency}`; run `cargo metadata` in tests/fuzz"
            );
        }
    }
    assert!(compared > 50, "{compared} dependencies were compared");
}

fn read_toml(path: &Path) -> toml::Table {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

/// A crate of ours without one would be optimised in tests like a dependency.
#[test]
fn every_crate_has_its_own_optimisation_for_tests() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for member in manifests() {
        let text = fs::read_to_string(&member).unwrap();
        let name = text.lines().find_map(|line| line.strip_prefix("name = \"relay-"));
        let Some(name) = name.and_then(|rest| rest.strip_suffix('"')) else { continue };
        let settings = format!("[profile.dev.package.relay-{name}]\nopt-level = ");
        assert!(
            workspace.contains(&settings),
            "{}: the workspace lacks {settings}",
            relative(&member)
        );
    }
}

/// The profile `dist` inherits the crates that `release` leaves unoptimised, unless it says otherwise.
#[test]
fn nothing_that_ships_is_unoptimised() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let settings = |profile: &str, level: &str| -> BTreeSet<String> {
        let of_profile = format!("[profile.{profile}.package.");
        let sections = workspace.split(of_profile.as_str()).skip(1);
        let sections = sections.filter_map(|rest| rest.split_once("]\n"));
        let of_level =
            sections.filter(|(_, rest)| rest.starts_with(&format!("opt-level = {level}")));
        of_level.map(|(name, _)| name.to_owned()).collect()
    };
    let (unoptimised, shipped) = (settings("release", "0"), settings("dist", "\"s\""));
    assert!(unoptimised.contains("relay-cli"), "{unoptimised:?}");
    assert!(unoptimised.is_subset(&shipped), "{:?}", unoptimised.difference(&shipped));
}

/// The names of all normal dependencies of a package.
fn tree(package: &str, arguments: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(["--package", package])
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let names: BTreeSet<String> =
        text.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect();
    assert!(names.len() > 3, "cargo tree printed: {text}");
    names
}
