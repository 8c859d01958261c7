//! A linear look at a document before the KDL parser sees it.
//!
//! kdl 6.7 takes exponential time on nested slashdashes and overflows the stack on deeply nested
//! braces. This scan knows just enough of KDL (strings, comments) to count both.

/// Children may nest this deep. The deepest node of the language is at 5.
pub(crate) const DEPTH_MAX: usize = 32;
/// Block comments may nest this deep.
const COMMENT_DEPTH_MAX: usize = 32;
/// So many `/-` may enclose one another.
const SLASHDASH_DEPTH_MAX: usize = 3;

/// What the KDL parser must not be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooDeep {
    /// Where the limit is passed.
    pub(super) at: usize,
    /// What nests.
    pub(super) what: &'static str,
    /// How deep it may.
    pub(super) limit: usize,
}

/// Checks that `text` nests no deeper than the KDL parser can take.
pub(super) fn check(text: &str) -> Result<(), TooDeep> {
    let bytes = text.as_bytes();
    let mut at = 0;
    // For each open brace, whether a slashdash is in front of it in the same node.
    let mut open: Vec<bool> = Vec::new();
    let mut commented = 0;
    let mut slashdash = false;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        match rest {
            [b'/', b'/', ..] => at += line_length(rest),
            [b'/', b'*', ..] => {
                at += comment_length(rest).ok_or(TooDeep {
                    at,
                    what: "block comments",
                    limit: COMMENT_DEPTH_MAX,
                })?
            }
            [b'/', b'-', ..] => {
                slashdash = true;
                at += 2;
            }
            [b'"', ..] | [b'#', b'"' | b'#', ..] => at += string_length(rest),
            [b'{', ..] => {
                open.push(slashdash);
                commented += usize::from(slashdash);
                slashdash = false;
                if open.len() > DEPTH_MAX {
                    return Err(TooDeep { at, what: "children", limit: DEPTH_MAX });
                }
                if commented > SLASHDASH_DEPTH_MAX {
                    let limit = SLASHDASH_DEPTH_MAX;
                    return Err(TooDeep { at, what: "slashdash comments", limit });
                }
                at += 1;
            }
            [b'}', ..] => {
                commented -= usize::from(open.pop().unwrap_or(false));
                slashdash = false;
                at += 1;
            }
            // A slashdash reaches over line ends up to what it comments out, so only the end of
            // a node that has begun could end it; keeping it is the careful reading.
            [b';', ..] => {
                slashdash = false;
                at += 1;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

/// Bytes up to the end of the line.
pub(super) fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

/// Bytes of a block comment with those inside it; `None` if they nest too deep.
pub(super) fn comment_length(rest: &[u8]) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        match tail {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
                if depth > COMMENT_DEPTH_MAX {
                    return None;
                }
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            }
            _ => at += 1,
        }
    }
    Some(at)
}

/// Bytes of a string of any form; up to the end of the text if it is not closed.
pub(super) fn string_length(rest: &[u8]) -> usize {
    let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
    let quoted = rest.get(hashes..).unwrap_or_default();
    let quotes = if quoted.starts_with(b"\"\"\"") { 3 } else { 1 };
    if !quoted.starts_with(b"\"") {
        // `#true` and the like, or a stray hash: no string.
        return hashes;
    }
    let mut at = hashes + quotes;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        let closing = tail.iter().take_while(|byte| **byte == b'"').count() >= quotes
            && tail.iter().skip(quotes).take(hashes).filter(|byte| **byte == b'#').count()
                == hashes;
        match tail {
            [b'"', ..] if closing => return at + quotes + hashes,
            [b'\\', ..] if hashes == 0 => at += 2,
            // A single-quoted string ends with its line at the latest: it is an error that the
            // parser reports, and must not hide the rest from this scan.
            [b'\n', ..] if quotes == 1 => return at,
            _ => at += 1,
        }
    }
    rest.len()
}
