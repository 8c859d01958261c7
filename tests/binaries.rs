//! The three binaries, built once for all tests that run them.

#![expect(clippy::disallowed_methods, reason = "tests run programs")]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::root;

/// The path of `relay`.
pub(crate) fn relay() -> &'static Path {
    &built().relay
}

/// The path of `relay-serve`.
pub(crate) fn relay_serve() -> &'static Path {
    &built().relay_serve
}

/// The path of `relay-hook`.
pub(crate) fn relay_hook() -> &'static Path {
    &built().relay_hook
}

struct Binaries {
    relay: PathBuf,
    relay_serve: PathBuf,
    relay_hook: PathBuf,
}

fn built() -> &'static Binaries {
    static BUILT: OnceLock<Binaries> = OnceLock::new();
    BUILT.get_or_init(build)
}

/// The variable by which the server is built with the feature `seccomp`, so that its tests, which are
/// ignored otherwise, can run.
const SECCOMP_VARIABLE: &str = "RELAY_TEST_SECCOMP";
const SECCOMP: &[&str] = &["--features", "relay-runtime/seccomp"];

/// Returns whether the server is built to observe system calls.
pub(crate) fn has_seccomp() -> bool {
    env::var_os(SECCOMP_VARIABLE).is_some()
}

/// Builds them in the target folder of this test binary: `TARGET/PROFILE/deps/all-…`.
fn build() -> Binaries {
    let test = env::current_exe().expect("this program has a path");
    let folder = test.ancestors().nth(2).expect("the binary is in TARGET/PROFILE/deps");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let mut cargo = Command::new(env!("CARGO"));
    // Cargo tells a test about its package. A build script that watches these variables, as that of ring does, would run
    // again here, and once more in the next `cargo test`: with all that depends on it.
    // So would all crates after `RUSTC_BOOTSTRAP`, with which the harness tells how long each test takes.
    let left_out = ["CARGO_MANIFEST_", "CARGO_PKG_", "RUSTC_BOOTSTRAP"];
    for (name, _) in env::vars_os() {
        if left_out.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes())) {
            cargo.env_remove(name);
        }
    }
    let output = cargo
        .args(["build", "--workspace", "--bins"])
        // With a target that has dev-dependencies, features are those of `cargo test --workspace`: what that has
        // compiled is used here. With others, hundreds of crates would be compiled once more.
        .args(["--test", "readers"])
        .args(["--profile", profile])
        .args(if has_seccomp() { SECCOMP } else { &[] })
        .arg("--target-dir")
        .arg(folder.parent().expect("the binary is in TARGET/PROFILE"))
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Binaries {
        relay: folder.join("relay"),
        relay_serve: folder.join("relay-serve"),
        relay_hook: folder.join("relay-hook"),
    }
}
