//! The reference of the language, made of the rules of the parser: `docs/language.md`.

use std::fmt::Write as _;

use crate::grammar::{Field, Form, Kind, Literal, Rule};
use crate::instructions::{BUILD_VARIABLES, RUN_VARIABLES};
use crate::language::prompt::PROMPT;
use crate::measure::{BYTES, Measure};
use crate::model::audience::AUDIENCES_MAX;
use crate::{check, language, outline, parse, resolve, show};

/// The text of the reference; a word between percent signs is replaced by text made of the tables.
const TEXT: &str = include_str!("reference/language.md");

/// Returns the reference of the project language as Markdown.
#[must_use]
pub fn language_reference() -> String {
    let sections = sections();
    let reserved: Vec<_> = language::RESERVED.iter().map(|(name, _)| format!("`{name}`")).collect();
    let made = [
        ("%nodes%", nodes(&sections)),
        ("%sections%", sections.iter().map(|each| section(each, &sections)).collect()),
        ("%name-chars%", resolve::NAME_CHARS_MAX.to_string()),
        ("%folder-keys%", keys(parse::FOLDER_KEYS)),
        ("%command-keys%", keys(parse::COMMAND_KEYS)),
        ("%client-keys%", client_keys()),
        ("%client-tools%", client_tools()),
        ("%marks%", marks()),
        ("%arguments-chars%", grouped(resolve::ARGUMENTS_CHARS_MAX.into())),
        ("%variables%", variables()),
        ("%limits%", limits()),
        ("%reserved%", reserved.join(", ")),
    ];
    let names = resolve::vocabulary()
        .map(|(mark, names)| (mark, listed(names.into_iter().map(|name| format!("`{name}`")))));
    let made = made.into_iter().chain(names);
    made.fold(TEXT.to_owned(), |text, (mark, made)| text.replace(mark, &made))
}

fn nodes(sections: &[Section]) -> String {
    let mut out = String::new();
    // Blocks of skills are described with `skills`, instead of in a section of their own.
    let named = |name: &&str| match sections.iter().any(|section| section.rule.name == *name) {
        true => linked(name),
        false => format!("`{name}`"),
    };
    for Section { rule, parents } in sections {
        let parents = match parents.as_slice() {
            [] => "a document".to_owned(),
            parents => listed(parents.iter().map(named)),
        };
        let _ = writeln!(out, "| {} | {parents} | {} |", linked(rule.name), rule.meaning);
    }
    out
}

fn section(section: &Section, sections: &[Section]) -> String {
    let Section { rule, parents } = section;
    let level = if parents.is_empty() { "##" } else { "###" };
    let mut out = format!("{level} `{}`\n\n{}\n", rule.name, rule.meaning);
    table(rule, sections, &mut out);
    if !rule.example.is_empty() {
        let _ = write!(out, "\n```kdl\n{}```\n", rule.example);
    }
    out.push('\n');
    out
}

/// A rule with a section of its own, and the nodes that it may be in.
struct Section {
    rule: &'static Rule,
    parents: Vec<&'static str>,
}

/// Returns the rules that have a section: those of a document's nodes, and those with an example.
fn sections() -> Vec<Section> {
    fn add(rule: &'static Rule, parent: Option<&'static Rule>, sections: &mut Vec<Section>) {
        // The nodes that `when` may hold have their sections at the top of a document.
        let parent = parent.filter(|parent| parent.name != "when");
        let known = sections.iter().position(|section| std::ptr::eq(section.rule, rule));
        if let Some(section) = known.and_then(|known| sections.get_mut(known)) {
            section.parents.extend(parent.map(|parent| parent.name));
            return;
        }
        if parent.is_none() || !rule.example.is_empty() {
            let parents = parent.map(|parent| parent.name).into_iter().collect();
            sections.push(Section { rule, parents });
        }
        for child in rule.children {
            add(child, Some(rule), sections);
        }
    }
    let mut sections = Vec::new();
    for rule in language::TOP {
        add(rule, None, &mut sections);
    }
    sections
}

/// Writes the parts of a node: its arguments and properties, then the nodes in it.
fn table(rule: &'static Rule, sections: &[Section], out: &mut String) {
    if rule.fields.is_empty() && rule.children.is_empty() {
        return;
    }
    out.push_str("\n| written | value | default | |\n| --- | --- | --- | --- |\n");
    for (field, default) in defaults(rule) {
        let written = match field.form {
            Form::Argument | Form::Optional | Form::Arguments | Form::Joined | Form::Keys => {
                placeholder(field)
            }
            Form::Property | Form::Switch => format!("{}=", field.name),
            Form::Either | Form::Line => format!("{0}=` or `{0}", field.name),
        };
        row(&written, &values(field.kind), &default, field.meaning, out);
    }
    let mut rows =
        ChildRows { sections, described: Vec::new(), words: Vec::new(), around: Vec::new(), out };
    rule.children.iter().for_each(|child| rows.add(child));
}

/// The most words of a list that a table repeats.
const LISTED_AGAIN_MAX: usize = 8;

/// Writes the rows of nodes that lack a section.
struct ChildRows<'s> {
    sections: &'s [Section],
    /// The nodes that the table describes: a similar node gets only its first row.
    described: Vec<(&'static str, &'static str)>,
    /// The long lists of words in the table, each with its row.
    words: Vec<(&'static [&'static str], String)>,
    /// The nodes around the one whose rows are written.
    around: Vec<&'static str>,
    out: &'s mut String,
}

impl ChildRows<'_> {
    fn add(&mut self, rule: &'static Rule) {
        if self.sections.iter().any(|section| std::ptr::eq(section.rule, rule)) {
            if self.around.is_empty() {
                let _ = writeln!(self.out, "| {} | | | {} |", linked(rule.name), rule.meaning);
            } else {
                self.row(rule.name, None, "", &format!("See {}.", linked(rule.name)));
            }
            return;
        }
        let fields = defaults(rule);
        let argument = fields.iter().find(|(field, _)| !field.is_property());
        match argument {
            Some((field, default)) => {
                let meaning = match fields.len() {
                    1 => rule.meaning.to_owned(),
                    _ => format!("{} {}", rule.meaning, field.meaning).trim_end().to_owned(),
                };
                let written = format!("{} {}", rule.name, argument_placeholder(field));
                self.row(&written, Some(field.kind), default, &meaning);
            }
            None => self.row(rule.name, None, "", rule.meaning),
        }
        if self.described.contains(&(rule.name, rule.what)) {
            return;
        }
        self.described.push((rule.name, rule.what));
        for (field, default) in fields.iter().filter(|(field, _)| field.is_property()) {
            let written = format!("{} {}=", rule.name, field.name);
            self.row(&written, Some(field.kind), default, field.meaning);
        }
        self.around.push(rule.name);
        rule.children.iter().for_each(|child| self.add(child));
        self.around.pop();
    }

    fn row(&mut self, written: &str, kind: Option<Kind>, default: &str, meaning: &str) {
        let before: String = self.around.iter().map(|name| format!("{name} {{ ")).collect();
        let written = format!("{before}{written}{}", " }".repeat(self.around.len()));
        let values = kind.map_or_else(String::new, |kind| self.values(kind, &written));
        row(&written, &values, default, meaning, self.out);
    }

    /// Returns the values of a row; a long list of words is written once in a table.
    fn values(&mut self, kind: Kind, written: &str) -> String {
        if let Kind::Words(words) = kind
            && words.len() > LISTED_AGAIN_MAX
        {
            if let Some((_, first)) = self.words.iter().find(|(known, _)| *known == words) {
                return format!("as `{first}`");
            }
            self.words.push((words, written.to_owned()));
        }
        values(kind)
    }
}

fn row(written: &str, values: &str, default: &str, meaning: &str, out: &mut String) {
    // A row that lacks a meaning is read only to be reported.
    if !meaning.is_empty() {
        let _ = writeln!(out, "| `{written}` | {values} | {default} | {meaning} |");
    }
}

/// Returns the rows of a rule, each with its default as it would be written.
fn defaults(rule: &'static Rule) -> Vec<(&'static Field, String)> {
    let written = |literal: Literal<'_>, kind| match literal {
        Literal::Word(word) => format!("`{word}`"),
        _ => format!("`{}`", show::literal_kdl(literal, kind)),
    };
    let default = |field: &'static Field| match field.default {
        None => String::new(),
        Some(default) => written(default, field.kind),
    };
    rule.fields.iter().map(|field| (field, default(field))).collect()
}

/// Returns the placeholder of a node's argument in a line of syntax: its words, or its name.
fn placeholder(field: &Field) -> String {
    match (field.form, field.kind) {
        (Form::Argument, Kind::Words(words)) => words.join("`, `"),
        _ => argument_placeholder(field),
    }
}

/// Returns the placeholder of an argument after its node's word: `a name` is `NAME`.
fn argument_placeholder(field: &Field) -> String {
    let word = field.name.rsplit(' ').next().unwrap_or_default().to_uppercase();
    match field.form {
        Form::Arguments | Form::Joined => format!("{word}…"),
        Form::Keys => format!("{word}=…"),
        _ => word,
    }
}

fn values(kind: Kind) -> String {
    match kind {
        Kind::Text(what) | Kind::Line(what) | Kind::Name(what) => what.to_owned(),
        Kind::Boolean => "`#true`, `#false`".to_owned(),
        Kind::Number { low, high } if high > u64::from(u32::MAX) => format!("number from {low}"),
        Kind::Number { low, high } => format!("number, {low} to {high}"),
        Kind::Measured { measure, low, high } => {
            let low = if low == 0 { "0".to_owned() } else { measured(measure, low) };
            format!("`({})`, {low} to {}", measure.annotation, measured(measure, high))
        }
        Kind::Chars { low, high } => format!("`(chars)`, {low} to {}", grouped(high)),
        Kind::Regex => "`(regex)\"…\"`".to_owned(),
        Kind::File => "`(file)\"/…\"`".to_owned(),
        Kind::Words(words) => listed(words.iter().map(|word| format!("`{word}`"))),
    }
}

fn keys(keys: &[parse::Key]) -> String {
    let mut out = String::from("| key | value | |\n| --- | --- | --- |\n");
    for parse::Key { name, value, meaning } in keys {
        let value = match value {
            parse::KeyValue::Words(words) => (*words).to_owned(),
            parse::KeyValue::OfPrompt => {
                PROMPT.property(name).map_or_else(String::new, |field| values(field.kind))
            }
        };
        let _ = writeln!(out, "| `{name}` | {value} | {meaning} |");
    }
    out
}

fn client_keys() -> String {
    let mut out = String::from("| client | keys | read |\n| --- | --- | --- |\n");
    for parse::Client { name, source, read, keys } in parse::CLIENTS {
        let keys = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "| [{name}]({source}) | {keys} | {read} |");
    }
    out
}

fn client_tools() -> String {
    let mut out = String::from("| client | tools | read |\n| --- | --- | --- |\n");
    for parse::ClientTools { name, source, read, tools } in parse::CLIENT_TOOLS {
        let tools = tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "| [{name}]({source}) | {tools} | {read} |");
    }
    out
}

fn marks() -> String {
    let mut out = String::from("| mark | kind | client | read |\n| --- | --- | --- | --- |\n");
    for resolve::MarkForm { example, kind, clients, source, read, .. } in resolve::MARK_FORMS {
        // A span of code with backticks in it has longer ones around it.
        let mark = match example.contains('`') {
            true => format!("`` {example} ``"),
            false => format!("`{example}`"),
        };
        let _ = writeln!(out, "| {mark} | `{}` | [{clients}]({source}) | {read} |", kind.name());
    }
    out
}

fn variables() -> String {
    let later =
        "`gate-encouragement`, `read-prompts-reminder`, `gate-intercept-preamble`; once each";
    let mut out = String::new();
    for (variables, known) in [(&BUILD_VARIABLES, "every message"), (&RUN_VARIABLES, later)] {
        for (name, meaning) in variables {
            let _ = writeln!(out, "| `{{{{{name}}}}}` | {known} | {meaning} |");
        }
    }
    out
}

fn limits() -> String {
    let rows = [
        ("one KDL document", bytes(parse::DOCUMENT_BYTES_MAX as u64)),
        ("nodes of one document", grouped(parse::NODES_MAX as u64)),
        ("values of one node", grouped(parse::VALUES_MAX as u64)),
        ("nodes in nodes of a document", format!("{} levels", parse::DEPTH_MAX)),
        ("documents that include one another", format!("{} levels", parse::INCLUDE_DEPTH_MAX)),
        ("one file that a project names", bytes(resolve::FILE_BYTES_MAX as u64)),
        ("one markdown file of `folder` or `commands`", bytes(parse::MARKDOWN_BYTES_MAX as u64)),
        ("resources with variables in their URI", resolve::TEMPLATES_MAX.to_string()),
        ("combinations of arguments of one prompt or resource", resolve::VARIANTS_MAX.to_string()),
        ("one template", bytes(resolve::TEMPLATE_BYTES_MAX as u64)),
        ("one rendered text", bytes(resolve::TEXT_BYTES_MAX as u64)),
        ("all rendered texts of one prompt", bytes(resolve::TOTAL_BYTES_MAX as u64)),
        ("`$ARGUMENTS`", format!("{} characters", grouped(resolve::ARGUMENTS_CHARS_MAX.into()))),
        ("prompts of priority 10 together", bytes(check::CRITICAL_BYTES_MAX as u64)),
        (
            "one message that is sent with prompts, before they fill it",
            bytes(check::MESSAGE_BYTES_MAX as u64),
        ),
        ("a generated summary", format!("{} words", outline::SUMMARY_WORDS_MAX)),
        ("generated chapters of one prompt", outline::CHAPTERS_MAX.to_string()),
        ("roles", resolve::ROLES_MAX.to_string()),
        ("the id of a user or a group", format!("{} characters", resolve::ID_CHARS_MAX)),
        ("a pattern", format!("{} characters", resolve::PATTERN_CHARS_MAX)),
        ("audiences: tenants and roles that `for` tells apart", grouped(AUDIENCES_MAX as u64)),
    ];
    rows.map(|(of, most)| format!("| {of} | {most} |\n")).concat()
}

fn linked(name: &str) -> String {
    format!("[`{name}`](#{name})")
}

fn listed(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

fn bytes(number: u64) -> String {
    measured(&BYTES, number)
}

/// Returns a number in the largest unit that keeps it whole.
fn measured(measure: &Measure, number: u64) -> String {
    match measure.in_largest(number) {
        (count, "B") => format!("{} bytes", grouped(count)),
        (count, unit) => format!("{} {unit}", grouped(count)),
    }
}

/// Returns a number with its thousands apart: `10,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
