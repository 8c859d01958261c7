//! Commands of a client's rule as selectors: the facts decide which word is the program, a sub-command, an option or an
//! operand.

use relay_policy::classify::{Rules, classify_at};
use relay_policy::effect::ArgumentKind;
use relay_policy::facts::Facts;
use relay_policy::location::Location;

use super::model::Command;
use super::node::Selectors;

/// The tool of commands, whichever client runs them.
pub(crate) const SHELL: &str = "shell_exec";

/// Selectors that mean all commands of a rule that restricts, and perhaps more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    /// The selectors.
    pub(crate) selectors: Selectors,
    /// The reason why they mean more; `None` if they mean the same commands, in every spelling.
    pub(crate) wider: Option<String>,
}

/// Returns selectors for commands that a rule restricts, the best first: each means all of them.
pub(crate) fn restrict(command: &Command, facts: &Facts<'_>) -> Vec<Form> {
    let mut forms = Vec::new();
    match command {
        Command::Any => forms.push(Form {
            selectors: Selectors::default().with("tool", [SHELL.to_owned()]),
            wider: None,
        }),
        Command::Regex(regex) => {
            forms.push(Form { selectors: Selectors::default().with_regex(regex), wider: None })
        }
        Command::Exact(text) => {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            if let Some(mut form) = of_words(&words, facts) {
                let more = "further words are meant, too".to_owned();
                form.wider = Some(form.wider.unwrap_or(more));
                forms.push(form);
            }
            forms.extend(of_glob(text, facts));
        }
        Command::Prefix(words) => {
            forms.extend(of_words(words, facts));
            forms.extend(of_glob(&words.join(" "), facts));
        }
        Command::Tokens(words) => {
            forms.extend(of_words(words, facts));
            if let Some(form) = words.get(..1).and_then(|first| of_words(first, facts)) {
                let wider = Some("every command of the program is meant".to_owned());
                forms.push(Form { wider, ..form });
            }
        }
        Command::Glob(glob) => {
            let is_program = |word: &str| !word.is_empty() && !word.contains([' ', '/', '=']);
            if let Some(program) = glob.strip_suffix('*')
                && is_program(program)
                && !program.contains('*')
            {
                forms.push(Form {
                    selectors: Selectors::default().with("program", [format!("{program}*")]),
                    wider: None,
                });
            }
            forms.extend(of_glob(glob, facts));
        }
    }
    forms
}

/// Returns the patterns of written words for commands that a rule permits; `None` if every pattern means more.
pub(crate) fn permit(command: &Command) -> Option<Vec<String>> {
    let is_plain = |text: &str| !text.contains('?') && !text.trim().is_empty();
    match command {
        Command::Any => Some(vec!["*".to_owned()]),
        // A `*` of one text is itself; in a pattern it is any text.
        Command::Exact(text) if is_plain(text) && !text.contains('*') => Some(vec![text.clone()]),
        Command::Prefix(words) => {
            let text = words.join(" ");
            let is_literal = is_plain(&text) && !text.contains('*');
            is_literal.then(|| vec![text.clone(), format!("{text} *")])
        }
        Command::Glob(glob) if is_plain(glob) => {
            let mut patterns = vec![glob.clone()];
            if let Some(before) = glob.strip_suffix(" *") {
                patterns.insert(0, before.to_owned());
            }
            Some(patterns)
        }
        Command::Exact(_) | Command::Tokens(_) | Command::Glob(_) | Command::Regex(_) => None,
    }
}

/// Returns a text that is one of the commands, for a test, if one is obvious.
pub(crate) fn sample(command: &Command) -> Option<String> {
    match command {
        Command::Any => Some("true".to_owned()),
        Command::Exact(text) => Some(text.clone()),
        Command::Prefix(words) | Command::Tokens(words) => Some(words.join(" ")),
        Command::Glob(glob) => Some(glob.replace('*', "x")),
        Command::Regex(regex) => super::regex::sample(regex),
    }
}

/// Returns the selectors of a call that begins with these words.
fn of_words(words: &[String], facts: &Facts<'_>) -> Option<Form> {
    let text = words.join(" ");
    let verdict = classify_at(&text, &Location::default(), facts, &Rules::default());
    let effects = &verdict.effects;
    let call =
        effects.calls().iter().find(|call| call.wrapper.is_none() && call.span.start == 0)?;
    let program = words.first()?;
    let written = effects.display(call.program);
    if written != program.as_str() || program.contains(['*', '?']) {
        return None;
    }
    let mut selectors = Selectors::default().with("program", [program.clone()]);
    let mut left_out = 0;
    if call.node.is_none() {
        let others: Vec<String> = words.iter().skip(1).cloned().collect();
        let is_plain = |word: &String| !word.contains([' ', '*', '?']);
        if !others.iter().all(is_plain) {
            return None;
        }
        if !others.is_empty() {
            selectors = selectors.with("sub", [others.join(" ")]);
        }
        return Some(Form { selectors, wider: None });
    }
    if call.has_doubt {
        return None;
    }
    let subs: Vec<String> = effects.subs(call).map(|sub| sub.into_owned()).collect();
    if !subs.is_empty() {
        selectors = selectors.with("sub", [subs.join(" ")]);
    }
    let (mut flags, mut operands) = (Vec::new(), Vec::new());
    for argument in effects.arguments(call) {
        let value = argument.value.map(|value| effects.display(value).into_owned());
        match (argument.kind, value) {
            (ArgumentKind::Sub, _) => {}
            (ArgumentKind::Option(name), value) => {
                let name = facts.option_name(name);
                let literal = value.filter(|value| !value.contains(['*', '?']));
                flags.push(
                    literal.map_or_else(|| name.to_owned(), |value| format!("{name}={value}")),
                );
            }
            (ArgumentKind::Operand(_), Some(value)) => operands.push(value),
            (ArgumentKind::Help | ArgumentKind::Operand(_), _) => left_out += 1,
        }
    }
    // A selector means any of its values, so each has one.
    left_out += flags.len().saturating_sub(1) + operands.len().saturating_sub(1);
    if let Some(flag) = flags.into_iter().next() {
        selectors = selectors.with("flags", [flag]);
    }
    if let Some(operand) = operands.into_iter().next() {
        selectors = selectors.with("operands", [operand]);
    }
    let wider = (left_out > 0).then(|| {
        format!(
            "{left_out} of its words cannot be selected, so commands without them are meant, too"
        )
    });
    Some(Form { selectors, wider })
}

/// Returns a regex for texts that hold the parts of a pattern in their order, and the program if it is literal.
fn of_glob(glob: &str, facts: &Facts<'_>) -> Vec<Form> {
    let body = glob.trim_matches('*').trim();
    if body.is_empty() {
        return vec![Form {
            selectors: Selectors::default().with("tool", [SHELL.to_owned()]),
            wider: Some("it means every command".to_owned()),
        }];
    }
    let pieces: Vec<String> = body
        .split('*')
        .map(|piece| {
            let words: Vec<String> = piece.split_whitespace().map(super::regex::escaped).collect();
            words.join("\\s+")
        })
        .filter(|piece| !piece.is_empty())
        .collect();
    let regex = format!("(?s){}", pieces.join(".*"));
    let wider = Some("the text is searched, so other places of it are meant, too".to_owned());
    let mut forms = Vec::new();
    let program = glob.split(' ').next().unwrap_or_default();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
    if glob.contains(' ') && !program.is_empty() && program.chars().all(is_word) {
        let words = [program.to_owned()];
        if of_words(&words, facts).is_some() {
            forms.push(Form {
                selectors: Selectors::default().with("program", words).with_regex(&regex),
                wider: wider.clone(),
            });
        }
    }
    forms.push(Form { selectors: Selectors::default().with_regex(&regex), wider });
    forms
}
