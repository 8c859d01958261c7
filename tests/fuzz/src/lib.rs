//! The functions that the fuzz targets call: those of the tests (`tests/bundle/entry.rs`,
//! `tests/bundle/compile.rs`, `tests/gate/entry.rs`, `tests/policy/entry.rs`, `tests/automaton/entry.rs`, `tests/hook/entry.rs`,
//! `runtime/ssh/tests/readers/entry.rs`), which know what must hold for every input.

#![allow(dead_code, reason = "the tests use more of these modules than the targets do")]

#[path = "../../automaton/entry.rs"]
mod automaton;
#[path = "../../bundle/compile.rs"]
mod compile;
#[path = "../../bundle/entry.rs"]
mod entry;
#[path = "../../gate/entry.rs"]
mod gate;
#[path = "../../hook/entry.rs"]
mod hook;
#[path = "../../policy/entry.rs"]
mod policy;
#[path = "../../bundle/raw.rs"]
mod raw;
#[path = "../../bundle/sample.rs"]
mod sample;
#[path = "../../shipped.rs"]
mod shipped;
#[path = "../../../runtime/ssh/tests/readers/entry.rs"]
mod ssh;
#[path = "../../bundle/tags.rs"]
mod tags;
#[path = "../../bundle/uri.rs"]
mod uri;

use std::collections::BTreeMap;

/// Answers any bytes as an event of a client, on a machine without a machine file.
pub fn hook_event(bytes: &[u8]) {
    _ = hook::event(bytes, std::path::Path::new("/nowhere/hook.toml"));
}

/// Edits a table of automata as the bytes say, and searches with it.
pub fn automata(bytes: &[u8]) {
    automaton::table(bytes);
}

/// Compiles a regex, up to the first NUL byte, and searches the rest.
pub fn regex(bytes: &[u8]) {
    automaton::regex(bytes);
}

/// Opens any bytes as a bundle and reads all of it.
pub fn bundle_reader(bytes: &[u8]) {
    entry::bundle_reader(bytes);
}

/// Edits a good bundle as the bytes say, hashes it again and reads all of it.
pub fn bundle_structure(bytes: &[u8]) {
    entry::bundle_structure(bytes);
}

/// Reads any bytes as an envelope.
pub fn envelope(bytes: &[u8]) {
    entry::envelope(bytes);
}

/// Matches a name, the second line, against a pattern, the first.
pub fn glob(bytes: &[u8]) {
    entry::glob(bytes);
}

/// A token in the middle of a text. Its form alone shows that it is a secret.
const TOKEN: &str = "ghp_Hq3vTz81LkWm52PdXs07RbYc94NfJa66GhUe";

/// Redacts a text, the same text with a token between its lines, and the JSON that it may be: the
/// result stays when it is redacted again, and the token is hidden.
///
/// # Panics
///
/// If the result changes, or the token is shown.
pub fn redact(bytes: &[u8]) {
    use relay_engine::redact::{redacted, redacted_json};
    let text = String::from_utf8_lossy(bytes);
    let (before, after) = text.split_at(text.floor_char_boundary(text.len() / 2));
    for text in [&*text, &format!("{before}\n{TOKEN}\n{after}")] {
        let once = redacted(text);
        assert_eq!(redacted(&once), once);
        assert!(!once.contains(TOKEN), "the token is shown: {text:?}");
    }
    if let Ok(value) = serde_json::from_str(&text) {
        let once = redacted_json(&value);
        assert_eq!(redacted_json(&once), once);
    }
}

/// Reads the lines of an audit file, as they are and with the right hash: a record of a chain is the
/// line that would be written, and a checkpoint has the arguments that would be.
///
/// # Panics
///
/// If another line is read as a record, or other arguments as a checkpoint.
pub fn audit(bytes: &[u8]) {
    use relay_engine::audit_chain::{Link, chained, read};
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        for line in [line, &hashed(line)] {
            let Ok(record) = read(line) else { continue };
            let before = record.link.seq.checked_sub(1).map(|seq| Link { seq, hash: record.prev });
            let Some((body, _)) = line.rsplit_once(",\"seq\":") else {
                panic!("no number: {line}")
            };
            let Some(before) = before else { panic!("no record is before this one: {line}") };
            assert_eq!(chained(&format!("{body}}}"), before), (line.to_owned(), record.link));
        }
        if let Ok(arguments) = serde_json::from_str::<BTreeMap<String, String>>(line)
            && let Some(checkpoint) = relay_engine::audit_checkpoint::Checkpoint::read(&arguments)
        {
            let own = |(name, text): (&str, String)| (name.to_owned(), text);
            let written: BTreeMap<_, _> = checkpoint.arguments().into_iter().map(own).collect();
            assert_eq!(written, arguments);
        }
    }
}

/// Returns a line with the hash of its own text as the last member. No fuzzer finds such a hash.
fn hashed(line: &str) -> String {
    let text = line.rsplit_once(",\"chain\":").map_or(line, |(text, _)| text);
    let text = text.strip_suffix('}').unwrap_or(text);
    let hash = relay_bundle::Digest::of(format!("{text}}}").as_bytes()).hex();
    format!("{text},\"chain\":\"{hash}\"}}")
}

/// Matches a URI, the second line, against a URI template, the first.
pub fn uri_template(bytes: &[u8]) {
    entry::uri_template(bytes);
}

/// Opens any bytes as the handle of a briefing.
pub fn handle(bytes: &[u8]) {
    gate::handle(bytes);
}

/// Compiles any bytes as a project.
pub fn project(bytes: &[u8]) {
    compile::project(bytes);
}

/// Compiles a project whose folder of commands holds these bytes as a file.
pub fn front_matter(bytes: &[u8]) {
    compile::front_matter(bytes);
}

/// Compiles any bytes as a template.
pub fn template(bytes: &[u8]) {
    compile::template(bytes);
}

/// Compiles a document of KDL's brackets, quotes, comments and line ends, as the bytes say.
pub fn guard(bytes: &[u8]) {
    compile::guard(bytes);
}

/// Parses any text as bash.
pub fn shell(bytes: &[u8]) {
    policy::shell(bytes);
}

/// Classifies any text.
pub fn classifier(bytes: &[u8]) {
    policy::classifier(bytes);
}

/// Edits the table of facts as the bytes say, and classifies with it.
pub fn fact_table(bytes: &[u8]) {
    policy::fact_table(bytes);
}

/// Reads a known_hosts file, after a line with a host and a port, and judges keys by it.
pub fn ssh_known_hosts(bytes: &[u8]) {
    ssh::known_hosts(bytes);
}

/// Reads an ssh_config file, and after a form feed one that it includes.
pub fn ssh_config(bytes: &[u8]) {
    ssh::config(bytes);
}

/// Reads an inventory of hosts.
pub fn ssh_inventory(bytes: &[u8]) {
    _ = ssh::inventory(bytes);
}

/// Good inputs to begin with: target, and the bytes of each.
pub fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let lines = ["{a}\nx", "relay://{a}/{b}.md\nrelay://x%20y/z.md.md", "r:{a}-{b}\nr:--x"];
    let globs = ["api-*\napi-create", "*-[a-c]?\nx-bé", "[!a-c]*[]*\nd-[", "a*b*c*d\nabcabcabcd"];
    let mut all = ssh::seeds();
    all.extend([
        ("automata", vec![vec![0; 10], vec![9, 2, 0, 1, 3, 200, 7, 0, 0, 255]]),
        ("hook_event", hook_events()),
        ("regex", automaton::seeds()),
        (
            "bundle_reader",
            [sample::tiny(), sample::rich()].map(|contents| sample::sealed(&contents, &[1])).into(),
        ),
        (
            "bundle_structure",
            vec![vec![0; 8], (0..16).flat_map(|what| [what, 4, 0, 0, 1, 0, 0, 0]).collect()],
        ),
        ("audit", audit_lines()),
        ("redact", SECRETS.map(|text| text.as_bytes().to_vec()).into()),
        ("envelope", vec![entry::seed_envelope().to_json().unwrap_or_default()]),
        ("uri_template", lines.map(|line| line.as_bytes().to_vec()).into()),
        ("glob", globs.map(|line| line.as_bytes().to_vec()).into()),
        ("handle", gate::seeds()),
        ("project", compile::PROJECTS.map(|text| text.as_bytes().to_vec()).into()),
        ("front_matter", compile::COMMANDS.map(|text| text.as_bytes().to_vec()).into()),
        ("template", compile::TEMPLATES.map(|text| text.as_bytes().to_vec()).into()),
        ("guard", compile::guard_seeds()),
        ("shell", policy::seeds()),
        ("classifier", policy::seeds()),
        ("fact_table", vec![vec![0; 10], vec![7, 9, 1, 1, 3, 200, 7, 0, 0, 255], vec![68, 0, 0, 1, 3]]),
    ]);
    all
}

/// A text of each shape that redaction reads.
const SECRETS: [&str; 12] = [
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n-----END PRIVATE KEY-----\nls",
    "git clone https://bob:Hq12345x7@host/x && echo ghp_Hq3vTz81LkWm52PdXs07RbYc94NfJa66GhUe",
    "DB_PASSWORD='Hq 12345x7' run --token=Hq12345x7 \"$PASSWORD\" ${TOKEN:-Hq12345x7}",
    "name: DB_PASSWORD\nvalue: Hq12345x7",
    "curl -u bob:Hq12345x7 -H 'X-Api-Key: Hq12345x7' -H \"Authorization: Bearer Hq12345x7\" u",
    "mysql -pHq12345x7; openssl x -pass pass:Hq12345x7; sshpass -p 'Hq12345x7' ssh h",
    "ssh h \"echo Hq12345x7 | sudo -S ls\"; chpasswd <<< bob:Hq12345x7",
    "passwd bob <<EOF\nHq12345x7\nHq12345x7\nEOF\nls",
    "IDENTIFIED BY 'Hq12345x7'; ConvertTo-SecureString 'Hq12345x7' -Force",
    r#"{"apiKey":12345,"a":{"token":["x"]},"command":"bash -c \"PGPASSWORD=Hq12345x7 psql\""}"#,
    "<password>Hq12345x7</password> a?x=1&sig=Hq12345x7 Cookie: a=Hq12345x7; b=1",
    "password: none, token: $TOKEN, secret => $(vault read x), it's the password reset page",
];

/// Two records of a chain, and the arguments of a checkpoint.
fn audit_lines() -> Vec<Vec<u8>> {
    use relay_engine::audit_chain::{START, chained};
    let (first, link) = chained("{\"tool\":\"a\"}", START);
    let (second, _) = chained("{\"tool\":\"b\"}", link);
    let checkpoint = relay_engine::audit_checkpoint::Checkpoint {
        covers: link,
        key: "0123456789abcdef".to_owned(),
        signature: [7; 64],
    };
    let arguments = serde_json::to_vec(&checkpoint.arguments()).unwrap_or_default();
    vec![format!("{first}\n{second}\n").into_bytes(), arguments]
}

/// An event of each client that has a form of its own.
fn hook_events() -> Vec<Vec<u8>> {
    let events = [
        r#"{"session_id":"s","cwd":"/w","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        r#"{"session_id":"s","turn_id":"t","model":"m","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}}"#,
        r#"{"cursor_version":"2","hook_event_name":"beforeMCPExecution","tool_name":"t","tool_input":"{}","mcp_server_name":"s"}"#,
        r#"{"hook_event_name":"BeforeTool","cwd":"/w","tool_name":"mcp_a_b","tool_input":{},"mcp_context":{"server_name":"a","tool_name":"b"}}"#,
        r#"{"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}"#,
        r#"{"hookEventName":"PreToolUse","sessionId":"s","cwd":"/w","tool_name":"run_in_terminal","tool_input":{"command":"ls"}}"#,
        r#"{"hook":"tool.execute.before","tool":"bash","args":{"command":"ls"},"directory":"/w"}"#,
        r#"{"hookName":"PreToolUse","preToolUse":{"tool":"execute_command","parameters":{"command":"ls"}}}"#,
        r#"{"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls","cwd":"/w"}}"#,
    ];
    let each = events.iter().enumerate();
    each.map(|(client, event)| [&[client.to_le_bytes()[0]], event.as_bytes()].concat()).collect()
}
