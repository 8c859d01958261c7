//! Rules of the source tree: allowed dependencies, current generated files, a case for every
//! diagnostic.

#![expect(clippy::disallowed_methods, reason = "asks cargo and git about the tree")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binaries::relay_serve;
use crate::support::root;

mod crates;
mod modules;
mod prose;
mod rules;

#[test]
fn the_top_level_is_as_documented() {
    let tracked = Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    let tracked = String::from_utf8(tracked.stdout).unwrap();
    let top: BTreeSet<&str> = tracked.lines().filter_map(|path| path.split('/').next()).collect();
    let visible: Vec<&str> = top.into_iter().filter(|name| !name.starts_with('.')).collect();
    let expected = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE",
        "README.md",
        "clippy.toml",
        "compiler",
        "docs",
        "examples",
        "runtime",
        "rustfmt.toml",
        "schemas",
        "tests",
    ];
    let unexpected: Vec<_> = visible.iter().filter(|name| !expected.contains(name)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
}

/// Names with a `/` in ARCHITECTURE.md that are other things than paths.
const NO_PATHS: [&str; 3] = ["/readyz", "dev.relay/briefing", "tools/list"];

#[test]
fn the_map_is_short_and_names_paths_that_exist() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(map.lines().count() < 250, "{} lines", map.lines().count());
    let module = |path: &str| {
        let path = path.replace("/src/", "/");
        path.trim_end_matches('/').trim_end_matches(".rs").to_owned()
    };
    let tracked = Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    let mut known = BTreeSet::new();
    for path in String::from_utf8(tracked.stdout).unwrap().lines() {
        let parents = Path::new(path).ancestors().filter_map(Path::to_str);
        known.extend(parents.map(|path| format!("/{}", module(path))));
    }
    let is_path = |name: &&str| {
        (name.contains('/') || name.ends_with(".rs"))
            && !name.contains(|letter: char| " {*<:=—".contains(letter))
            && !name.contains("NODE")
            && !name.starts_with("//")
            && !NO_PATHS.contains(name)
    };
    // Every second part is between two backticks; blocks of code have none.
    let named: Vec<&str> = map.split('`').skip(1).step_by(2).filter(is_path).collect();
    assert!(named.len() > 100, "{named:?}");
    let missing: Vec<&&str> = named
        .iter()
        .filter(|name| {
            let end = format!("/{}", module(name));
            !known.iter().any(|path| path.ends_with(&end))
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_rule_is_run() {
    let list = fs::read_to_string(root().join("compiler/src/check.rs")).unwrap();
    let folder = root().join("compiler/src/check");
    // What a rule is made of is in a folder of its name.
    let rules = sources("compiler/src/check").into_iter();
    for path in rules.filter(|path| path.parent() == Some(&folder)) {
        let rule = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(list.contains(&format!(" {rule}::check(")), "check/{rule}.rs is never run");
    }
}

#[test]
fn every_diagnostic_has_a_case() {
    // tests/limits.rs generates the inputs that are unsuitable as files. The stages' own tests
    // build a bundle over 4 GiB, an unreadable one, and one whose tools do more than read.
    let made = [
        "tests/limits.rs",
        "compiler/src/encode.rs",
        "compiler/src/prove/denied.rs",
        "compiler/src/prove/unreadable.rs",
    ];
    let made = made.map(|path| fs::read_to_string(root().join(path)).unwrap()).concat();
    let expected = crate::cases::expected_codes();
    let mut missing = BTreeSet::new();
    for path in sources("compiler/src") {
        for code in codes_in(&fs::read_to_string(&path).unwrap()) {
            if !expected.contains(&code) && !made.contains(&format!("\"{code}\"")) {
                missing.insert(format!("{code} ({})", relative(&path)));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "no case shows:\n{}",
        missing.into_iter().collect::<Vec<_>>().join("\n")
    );
}

/// The codes that a source file declares, found as text.
fn codes_in(text: &str) -> BTreeSet<String> {
    let codes = text.split("code(").skip(1).map(|part| part.split(')').next().unwrap().trim());
    let is_code = |code: &&str| {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c);
        code.contains("::") && code.chars().all(letter)
    };
    codes.filter(is_code).map(str::to_owned).collect()
}

#[test]
fn every_snapshot_has_a_case() {
    let cases: BTreeSet<PathBuf> = crate::cases::cases().into_iter().collect();
    for case in &cases {
        assert!(case.with_extension("snap").exists(), "{} has no snapshot", relative(case));
    }
    for snapshot in walk(&root().join("tests/cases")) {
        if snapshot.extension().is_some_and(|ending| ending == "snap") {
            assert!(cases.contains(&snapshot.with_extension("kdl")), "{}", relative(&snapshot));
        }
    }
}

#[test]
fn schemas_are_current() {
    let folder = root().join("schemas");
    let mut names = BTreeSet::new();
    for (name, text) in relay_cli::schemas() {
        let name = format!("{name}.json");
        let path = folder.join(&name);
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(committed, text, "schemas/{name} is stale: run `relay schemas --out schemas`");
        names.insert(name);
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&name), "schemas/{name} is not generated");
    }
}

#[test]
fn the_reference_of_the_server_is_current() {
    let output = Command::new(relay_serve()).arg("--reference").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let committed = fs::read_to_string(root().join("docs/server.md")).unwrap();
    assert!(
        printed == committed,
        "docs/server.md is stale: run `relay-serve --reference > docs/server.md`"
    );
}

#[test]
fn the_reference_is_current() {
    for (name, text) in relay_cli::reference() {
        let committed = fs::read_to_string(root().join("docs").join(name)).unwrap_or_default();
        assert_eq!(committed, text, "docs/{name} is stale: run `relay reference --out docs`");
    }
}

#[test]
fn the_diagnostics_are_current() {
    let (path, text) = (root().join("docs/diagnostics.md"), rules::document());
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == text,
        "docs/diagnostics.md is stale: run `INSTA_UPDATE=always cargo test -p relay-tests --test all \
         -- tidy::the_diagnostics_are_current`"
    );
}

#[test]
fn every_code_is_in_one_file_and_in_the_document() {
    let mut codes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources("compiler/src") {
        for code in codes_in(&fs::read_to_string(&path).unwrap()) {
            codes.entry(code).or_default().insert(relative(&path));
        }
    }
    assert!(codes.len() > 100, "{codes:?}");
    let document = rules::document();
    for (code, files) in codes {
        assert!(document.contains(&format!("\n### {code}\n")), "{code} is not documented");
        assert_eq!(files.len(), 1, "{code} is declared in {files:?}");
    }
}

#[test]
fn the_runtime_imports_in_one_direction() {
    one_direction("runtime/src");
}

#[test]
fn the_hook_imports_in_one_direction() {
    one_direction("runtime/hook/src");
}

#[test]
fn the_files_of_the_machine_import_in_one_direction() {
    one_direction("runtime/machine/src");
}

#[test]
fn the_keeper_imports_in_one_direction() {
    one_direction("runtime/keeper/src");
}

#[test]
fn the_ssh_crate_imports_in_one_direction() {
    one_direction("runtime/ssh/src");
}

#[test]
fn the_compiler_imports_in_one_direction() {
    one_direction("compiler/src");
}

#[test]
fn the_comparison_imports_in_one_direction() {
    one_direction("compiler/diff/src");
}

#[test]
fn the_policy_imports_in_one_direction() {
    one_direction("runtime/policy/src");
}

#[test]
fn the_table_of_facts_is_current() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table.bin");
    let facts = root().join("compiler/facts");
    let output = Command::new(crate::binaries::relay())
        .arg("fact-table")
        .arg(&facts)
        .arg("--out")
        .arg(&table)
        .output()
        .expect("relay runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.lines().count() == 1, "the facts are faulty: {said}");
    let written = fs::read(&table).expect("a table");
    let committed = fs::read(facts.join("table.bin")).expect("a table");
    assert!(
        written == committed,
        "compiler/facts/table.bin is stale: run `relay fact-table compiler/facts --out \
         compiler/facts/table.bin`"
    );
}

#[test]
fn the_automata_of_the_shipped_policies_are_current() {
    let made = relay_compiler::policies::automata().expect("regexes without a fault");
    let committed = fs::read(root().join("compiler/policies/automata.bin")).expect("automata");
    assert!(
        made == committed,
        "compiler/policies/automata.bin is stale: run `relay policy-automata --out \
         compiler/policies/automata.bin`"
    );
}

/// The most columns of a line of a fact file.
const FACT_COLUMNS: usize = 160;

#[test]
fn no_line_of_facts_is_too_long() {
    let mut files = 0;
    for path in walk(&root().join("compiler/facts")) {
        if path.extension().is_none_or(|ending| ending != "kdl") {
            continue;
        }
        files += 1;
        for (line, text) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
            let columns = text.chars().count();
            assert!(columns <= FACT_COLUMNS, "{}:{line} has {columns} columns", relative(&path));
        }
    }
    assert!(files > 50, "{files} fact files");
}

#[test]
fn one_file_embeds_the_facts() {
    // Whatever embeds them is built anew when a fact changes, with all that depends on it.
    let files = ["compiler", "runtime", "tests"].into_iter().flat_map(sources);
    let embedding = files.filter(|path| relative(path) != "tests/tidy.rs").filter(|path| {
        let text = fs::read_to_string(path).unwrap();
        text.lines().any(|line| line.contains("include_bytes!(") && line.contains("facts/table"))
    });
    let embedding: Vec<String> = embedding.map(|path| relative(&path)).collect();
    assert_eq!(embedding, ["compiler/cli/src/main.rs"]);
}

#[test]
fn the_engine_imports_in_one_direction() {
    one_direction("runtime/engine/src");
}

#[test]
fn the_bundle_imports_in_one_direction() {
    one_direction("runtime/bundle/src");
}

#[test]
fn the_command_line_imports_in_one_direction() {
    one_direction("compiler/cli/src");
}

fn one_direction(folder: &str) {
    let graph = modules::of_files(&root().join(folder), &sources(folder));
    assert!(graph.len() > 8, "{folder}: {graph:?}");
    let circles: BTreeSet<String> =
        [modules::top_level(&graph), graph].iter().flat_map(modules::circles).collect();
    let circles: Vec<_> = circles.into_iter().collect();
    assert!(circles.is_empty(), "{folder} imports in circles:\n{}", circles.join("\n"));
}

#[test]
fn an_import_cycle_is_found() {
    let circles = |files: &[(&str, &str)]| {
        let module = |path: &str| {
            path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let texts = files.iter().map(|(path, text)| (module(path), (*text).to_owned()));
        modules::circles(&modules::graph(texts.collect())).join(", ")
    };
    let apart = [
        ("", "mod a; mod b;"),
        ("a", "mod c; pub(crate) use c::{self, Thing as Other}; // use crate::b;"),
        (
            "a::c",
            "const TEXT: &str = \"use crate::b;\"; fn c<'a>(c: &'a char) -> bool { *c == '\"' }",
        ),
        ("b", "use crate::a::{Other, c::{Thing, self}}; mod tests { use super::*; }"),
    ];
    assert_eq!(circles(&apart), "");
    let seen = [("a", "mod c;"), ("a::c", "pub(in crate::a) fn c() {} pub(super) fn d() {}")];
    assert_eq!(circles(&seen), "");
    let child = [("a", "mod c; struct Own;"), ("a::c", "use super::Own;")];
    assert_eq!(circles(&child), "a -> a::c, a::c -> a");
    let aside = [
        ("a", "use crate::b::x;"),
        ("b", "fn b() -> u8 { crate::c::y() }"),
        ("c", "use super::{a};"),
    ];
    assert_eq!(circles(&aside), "a -> b, b -> c, c -> a");
    let again = [
        ("", ""),
        ("a", "mod c; pub use c::Thing;"),
        ("a::c", "use crate::b;"),
        ("b", "use crate::a::Thing;"),
    ];
    assert_eq!(circles(&again), "a::c -> b, b -> a::c");
    let tests = [
        ("a", "mod tests { use super::b; mod c { use crate::b; } } use crate::b;"),
        ("a::tests", "use crate::a;"),
        ("b", "fn b() {} mod tests { use crate::a; }"),
    ];
    assert_eq!(circles(&tests), "");
}

fn manifests() -> Vec<PathBuf> {
    let fuzz = root().join("tests/fuzz");
    let all = walk(&root()).into_iter();
    all.filter(|path| path.ends_with("Cargo.toml") && !path.starts_with(&fuzz)).collect()
}

fn sources(folder: &str) -> Vec<PathBuf> {
    let all = walk(&root().join(folder)).into_iter();
    all.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') && name != "node_modules" {
                found.extend(walk(&path));
            }
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string().replace('\\', "/")
}
