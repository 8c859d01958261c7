//! `relay diff --trust`: who signed, before and now.

use crate::cli::Sandbox;

#[test]
fn who_signed_is_compared_with_a_trust_file() {
    let sandbox = Sandbox::example("minimal");
    let trust = sandbox.relay("keygen -o one").ends(0).stdout;
    sandbox.write("trust.toml", &trust);
    sandbox.relay("keygen -o other").ends(0);
    sandbox.relay("build minimal -q --key one.key -o a.relay").ends(0);
    sandbox.relay("build minimal -q --key other.key -o b.relay").ends(0);

    // If it is absent, signatures are printed, and make no difference.
    let run = sandbox.relay("diff a.relay b.relay --exit-code").ends(0);
    assert!(run.stdout.contains("no difference in meaning"), "{}", run.stdout);
    assert!(run.stdout.contains("(not checked)"), "{}", run.stdout);

    let run = sandbox.relay("diff a.relay b.relay --trust trust.toml --exit-code").ends(1);
    assert!(run.stdout.contains("project: signers"), "{}", run.stdout);
    assert!(run.stdout.contains("one → none"), "{}", run.stdout);
    let refused = "servers with this trust file refuse the bundle";
    assert!(run.stdout.contains(refused), "{}", run.stdout);
    sandbox.relay("diff a.relay b.relay --trust trust.toml --fail-on breaking").ends(1);
    sandbox.relay("diff a.relay a.relay --trust trust.toml --exit-code").ends(0);

    // A project is unsigned.
    sandbox
        .relay("diff minimal minimal --trust trust.toml")
        .ends(2)
        .says("`--trust` is for bundles, and neither side is one");
}
