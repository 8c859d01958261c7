//! A project's rules for paths: patterns in addition to the paths known on every host.

use std::collections::BTreeMap;

use relay_bundle::{PathClassRow, PathKind, PathRow};
use thiserror::Error;

use crate::value::{Mark, is_wildcard, may_match, root_of};

/// The most bytes of a pattern.
pub const PATTERN_BYTES_MAX: usize = 512;
/// The most patterns of a project, exceptions included: each path of a command is compared with
/// all.
pub const PATTERNS_MAX: usize = 256;

/// A project's rules for paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathRules(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    kind: PathKind,
    patterns: Vec<PathPattern>,
    except: Vec<PathPattern>,
}

/// The reason why a pattern is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PatternError {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It has more than [`PATTERN_BYTES_MAX`] bytes.
    #[error("it has more than {PATTERN_BYTES_MAX} bytes")]
    TooLong,
    /// Its root is missing.
    #[error("it begins with none of `/`, `~/`, `./` and `**/`")]
    NoRoot,
    /// It has an empty folder, `.` or `..` in it, or ends with `/`.
    #[error("it has an empty part, `.` or `..` in it")]
    Part,
    /// It has a sign without a meaning in patterns.
    #[error("it has `{0}` in it, and only `*` and `**` have a meaning")]
    Sign(char),
    /// `**` is only a piece of a part between two `/`.
    #[error("`**` is not a whole part of it")]
    Double,
}

/// A pattern of paths: `*` matches any letters within one part, `**` any parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    root: Root,
    parts: Vec<Part>,
}

/// The root of the paths of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// `/`
    Host,
    /// `~/`
    Home,
    /// `./`: the work tree.
    Work,
    /// `**/`: anywhere.
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`
    Any,
    /// A name, in which `*` matches any letters.
    Name(Vec<u8>),
}

/// The classes of paths that a project names, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathClasses(BTreeMap<String, Class>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Class {
    patterns: Vec<PathPattern>,
    except: Vec<PathPattern>,
}

/// The rules that match one path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) scratch: bool,
    pub(crate) critical: bool,
    pub(crate) admits: bool,
    pub(crate) secret: bool,
}

impl PathRules {
    /// Reads the rules for paths of a bundle.
    ///
    /// # Errors
    ///
    /// A pattern is invalid.
    pub fn of(rows: &[PathRow]) -> Result<Self, PatternError> {
        let read = |patterns: &[String]| -> Result<Vec<_>, _> {
            patterns.iter().map(|pattern| PathPattern::new(pattern)).collect()
        };
        let rule = |row: &PathRow| {
            let (patterns, except) = (read(&row.patterns)?, read(&row.except)?);
            Ok(Rule { kind: row.kind, patterns, except })
        };
        rows.iter().map(rule).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the rules that match a normalised path, in any of its forms: an exception for one
    /// form holds for all.
    pub(crate) fn said(&self, path: &[u8], others: &[Vec<u8>]) -> Said {
        let mut said = Said::default();
        for Rule { kind, patterns, except } in &self.0 {
            // A part that is not literal may match rules that raise, and never matches rules that
            // lower.
            let raises = *kind != PathKind::Scratch;
            let has = |patterns: &[PathPattern], if_unsure: bool| {
                patterns.iter().any(|pattern| {
                    pattern.matches(path, if_unsure)
                        || others.iter().any(|form| pattern.matches(form, if_unsure))
                })
            };
            let is_meant = has(patterns, raises) && !has(except, !raises);
            match kind {
                PathKind::Scratch => said.scratch |= is_meant,
                PathKind::Critical => said.critical |= is_meant,
                PathKind::Admits => said.admits |= is_meant,
                PathKind::Secret => said.secret |= is_meant,
            }
        }
        said
    }
}

impl PathClasses {
    /// Reads the classes of a bundle.
    ///
    /// # Errors
    ///
    /// A pattern is invalid.
    pub fn of(rows: &[PathClassRow]) -> Result<Self, PatternError> {
        let read = |patterns: &[String]| -> Result<Vec<_>, _> {
            patterns.iter().map(|pattern| PathPattern::new(pattern)).collect()
        };
        let class = |row: &PathClassRow| {
            let class = Class { patterns: read(&row.patterns)?, except: read(&row.except)? };
            Ok((row.name.clone(), class))
        };
        rows.iter().map(class).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the patterns and exceptions of a class; `None` for an unknown one.
    pub(crate) fn of_name(&self, name: &str) -> Option<(&[PathPattern], &[PathPattern])> {
        self.0.get(name).map(|class| (class.patterns.as_slice(), class.except.as_slice()))
    }
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// The pattern is invalid; see [`PatternError`].
    pub fn new(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.len() > PATTERN_BYTES_MAX {
            return Err(PatternError::TooLong);
        }
        let is_sign = |sign: &char| matches!(sign, '?' | '[' | ']' | '{' | '}' | '\\' | '$');
        if let Some(sign) = text.chars().find(|sign| is_sign(sign) || sign.is_control()) {
            return Err(PatternError::Sign(sign));
        }
        let (root, rest) = if let Some(rest) = text.strip_prefix('/') {
            (Root::Host, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Root::Home, rest)
        } else if let Some(rest) = text.strip_prefix("./") {
            (Root::Work, rest)
        } else if text.starts_with("**/") {
            (Root::Any, text)
        } else {
            return Err(PatternError::NoRoot);
        };
        let parts = rest.split('/').map(|part| match part {
            "" | "." | ".." => Err(PatternError::Part),
            "**" => Ok(Part::Any),
            _ if part.contains("**") => Err(PatternError::Double),
            _ => Ok(Part::Name(part.as_bytes().to_vec())),
        });
        Ok(Self { root, parts: parts.collect::<Result<_, _>>()? })
    }

    /// Returns whether every path of another pattern certainly matches this pattern.
    #[must_use]
    pub fn covers(&self, other: &str) -> bool {
        let other = match other.strip_prefix("~/") {
            Some(rest) => [Mark::Home.text(), b"/", rest.as_bytes()].concat(),
            None => other.strip_prefix("./").unwrap_or(other).as_bytes().to_vec(),
        };
        self.matches(&other, false)
    }

    /// Returns the common folder of all its paths; `None` if no part is literal.
    pub(crate) fn folder(&self) -> Option<Vec<u8>> {
        let mut path = match self.root {
            Root::Host => Vec::new(),
            Root::Home => Mark::Home.text().to_vec(),
            Root::Work => b".".to_vec(),
            Root::Any => return None,
        };
        let start = path.len();
        for part in &self.parts {
            match part {
                Part::Name(name) if !name.contains(&b'*') => {
                    path.push(b'/');
                    path.extend(name);
                }
                Part::Name(_) | Part::Any => break,
            }
        }
        (path.len() > start).then_some(path)
    }

    /// Returns whether a path of the pattern may lie below a folder.
    pub(crate) fn may_be_below(&self, folder: &[u8]) -> bool {
        let (root, rest) = match (folder, root_of(folder)) {
            ([b'/', rest @ ..], _) => (Root::Host, rest),
            (_, Some((Mark::Home, rest))) => (Root::Home, rest),
            (_, Some((Mark::Work, rest))) => (Root::Work, rest),
            _ => (Root::Work, folder),
        };
        if self.root != root && self.root != Root::Any {
            return false;
        }
        let mut parts = self.parts.iter();
        for name in rest.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            match parts.next() {
                // Any parts may follow.
                Some(Part::Any) => return true,
                Some(Part::Name(pattern)) if name_matches(pattern, name, true) => {}
                _ => return false,
            }
        }
        parts.len() > 0
    }

    /// Returns whether a normalised path matches; `if_unsure` if a part of the path is not literal.
    pub(crate) fn matches(&self, path: &[u8], if_unsure: bool) -> bool {
        // A `/` after the home makes an empty name, which is dropped.
        let (root, rest) = match (path, root_of(path)) {
            ([b'/', rest @ ..], _) => (Root::Host, rest),
            (_, Some((Mark::Home, rest))) => (Root::Home, rest),
            _ => (Root::Work, path),
        };
        if self.root != root && self.root != Root::Any {
            return false;
        }
        // Such a path leaves the work tree, and may lead back into it.
        if self.root == Root::Work && rest.split(|byte| *byte == b'/').next() == Some(b"..") {
            return if_unsure;
        }
        let names: Vec<&[u8]> =
            rest.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        let fits = |part: &Part, name: &&[u8]| match part {
            Part::Any => false,
            Part::Name(pattern) => name_matches(pattern, name, if_unsure),
        };
        wildcard(&self.parts, &names, |part| *part == Part::Any, fits)
    }
}

/// Returns whether a path may match a pattern, or a path of the pattern may lie below it: `false` is
/// certain, and is found without reading the pattern.
pub(crate) fn may_concern(pattern: &str, path: &[u8]) -> bool {
    let is_plain = |byte: &u8| !is_wildcard(*byte) && !Mark::Name.is(*byte);
    let (root, rest) = match (path, root_of(path)) {
        ([b'/', rest @ ..], _) => (Root::Host, rest),
        (_, Some((Mark::Home, rest))) => (Root::Home, rest.strip_prefix(b"/").unwrap_or(rest)),
        (_, Some(_)) => return true,
        _ => (Root::Work, path),
    };
    let (of_pattern, written) = match pattern.as_bytes() {
        [b'/', rest @ ..] => (Root::Host, rest),
        [b'~', b'/', rest @ ..] => (Root::Home, rest),
        [b'.', b'/', rest @ ..] => (Root::Work, rest),
        _ => return true,
    };
    if of_pattern != root {
        return false;
    }
    // Such a path may lead back into its root.
    let is_normal = rest.iter().all(is_plain)
        && !rest.windows(2).any(|pair| pair == b"//")
        && !rest.split(|byte| *byte == b'/').any(|part| part == b"..");
    let end = written.iter().position(|byte| *byte == b'*').unwrap_or(written.len());
    let literal = written.get(..end).unwrap_or(written);
    !is_normal || literal.starts_with(rest) || rest.starts_with(literal)
}

fn name_matches(pattern: &[u8], name: &[u8], if_unsure: bool) -> bool {
    if name.iter().any(|byte| is_wildcard(*byte) || Mark::Name.is(*byte)) {
        // A `*` of the shell matches no dot at the beginning of a name.
        let is_hidden =
            pattern.starts_with(b".") && name.first().is_some_and(|it| is_wildcard(*it));
        return if_unsure && !is_hidden && may_match(pattern, name);
    }
    wildcard(pattern, name, |byte| *byte == b'*', |byte, letter| byte == letter)
}

/// Returns whether a pattern, some of whose items match any run, matches all of `items`.
///
/// Going back to the last such item is enough: it can take everything that an earlier one could
/// take.
fn wildcard<P, T>(
    pattern: &[P],
    items: &[T],
    is_run: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut item) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(next) = items.get(item) {
        match pattern.get(at) {
            Some(part) if is_run(part) => {
                back = Some((at + 1, item));
                at += 1;
            }
            Some(part) if fits(part, next) => {
                at += 1;
                item += 1;
            }
            _ => {
                let Some((run, taken)) = back else { return false };
                back = Some((run, taken + 1));
                (at, item) = (run, taken + 1);
            }
        }
    }
    pattern.iter().skip(at).all(is_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        PathPattern::new(pattern).unwrap().matches(path.as_bytes(), false)
    }

    #[test]
    fn a_pattern_matches_whole_paths() {
        assert!(matches("./**", "a/b"));
        assert!(!matches("./**", "../a"));
        assert!(PathPattern::new("./**").unwrap().matches(b"../a", true));
        assert!(matches("/srv/db/**", "/srv/db"));
        assert!(matches("/srv/db/**", "/srv/db/a/b"));
        assert!(!matches("/srv/db/**", "/srv/db2"));
        assert!(matches("/srv/*.db", "/srv/a.db"));
        assert!(!matches("/srv/*.db", "/srv/x/a.db"));
        assert!(matches("**/secrets/*", "/a/secrets/b"));
        assert!(matches("**/secrets/*", "secrets/b"));
        assert!(!matches("./secrets/*", "/secrets/b"));
        assert!(matches("./secrets/*", "secrets/b"));
        assert!(matches("/a/**/b/**/c", "/a/x/b/y/b/z/c"));
        assert!(!matches("/a/**/b/**/c", "/a/x/b/y/b/z/d"));
        assert!(matches("/a*b*c", "/aXbYbZc"));
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        for (text, error) in [
            ("", PatternError::Empty),
            ("srv/db", PatternError::NoRoot),
            ("/srv/", PatternError::Part),
            ("/srv/../etc", PatternError::Part),
            ("/srv/a?", PatternError::Sign('?')),
            ("/srv/a**", PatternError::Double),
        ] {
            assert_eq!(PathPattern::new(text), Err(error), "{text}");
        }
        assert_eq!(PathPattern::new(&"/a".repeat(300)), Err(PatternError::TooLong));
    }

    #[test]
    fn what_is_not_literal_may_raise_and_never_lowers() {
        let pattern = PathPattern::new("/srv/db/a").unwrap();
        let path = [b"/srv/db/".as_slice(), Mark::Star.text()].concat();
        assert!(pattern.matches(&path, true));
        assert!(!pattern.matches(&path, false));
    }

    #[test]
    fn a_pattern_that_may_match_a_path_or_lie_below_it_concerns_it() {
        const PATTERNS: [&str; 14] = [
            "/srv/app/**",
            "/srv/a*/x",
            "/srv/**",
            "/**",
            "/*",
            "/srv",
            "~/x",
            "~/x/**",
            "~/.*",
            "./a/*",
            "./**",
            "**/x",
            "**/.env",
            "/srv/app-1/*/y",
        ];
        let home = |rest: &str| [Mark::Home.text(), rest.as_bytes()].concat();
        let plain = [
            "/srv/app/x",
            "/srv",
            "/",
            "/srv/",
            "/srv//app",
            "/srv/app-1/z/y",
            "/x",
            "a/b",
            "a",
            "",
            "..",
            "a/../x",
            ".env",
        ];
        let mut paths: Vec<Vec<u8>> = plain.iter().map(|path| path.as_bytes().to_vec()).collect();
        paths.extend(["", "/x", "/", "/x/y", "/.ssh", "/../x"].map(home));
        paths.push([b"/srv/".as_slice(), Mark::Name.text(), b"/x"].concat());
        for pattern in PATTERNS {
            let read = PathPattern::new(pattern).unwrap();
            for path in &paths {
                let is_meant = read.matches(path, true) || read.may_be_below(path);
                assert!(!is_meant || may_concern(pattern, path), "{pattern} {path:?}");
            }
        }
        assert!(!may_concern("/srv/app-1/**", b"/srv/app-2/x"));
        assert!(!may_concern("/srv/app-1/**", b"app-1"));
    }
}
