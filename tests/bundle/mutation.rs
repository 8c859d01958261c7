//! Random damage in bounded time: the functions of the fuzz targets (`tests/fuzz`), each on a few
//! hundred inputs that chance makes out of good ones.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{compile, entry, sample};

/// Changes a good input at random: bytes replaced, cut out, or put in.
fn mutated(good: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), 0..3u8, vec(any::<u8>(), 1..9));
    vec(edit, 1..4).prop_map(move |edits| {
        let mut bytes = good.clone();
        for (at, what, with) in edits {
            let at = at.index(bytes.len() + 1);
            let end = bytes.len().min(at + with.len());
            match what {
                0 => drop(bytes.splice(at..end, with)),
                1 => drop(bytes.drain(at..end)),
                _ => drop(bytes.splice(at..at, with)),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bundle_reader(bytes in mutated(sample::sealed(&sample::rich(), &[1]))) {
        entry::bundle_reader(&bytes);
    }

    #[test]
    fn bundle_structure(edits in vec(any::<[u8; 8]>(), 1..6)) {
        entry::bundle_structure(edits.as_flattened());
    }

    #[test]
    fn envelope(bytes in mutated(entry::seed_envelope().to_json().unwrap())) {
        entry::envelope(&bytes);
    }

    #[test]
    fn uri_template(bytes in mutated(b"relay://{a}/{b}.md\nrelay://x%20/y.md".to_vec())) {
        entry::uri_template(&bytes);
    }

    #[test]
    fn glob(bytes in mutated("api-*[!a-c]?é\napi-xdé".as_bytes().to_vec())) {
        entry::glob(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn project(bytes in prop::sample::select(&compile::PROJECTS[..]).prop_flat_map(|text| mutated(text.into()))) {
        compile::project(&bytes);
    }

    #[test]
    fn front_matter(bytes in prop::sample::select(&compile::COMMANDS[..]).prop_flat_map(|text| mutated(text.into()))) {
        compile::front_matter(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn template(bytes in prop::sample::select(&compile::TEMPLATES[..]).prop_flat_map(|text| mutated(text.into()))) {
        compile::template(&bytes);
    }

    #[test]
    fn guard(bytes in vec(any::<u8>(), 0..40)) {
        compile::guard(&bytes);
    }
}

#[test]
fn good_inputs_pass() {
    entry::bundle_reader(&sample::sealed(&sample::tiny(), &[1]));
    entry::bundle_reader(&sample::sealed(&sample::rich(), &[1]));
    entry::bundle_structure(&[]);
    entry::envelope(&entry::seed_envelope().to_json().unwrap());
    entry::uri_template(b"{a}/{b}\nx/y");
    entry::glob(b"api-*[!a-c]?\napi-xd?");
    for text in compile::PROJECTS {
        compile::project(text.as_bytes());
    }
    for text in compile::COMMANDS {
        compile::front_matter(text.as_bytes());
    }
    for text in compile::TEMPLATES {
        compile::template(text.as_bytes());
    }
    for bytes in compile::guard_seeds() {
        compile::guard(&bytes);
    }
}
