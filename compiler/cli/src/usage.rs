//! Errors in the command line, in the words of `relay`: the wrong argument, and the line that was
//! probably meant. The grammar is in `args`; the misuses of each verb are in `usage/meant.rs`.

mod meant;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use relay_engine::nearest::nearest;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

use meant::Line;

/// An unreadable command line.
struct Typed {
    /// The words after the program's name.
    words: Vec<String>,
    /// The grammar of the named verb, by default that of the program.
    grammar: clap::Command,
    /// The verb as typed, with that of `relay trust add`: `trust add`.
    verb: String,
}

/// Prints the help or version, or the error in the command line.
pub(crate) fn answer(
    error: &clap::Error,
    arguments: &[OsString],
    output: &mut Output,
) -> Result<Exit, Failure> {
    if !error.use_stderr() {
        output.result(error.render().ansi().to_string())?;
        return Ok(Exit::Yes);
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output.message(error.render().ansi().to_string());
        return Ok(Exit::Failed);
    }
    let typed = Typed::of(arguments);
    let (message, help) = typed.explain(error);
    Err(Failure::error(message).help(help))
}

impl Typed {
    fn of(arguments: &[OsString]) -> Self {
        let words: Vec<String> =
            arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let mut grammar = args::plain_command();
        grammar.build();
        let mut verb = Vec::new();
        for word in words.iter().skip_while(|word| *word == "help") {
            let Some(found) = grammar.find_subcommand(word).cloned() else { break };
            verb.push(found.get_name().to_owned());
            grammar = found;
        }
        Self { words, grammar, verb: verb.join(" ") }
    }

    /// Returns it for the table of mistakes.
    fn line(&self) -> Line<'_> {
        let taken = self.verb.split_whitespace().count();
        let after = self.words.iter().skip(taken).map(String::as_str);
        let plain = after.filter(|word| !word.starts_with('-')).collect();
        Line { verb: &self.verb, words: &self.words, plain }
    }

    /// Returns the verb with the program's name before it.
    fn program(&self) -> String {
        if self.verb.is_empty() { "relay".to_owned() } else { format!("relay {}", self.verb) }
    }

    /// Returns the fault and the remedy.
    fn explain(&self, error: &clap::Error) -> (String, String) {
        let program = self.program();
        let listed = format!("`{program} --help` lists its options");
        match error.kind() {
            ErrorKind::InvalidSubcommand => self.unknown_verb(&invalid(error)),
            ErrorKind::UnknownArgument => self.unknown_argument(&invalid(error)),
            ErrorKind::TooManyValues => {
                let word = text(error, ContextKind::InvalidValue).unwrap_or_default();
                self.unknown_argument(&word)
            }
            ErrorKind::MissingRequiredArgument => {
                let mut missing = texts(error, ContextKind::InvalidArg);
                for one in missing.iter_mut().filter(|one| one.contains("|--")) {
                    "a question".clone_into(one);
                }
                let help = meant::missing(&self.line(), &missing)
                    .unwrap_or_else(|| format!("`{program} --help` has examples"));
                (format!("`{program}` needs {}", missing.join(" and ")), help)
            }
            ErrorKind::MissingSubcommand => {
                let verbs = self.verbs().join(", ");
                (format!("`{program}` needs a verb"), format!("the verbs are: {verbs}"))
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::TooFewValues => {
                self.invalid_value(error)
            }
            ErrorKind::ArgumentConflict => {
                let argument = invalid(error);
                let of = name_of(&argument);
                let others = texts(error, ContextKind::PriorArg);
                let others: Vec<_> =
                    others.iter().map(|other| format!("`{}`", name_of(other))).collect();
                if others.is_empty() || others.iter().all(|other| *other == format!("`{of}`")) {
                    return (format!("`{of}` is given twice"), "give it once".to_owned());
                }
                let message = format!("`{of}` does not go together with {}", others.join(", "));
                (message, format!("leave one of them out; `{program} --help` has examples"))
            }
            _ => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                let message = first.strip_prefix("error: ").unwrap_or(first);
                (message.to_owned(), listed)
            }
        }
    }

    fn unknown_verb(&self, word: &str) -> (String, String) {
        let program = self.program();
        let known = self.verbs();
        let help = meant::verb(&self.line(), word).unwrap_or_else(|| {
            match nearest(word, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{program} {near}`?"),
                None => format!("`{program} --help` lists the verbs"),
            }
        });
        (format!("`{program}` has no verb `{word}`"), help)
    }

    fn unknown_argument(&self, argument: &str) -> (String, String) {
        let program = self.program();
        if let Some(option) = self.given_a_value(argument) {
            let help = format!("write `{option}` alone: it is given or left out");
            return (format!("`{option}` takes no value: `{argument}`"), help);
        }
        if !argument.starts_with('-') {
            let help = meant::word(&self.line(), argument).unwrap_or_else(|| {
                format!("quote a name with spaces; `{program} --help` has examples")
            });
            return (format!("`{program}` takes no further argument: `{argument}`"), help);
        }
        let option = name_of(argument);
        let options: Vec<String> = self
            .grammar
            .get_arguments()
            .filter_map(|argument| argument.get_long().map(|long| format!("--{long}")))
            .collect();
        let help = meant::option(&self.line(), option).unwrap_or_else(|| {
            let near = nearest(option, options.iter().map(String::as_str));
            match near.or_else(|| begun(option, &options)) {
                Some(near) if !option.starts_with("--") => {
                    format!("did you mean `{near}`? it has no short form")
                }
                Some(near) => format!("did you mean `{near}`?"),
                None if options.is_empty() => format!("`{program}` has no options"),
                None => format!("its options are: {}", options.join(", ")),
            }
        });
        (format!("`{program}` has no option `{option}`"), help)
    }

    /// Returns the option without a value that was written with this one: `--strict=yes`.
    fn given_a_value(&self, value: &str) -> Option<&str> {
        let ends =
            |word: &&String| word.strip_suffix(value).is_some_and(|option| option.ends_with('='));
        let word = self.words.iter().filter(|word| word.starts_with("--")).find(ends)?;
        word.split('=').next()
    }

    fn invalid_value(&self, error: &clap::Error) -> (String, String) {
        let (argument, value) = (invalid(error), text(error, ContextKind::InvalidValue));
        let name = name_of(&argument);
        let known = texts(error, ContextKind::ValidValue);
        let value = value.unwrap_or_default();
        if value.is_empty() {
            let wanted = if known.is_empty() { argument.clone() } else { known.join(", ") };
            return (format!("`{name}` needs a value"), format!("write {wanted}"));
        }
        let help = if let Some(help) = meant::choice(&self.line(), name, &value) {
            help
        } else if let Some(near) = nearest(&value, known.iter().map(String::as_str)) {
            let option = if name.starts_with('-') { format!("{name} ") } else { String::new() };
            format!("did you mean `{option}{near}`?")
        } else if !known.is_empty() {
            format!("its values are: {}", known.join(", "))
        } else {
            meant::value(name).to_owned()
        };
        (format!("`{value}` is not a value of `{name}`"), help)
    }

    /// Returns the verbs that may follow.
    fn verbs(&self) -> Vec<String> {
        let verbs = self.grammar.get_subcommands().filter(|verb| !verb.is_hide_set());
        verbs.map(|verb| verb.get_name().to_owned()).collect()
    }
}

/// Returns the only option that begins with a shortened one: `--output` for `--out`, and for `-k` the only one with that
/// letter.
fn begun<'o>(option: &str, options: &'o [String]) -> Option<&'o str> {
    let start = match option.strip_prefix('-')? {
        letter if letter.chars().count() == 1 && letter != "-" => format!("--{letter}"),
        _ if option.len() > "--".len() => option.to_owned(),
        _ => return None,
    };
    let mut found = options.iter().filter(|known| known.starts_with(&start));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Returns the argument or verb at fault.
fn invalid(error: &clap::Error) -> String {
    text(error, ContextKind::InvalidSubcommand)
        .or_else(|| texts(error, ContextKind::InvalidArg).into_iter().next())
        .unwrap_or_default()
}

/// Returns `--key` of `--key <FILE>`, of `--key=x` and of `[--key <FILE>]`.
fn name_of(argument: &str) -> &str {
    argument.split([' ', '=', '[']).find(|part| !part.is_empty()).unwrap_or(argument)
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    texts(error, kind).into_iter().next()
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}
