//! Texts that would take memory or time out of proportion to their length.

use relay_policy::classify::{Cause, Rules, classify};
use relay_policy::tier::{Floor, Floors, Tier};

use super::{FACTS, reasons, tier, verdict};

/// Returns whether a verdict says that a text was given up.
fn is_given_up(command: &str) -> bool {
    let verdict = verdict(command);
    let says = |cause| matches!(cause, Cause::Floor { reason: "the text runs too much", .. });
    verdict.tier == Tier::Irreversible && verdict.hits.iter().any(|hit| says(hit.cause))
}

/// Each assignment doubles a value: sixty of them would take more memory than there is.
#[test]
fn values_that_double_are_given_up() {
    let double = |at: usize| format!("a{}=$a{at}$a{at};", at + 1);
    let text = |count: usize| "a0=x;".to_owned() + &(0..count).map(double).collect::<String>();
    assert_eq!(tier(&text(6)), 0, "{}", reasons(&text(6)));
    assert!(is_given_up(&text(60)), "{}", reasons(&text(60)));
}

/// A value that is written once and used often is paid for once: only copies cost again.
#[test]
fn a_long_value_may_be_used_some_times() {
    let text =
        |count: usize| format!("x='{}';{}", "a".repeat(16_384), "echo \"$x\";".repeat(count));
    assert_eq!(tier(&text(20)), 0, "{}", reasons(&text(20)));
    assert!(is_given_up(&text(2_000)), "{}", reasons(&text(2_000)));
}

#[test]
fn a_folder_with_a_long_path_is_not_followed() {
    let text = |depth: usize| format!("cd {}; ls >out.txt", "a/".repeat(depth));
    assert_eq!(tier(&text(100)), 1, "{}", reasons(&text(100)));
    assert_eq!(tier(&text(200)), 3, "{}", reasons(&text(200)));
}

/// The body of a function is what belongs to it, also where a here-document follows later in the text.
#[test]
fn a_body_ends_where_its_here_documents_end() {
    for command in [
        "f() { uptime\n}; f 'a b'; g() { f \"$(cat <<'E'\nan apostrophe: '\nE\n)\"\n}",
        "f() { uptime\n}; f a; f \"$(cat <<'E'\nit's\nE\n)\"",
        "f() { cat <<E\nit is\nE\n}; f; echo \"$(cat <<'E'\nit's\nE\n)\"",
    ] {
        assert_eq!(tier(command), 0, "{command}\n{}", reasons(command));
    }
    let piped = "f() { bash <<E; }; f a\nrm -rf build\nE\n";
    assert_eq!(tier(piped), 3, "{}", reasons(piped));
}

/// Brackets and braces that stay open, and operands that are looked at for each other.
#[test]
fn long_words_keep_their_tiers() {
    let deep = format!("ls {}{}", "{a,".repeat(40), "}".repeat(40));
    for (command, wanted) in [
        (format!("ls {}", "[".repeat(20_000)), 0),
        (format!("ls {}]", "[a".repeat(20_000)), 0),
        (format!("ls {}", "{".repeat(8_000)), 0),
        (deep, 0),
        ("rm -rf {a{b,c},d}".to_owned(), 3),
        ("{ls,{rm,-rf},build}".to_owned(), 0),
        ("{{rm,-rf},build}".to_owned(), 3),
        (format!("git checkout --{}", " a".repeat(2_000)), 2),
        (format!("echo $(({}))", "a = ".repeat(8_000) + "1"), 0),
    ] {
        let shown = command.get(..40).unwrap_or(&command);
        assert_eq!(tier(&command), wanted, "{shown}\n{}", reasons(&command));
    }
}

/// A long script of ordinary density is judged whole; one that is denser than any script is given up.
#[test]
fn a_dense_script_is_judged_to_its_end() {
    let script = |count: usize| {
        let lines =
            (0..count).map(|at| format!("grep -c 'level={at}' \"$LOGS/app.log\" || echo none\n"));
        "LOGS=logs\n".to_owned() + &lines.collect::<String>()
    };
    assert!(script(1_250).len() > 54_000);
    assert_eq!(tier(&script(1_250)), 0, "{}", reasons(&script(1_250)));
    assert_eq!(tier(&(script(1_250) + "rm -rf build")), 3);
    let text = "ls;".repeat(20_000);
    assert_eq!(tier(&text), 3, "{}", reasons(&text));
    assert_eq!(tier(&"ls;".repeat(900)), 0, "{}", reasons(&"ls;".repeat(900)));
}

/// An option that may stand for many costs more than a word.
#[test]
fn many_shortened_options_are_given_up() {
    let text = |count: usize| "git".to_owned() + &" --no".repeat(count);
    assert!(!is_given_up(&text(50)), "{}", reasons(&text(50)));
    assert!(is_given_up(&text(5_000)), "{}", reasons(&text(5_000)));
}

/// Wherever the steps end, also right before a command is looked at, the text is given up and not passed.
#[test]
fn what_the_steps_do_not_reach_is_given_up() {
    for count in 4_550..4_650 {
        for between in ["", ": ;", ": a;", ": a b;"] {
            for (last, wanted) in [("rm -rf build", 3), ("git push -f", 3), ("kill 7", 2)] {
                let text = format!("ls{}; {between} {last}", " a".repeat(count));
                assert!(tier(&text) >= wanted, "{count} {between} {last}\n{}", reasons(&text));
            }
        }
    }
}

/// Hits of one round are kept when the next one is given up, also where a policy says less of such texts.
#[test]
fn what_was_found_before_a_text_is_given_up_is_kept() {
    let rules = Rules {
        floors: Floors::default().with(Floor::Unparsed, Tier::Stateful),
        ..Rules::default()
    };
    for count in (1_000..4_700).step_by(50) {
        // The variable gets its value after it was read, so the text is read twice.
        let text = format!("ls $x; ls{}; rm -rf build; x=a", " a".repeat(count));
        let verdict = classify(&text, &FACTS, &rules);
        let reached = count < 4_500;
        assert!(!reached || verdict.tier == Tier::Irreversible, "{count}: {:?}", verdict.tier);
        assert!(verdict.tier >= Tier::Stateful, "{count}: {:?}", verdict.tier);
    }
}

/// Calls in calls, chains of members and long lists: work that is the square of the length takes minutes
/// here, and a server decides nothing else meanwhile.
#[test]
fn long_code_inside_a_command_is_judged_to_its_end() {
    let shapes = [
        ("f(q);", ""),
        ("open(", ""),
        ("f(\"x\",", ""),
        ("open(a,", "\"w\")"),
        ("a.", "b;"),
        ("import a,", "b;"),
        ("{", ""),
        ("[", ""),
        ("x=1;", ""),
        ("x+=open(\"a\",\"w\");", ""),
        ("`ls`;", ""),
        ("Dir.new;", ""),
        ("File.open(\"a\",\"w\"){};", ""),
        ("open(F,\">a\") or die;", ""),
        ("from ..", "a import b;"),
        ("$a=$b;", ""),
        ("require(\"fs\").writeFileSync(\"a\",\"b\");", ""),
        ("const {a}=require(\"b\");", ""),
        ("run([\"a\"],x);", ""),
        ("asyncio.run(a);", ""),
        ("f(*", "a;"),
        ("eval(a);", ""),
    ];
    for program in ["python3 -c", "node -e", "ruby -e", "perl -e", "php -r", "lua -e"] {
        let removal = "\nshutil.rmtree(x); fs.rmSync(x); FileUtils.rm_rf(x); unlink(x);";
        let of_removal = tier(&format!("{program} '{removal}'"));
        assert!(of_removal >= 2, "{program}");
        for (shape, end) in shapes {
            let code = shape.repeat(30_000 / shape.len()) + end;
            let alone = tier(&format!("{program} '{code}'"));
            let both = tier(&format!("{program} '{code}{removal}'"));
            assert!(both >= of_removal.max(alone), "{program} {shape}: {alone}, {both}");
        }
    }
}
