//! SQL, with the commands of `psql`, `sqlite3` and `mysql` that are not SQL.

use super::finding::{Finding, What, is_word, quoted_end};
use crate::text::is_hole;
use crate::tier::Tier;

/// A word, sign or literal of a statement.
#[derive(Debug, Clone)]
struct Token {
    start: usize,
    end: usize,
    /// In upper case; empty for a literal.
    word: String,
}

/// Functions that change something though a `SELECT` calls them.
const ACTING: &[&str] = &[
    "PG_TERMINATE_BACKEND",
    "PG_CANCEL_BACKEND",
    "PG_RELOAD_CONF",
    "PG_ROTATE_LOGFILE",
    "LO_UNLINK",
    "LO_IMPORT",
    "LO_EXPORT",
    "SETVAL",
    "NEXTVAL",
    "SET_CONFIG",
    "DBLINK",
    "DBLINK_EXEC",
    "LOAD_EXTENSION",
    "WRITEFILE",
    "EDIT",
    "PG_SWITCH_WAL",
    "PG_PROMOTE",
    "PG_CREATE_RESTORE_POINT",
    "PG_DROP_REPLICATION_SLOT",
    "PG_ADVISORY_LOCK",
    "PG_FILE_WRITE",
    "PG_FILE_UNLINK",
    "SYS_EXEC",
    "SYS_EVAL",
    "XP_CMDSHELL",
    "FTS5",
    "SLEEP_EXEC",
    "QUERY_TO_XML",
];

/// Returns what statements do.
pub(crate) fn findings(text: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(at) = text.iter().position(|byte| is_hole(*byte)) {
        let reason = "this statement is not literal";
        let is_all = text.iter().all(|byte| is_hole(*byte) || byte.is_ascii_whitespace());
        let what = if is_all { What::Unknown(reason) } else { What::Opaque(reason) };
        findings.push(Finding::new(at, at + 1, what));
        if is_all {
            return findings;
        }
    }
    let mut at = 0;
    while at < text.len() {
        match text.get(at) {
            Some(byte) if byte.is_ascii_whitespace() || *byte == b';' => at += 1,
            Some(b'\\' | b'.') => {
                let end = line_end(text, at);
                meta(text, at, end, &mut findings);
                at = end;
            }
            _ => {
                let (tokens, end) = statement(text, at);
                if !tokens.is_empty() {
                    judge(text, &tokens, &mut findings);
                }
                at = end.max(at + 1);
            }
        }
    }
    findings
}

fn line_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or(&[]);
    start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

/// Returns the tokens up to a `;`, and where the next statement begins.
fn statement(text: &[u8], start: usize) -> (Vec<Token>, usize) {
    let mut tokens = Vec::new();
    let mut at = start;
    while let Some(byte) = text.get(at).copied() {
        let next = text.get(at + 1).copied().unwrap_or(0);
        let from = at;
        match (byte, next) {
            (b';', _) => return (tokens, at + 1),
            // A command of psql ends the statement before it.
            (b'\\', _) => return (tokens, at),
            (b'-', b'-') | (b'#', _) => {
                at = line_end(text, at);
                continue;
            }
            (b'/', b'*') => {
                // `/*! … */` is run by MySQL.
                if text.get(at + 2) == Some(&b'!') {
                    at += 3;
                    continue;
                }
                let rest = text.get(at + 2..).unwrap_or(&[]);
                let length = rest.windows(2).position(|pair| pair == b"*/");
                at = length.map_or(text.len(), |length| at + 2 + length + 2);
                continue;
            }
            (b'\'' | b'"' | b'`', _) => {
                at = quoted_end(text, at, byte, byte == b'\'');
                tokens.push(Token { start: from, end: at, word: String::new() });
            }
            (b'$', b'$') => {
                let rest = text.get(at + 2..).unwrap_or(&[]);
                let length = rest.windows(2).position(|pair| pair == b"$$");
                at = length.map_or(text.len(), |length| at + 2 + length + 2);
                tokens.push(Token { start: from, end: at, word: String::new() });
            }
            _ if is_word(byte) => {
                while text.get(at).is_some_and(|byte| is_word(*byte)) {
                    at += 1;
                }
                let word = text.get(from..at).unwrap_or(&[]).to_ascii_uppercase();
                let word = String::from_utf8_lossy(&word).into_owned();
                tokens.push(Token { start: from, end: at, word });
            }
            _ => {
                at += 1;
                if !byte.is_ascii_whitespace() {
                    let word = char::from(byte).to_string();
                    tokens.push(Token { start: from, end: at, word });
                }
            }
        }
    }
    (tokens, text.len())
}

fn judge(text: &[u8], tokens: &[Token], findings: &mut Vec<Finding>) {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let has = |name: &str| tokens.iter().any(|token| token.word == name);
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
    let mut add = |what: What| findings.push(Finding::new(first.start, last.end, what));
    let two = |reason| What::Tier(Tier::Stateful, reason);
    let three = |reason| What::Tier(Tier::Irreversible, reason);
    match word(0) {
        "EXPLAIN" => {
            // With ANALYZE the statement runs.
            let runs = tokens
                .iter()
                .take(12)
                .position(|token| matches!(token.word.as_str(), "ANALYZE" | "ANALYSE"));
            let verb = tokens.iter().position(|token| {
                matches!(
                    token.word.as_str(),
                    "SELECT"
                        | "INSERT"
                        | "UPDATE"
                        | "DELETE"
                        | "WITH"
                        | "CREATE"
                        | "REPLACE"
                        | "MERGE"
                )
            });
            if let (Some(_), Some(verb)) = (runs, verb) {
                judge(text, tokens.get(verb..).unwrap_or(&[]), findings);
            }
        }
        "SELECT" | "WITH" | "TABLE" | "VALUES" | "(" => {
            if has("INTO") {
                add(two("writes what it selects"));
            }
            for (at, token) in tokens.iter().enumerate() {
                let is_call = word(at + 1) == "(";
                if is_call && ACTING.contains(&token.word.as_str()) {
                    let what = two("calls a function that acts");
                    findings.push(Finding::new(token.start, token.end, what));
                }
                // A statement inside, as in `WITH x AS (DELETE …)`.
                let is_verb =
                    matches!(token.word.as_str(), "INSERT" | "UPDATE" | "DELETE" | "MERGE");
                let before = at.checked_sub(1).map_or("", word);
                let is_statement = matches!(before, "(" | ")")
                    || (token.word == "UPDATE" && !matches!(before, "FOR" | "NO" | "KEY"));
                if is_verb && at > 0 && is_statement {
                    let end = closing(tokens, at);
                    judge(text, tokens.get(at..end).unwrap_or(&[]), findings);
                }
            }
        }
        "SHOW" | "DESCRIBE" | "DESC" | "USE" | "SET" | "BEGIN" | "START" | "COMMIT" | "END"
        | "ROLLBACK" | "FETCH" | "DECLARE" | "CLOSE" | "ABORT" | "SAVEPOINT" | "RELEASE"
        | "HELP" | "DEALLOCATE" | "DISCARD" | "LISTEN" | "UNLISTEN" | "CHECK" => {
            if word(0) == "SET" && matches!(word(1), "GLOBAL" | "PERSIST" | "PASSWORD") {
                add(two("changes a setting of the server"));
            }
        }
        "PRAGMA" => {
            if has("=") || (has("(") && !word(1).ends_with("_INFO") && !word(1).ends_with("_LIST"))
            {
                add(two("changes a setting of the database"));
            }
        }
        "INSERT" | "REPLACE" | "MERGE" | "UPSERT" => add(two("adds or changes rows")),
        "UPDATE" | "DELETE" => {
            if is_bounded(text, tokens) {
                add(two("changes or deletes rows"));
            } else {
                add(three("changes or deletes all rows"));
            }
        }
        "COPY" => {
            if has("PROGRAM") {
                match tokens.iter().position(|token| token.word == "PROGRAM") {
                    Some(at) => match tokens.get(at + 1) {
                        Some(code) if code.word.is_empty() => {
                            add(two("runs a program on the server"));
                            let shell = Finding::new(code.start + 1, code.end - 1, What::Shell);
                            findings.push(shell);
                        }
                        _ => add(three("runs a program on the server")),
                    },
                    None => add(three("runs a program on the server")),
                }
            } else if has("FROM") {
                add(two("adds rows"));
            } else if !has("STDOUT") {
                add(two("writes a file on the server"));
            }
        }
        "DROP" | "TRUNCATE" | "PURGE" | "SHUTDOWN" => add(three("drops what cannot be restored")),
        "RESET" => {
            if matches!(word(1), "MASTER" | "SLAVE" | "REPLICA" | "BINARY") {
                add(three("drops what cannot be restored"));
            }
        }
        "ALTER" => {
            if has("DROP") || has("TRUNCATE") {
                add(three("drops what cannot be restored"));
            } else {
                add(two("changes the schema or the server"));
            }
        }
        "SYSTEM" | "SOURCE" => {
            let rest = text.get(first.end..last.end).unwrap_or(&[]);
            let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
            if word(0) == "SYSTEM" {
                add(two("runs a command"));
                findings.push(Finding::new(first.end + blanks, last.end, What::Shell));
            } else {
                add(What::Opaque("it runs statements from a file"));
            }
        }
        "CREATE" | "COMMENT" | "GRANT" | "REVOKE" | "REINDEX" | "VACUUM" | "CLUSTER"
        | "REFRESH" | "CALL" | "DO" | "EXECUTE" | "EXEC" | "PREPARE" | "LOAD" | "ATTACH"
        | "DETACH" | "LOCK" | "UNLOCK" | "KILL" | "FLUSH" | "OPTIMIZE" | "REPAIR" | "RENAME"
        | "NOTIFY" | "SECURITY" | "IMPORT" | "ANALYZE" | "INSTALL" | "UNINSTALL" | "CHECKPOINT"
        | "REASSIGN" | "CHANGE" | "STOP" => {
            add(two("changes the schema or the server"));
        }
        _ => add(What::Opaque("this statement is not known")),
    }
}

/// Returns where the parenthesis around a token closes.
fn closing(tokens: &[Token], start: usize) -> usize {
    let mut open = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.word.as_str() {
            "(" => open += 1,
            ")" => match open.checked_sub(1) {
                Some(left) => open = left,
                None => return at,
            },
            _ => {}
        }
    }
    tokens.len()
}

/// Returns whether a condition says which rows; one that is always true does not.
fn is_bounded(text: &[u8], tokens: &[Token]) -> bool {
    let Some(at) = tokens.iter().position(|token| token.word == "WHERE") else {
        return tokens.iter().any(|token| token.word == "LIMIT");
    };
    let condition = tokens.get(at + 1..).unwrap_or(&[]);
    let shown =
        |token: &Token| text.get(token.start..token.end).unwrap_or(&[]).to_ascii_uppercase();
    let is_literal = |token: &Token| {
        token.word.is_empty() || token.word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let always = condition.split(|token| matches!(token.word.as_str(), "OR" | "AND"));
    let is_true = |part: &[Token]| match part {
        [only] => matches!(only.word.as_str(), "TRUE" | "1"),
        [left, sign, right] => {
            sign.word == "=" && is_literal(left) && is_literal(right) && shown(left) == shown(right)
        }
        _ => false,
    };
    let has_or = condition.iter().any(|token| token.word == "OR");
    let mut parts = always;
    if has_or { !parts.any(is_true) } else { !parts.all(is_true) }
}

/// Returns where the path is that `\copy … to` writes: `Some(None)` for standard output, `None` if
/// there is none.
fn copied_to(rest: &[u8]) -> Option<Option<(usize, usize)>> {
    let lower = rest.to_ascii_lowercase();
    let to = lower.windows(4).rposition(|part| part == b" to ")? + 4;
    let path = lower.get(to..)?;
    let blanks = path.iter().take_while(|byte| **byte == b' ').count();
    let path = path.get(blanks..)?;
    let start = to + blanks;
    if path.starts_with(b"stdout") || path.starts_with(b"pstdout") {
        return Some(None);
    }
    let (open, length) = match path.split_first()? {
        (b'\'', quoted) => (1, quoted.iter().position(|byte| *byte == b'\'')?),
        _ => (0, path.iter().position(|byte| matches!(byte, b' ' | b';')).unwrap_or(path.len())),
    };
    (length > 0).then_some(Some((start + open, start + open + length)))
}

/// Judges `\…` of psql and `.…` of sqlite3.
fn meta(text: &[u8], start: usize, end: usize, findings: &mut Vec<Finding>) {
    let line = text.get(start..end).unwrap_or(&[]);
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'!' | b'?' | b'+' | b'_');
    let length = 1 + line.iter().skip(1).take_while(|byte| is_name(byte)).count();
    let name = String::from_utf8_lossy(line.get(..length).unwrap_or(line)).into_owned();
    // `\!cmd` needs no blank.
    let (name, length) = if name.starts_with("\\!") { ("\\!", 2) } else { (name.as_str(), length) };
    let rest = line.get(length..).unwrap_or(&[]);
    let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
    let value = start + length + blanks;
    let mut add = |from: usize, what: What| findings.push(Finding::new(from, end, what));
    match name {
        "\\!" | ".shell" | ".system" => {
            add(start, What::Tier(Tier::Stateful, "runs a command"));
            add(value, What::Shell);
        }
        "\\i" | "\\ir" | "\\include" | "\\include_relative" | ".read" | ".load" => {
            add(start, What::Opaque("it runs code from a file"));
        }
        "\\o" | "\\out" | "\\w" | "\\write" | ".output" | ".once" | ".backup" | ".save"
        | ".clone" | ".log" => {
            if text.get(value) == Some(&b'|') {
                add(start, What::Tier(Tier::Stateful, "runs a command"));
                add(value + 1, What::Shell);
            } else if value < end {
                add(value, What::Writes);
            }
        }
        "\\copy" => {
            let is_from = rest.to_ascii_lowercase().windows(6).any(|part| part == b" from ");
            let runs = rest.to_ascii_lowercase().windows(7).any(|part| part == b"program");
            if runs {
                add(start, What::Unknown("it runs a program"));
            } else if is_from {
                add(start, What::Tier(Tier::Stateful, "adds rows"));
            } else {
                match copied_to(rest) {
                    // To standard output.
                    Some(None) => {}
                    Some(Some((from, to))) => findings.push(Finding::new(
                        start + length + from,
                        start + length + to,
                        What::Writes,
                    )),
                    None => add(start, What::Unknown("it is not clear where it writes")),
                }
            }
        }
        ".import" => add(start, What::Tier(Tier::Stateful, "adds rows")),
        ".restore" => add(start, What::Tier(Tier::Irreversible, "replaces the database")),
        "\\q" | "\\x" | "\\h" | "\\?" | "\\timing" | "\\pset" | "\\conninfo" | "\\echo"
        | "\\encoding" | "\\a" | "\\t" | "\\l" | "\\l+" | "\\z" | "\\sv" | "\\sf" | "\\c"
        | "\\connect" | "\\g" | "\\gx" | "\\watch" | "\\G" | "\\s" | "\\u" | "\\f" | "\\H"
        | "\\errverbose" | "\\set" | "\\unset" | ".tables" | ".schema" | ".mode" | ".headers"
        | ".header" | ".databases" | ".indexes" | ".indices" | ".quit" | ".exit" | ".help"
        | ".width" | ".separator" | ".nullvalue" | ".timer" | ".dump" | ".explain" | ".stats"
        | ".show" | ".open" | ".bail" | ".echo" | ".eqp" | ".fullschema" | ".print"
        | ".changes" | ".dbinfo" | ".timeout" | ".lint" | ".version" => {
            if rest.contains(&b'|') && name.starts_with("\\g") {
                add(start, What::Unknown("it runs a program"));
            }
        }
        _ if name.starts_with("\\d") => {}
        _ => add(start, What::Opaque("this command of the client is not known")),
    }
}
