//! Text written to a connection directly: requests of HTTP, commands of Redis, memcached, mail and
//! file servers.
//!
//! Only the first words of lines are read. A body counts as further lines, so it may raise the
//! tier.

use crate::effect::Act;

/// Verbs that change something at the other end.
const CHANGES: &[&str] = &[
    "POST",
    "PUT",
    "PATCH",
    "PROPPATCH",
    "MKCOL",
    "MOVE",
    "SET",
    "SETEX",
    "MSET",
    "DEL",
    "UNLINK",
    "EXPIRE",
    "RENAME",
    "LPUSH",
    "RPUSH",
    "HSET",
    "SADD",
    "ZADD",
    "PUBLISH",
    "CONFIG",
    "EVAL",
    "MODULE",
    "SLAVEOF",
    "REPLICAOF",
    "MAIL",
    "RCPT",
    "STOR",
    "APPE",
    "MKD",
    "RNTO",
];
/// Verbs that delete data of the other end, or end it.
const DELETES: &[&str] =
    &["DELETE", "FLUSHALL", "FLUSHDB", "FLUSH_ALL", "SHUTDOWN", "DELE", "RMD", "EXPUNGE"];

/// Returns the worst action that a text requests; `None` if it only reads.
pub(crate) fn act(text: &[u8]) -> Option<Act> {
    let verbs = text.split(|byte| matches!(byte, b'\n' | b'\r')).filter_map(|line| {
        line.split(|byte| byte.is_ascii_whitespace()).find(|word| !word.is_empty())
    });
    let mut worst = None;
    for verb in verbs {
        let is_in =
            |list: &[&str]| list.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(verb));
        if is_in(DELETES) {
            return Some(Act::DeletesAtPeer);
        }
        if is_in(CHANGES) {
            worst = Some(Act::ChangesPeer);
        }
    }
    worst
}
