//! The paths, words and hosts of a request as patterns see them: each is read once, for all rules.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use hashbrown::HashMap;

use crate::effect::{CallId, Effects, Value, What};
use crate::host::{canonical_host, host_name, host_of_address};
use crate::paths::{Ground, PathClass, classify};
use crate::value::{Mark, display, is_hole, root_of};

/// The paths, words and hosts of one request that some rule was asked about.
#[derive(Debug, Default)]
pub struct Seen {
    paths: RefCell<HashMap<Value, Rc<SeenPath>>>,
    words: RefCell<HashMap<Value, Rc<SeenWord>>>,
    hosts: RefCell<HashMap<Value, Rc<str>>>,
    /// The hosts that the arguments of the tool name, in one spelling.
    named: OnceCell<Vec<String>>,
    /// The calls that by a fact, or perhaps, do more than their paths say.
    acting: OnceCell<BTreeSet<CallId>>,
}

/// A path in each of its forms.
#[derive(Debug)]
pub(super) struct SeenPath {
    pub(super) bytes: Vec<u8>,
    /// Whether a part of it may be any text.
    pub(super) is_open: bool,
    /// As named, from the home and from the root.
    pub(super) forms: Vec<Vec<u8>>,
}

/// A word of an unknown program, which may be a path or an address.
#[derive(Debug)]
pub(super) struct SeenWord {
    pub(super) path: SeenPath,
    pub(super) class: PathClass,
    pub(super) is_secret: bool,
    /// The host of an address.
    pub(super) host: Option<String>,
}

impl SeenPath {
    fn of(bytes: &[u8], ground: Ground<'_>) -> Self {
        let mut forms = ground.others(bytes);
        // The work tree itself has an empty path.
        let named = match root_of(bytes) {
            Some((Mark::Work, rest)) => rest.strip_prefix(b"/").unwrap_or(rest),
            _ => bytes,
        };
        forms.push(named.to_vec());
        // A path that leaves the home may lead anywhere.
        let leaves = |rest: &[u8]| rest.strip_prefix(b"/").unwrap_or(rest).starts_with(b"..");
        let is_open = bytes.iter().any(|byte| is_hole(*byte))
            || root_of(bytes).is_some_and(|(_, rest)| leaves(rest));
        Self { bytes: bytes.to_vec(), is_open, forms }
    }
}

impl SeenWord {
    fn of(word: &[u8], ground: Ground<'_>) -> Self {
        // The value of an option may follow a `=`.
        let value = match word.iter().position(|byte| *byte == b'=') {
            Some(at) if word.starts_with(b"-") => word.get(at + 1..).unwrap_or(word),
            _ => word,
        };
        let path = classify(value, &ground.start(), ground);
        let shown = display(value);
        let host = || canonical_host(host_of_address(&shown)).into_owned();
        let host = shown.contains("://").then(host);
        let (class, is_secret) = (path.class, path.is_secret);
        Self { path: SeenPath::of(&path.value(), ground), class, is_secret, host }
    }
}

impl Seen {
    pub(super) fn path(&self, effects: &Effects, path: Value, ground: Ground<'_>) -> Rc<SeenPath> {
        once(&self.paths, path, || Rc::new(SeenPath::of(effects.bytes_of(path), ground)))
    }

    pub(super) fn word(&self, effects: &Effects, word: Value, ground: Ground<'_>) -> Rc<SeenWord> {
        once(&self.words, word, || Rc::new(SeenWord::of(effects.bytes_of(word), ground)))
    }

    /// Returns whether a call by a fact does more than its paths say, or may.
    pub(super) fn acts(&self, effects: &Effects, call: CallId) -> bool {
        let acting = self.acting.get_or_init(|| {
            let acts =
                |what: &What| matches!(what, What::Declared(_) | What::Does(..) | What::Doubt(..));
            let own = effects.all().iter().filter(|effect| effect.is_own && acts(&effect.what));
            own.filter_map(|effect| effect.by).collect()
        });
        acting.contains(&call)
    }

    /// Returns the hosts that the arguments of the tool name, in one spelling.
    pub(super) fn named(&self, hosts: &[&str]) -> &[String] {
        let read = || hosts.iter().map(|host| canonical_host(host).into_owned()).collect();
        self.named.get_or_init(read)
    }

    /// Returns a host that is known, in one spelling.
    pub(super) fn host(&self, effects: &Effects, host: Value) -> Rc<str> {
        once(&self.hosts, host, || canonical_host(host_name(&effects.display(host))).into())
    }
}

fn once<T: Clone>(seen: &RefCell<HashMap<Value, T>>, value: Value, read: impl FnOnce() -> T) -> T {
    seen.borrow_mut().entry(value).or_insert_with(read).clone()
}
