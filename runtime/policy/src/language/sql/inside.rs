//! Statements inside a statement: in parentheses, at the start of a block, or in sequence without
//! `;` as in T-SQL.

use super::tokens::Token;

/// The range of a statement in the tokens of another.
pub(super) struct Inside {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The objects of DROP, CREATE and ALTER.
const OBJECTS: &[&str] = &[
    "TABLE",
    "DATABASE",
    "SCHEMA",
    "INDEX",
    "VIEW",
    "PROCEDURE",
    "PROC",
    "FUNCTION",
    "TRIGGER",
    "USER",
    "ROLE",
    "LOGIN",
    "SEQUENCE",
    "TYPE",
    "MATERIALIZED",
    "EXTENSION",
    "SERVER",
    "TEMPORARY",
    "TEMP",
    "OR",
    "UNIQUE",
    "CLUSTERED",
    "NONCLUSTERED",
    "KEYSPACE",
    "SYNONYM",
    "EXTERNAL",
    "STAGE",
    "STREAM",
    "TASK",
    "WAREHOUSE",
];

/// Words that are never followed by a statement.
const BEFORE: &[&str] = &[
    "SHOW", "ON", "FOR", "NO", "KEY", "BY", "AFTER", "BEFORE", "OF", "OR", "GRANT", "REVOKE",
    "DENY", "SELECT", "DISTINCT", "FROM", "JOIN", "WHERE", "AND", "NOT", "IN", "AS", "INTO",
    "TABLE", "IS", "LIKE", "HAVING", "SET", "UPDATE", "DELETE", "INSERT", "TO", "OPTION",
];

/// Returns the ranges of statements, the first included. Each ends at the next one of its depth, or
/// at the closing parenthesis around it.
pub(super) fn statements(tokens: &[Token]) -> Vec<Inside> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let mut found = Vec::new();
    let mut open: Vec<(usize, usize)> = vec![(0, 0)];
    let mut depth = 0usize;
    // The body of a procedure, a trigger or a rule runs later.
    let is_kept = word(0) == "CREATE"
        && tokens.iter().take(8).any(|token| {
            matches!(
                token.word.as_str(),
                "PROCEDURE"
                    | "PROC"
                    | "FUNCTION"
                    | "TRIGGER"
                    | "RULE"
                    | "EVENT"
                    | "POLICY"
                    | "TASK"
            )
        });
    if is_kept {
        return vec![Inside { start: 0, end: tokens.len() }];
    }
    for at in 0..tokens.len() {
        match word(at) {
            "(" => depth += 1,
            ")" => {
                depth = depth.saturating_sub(1);
                while let Some((start, _)) = open.pop_if(|(_, own)| *own > depth) {
                    found.push(Inside { start, end: at });
                }
            }
            _ if at > 0 && begins(tokens, at) => {
                while let Some((start, _)) = open.pop_if(|(_, own)| *own >= depth) {
                    found.push(Inside { start, end: at });
                }
                open.push((at, depth));
            }
            _ => {}
        }
    }
    found.extend(open.into_iter().map(|(start, _)| Inside { start, end: tokens.len() }));
    found
}

/// Returns whether a statement begins at a token after the first.
fn begins(tokens: &[Token], at: usize) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let is_name = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            token.word.is_empty() || token.word.bytes().all(super::super::finding::is_word)
        })
    };
    let before = word(at - 1);
    let next = word(at + 1);
    let is_after = match before {
        "(" => matches!(word(at), "INSERT" | "UPDATE" | "DELETE" | "MERGE"),
        // `SET NOCOUNT ON DELETE …`, `SET STATEMENT … FOR DELETE …`, `PREPARE s AS DELETE …`.
        "ON" => word(0) == "SET",
        "FOR" => word(0) == "SET" && word(1) == "STATEMENT",
        "AS" => matches!(word(0), "PREPARE" | "DECLARE"),
        ")" | "]" | "*" | "" => true,
        _ => is_name(at - 1) && !BEFORE.contains(&before),
    };
    if !is_after {
        return false;
    }
    match word(at) {
        "DROP" | "CREATE" | "ALTER" => OBJECTS.contains(&next),
        "TRUNCATE" => is_name(at + 1),
        "DELETE" => {
            matches!(next, "FROM" | "TOP")
                || (before != "(" && is_name(at + 1) && !matches!(next, "ON" | "CASCADE" | ""))
        }
        "UPDATE" => {
            let assigns = |at: usize| word(at) == "SET";
            next != "SET" && (at + 2..at + 10).any(assigns)
        }
        "INSERT" => matches!(next, "INTO" | "OVERWRITE") || (is_name(at + 1) && next != "VALUES"),
        "MERGE" => next == "INTO" || (is_name(at + 1) && next != "JOIN"),
        "EXEC" | "EXECUTE" => is_name(at + 1) && !matches!(next, "FUNCTION" | "PROCEDURE" | "ON"),
        "GRANT" | "REVOKE" | "DENY" | "RECONFIGURE" => is_name(at + 1),
        "SHUTDOWN" => next != "(",
        "BACKUP" | "RESTORE" => matches!(next, "DATABASE" | "LOG"),
        _ => false,
    }
}
