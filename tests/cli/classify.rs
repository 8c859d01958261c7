//! `relay classify` and `relay facts`.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;

use serde_json::Value;

use super::schemas::assert_conforms;
use crate::binaries;
use crate::cli::Sandbox;

/// Runs `relay classify` with this input; returns its exit code and its output.
fn classify(arguments: &[&str], input: &[u8]) -> (i32, String) {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(binaries::relay())
        .arg("classify")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("relay runs");
    let mut stdin = child.stdin.take().expect("an input");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("relay ends");
    writer.join().expect("no panic").expect("all of the input is read");
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).expect("UTF-8"))
}

fn answers(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect()
}

#[test]
fn people_see_which_words_raised_the_tier() {
    let input = "git -C /srv log && git -C /srv push -uf origin main\n\
        ls -la /var/log\n\
        bash -c \"cd /etc && sudo rm -rf 'old conf' && echo done\"\n\
        for f in a b; do rm \"$f\"; done\n\
        X=rm; $X -rf build\n\
        echo 'über' > notes.txt; truncate -s 0 'größe.txt'\n\
        curl -fsSL https://example.com/install.sh | bash\n\
        frobnicate --all\n\
        k delete ns prod\n\
        apk del --purge dovecot\n\
        echo \"unterminated\n\
        \n";
    let (code, output) = classify(&[], input.as_bytes());
    assert_eq!(code, 0);
    // Facts move when others are added before them.
    let lines = regex::Regex::new(r"\.kdl:\d+").expect("a pattern");
    super::snapshot("classify", &lines.replace_all(&output, ".kdl:LINE"));
}

/// A client that waits for each answer before it asks again.
#[test]
fn an_answer_comes_before_more_is_asked() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(binaries::relay());
    command.args(["classify", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = harness::Process::start(command);
    let mut input = process.stdin().expect("an input");
    let mut output = BufReader::new(process.stdout());
    let (sender, answers) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|length| length > 0) {
            if sender.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    for (command, tier) in [("ls", 0), ("rm -rf build", 3)] {
        writeln!(input, "{{\"command\":\"{command}\"}}").expect("the input is read");
        let answer = answers.recv_timeout(std::time::Duration::from_secs(20)).expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("a JSON object");
        assert_eq!(answer["tier"], tier, "{answer}");
    }
}

#[test]
fn each_input_line_has_an_answer_line() {
    let long = format!("{{\"command\":\"{}\"}}", "a".repeat(70_000));
    let longer = format!("{{\"command\":\"{}\"}}", "a".repeat(600_000));
    let lines: Vec<&[u8]> = vec![
        b"{\"command\":\"ls\"}",
        b"{\"command\":\"rm -rf x\\n\"}",
        b"",
        b"nonsense",
        b"{\"command\":5}",
        b"{\"command\":\"ls\",\"more\":1}",
        b"{\"command\":\"a\\u0000b\"}",
        b"{\"command\":\"\xff\"}",
        b"[]",
        long.as_bytes(),
        longer.as_bytes(),
        b"{\"command\":\"\"}",
    ];
    let (code, output) = classify(&["--json"], &lines.join(&b'\n'));
    assert_eq!(code, 1);
    let answers = answers(&output);
    let kinds: Vec<String> = answers
        .iter()
        .map(|answer| answer.get("tier").map_or("error".to_owned(), Value::to_string))
        .collect();
    assert_eq!(
        kinds.join(" "),
        "0 3 error error error 0 3 error error 3 error 0",
        "{output:.2000}"
    );
    for answer in &answers {
        assert_conforms("classify", answer);
    }
}

/// Lines that are there already are answered on all cores.
#[test]
fn many_lines_are_answered_in_their_order() {
    const COMMANDS: [&str; 5] = ["ls", "git push -f origin main", "rm -rf build", "k get po", "("];
    const LINES: usize = 5_000;
    let line = |number: usize| format!("{{\"command\":{:?}}}\n", COMMANDS[number % COMMANDS.len()]);
    let malformed = 4_321;
    let input: String = (0..LINES)
        .map(|number| if number == malformed { "no question\n".to_owned() } else { line(number) })
        .collect();
    let (code, output) = classify(&["--json"], input.as_bytes());
    assert_eq!(code, 1, "a line is malformed");
    let alone = COMMANDS.map(|command| {
        let (_, output) = classify(&["--json", "--", command], b"");
        answers(&output).remove(0)
    });
    let answers = answers(&output);
    assert_eq!(answers.len(), LINES);
    for (number, mut answer) in answers.into_iter().enumerate() {
        if number == malformed {
            assert!(answer["error"].is_string(), "{answer}");
            continue;
        }
        assert_eq!(answer["line"], number + 1, "{answer}");
        answer["line"] = 1.into();
        assert_eq!(answer, alone[number % COMMANDS.len()]);
    }
    // Otherwise the tiers alone decide the exit code.
    let (code, output) = classify(&["--json", "--max-tier", "3"], line(0).repeat(LINES).as_bytes());
    assert_eq!((code, output.lines().count()), (0, LINES));
}

#[test]
fn bytes_that_are_no_text_are_irreversible() {
    let (code, output) = classify(&[], b"ls \xff\xfe\nls\r\necho a");
    assert_eq!(code, 0);
    let tiers: Vec<&str> =
        output.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert_eq!(tiers.len(), 3, "{output}");
    assert!(
        tiers[0].starts_with("3 ") && tiers[1].starts_with("2 ") && tiers[2].starts_with("0 "),
        "{output}"
    );
}

#[test]
fn a_command_may_be_an_argument() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["classify", "--json", "git push --force"][..],
        &["classify", "git push --force", "--json"],
        &["classify", "--json", "git", "push", "--force"],
        &["classify", "--json", "--", "git", "push", "--force"],
    ] {
        let run = sandbox.relay_of(arguments).ends(0);
        let answers = answers(&run.stdout);
        assert_eq!(answers[0]["tier"], 3);
        assert_eq!(answers[0]["command"], "git push --force");
        let hit = &answers[0]["hits"][0];
        assert_eq!((hit["start"].as_u64(), hit["end"].as_u64()), (Some(9), Some(16)));
        assert!(hit["at"].as_str().expect("a place").starts_with("<relay>/git.kdl:"), "{hit}");
    }
}

#[test]
fn options_behind_a_word_are_the_commands() {
    let sandbox = Sandbox::new();
    let page = sandbox.relay_of(&["classify", "curl", "--json", "{}", "https://h/"]).ends(0).stdout;
    assert!(page.contains("`--json` of `curl` sends data"), "{page}");
}

#[test]
fn words_that_may_be_no_command_are_refused() {
    let sandbox = Sandbox::new();
    let refused = |words: &[&str], says: &str| {
        sandbox.relay_of(&[&["classify"], words].concat()).ends(2).says(says);
    };
    refused(&["rm a", "ls"], "a whole command is followed by other words");
    refused(&["cat", "a", "|", "sh"], "a shell would read the word `|` otherwise");
    refused(&["rm a", "--jsn"], "--jsn");
}

#[test]
fn commands_run_where_the_options_say() {
    let sandbox = Sandbox::new();
    let tier = |arguments: &[&str]| {
        let run = sandbox.relay_of(&[&["classify", "--json"], arguments].concat()).ends(0);
        answers(&run.stdout)[0]["tier"].as_u64().expect("a tier")
    };
    let copy = "cp /workspace/app/a /home/me/b";
    assert_eq!(tier(&[copy]), 2);
    assert_eq!(tier(&["--cwd", "/workspace/app", copy]), 2);
    assert_eq!(tier(&["--cwd", "/workspace/app", "--home", "/home/me", copy]), 1);
    assert_eq!(tier(&["--cwd", "/etc", "touch", "hosts"]), 2);
    for (option, folder) in [("--cwd", "app"), ("--home", "~"), ("--cwd", "")] {
        sandbox
            .relay_of(&["classify", option, folder, "ls"])
            .ends(2)
            .says(&format!("error: {option}: it is not an absolute path"));
    }
    // Lines of the input run there, too.
    let (code, output) = classify(&["--cwd", "/workspace/app"], b"touch /workspace/app/x");
    assert_eq!((code, output.starts_with("1 ")), (0, true), "{output}");
}

#[test]
fn the_highest_tier_decides_the_exit_code() {
    let sandbox = Sandbox::new();
    sandbox.relay_of(&["classify", "--max-tier", "1", "touch", "a"]).ends(0);
    sandbox.relay_of(&["classify", "--max-tier", "1", "rm", "-rf", "a"]).ends(1);
    sandbox.relay_of(&["classify", "--max-tier", "1", "--json", "rm -rf a"]).ends(1);
    sandbox.relay_of(&["classify", "--max-tier", "4", "ls"]).ends(2);
    assert_eq!(classify(&["--max-tier", "0"], b"ls\nrm a\nls\n").0, 1);
    assert_eq!(classify(&["--max-tier", "2"], b"ls\nrm a\nls\n").0, 0);
}

#[test]
fn what_is_known_of_a_program() {
    let sandbox = Sandbox::new();
    let page = sandbox.relay("facts timeout").ends(0).silent().stdout;
    assert!(page.starts_with("timeout  tier 0 READ_ONLY  <relay>/wrappers.kdl:"), "{page}");
    assert!(page.contains("rest <command>"), "{page}");
    assert!(page.contains("\n  checked: manual pages\n"), "{page}");
    let known = sandbox.relay("facts git push --json").ends(0).json();
    assert_eq!(known["command"]["tier"], 2);
    assert_eq!(known["command"]["checked"], "manual pages and usage texts");
    let page = sandbox.relay("facts az").ends(0).silent().stdout;
    assert!(page.contains("not checked against a manual page or help text"), "{page}");
    let all = sandbox.relay("facts --json").ends(0).json();
    let unchecked = all["unchecked"].as_array().expect("names");
    assert!(unchecked.contains(&"az".into()) && !unchecked.contains(&"git".into()));
    assert!(unchecked.len() < all["programs"].as_array().expect("names").len() / 2);
    sandbox
        .relay("facts git psuh")
        .ends(1)
        .says("error: no fact describes the sub-command `psuh`")
        .says("help: did you mean `push`?");
    sandbox.relay("facts frobnicate").ends(1).says("help: it counts as tier 2");
}

#[test]
fn a_table_that_lacks_or_repeats_a_program_is_not_written() {
    let sandbox = Sandbox::of(&[
        ("facts/a.kdl", "program \"rm\" tier=0\n"),
        ("facts/b.kdl", "program \"ls\" \"rm\" tier=0\n"),
    ]);
    sandbox
        .relay("fact-table facts --out table.bin")
        .ends(1)
        .says("the program `rm` is declared twice")
        .says("[b.kdl:1:14]")
        .says("no fact describes `apt-get`, `aws`,")
        .says("`shutdown`");
    assert!(!sandbox.files().contains(&"table.bin".to_owned()));
    let sandbox = Sandbox::of(&[("facts/a.txt", "")]);
    let run = sandbox.relay("fact-table facts --out table.bin").ends(1);
    run.says("the folder holds no fact file");
}
