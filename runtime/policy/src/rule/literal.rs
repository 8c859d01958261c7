//! Literals that a rule needs and a request has: the operands, paths and hosts by which an index finds
//! rules.
//!
//! Each kind has two sides: the literal that every value of a pattern has, and the literals of a
//! request. Both err to the same side: a pattern without a certain literal has none, and a request with
//! a value that is uncertain may be meant by any pattern.

use std::borrow::Cow;
use std::collections::BTreeSet;

use relay_bundle::Selector;

use super::effect::{happens_to_whole, touch_fit};
use super::fit::Fit;
use super::glob::value_fit;
use super::request::Request;
use super::seen::SeenPath;
use crate::effect::{ArgumentKind, Call, What};
use crate::inventory::{Inventory, KnownHost};
use crate::path_rules::PathPattern;
use crate::paths::PathClass;
use crate::value::{Mark, is_mark, root_of};

/// The most names of a path that make a literal: deeper folders are rarely told apart by rules.
const NAMES_MAX: usize = 4;

/// The most words of which a part is known that are compared with literals. Beyond it, any may be meant.
const PARTLY_KNOWN_MAX: usize = 4;
/// The most bytes of such a word: a longer one may be any text, so a hostile text of many unknown parts costs little.
const PARTLY_KNOWN_BYTES_MAX: usize = 256;

/// The literals of a request.
#[derive(Debug)]
pub struct Literals<T> {
    /// Whether any pattern may mean it, since a value is uncertain.
    pub is_open: bool,
    /// Its values that are certain, each once: only they are meant for sure.
    pub all: BTreeSet<T>,
}

/// The operands of a request.
#[derive(Debug)]
pub struct LiteralOperands<'r> {
    /// Those that are certain, each once; `is_open` says whether any other text may be an operand.
    pub certain: Literals<Cow<'r, str>>,
    /// Those of which a part is known, each once.
    pub partly_known: BTreeSet<PartlyKnown<'r>>,
}

/// A word of which a part is known: `$BASE..HEAD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartlyKnown<'r> {
    value: &'r [u8],
}

/// A path of a request: its root (`/`, `~/` or `./`) and its names up to the first that is uncertain.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiteralPath {
    /// The path.
    pub text: String,
    /// Whether all that lies below may be meant too.
    pub is_whole: bool,
}

/// The literal of a pattern of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiteralHost<'p> {
    /// The host itself.
    Whole(&'p str),
    /// Its end, from a dot.
    End(&'p str),
}

/// Returns the literal of a pattern of words: the word itself.
#[must_use]
pub fn literal_word(pattern: &str) -> Option<&str> {
    (!pattern.contains(['*', '?'])).then_some(pattern)
}

/// Returns the literal of a pattern of paths: its root and first names, which each of its paths has.
#[must_use]
pub fn literal_path(pattern: &str) -> Option<String> {
    let root = ["/", "~/", "./"].into_iter().find(|root| pattern.starts_with(root))?;
    PathPattern::new(pattern).ok()?;
    let names = pattern.get(root.len()..)?.split('/').take_while(|name| !name.contains('*'));
    let names: Vec<&str> = names.take(NAMES_MAX).collect();
    (!names.is_empty()).then(|| format!("{root}{}", names.join("/")))
}

/// Returns the literal of a pattern of hosts.
#[must_use]
pub fn literal_host(pattern: &str) -> Option<LiteralHost<'_>> {
    let Some(last) = pattern.rfind(['*', '?']) else { return Some(LiteralHost::Whole(pattern)) };
    let end = pattern.get(last..)?;
    end.get(end.find('.')?..).map(LiteralHost::End)
}

/// Returns a literal path and the folders around it: its root first, itself last.
pub fn folders(path: &str) -> impl Iterator<Item = &str> {
    let root = path.find('/').map_or(0, |end| end + 1);
    let ends = path.match_indices('/').map(|(end, _)| end).filter(move |end| *end >= root);
    let last = (path.len() > root).then_some(path.len());
    std::iter::once(root).chain(ends).chain(last).filter_map(|end| path.get(..end))
}

/// Returns the ends of a host that begin with a dot, the longest first.
pub fn ends(host: &str) -> impl Iterator<Item = &str> {
    host.match_indices('.').filter_map(|(start, _)| host.get(start..))
}

impl Request<'_> {
    /// Returns the operands of calls.
    #[must_use]
    pub fn literal_operands(&self, calls: &[&Call]) -> LiteralOperands<'_> {
        let effects = self.effects;
        // The words of a call that is not understood may be operands, or are not listed.
        let is_lost = calls.iter().any(|call| call.has_doubt && call.node.is_some());
        let mut certain = Literals { is_open: is_lost, all: BTreeSet::new() };
        let mut partly_known = BTreeSet::new();
        let words = calls.iter().flat_map(|call| effects.arguments(call));
        for word in words.filter(|word| matches!(word.kind, ArgumentKind::Operand(_))) {
            match word.value.filter(|_| !word.is_many) {
                Some(value) if effects.is_exact(value) => {
                    certain.all.insert(effects.display(value));
                }
                Some(value) => match PartlyKnown::of(effects.bytes_of(value)) {
                    Some(word) => _ = partly_known.insert(word),
                    None => certain.is_open = true,
                },
                None => certain.is_open = true,
            }
        }
        certain.is_open |= partly_known.len() > PARTLY_KNOWN_MAX;
        LiteralOperands { certain, partly_known }
    }

    /// Returns the paths that have the effect of a selector.
    #[must_use]
    pub fn literal_paths(&self, selector: Selector) -> Literals<LiteralPath> {
        let effects = self.effects;
        let mut found = Literals { is_open: false, all: BTreeSet::new() };
        for effect in effects.all() {
            let What::Path { touch, path, class, is_many, is_tree, .. } = effect.what else {
                continue;
            };
            let fit = touch_fit(self, selector, touch, effect);
            if fit != Fit::No {
                let is_whole = happens_to_whole((touch, is_many, is_tree), fit);
                let path = self.seen.path(effects, path, self.ground());
                found.add_path(&path, class, is_whole);
            }
        }
        for call in effects.calls().iter().filter(|call| call.node.is_none()) {
            for word in effects.arguments(call).iter().filter_map(|word| word.value) {
                let word = self.seen.word(effects, word, self.ground());
                found.add_path(&word.path, word.class, true);
            }
        }
        found
    }

    /// Returns the hosts to which it connects, each by all of its names.
    #[must_use]
    pub fn literal_hosts(&self) -> Literals<String> {
        let effects = self.effects;
        let mut found = Literals { is_open: false, all: BTreeSet::new() };
        for effect in effects.all() {
            match effect.what {
                What::Connects(host) if effects.is_exact(host) => {
                    found.add_host(&self.seen.host(effects, host), self.inventory);
                }
                What::Connects(_) => found.is_open = true,
                _ => {}
            }
        }
        for call in effects.calls().iter().filter(|call| call.node.is_none()) {
            for word in effects.arguments(call).iter().filter_map(|word| word.value) {
                let word = self.seen.word(effects, word, self.ground());
                if let Some(host) = &word.host {
                    found.add_host(host, self.inventory);
                }
            }
        }
        found
    }
}

impl<'r> PartlyKnown<'r> {
    /// Returns `None` for a value that may be, or counts as, any text.
    fn of(value: &'r [u8]) -> Option<Self> {
        let is_partly_known = value.iter().any(|byte| !is_mark(*byte));
        (is_partly_known && value.len() <= PARTLY_KNOWN_BYTES_MAX).then_some(Self { value })
    }

    /// Returns its known beginning, which may be empty.
    #[must_use]
    pub fn beginning(&self) -> &'r str {
        let known = self.value.iter().position(|byte| is_mark(*byte)).unwrap_or(self.value.len());
        let known = self.value.get(..known).unwrap_or_default();
        match std::str::from_utf8(known) {
            Ok(text) => text,
            Err(err) => {
                let valid = known.get(..err.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(valid).unwrap_or_default()
            }
        }
    }

    /// Returns whether it may be a literal.
    #[must_use]
    pub fn may_be(&self, literal: &str) -> bool {
        value_fit(literal, self.value) != Fit::No
    }
}

impl Literals<String> {
    /// Adds a host by all of its names.
    fn add_host(&mut self, host: &str, inventory: &Inventory) {
        let others = inventory.called(host).flat_map(KnownHost::names);
        self.all.extend(others.chain([host]).map(ToOwned::to_owned));
    }
}

impl Literals<LiteralPath> {
    /// Adds a path in all of its forms.
    fn add_path(&mut self, path: &SeenPath, class: PathClass, is_whole: bool) {
        self.is_open |= path.is_open || class == PathClass::Unknown;
        if path.is_open {
            return;
        }
        for form in &path.forms {
            match LiteralPath::of(form, is_whole) {
                Some(path) => _ = self.all.insert(path),
                None => self.is_open = true,
            }
        }
    }
}

impl LiteralPath {
    /// Returns the literal of a form; `None` if its root is uncertain.
    fn of(form: &[u8], is_whole: bool) -> Option<Self> {
        let (root, rest) = match (form, root_of(form)) {
            ([b'/', rest @ ..], _) => ("/", rest),
            (_, Some((Mark::Home, rest))) => ("~/", rest),
            (_, Some(_)) => return None,
            _ => ("./", form),
        };
        let mut path = Self { text: root.to_owned(), is_whole };
        for name in rest.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            // A name that is uncertain may be that of any pattern, as may what follows it.
            let is_certain =
                !name.iter().any(|byte| is_mark(*byte)) && !matches!(name, b"." | b"..");
            let Some(name) = std::str::from_utf8(name).ok().filter(|_| is_certain) else {
                path.is_whole = true;
                break;
            };
            if path.text.len() > root.len() {
                path.text.push('/');
            }
            path.text.push_str(name);
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_of_a_pattern_is_what_each_of_its_values_has() {
        for (pattern, literal) in [
            ("/srv/app-1/**", Some("/srv/app-1")),
            ("/etc/passwd", Some("/etc/passwd")),
            ("/srv/a*/x", Some("/srv")),
            ("~/.ssh/*", Some("~/.ssh")),
            ("./src/**", Some("./src")),
            ("/a/b/c/d/e", Some("/a/b/c/d")),
            ("/**", None),
            ("/srv*", None),
            ("./*", None),
            ("**/.env", None),
            ("secret", None),
            ("*", None),
        ] {
            assert_eq!(literal_path(pattern).as_deref(), literal, "{pattern}");
        }
        for (pattern, literal) in [
            ("db-1", Some(LiteralHost::Whole("db-1"))),
            ("*.corp.example", Some(LiteralHost::End(".corp.example"))),
            ("a*b.example", Some(LiteralHost::End(".example"))),
            ("*.a.?.example", Some(LiteralHost::End(".example"))),
            ("10.0.*", None),
            ("*", None),
        ] {
            assert_eq!(literal_host(pattern), literal, "{pattern}");
        }
    }

    #[test]
    fn the_folders_of_a_path_begin_with_its_root() {
        let all = |path| folders(path).collect::<Vec<_>>();
        assert_eq!(all("/srv/app"), ["/", "/srv", "/srv/app"]);
        assert_eq!(all("~/x"), ["~/", "~/x"]);
        assert_eq!(all("./"), ["./"]);
        assert_eq!(ends("a.b.example").collect::<Vec<_>>(), [".b.example", ".example"]);
    }

    #[test]
    fn the_literal_of_a_form_ends_before_a_name_that_is_not_certain() {
        let of = |form: &[u8]| LiteralPath::of(form, false).map(|it| (it.text, it.is_whole));
        assert_eq!(of(b"/srv//app"), Some(("/srv/app".into(), false)));
        assert_eq!(of(b""), Some(("./".into(), false)));
        assert_eq!(of(b"../a"), Some(("./".into(), true)));
        let starred = [b"/srv/a-", Mark::Star.text(), b"/x"].concat();
        assert_eq!(of(&starred), Some(("/srv".into(), true)));
        let home = [Mark::Home.text(), b"/.ssh/a"].concat();
        assert_eq!(of(&home), Some(("~/.ssh/a".into(), false)));
        assert_eq!(of(Mark::Work.text()), None);
    }
}
