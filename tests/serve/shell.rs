//! `shell_exec` and `shell_script`: what runs, with what, how it ends, and what is refused.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol, error, text};
use super::house::{self, House};
use super::processes;

/// A project that runs everything for its operator, and reads for the reader.
fn project(tools: &str, policy: &str) -> String {
    format!(
        "project ops epoch=1\ntools {{ {tools}; diagnostics }}\n\
         roles {{ role operator tier=3; role reader {{ tools \"shell_*\" server_info }} }}\n\
         users {{ user op role=operator; user reader role=reader }}\n{policy}\n"
    )
}

const OPEN: &str = "policy open";
const AS_OPERATOR: &[&str] = &["--principal", "op", "--audit", "audit.jsonl"];

fn house_of(tools: &str, policy: &str) -> House {
    House::of(&house::bundle_of(&project(tools, policy)))
}

fn operator(house: &House, protocol: Protocol) -> Agent {
    Agent::with(house, protocol, AS_OPERATOR)
}

/// Runs a command with these further arguments.
fn exec(agent: &mut Agent, command: &str, more: Value) -> String {
    let mut arguments = more.as_object().cloned().unwrap_or_default();
    arguments.insert("command".to_owned(), command.into());
    text(&agent.call("shell_exec", Value::Object(arguments)))
}

#[test]
fn a_command_returns_its_exit_and_output() {
    for protocol in PROTOCOLS {
        let house = house_of("shell", OPEN);
        let mut agent = operator(&house, protocol);
        let mut run = |command: &str| exec(&mut agent, command, json!({}));
        assert_eq!(run("true"), "[exit 0]\n");
        assert_eq!(run("false"), "[exit 1]\n");
        assert_eq!(run("exit 300"), "[exit 44]\n");
        assert_eq!(run("printf a; printf b >&2; printf c"), "[exit 0]\nabc");
        assert_eq!(run("kill -KILL $$"), "[exit -9]\n");
        assert_eq!(run("/bin/sh -c exit"), "[exit 0]\n");
        assert_eq!(run("printf '\\xff\\xe2\\x82'"), "[exit 0]\n\u{fffd}\u{fffd}");
        assert!(
            run("no-such-program a").starts_with("[exit 127]\n"),
            "bash says that it is missing"
        );
        assert!(run("if").starts_with("[exit 2]\n"), "bash says that it does not parse");
        assert_eq!(run("cat; cat <&0"), "[exit 0]\n", "the input is empty");
        assert_eq!(run("test -t 0 || test -t 1 || tty"), "[exit 1]\nnot a tty\n");
    }
}

#[test]
fn the_program_gets_what_the_call_says() {
    let house = house_of("shell", OPEN);
    let mut agent = operator(&house, Protocol::Modern);
    assert_eq!(exec(&mut agent, "cat", json!({ "stdin": "a\nb" })), "[exit 0]\na\nb");
    let large = "x".repeat(300_000);
    assert_eq!(exec(&mut agent, "wc -c", json!({ "stdin": large })), "[exit 0]\n300000\n");
    assert_eq!(exec(&mut agent, "true", json!({ "stdin": large })), "[exit 0]\n", "left unread");
    let apart = json!({ "merge_stderr": false });
    assert_eq!(exec(&mut agent, "echo e >&2; echo o", apart), "[exit 0]\no\ne\n");
    let argv = json!({ "use_shell": false });
    assert_eq!(
        exec(&mut agent, "printf '%s|' a 'b c' $X * ;", argv.clone()),
        "[exit 0]\na|b c|$X|*|;|"
    );
    let missing = exec(&mut agent, "no-such-program", argv);
    assert!(missing.starts_with("[ERROR: the program cannot be executed"), "{missing}");
    let variables = json!({ "env_json": "{\"A\": \"b c\", \"N\": 1, \"PAGER\": null}" });
    let shown = exec(&mut agent, "echo \"$A $N ${PAGER-none} $GIT_PAGER\"", variables);
    assert_eq!(shown, "[exit 0]\nb c 1 none cat\n");
    let wrong = agent.call("shell_exec", json!({ "command": "ls", "env_json": "[]" }));
    assert_eq!(error(&wrong), "[ERROR: `env_json` is not a JSON object]");
}

#[test]
fn no_start_up_file_and_no_variable_of_the_server_changes_the_code() {
    let house = house_of("shell", OPEN);
    house.write("rc", "echo started; ls() { echo other; }\n");
    let rc = house.path("rc");
    let mut command = super::server::command(&house, AS_OPERATOR);
    for name in ["BASH_ENV", "ENV", "SSH_CLIENT", "LD_PRELOAD", "PS4", "BASH_FUNC_ls%%"] {
        let value = if name.contains("FUNC") { "() { echo other; }".into() } else { rc.clone() };
        command.env(name, value);
    }
    command.env("RELAY_SECRET", "x").env("APP_SETTING", "kept");
    command.env("HOME", house.path(".")).env("PATH", "/usr/bin:/bin");
    house.write(".bashrc", "echo started");
    let mut agent = Agent::of(&house, command, Protocol::Modern);
    let shown = exec(
        &mut agent,
        "echo \"$BASH_ENV$ENV$SSH_CLIENT$LD_PRELOAD$RELAY_SECRET$APP_SETTING\"",
        json!({}),
    );
    assert_eq!(shown, "[exit 0]\nkept\n");
    assert_eq!(
        exec(&mut agent, "ls /bin/true", json!({ "use_shell": true })),
        "[exit 0]\n/bin/true\n"
    );
    assert_eq!(
        exec(&mut agent, "ls '/bin/true'; cat", json!({ "stdin": "in" })),
        "[exit 0]\n/bin/true\nin"
    );
}

#[test]
fn output_is_cut_by_bytes_with_its_true_length() {
    let house =
        house_of("shell", "policy open { limits output=(bytes)2048 max-output=(bytes)4096 }");
    let mut agent = operator(&house, Protocol::Modern);
    let cut = exec(&mut agent, "head -c 3000000 /dev/zero | tr '\\0' a", json!({}));
    let expected =
        format!("[exit 0]\n{}\n\n[TRUNCATED - 3000000 bytes total, 2048 shown]", "a".repeat(2048));
    assert_eq!(cut, expected);
    let cut =
        exec(&mut agent, "head -c 5000 /dev/zero | tr '\\0' a", json!({ "max_output": 1_000_000 }));
    assert!(cut.ends_with("a\n\n[TRUNCATED - 5000 bytes total, 4096 shown]"), "{}", cut.len());
    // One budget for both streams.
    let both = "head -c 3000 /dev/zero | tr '\\0' o; head -c 3000 /dev/zero | tr '\\0' e >&2";
    let cut = exec(&mut agent, both, json!({ "merge_stderr": false, "max_output": 4096 }));
    assert!(cut.ends_with("[TRUNCATED - 6000 bytes total, 4096 shown]"), "{}", cut.len());
    assert_eq!(exec(&mut agent, "printf abc", json!({ "max_output": 1024 })), "[exit 0]\nabc");
}

#[test]
fn a_call_ends_at_its_time_with_all_that_it_started() {
    let house = house_of(
        "shell",
        "policy open { limits timeout=(duration)\"1s\" max-timeout=(duration)\"2s\" }",
    );
    let mut agent = operator(&house, Protocol::Modern);
    let begun = Instant::now();
    let mark = "7061.25";
    let command = format!("sleep {mark} & setsid sleep {mark} & trap '' TERM; sleep {mark}");
    assert_eq!(exec(&mut agent, &command, json!({})), "[TIMEOUT after 1s]");
    assert_eq!(exec(&mut agent, "yes", json!({ "timeout": 100 })), "[TIMEOUT after 2s]");
    assert!(begun.elapsed() < Duration::from_secs(30));
    super::server::wait_until(|| processes::with_argument(mark).is_empty());
    let records = house.read("audit.jsonl");
    let actions: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["action"].clone())
        .collect();
    assert_eq!(actions, ["timed_out", "timed_out"]);
}

#[test]
fn what_a_command_leaves_behind_does_not_hold_the_call_and_is_ended() {
    let house = house_of("shell", OPEN);
    let mut agent = operator(&house, Protocol::Modern);
    let begun = Instant::now();
    let mark = "7062.25";
    assert_eq!(
        exec(&mut agent, &format!("sleep {mark} & echo x; exit 3"), json!({})),
        "[exit 3]\nx\n"
    );
    assert!(begun.elapsed() < Duration::from_secs(20));
    super::server::wait_until(|| processes::with_argument(mark).is_empty());
}

#[test]
fn a_script_runs_in_its_interpreter() {
    let house = house_of("shell", OPEN);
    let mut agent = operator(&house, Protocol::Modern);
    let mut run = |script: &str, interpreter: &str, strict: bool| {
        let arguments = json!({ "script": script, "interpreter": interpreter, "strict": strict });
        text(&agent.call("shell_script", arguments))
    };
    assert_eq!(run("echo a\nfalse\necho b", "bash", true), "[exit 1]\na\n");
    assert_eq!(run("echo a\nfalse\necho b", "bash", false), "[exit 0]\na\nb\n");
    assert_eq!(run("echo a | false | cat\necho b", "bash", true), "[exit 1]\n");
    assert_eq!(run("false\necho b", "sh", true), "[exit 1]\n");
    assert_eq!(run("[ -z \"$BASH_VERSION\" ] && echo sh", "sh", false), "[exit 0]\nsh\n");
    assert_eq!(run("import sys\nprint(sys.stdin.read() + 'x')", "python", true), "[exit 0]\nx\n");
    let long = format!("echo begin\n: {}\necho end", "x".repeat(200_000));
    assert_eq!(run(&long, "bash", true), "[exit 0]\nbegin\nend\n");
    assert!(run("x", "perl", true).starts_with("[ERROR: unsupported interpreter"));
}

#[test]
fn a_call_runs_in_the_folders_of_the_project_alone() {
    let base = tempfile::tempdir().expect("a folder");
    let base = base.path().canonicalize().expect("it exists");
    fs::create_dir_all(base.join("app/src")).expect("a folder");
    std::os::unix::fs::symlink("/etc", base.join("app/link")).expect("a link");
    let app = base.join("app");
    let app = app.to_str().expect("UTF-8");
    let house = house_of(&format!("shell {{ folders {app:?} }}"), OPEN);
    let mut agent = operator(&house, Protocol::Modern);
    let mut pwd = |cwd: &str| exec(&mut agent, "pwd", json!({ "cwd": cwd }));
    assert_eq!(pwd(""), format!("[exit 0]\n{app}\n"));
    assert_eq!(pwd("src"), format!("[exit 0]\n{app}/src\n"));
    assert_eq!(pwd(&format!("{app}/src/..")), format!("[exit 0]\n{app}\n"));
    for outside in ["/", "..", "link", "src/../../..", "/etc"] {
        let denied = pwd(outside);
        let expected = format!(
            "[DENIED tier 0 (READ_ONLY): `cwd` is outside of the folders of this server: {app} (project.kdl:2)]"
        );
        assert_eq!(denied, expected, "{outside}");
    }
    assert_eq!(pwd("none"), "[ERROR: cannot enter `cwd`: the file does not exist]");
}

#[test]
fn rules_see_where_a_command_runs_and_what_it_reads() {
    let base = tempfile::tempdir().expect("a folder");
    let base = base.path().canonicalize().expect("it exists");
    fs::write(base.join("entry"), "kept").expect("a file");
    let ledger = base.to_str().expect("UTF-8");
    let policy = format!(
        "policy open {{ deny ledger {{ touches \"{ledger}/**\" }}; deny no-rm {{ program rm }} }}"
    );
    let house = house_of("shell", &policy);
    let mut agent = operator(&house, Protocol::Modern);
    let denied = |agent: &mut Agent, command: &str, more: Value| {
        let answer = exec(agent, command, more);
        assert!(answer.starts_with("[DENIED"), "{command}: {answer}");
    };
    denied(&mut agent, "echo x > entry", json!({ "cwd": ledger }));
    denied(&mut agent, "bash", json!({ "stdin": "rm x" }));
    denied(&mut agent, "sh -s a", json!({ "stdin": format!("echo x > {ledger}/entry") }));
    denied(&mut agent, "rm '#'", json!({ "use_shell": false }));
    denied(&mut agent, "ls", json!({ "env_json": "{\"LD_PRELOAD\": \"/tmp/x\"}" }));
    let script = agent.call("shell_script", json!({ "script": "rm x", "interpreter": "sh" }));
    assert!(text(&script).starts_with("[DENIED"), "{script}");
    let python = format!("print(open('{ledger}/entry').read())");
    let script = agent.call("shell_script", json!({ "script": python, "interpreter": "python" }));
    assert!(text(&script).starts_with("[DENIED"), "{script}");
    for python in [
        format!("open('{ledger}/entry', 'w')"),
        format!("import os; os.remove('{ledger}/entry')"),
        format!("import shutil; shutil.rmtree('{ledger}')"),
        "import os, sys; os.remove(sys.argv[1])".to_owned(),
    ] {
        let arguments = json!({ "script": python, "interpreter": "python" });
        let script = agent.call("shell_script", arguments);
        assert!(text(&script).starts_with("[DENIED"), "{python}: {script}");
    }
    // Data of a program that is no shell.
    assert_eq!(exec(&mut agent, "cat", json!({ "stdin": "rm x" })), "[exit 0]\nrm x");
    let argv = json!({ "use_shell": false });
    assert_eq!(exec(&mut agent, "echo '#' rm", argv), "[exit 0]\n# rm\n");
    assert_eq!(fs::read_to_string(base.join("entry")).expect("it is there"), "kept");
}

#[test]
fn readers_only_read() {
    let house = house_of("shell", "policy readonly");
    house.write("file", "text\n");
    let mut agent = Agent::with(&house, Protocol::Modern, &["--principal", "reader"]);
    for command in
        ["ls", "cat file", "df -h", "ps", "grep text file", "git log -1", "uname -a | cat"]
    {
        let answer = exec(&mut agent, command, json!({}));
        assert!(answer.starts_with("[exit "), "{command}: {answer}");
    }
    // These are not on every machine.
    for command in ["git status", "kubectl get pods -A", "journalctl -u nginx -n 1"] {
        let answer = exec(&mut agent, command, json!({}));
        assert!(!answer.starts_with("[DENIED"), "{command}: {answer}");
    }
    for command in WRITING {
        let answer = exec(&mut agent, command, json!({}));
        assert!(answer.starts_with("[DENIED"), "{command}: {answer}");
    }
    assert!(WRITING.len() >= 40, "{}", WRITING.len());
    assert_eq!(house.read("file"), "text\n");
}

/// Ways of writing with a command that looks as if it read.
const WRITING: &[&str] = &[
    "cat file > a",
    "cat < file >> a",
    "cat <> a",
    "ls | tee a",
    "ls 2> a",
    "ls &> a",
    "cat file >| a",
    "sed -i s/t/x/ file",
    "sed 'w a' file",
    "sed s/t/x/w\\ a file",
    "sed 's/t/touch a/e' file",
    "awk '{print > \"a\"}' file",
    "awk 'BEGIN{system(\"touch a\")}'",
    "awk '{print | \"cat > a\"}' file",
    "find . -name file -delete",
    "find . -exec touch a ;",
    "find . -exec touch a \\;",
    "find . -fprint a",
    "find . -ok touch a \\;",
    "sort -o a file",
    "sort --output=a file",
    "sort --compress-program=./x file",
    "uniq file a",
    "git log --output=a",
    "git diff --output=a",
    "git -c core.pager='touch a' log",
    "GIT_EXTERNAL_DIFF='touch a' git diff",
    "PAGER='touch a' man ls",
    "ls $(touch a)",
    "echo `touch a`",
    "cat <(touch a)",
    "echo ${x:=$(touch a)}",
    "xargs touch < file",
    "env touch a",
    "nice touch a",
    "timeout 5 touch a",
    "tar -cf a file",
    "tar xf x --to-command='touch a'",
    "dd if=file of=a",
    "curl -o a file:///etc/hostname",
    "wget -O a http://127.0.0.1:1/",
    "python3 -c 'open(\"a\",\"w\")'",
    "perl -e 'open F,\">a\"'",
    "vim -c 'w a' -c q file",
    "ed file",
    "split file",
    "tee a < file",
    "bash -c 'touch a'",
    "eval 'touch a'",
    "trap 'touch a' EXIT",
    "ps | xargs -I{} touch a",
];

#[test]
fn more_calls_than_places_wait_and_are_then_told() {
    let house = house_of("shell", OPEN);
    house.write("server.toml", "[processes]\nrunning-max = 2\nprincipal-running-max = 1\n");
    let mut agent = Agent::with(&house, Protocol::Modern, &["--principal", "op"]);
    agent.request("shell_exec", json!({ "command": "sleep 30", "timeout": 8 }));
    let busy = exec(&mut agent, "echo x", json!({}));
    assert!(busy.starts_with("[ERROR: busy: 1 of your commands run already"), "{busy}");
}

#[test]
fn a_record_says_what_was_decided_and_how_it_ended() {
    let house = house_of(
        "shell",
        "policy guarded { deny no-etc because=\"SEC-1\" { writes \"/etc/**\" } }",
    );
    let mut agent = operator(&house, Protocol::Modern);
    exec(&mut agent, "exit 3", json!({ "stdin": "password=hunter2" }));
    exec(&mut agent, "echo x > /etc/no-such-folder/x", json!({}));
    let records: Vec<Value> = house
        .read("audit.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    assert_eq!((&records[0]["exit_code"], &records[0]["action"]), (&json!(3), &json!("served")));
    let args = &records[0]["args"];
    assert_eq!(
        (&args["command"], &args["stdin"]),
        (&json!("exit 3"), &json!("password=[redacted]"))
    );
    let expected = "policy.no-etc: no-etc: SEC-1 (project.kdl:";
    assert!(records[1]["rule"].as_str().unwrap().starts_with(expected), "{}", records[1]);
    assert_eq!(
        (&records[1]["tier"], &records[1]["effects"][0]["effect"]),
        (&json!(2), &json!("writes"))
    );
}

#[test]
fn nothing_outlives_the_server() {
    let house = house_of("shell", OPEN);
    let mark = "7063.25";
    for end in ["KILL", "TERM"] {
        let mut agent = operator(&house, Protocol::Modern);
        agent.request(
            "shell_exec",
            json!({ "command": format!("setsid sleep {mark} & sleep {mark}") }),
        );
        super::server::wait_until(|| processes::with_argument(mark).len() >= 2);
        agent.client.server.signal(end);
        super::server::wait_until(|| processes::with_argument(mark).is_empty());
    }
}
