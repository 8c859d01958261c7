//! SQL, with the non-SQL commands of clients.

mod client;
mod condition;
mod inside;
mod tokens;

use super::finding::{Finding, What};
use crate::effect::Act;
use crate::value::is_hole;
use condition::is_bounded;
use inside::Inside;
use tokens::{Client, DIALECTS, Dialect, Token, differs, line_end, statement};

/// Prefixes of functions that change something even in a `SELECT`.
const ACTING: &[&str] = &[
    "PG_TERMINATE_BACKEND",
    "PG_CANCEL_BACKEND",
    "PG_RELOAD_CONF",
    "PG_ROTATE_LOGFILE",
    "PG_SWITCH_WAL",
    "PG_PROMOTE",
    "PG_CREATE_",
    "PG_COPY_",
    "PG_REPLICATION_SLOT_ADVANCE",
    "PG_REPLICATION_ORIGIN_",
    "PG_LOGICAL_SLOT_GET_",
    "PG_LOGICAL_EMIT_MESSAGE",
    "PG_BACKUP_",
    "PG_START_BACKUP",
    "PG_STOP_BACKUP",
    "PG_WAL_REPLAY_",
    "PG_LOG_BACKEND_MEMORY_CONTEXTS",
    "PG_LOG_STANDBY_SNAPSHOT",
    "PG_STAT_RESET",
    "PG_STAT_STATEMENTS_RESET",
    "PG_NOTIFY",
    "PG_ADVISORY_",
    "PG_TRY_ADVISORY_",
    "PG_FILE_",
    "LO_",
    "LOWRITE",
    "SETVAL",
    "NEXTVAL",
    "SET_CONFIG",
    "DBLINK",
    "LOAD_EXTENSION",
    "WRITEFILE",
    "SYS_EXEC",
    "SYS_EVAL",
    "XP_CMDSHELL",
    "FTS5",
    "QUERY_TO_XML",
    "GET_LOCK",
    "RELEASE_LOCK",
    "RELEASE_ALL_LOCKS",
    "ALTER_JOB",
    "RUN_JOB",
    "RUN_MAINTENANCE",
    "CREATE_HYPERTABLE",
    "ADD_RETENTION_POLICY",
    "ADD_COMPRESSION_POLICY",
    "ADD_JOB",
    "REMOVE_RETENTION_POLICY",
    "REMOVE_COMPRESSION_POLICY",
    "DELETE_JOB",
    "COMPRESS_CHUNK",
    "DECOMPRESS_CHUNK",
    "MOVE_CHUNK",
];

/// Functions that act and whose names are prefixes of harmless ones.
const ACTING_WHOLE: &[&str] = &["EDIT", "SCHEDULE", "UNSCHEDULE", "EXECUTABLE"];

/// Functions that drop unrecoverable data.
const DROPPING: &[&str] =
    &["DROP_CHUNKS", "DROPGEOMETRYTABLE", "DROPGEOMETRYCOLUMN", "PG_DROP_REPLICATION_SLOT"];

/// The deepest nesting of statements in texts of statements.
const DEPTH_MAX: u8 = 3;

/// Returns the effects of statements. The facts only declare a text as SQL: where dialects differ,
/// the effects in any of them count.
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
    let count = if differs(text) { DIALECTS.len() } else { 1 };
    for dialect in DIALECTS.iter().take(count) {
        let mut reader = Reader { text, dialect: *dialect, depth: 0, findings: &mut findings };
        reader.read();
    }
    findings.sort_unstable();
    findings.dedup();
    findings
}

/// Reads a text as one dialect does.
struct Reader<'r, 't> {
    text: &'t [u8],
    dialect: Dialect,
    /// The number of texts around this one.
    depth: u8,
    findings: &'r mut Vec<Finding>,
}

impl Reader<'_, '_> {
    fn read(&mut self) {
        let text = self.text;
        let mut at = 0;
        // The text after a letter of mysql may be the rest of a command of psql.
        let mut is_certain = self.depth == 0;
        while let Some(byte) = text.get(at) {
            match (byte, self.dialect.client) {
                (b';', _) => at += 1,
                (byte, _) if byte.is_ascii_whitespace() => at += 1,
                (b'\\', Client::Psql) => {
                    let end = client::psql(text, at, self.findings);
                    let line = text.get(at..end).unwrap_or(&[]);
                    if self.depth < DEPTH_MAX && line.starts_with(b"\\set") {
                        self.nested(at + 4, end, true);
                    } else if line.starts_with(b"\\copy") {
                        // `\copy` is a statement up to the end of its arguments.
                        let (tokens, _) =
                            statement(text.get(..end).unwrap_or(text), at + 1, self.dialect);
                        self.judge(&tokens, true);
                    }
                    at = end;
                }
                (b'\\', Client::Mysql) => {
                    let end = client::mysql(text, at, self.findings);
                    is_certain = false;
                    if end > at + 1 {
                        at = end;
                        continue;
                    }
                    at = statement(text, at + 1, self.dialect).1.max(at + 1);
                }
                (b'.', Client::Sqlite) => at = client::sqlite(text, at, self.findings),
                _ => {
                    let (tokens, end) = statement(text, at, self.dialect);
                    self.judge(&tokens, is_certain);
                    is_certain = self.depth == 0;
                    at = end.max(at + 1);
                }
            }
        }
    }

    /// Judges the statements in a text, in which an unknown word is harmless.
    fn nested(&mut self, start: usize, end: usize, is_quoted: bool) {
        if self.depth >= DEPTH_MAX {
            return;
        }
        let mut part = self.text.get(start..end).unwrap_or(&[]).to_vec();
        if is_quoted {
            for byte in part.iter_mut().filter(|byte| **byte == b'\'') {
                *byte = b' ';
            }
        }
        let mut findings = Vec::new();
        let mut reader = Reader {
            text: &part,
            dialect: Dialect { client: Client::None, ..self.dialect },
            depth: self.depth + 1,
            findings: &mut findings,
        };
        reader.read();
        let placed = |finding: Finding| {
            Finding::new(start + finding.start, start + finding.end, finding.what)
        };
        self.findings.extend(findings.into_iter().map(placed));
    }

    /// Judges a statement with those inside it. An unknown first word counts only if the text is
    /// certainly a statement.
    fn judge(&mut self, tokens: &[Token], is_certain: bool) {
        let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
        self.calls(tokens);
        let mut first = 0;
        if matches!(word(0), "EXPLAIN" | "DESC" | "DESCRIBE") {
            // ANALYZE runs the statement.
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
                        | "EXECUTE"
                )
            });
            let options = tokens.get(..verb.unwrap_or(tokens.len())).unwrap_or(&[]);
            let runs =
                options.iter().any(|token| matches!(token.word.as_str(), "ANALYZE" | "ANALYSE"));
            match verb {
                Some(verb) if runs => first = verb,
                _ => return,
            }
        }
        let tokens = tokens.get(first..).unwrap_or(&[]);
        for Inside { start, end } in inside::statements(tokens) {
            let part = tokens.get(start..end).unwrap_or(&[]);
            self.one(part, is_certain && start == 0);
        }
    }

    fn add(&mut self, tokens: &[Token], what: What) {
        if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
            self.findings.push(Finding::new(first.start, last.end, what));
        }
    }

    /// Judges the functions that a statement calls.
    fn calls(&mut self, tokens: &[Token]) {
        let mut acts = false;
        for (at, token) in tokens.iter().enumerate() {
            if tokens.get(at + 1).is_none_or(|next| next.word != "(") || token.is_text(self.text) {
                continue;
            }
            let name = token.name(self.text);
            let what = if DROPPING.contains(&name.as_str()) {
                What::Does(Act::DropsData)
            } else if ACTING_WHOLE.contains(&name.as_str())
                || ACTING.iter().any(|start| name.starts_with(start))
            {
                What::Does(Act::CallsActing)
            } else {
                continue;
            };
            acts = true;
            self.findings.push(Finding::new(token.start, token.end, what));
        }
        if acts {
            self.texts(tokens);
        }
    }

    /// Judges the texts in a statement as statements.
    fn texts(&mut self, tokens: &[Token]) {
        for token in tokens.iter().filter(|token| token.is_text(self.text)) {
            let (start, end) = token.content(self.text);
            self.nested(start, end, false);
        }
    }

    /// Judges one statement; inner ones are judged apart.
    fn one(&mut self, tokens: &[Token], is_certain: bool) {
        let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
        let has = |name: &str| tokens.iter().any(|token| token.word == name);
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
        match word(0) {
            "SELECT" | "WITH" | "TABLE" | "VALUES" | "(" | "FROM" | "PIVOT" | "UNPIVOT"
                if has("INTO") =>
            {
                self.add(tokens, What::Does(Act::WritesSelected));
            }
            "SELECT" | "WITH" | "TABLE" | "VALUES" | "(" | "FROM" | "PIVOT" | "UNPIVOT" => {}
            "SHOW" | "DESCRIBE" | "DESC" | "USE" | "SET" | "BEGIN" | "START" | "COMMIT" | "END"
            | "ROLLBACK" | "FETCH" | "DECLARE" | "CLOSE" | "ABORT" | "SAVEPOINT" | "RELEASE"
            | "HELP" | "DEALLOCATE" | "DISCARD" | "LISTEN" | "UNLISTEN" | "CHECK" | "GO"
            | "SUMMARIZE" | "EXISTS" | "CHECKSUM" | "STATUS" | "PRINT" | "RESET" => {
                if let Some(reason) = sets(tokens) {
                    self.add(tokens, reason);
                }
            }
            "PRAGMA" => {
                let open = tokens.iter().position(|token| token.word == "(");
                let name = word(open.unwrap_or(tokens.len()).saturating_sub(1));
                let acts = has("WAL_CHECKPOINT") || has("INCREMENTAL_VACUUM") || has("OPTIMIZE");
                let looks =
                    ["_INFO", "_LIST", "_XINFO", "_CHECK"].iter().any(|end| name.ends_with(end));
                if has("=") || acts || (open.is_some() && !looks) {
                    self.add(tokens, What::Does(Act::SetsDatabase));
                }
            }
            "INSERT" if word(1) == "OVERWRITE" => {
                self.add(tokens, What::Does(Act::DropsData));
            }
            "INSERT" | "REPLACE" | "MERGE" | "UPSERT" => {
                self.add(tokens, What::Does(Act::AddsOrChangesRows));
            }
            "UPDATE" if word(1) == "STATISTICS" => {
                self.add(tokens, What::Does(Act::ChangesSchema));
            }
            "UPDATE" | "DELETE" => {
                if is_bounded(self.text, tokens) {
                    self.add(tokens, What::Does(Act::ChangesRows));
                } else {
                    self.add(tokens, What::Does(Act::ChangesAllRows));
                }
            }
            "COPY" => {
                let program = tokens.iter().position(|token| token.word == "PROGRAM");
                if let Some(at) = program {
                    match tokens.get(at + 1) {
                        Some(code) if code.word.is_empty() => {
                            self.add(tokens, What::Does(Act::RunsServerProgram));
                            let (start, end) = code.content(self.text);
                            self.findings.push(Finding::new(start, end, What::Shell));
                        }
                        _ => self.add(tokens, What::Does(Act::RunsHiddenServerProgram)),
                    }
                } else if text_starts(self.text, first.start, b"\\") {
                    // With `\copy`, the client writes the file.
                } else if has("FROM") && !has("TO") {
                    self.add(tokens, What::Does(Act::AddsRows));
                } else if !has("STDOUT") {
                    self.add(tokens, What::Does(Act::WritesServerFile));
                }
            }
            "DROP" | "TRUNCATE" | "PURGE" | "SHUTDOWN" => {
                self.add(tokens, What::Does(Act::DropsData));
            }
            "ALTER" => {
                let deletes = tokens
                    .iter()
                    .position(|token| matches!(token.word.as_str(), "DELETE" | "UPDATE"));
                let is_unbounded = deletes.is_some_and(|at| {
                    has("WHERE") && !is_bounded(self.text, tokens.get(at..).unwrap_or(&[]))
                });
                if has("DROP") || has("TRUNCATE") || has("CLEAR") || is_unbounded {
                    self.add(tokens, What::Does(Act::DropsData));
                } else {
                    self.add(tokens, What::Does(Act::ChangesSchema));
                }
            }
            "SYSTEM" if matches!(word(1), "SHUTDOWN" | "KILL" | "DROP") => {
                self.add(tokens, What::Does(Act::DropsData));
            }
            "SYSTEM" | "PAGER" if is_certain => {
                self.add(tokens, What::Does(Act::RunsCommand));
                let start = first.end.min(last.end);
                let end = line_end(self.text, start);
                self.findings.push(Finding::new(start, end, What::Shell));
            }
            // `!! cmd` of sqlcmd, `! cmd` of others.
            "!" if is_certain => {
                self.add(tokens, What::Does(Act::RunsCommand));
                let signs = tokens.iter().take_while(|token| token.word == "!").count();
                let start = tokens.get(signs).map_or(last.end, |token| token.start);
                let end = line_end(self.text, start);
                self.findings.push(Finding::new(start, end, What::Shell));
            }
            "SOURCE" if is_certain => {
                self.add(tokens, What::Opaque("it runs statements from a file"));
            }
            "CREATE" if word(1) == "OR" && word(3) == "TABLE" => {
                self.add(tokens, What::Does(Act::DropsData));
            }
            "CALL" | "DO" | "EXECUTE" | "EXEC" | "PREPARE" => {
                self.add(tokens, What::Does(Act::ChangesSchema));
                if has("XP_CMDSHELL") {
                    for token in tokens.iter().filter(|token| token.is_text(self.text)) {
                        let (start, end) = token.content(self.text);
                        self.findings.push(Finding::new(start, end, What::Shell));
                    }
                }
                self.texts(tokens);
            }
            "CREATE" | "COMMENT" | "GRANT" | "REVOKE" | "REINDEX" | "VACUUM" | "CLUSTER"
            | "REFRESH" | "LOAD" | "ATTACH" | "DETACH" | "LOCK" | "UNLOCK" | "KILL" | "FLUSH"
            | "OPTIMIZE" | "REPAIR" | "RENAME" | "NOTIFY" | "SECURITY" | "IMPORT" | "ANALYZE"
            | "INSTALL" | "UNINSTALL" | "CHECKPOINT" | "REASSIGN" | "CHANGE" | "STOP" | "DENY"
            | "RECONFIGURE" | "RESTORE" | "BACKUP" | "DBCC" => {
                self.add(tokens, What::Does(Act::ChangesSchema));
            }
            // Statements never begin so: this one fails, and the next one may run.
            "-" | "." | "\\" | "#" | ")" | "]" | "*" => {}
            _ if is_certain => {
                self.add(tokens, What::Opaque("this statement is not known"));
            }
            _ => {}
        }
    }
}

/// Returns whether these bytes precede a place.
fn text_starts(text: &[u8], at: usize, bytes: &[u8]) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with(bytes))
}

/// Returns the effect of a session statement beyond its session.
fn sets(tokens: &[Token]) -> Option<What> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let has = |name: &str| tokens.iter().any(|token| token.word == name);
    let does = |act| Some(What::Does(act));
    match word(0) {
        "SET" => {
            let is_server = ["GLOBAL", "PERSIST", "PERSIST_ONLY"].iter().any(|name| has(name))
                || matches!(word(1), "PASSWORD" | "DEFAULT" | "RESOURCE" | "CLUSTER");
            if is_server { does(Act::SetsServer) } else { None }
        }
        "RESET" => match word(1) {
            "MASTER" | "SLAVE" | "REPLICA" | "BINARY" => does(Act::DropsData),
            "PERSIST" | "QUERY" | "CLUSTER" => does(Act::SetsServer),
            _ => None,
        },
        "START" if word(1) != "TRANSACTION" => does(Act::ChangesSchema),
        "COMMIT" | "ROLLBACK" if word(1) == "PREPARED" => does(Act::EndsTransaction),
        _ => None,
    }
}
