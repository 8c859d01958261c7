//! `relay-diff`: what a change does to what agents read and may do.

mod answers;
mod fields;

use relay_bundle::{Bundle, Contents, encode};
use relay_diff::Finding;

/// Returns what a comparison of two bundles with these contents finds.
fn findings(a: &Contents, b: &Contents) -> Vec<Finding> {
    let bundle = |contents: &Contents| Bundle::open(Box::new(encode(contents).unwrap())).unwrap();
    relay_diff::compare(&bundle(a), &bundle(b)).unwrap()
}
