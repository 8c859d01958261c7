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
    let output = Command::new(env!("CARGO"))
        .args([
            "build",
            "-p",
            "relay-cli",
            "-p",
            "relay-runtime",
            "-p",
            "relay-hook",
            "--bins",
            "--profile",
            profile,
        ])
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
