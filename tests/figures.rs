//! The benchmarks' documents: docs/figures.md follows from its data, and a page of cargo becomes a table.

#![expect(clippy::disallowed_methods, reason = "tests run programs")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::support::root;

/// Returns what the benchmarks print with these arguments.
fn bench(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_bench")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_figures_are_current() {
    let committed = fs::read_to_string(root().join("docs/figures.md")).unwrap();
    let printed = bench(&["--print"]);
    assert!(
        printed == committed,
        "docs/figures.md is stale: run `cargo run -p relay-tests --bin bench -- --write`"
    );
}

#[test]
fn every_declared_figure_is_in_the_document() {
    let (list, document) = (bench(&["--list"]), bench(&["--print"]));
    let ids: Vec<&str> = list.lines().collect();
    assert!(ids.len() > 50, "{ids:?}");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id is there twice");
    for id in ids {
        assert_eq!(id.split('/').count(), 2, "{id}: an area and a name");
        assert!(document.contains(&format!("\n| `{id}`: ")), "{id} has no row");
    }
}

#[test]
fn every_counted_row_has_a_record() {
    let file = fs::read_to_string(root().join("tests/bench/instructions.tsv")).unwrap();
    let rows = file.lines().filter(|line| !line.starts_with('#'));
    let recorded: Vec<&str> = rows.filter_map(|line| line.split('\t').next()).collect();
    let counted = bench(&["--count", "--list"]);
    let mut counted: Vec<&str> = counted.lines().collect();
    counted.sort_unstable();
    assert_eq!(recorded, counted, "tests/bench/instructions.tsv has other rows");
}

#[test]
fn a_page_of_cargo_becomes_a_table_of_its_crates() {
    let page = r#"<tr><td>Profile:</td><td>release</td></tr><tr><td>Fresh units:</td><td>0</td></tr>
<script>const UNIT_DATA = [
 {"name": "small", "version": "1.0.0", "target": "", "start": 0.0, "duration": 0.4, "sections": null},
 {"name": "large", "version": "2.0.0", "target": " large \"bin\"", "start": 0.4, "duration": 3.0,
  "sections": [["frontend", {"start": 0.0, "end": 1.0}], ["codegen", {"start": 1.0, "end": 3.0}]]}
];
const CPU_USAGE = [[1.0, 50.0], [3.4, 100.0]];
</script>"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cargo-timing.html");
    fs::write(&path, page).unwrap();
    let printed = bench(&["--timings", path.to_str().unwrap()]);
    assert!(printed.contains("\n3 s wall, "), "{printed}");
    assert!(
        printed.ends_with("|---|---|---|---|\n| large 2.0.0, large `bin` | 0.4 | 3.0 | 2.0 |\n"),
        "{printed}"
    );
}
