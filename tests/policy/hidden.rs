//! Code of other languages that hides what it does: no reader may take it for harmless.

use super::{reasons, tier};

/// One-liners whose effect is hidden by a pattern, a comment, a quote, a variable's name or a text.
const HIDDEN: &[&str] = &[
    r##"perl -e 'print /"/; unlink(glob q(*)); print /"/'"##,
    r##"node -e 'typeof /"/; fs.rmSync("x"); typeof /"/'"##,
    r##"ruby -e 'p ?#; system("rm -rf x")'"##,
    r##"ruby -e 'p %#a#; system("rm -rf x")'"##,
    r##"php -r '#[A] function f(){system("rm -rf x");} f();'"##,
    r##"perl -e 'print if /(?{ system("rm -rf x") })/'"##,
    r##"ruby -e 'p 1 if "a" =~ /#{system("rm -rf x")}/'"##,
    r##"python3 -c 'f"{ 1 if "a" else __import__("os").system("rm -rf x") }"'"##,
    r##"python3 -c 'import os; spawnl=0; os.spawnl(os.P_WAIT, "/bin/rm", "rm", "-rf", "x")'"##,
    r##"node -e '[]["filter"]["constructor"]("x")()'"##,
    r##"node -e 'fs["unlinkSync"]("x")'"##,
    r##"php -r '"system"("rm -rf x");'"##,
    r##"php -r '$f="system"; $f("rm -rf x");'"##,
    r##"ruby -e '{"x"=>"code"}.select(&:"instance_eval")'"##,
    r##"perl -e 'X->$m("a")'"##,
];

#[test]
fn hidden_code_is_not_harmless() {
    for command in HIDDEN {
        assert!(tier(command) >= 2, "{command}\n{}", reasons(command));
    }
}
