//! Paths in one spelling: without `.`, `..` and repeated `/`, with patterns of the shell in one form.

use std::borrow::Cow;

use crate::state::Folder;
use crate::value::{Mark, is_hole, is_root, is_wildcard, may_match, root_of};

/// Returns a path in which `[…]` is one character, as `?` is, and a folder such as `.?`, which may be
/// `..`, is unknown.
pub(super) fn with_whole_patterns(written: &[u8]) -> Cow<'_, [u8]> {
    if !written.iter().any(|byte| is_wildcard(*byte)) {
        return written.into();
    }
    let mut whole = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some((byte, after)) = rest.split_first() {
        whole.push(*byte);
        let is_query = Mark::Query.is(*byte);
        rest = bracket_end(after)
            .filter(|_| is_query)
            .and_then(|end| after.get(end..))
            .unwrap_or(after);
    }
    let last = whole.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    let may_be_parent =
        |part: &[u8]| part.starts_with(b".") && part != b".." && may_match(b"..", part);
    let folders = whole.get(..last).unwrap_or_default();
    if folders.split(|byte| *byte == b'/').any(may_be_parent) {
        let parts = whole.split(|byte| *byte == b'/');
        let known = parts.map(|part| if may_be_parent(part) { Mark::Hole.text() } else { part });
        return known.collect::<Vec<_>>().join(&b'/').into();
    }
    whole.into()
}

/// Returns the place after the `]` of a bracket pattern, whose `[` comes before; `None` without one in
/// this part of the path. A `]` at the beginning and classes such as `[:alpha:]` belong to it.
pub(super) fn bracket_end(rest: &[u8]) -> Option<usize> {
    let is_open = |byte: u8| byte == b'[' || Mark::Query.is(byte);
    let mut at = usize::from(matches!(rest.first(), Some(b'!' | b'^')));
    at += usize::from(rest.get(at) == Some(&b']'));
    loop {
        match (rest.get(at)?, rest.get(at + 1)) {
            (b'/', _) => return None,
            (b']', _) => return Some(at + 1),
            (open, Some(kind @ (b':' | b'.' | b'='))) if is_open(*open) => {
                let inside = rest.get(at + 2..)?;
                let end = inside.windows(2).position(|pair| pair == [*kind, b']'])?;
                at += end + 4;
            }
            _ => at += 1,
        }
    }
}

pub(super) fn has_hole(path: &[u8]) -> bool {
    path.iter().any(|byte| is_hole(*byte))
}

/// Returns whether a path is independent of the folder.
pub(super) fn is_rooted(path: &[u8]) -> bool {
    path.first().is_some_and(|first| *first == b'/' || is_root(*first))
}

pub(super) fn join<'w>(written: &'w [u8], folder: &Folder) -> Cow<'w, [u8]> {
    match folder {
        Folder::Known(folder) if !is_rooted(written) => {
            let mut joined = Vec::with_capacity(folder.len() + 1 + written.len());
            joined.extend_from_slice(folder);
            joined.push(b'/');
            joined.extend(written);
            joined.into()
        }
        _ => written.into(),
    }
}

/// Removes `.`, `..` and repeated `/`. A path that leaves its starting point keeps its leading
/// `..`.
pub(super) fn normalise(path: &[u8]) -> Vec<u8> {
    let own = root_of(path);
    let (root, rest): (&[u8], &[u8]) = match (path, own) {
        ([b'/', rest @ ..], _) => (b"/", rest),
        (_, Some((root, rest))) => (root.text(), rest),
        _ => (b"", path),
    };
    let is_own = own.is_some();
    if !is_own && is_normal(rest) {
        return within_process(path).to_vec();
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in rest.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match parts.last() {
                Some(last) if *last != b".." => {
                    parts.pop();
                }
                None if root == b"/" => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    let mut normal = Vec::with_capacity(path.len() + 1);
    normal.extend_from_slice(root);
    for (number, part) in parts.iter().enumerate() {
        if number > 0 || is_own {
            normal.push(b'/');
        }
        normal.extend_from_slice(part);
    }
    match within_process(&normal) {
        within if within.len() < normal.len() => within.to_vec(),
        _ => normal,
    }
}

/// Returns a path as its process sees it: below `/proc/self/root` lies what lies below `/`.
pub(super) fn within_process(path: &[u8]) -> &[u8] {
    let mut within = path;
    while let Some(rest) = within.strip_prefix(b"/proc/") {
        let Some(end) = rest.iter().position(|byte| *byte == b'/') else { break };
        let (process, rest) = rest.split_at(end);
        let is_process =
            matches!(process, b"self" | b"thread-self") || process.iter().all(u8::is_ascii_digit);
        match rest.strip_prefix(b"/root") {
            Some(b"") if is_process => return b"/",
            Some(below @ [b'/', ..]) if is_process => within = below,
            _ => break,
        }
    }
    within
}

/// Returns whether a path is already normal, as most are.
pub(super) fn is_normal(path: &[u8]) -> bool {
    // The beginning and the end count as a `/`.
    let mut before = [b'/', b'/'];
    for byte in path.iter().chain(b"/") {
        let [first, second] = before;
        if *byte == b'/' && (second == b'/' || (second == b'.' && matches!(first, b'/' | b'.'))) {
            return false;
        }
        before = [second, *byte];
    }
    true
}
