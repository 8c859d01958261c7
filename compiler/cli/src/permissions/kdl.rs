//! A policy as KDL, with the part of the import that each line is of.

use std::collections::BTreeSet;

use relay_engine::glob;
use relay_engine::tool::{find, reach};

use super::commands::SHELL;
use super::model::{Answer, ClientRules};
use super::node::{RuleNode, Selectors};
use super::translate::{Item, Listed, PartForm};
use crate::import::quoted;

/// The longest line of a rule.
const COLUMNS: usize = 110;

/// A part: the number of an item, and of a part in it.
pub(crate) type PartId = (usize, usize);

/// An expectation: the decision, the rule that decides, and the sample.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Expected {
    /// The part that it is of.
    pub(crate) of: PartId,
    /// `allow`, `approve` or `deny`.
    pub(crate) decision: &'static str,
    /// The rule, if one decides.
    pub(crate) rule: Option<String>,
    /// The tool; `None` for a command.
    pub(crate) tool: Option<String>,
    /// The command, or the arguments as JSON.
    pub(crate) text: String,
}

/// A written project.
pub(crate) struct Written {
    lines: Vec<(String, Option<PartId>)>,
}

impl Written {
    /// Returns the text.
    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|(line, _)| format!("{line}\n")).collect()
    }

    /// Returns the part that a line, from 1, is of.
    pub(crate) fn part_at(&self, line: usize) -> Option<PartId> {
        self.lines.get(line.checked_sub(1)?).and_then(|(_, part)| *part)
    }

    /// Returns the first line of a part, from 1.
    pub(crate) fn line_of(&self, part: PartId) -> Option<usize> {
        self.lines.iter().position(|(_, of)| *of == Some(part)).map(|line| line + 1)
    }

    fn line(&mut self, depth: usize, text: &str, part: Option<PartId>) {
        let indent = if text.is_empty() { String::new() } else { "    ".repeat(depth) };
        self.lines.push((format!("{indent}{text}"), part));
    }
}

/// Writes a project.
pub(crate) fn write(
    name: &str,
    client: &ClientRules,
    items: &[Item],
    expected: &[Expected],
) -> Written {
    let mut out = Written { lines: Vec::new() };
    out.line(0, "/- kdl-version 2", None);
    out.line(0, "", None);
    let comment = format!(
        "// `relay import --permissions` wrote this policy of the rules of {}.",
        client.client
    );
    out.line(0, &comment, None);
    out.line(0, &format!("project {} version=\"0.1.0\" epoch=1", quoted(name)), None);
    declared(client, items, &mut out);
    out.line(0, "", None);
    // Where the client asks about unlisted calls, the rule about these is what permits.
    out.line(0, &format!("policy {} {{", client.mode), None);
    for (number, item) in items.iter().enumerate() {
        for (part, each) in item.parts.iter().enumerate() {
            if let PartForm::Rule(node) = &each.form {
                rule(node, (number, part), &mut out);
            }
        }
    }
    match client.unlisted {
        Answer::Allow => {}
        Answer::Ask => unlisted("approve", "asks before", client, items, &mut out),
        Answer::Deny => unlisted("deny", "denies", client, items, &mut out),
    }
    out.line(0, "}", None);
    if !expected.is_empty() {
        out.line(0, "", None);
    }
    for one in expected {
        expect(one, &mut out);
    }
    out
}

/// Declares the tools that rules name, and the client's own ones, so that rules over effects reach them.
fn declared(client: &ClientRules, items: &[Item], out: &mut Written) {
    let tools = &client.tools;
    let kinds = [(tools.read, "reads"), (tools.write, "writes"), (tools.fetch, "connects")];
    let own: Vec<&str> = kinds.iter().flat_map(|((names, _), _)| names.iter().copied()).collect();
    let mut others: BTreeSet<&str> = BTreeSet::new();
    for part in items.iter().flat_map(|item| &item.parts) {
        let named: &[String] = match &part.form {
            PartForm::Rule(node) => {
                let tools = node.selectors.lists.iter().find(|(selector, _)| *selector == "tool");
                tools.map_or(&[], |(_, values)| values)
            }
            PartForm::Listed(Listed::Tools(values)) => values,
            PartForm::Listed(_) | PartForm::Covered => &[],
        };
        others.extend(named.iter().map(String::as_str));
    }
    // Tools of relay and of its peer are known, and need no `other`.
    let is_known = |name: &str| reach(name).is_some() || find(name).is_some();
    others.retain(|name| !is_known(name) && *name != "*" && !own.contains(name));
    let is_listing = client.unlisted != Answer::Allow && !own.is_empty();
    if others.is_empty() && !is_listing {
        return;
    }
    out.line(0, "tools {", None);
    for ((names, argument), effect) in kinds {
        if is_listing && !names.is_empty() {
            let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
            out.line(1, &format!("other {} {{ arg {argument} {effect} }}", names.join(" ")), None);
        }
    }
    if !others.is_empty() {
        let names: Vec<_> = others.into_iter().map(quoted).collect();
        out.line(1, &format!("other {}", names.join(" ")), None);
    }
    out.line(0, "}", None);
}

fn rule(node: &RuleNode, part: PartId, out: &mut Written) {
    let RuleNode { kind, name, because, selectors } = node;
    let head = format!("{} {} because={}", kind.word(), quoted(name), quoted(because));
    let lines = selector_lines(selectors);
    let line = format!("{head} {{ {} }}", lines.join("; "));
    if line.chars().count() + 4 <= COLUMNS {
        return out.line(1, &line, Some(part));
    }
    out.line(1, &format!("{head} {{"), Some(part));
    for line in lines {
        out.line(2, &line, Some(part));
    }
    out.line(1, "}", Some(part));
}

fn selector_lines(selectors: &Selectors) -> Vec<String> {
    let Selectors { lists, except, argument, regex } = selectors;
    let mut lines = Vec::new();
    for (selector, values) in lists {
        let left_out = except.iter().find(|(of, _)| of == selector);
        let left_out = left_out.map(|(_, values)| format!(" {{ except {} }}", all_quoted(values)));
        lines.push(format!("{selector} {}{}", all_quoted(values), left_out.unwrap_or_default()));
    }
    if let Some((name, value)) = argument {
        lines.push(format!("arg {} {}", quoted(name), quoted(value)));
    }
    if let Some(regex) = regex {
        lines.push(format!("text (regex){}", raw(regex)));
    }
    lines
}

fn all_quoted(values: &[String]) -> String {
    values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(" ")
}

/// Returns a text as a raw string of KDL, where escapes would be needed otherwise.
fn raw(text: &str) -> String {
    let is_plain = |letter: char| !letter.is_control() && !letter.is_whitespace() || letter == ' ';
    if text.chars().all(is_plain) && !text.contains("\"#") && text.contains(['\\', '"']) {
        return format!("#\"{text}\"#");
    }
    let written = quoted(text);
    if written.starts_with('"') { written } else { format!("\"{written}\"") }
}

/// Writes the rule about all unlisted calls.
fn unlisted(kind: &str, verb: &str, client: &ClientRules, items: &[Item], out: &mut Written) {
    let because = format!("{} {verb} every call that its rules do not name", client.client);
    out.line(1, &format!("{kind} unlisted because={} {{", quoted(&because)), None);
    out.line(2, "tool \"*\"", None);
    let of = |wanted: fn(&Listed) -> Option<&Vec<String>>| -> Vec<(PartId, &Vec<String>)> {
        let mut found = Vec::new();
        for (number, item) in items.iter().enumerate() {
            for (part, each) in item.parts.iter().enumerate() {
                if let PartForm::Listed(listed) = &each.form
                    && let Some(values) = wanted(listed)
                {
                    found.push(((number, part), values));
                }
            }
        }
        found
    };
    let words = of(|it| if let Listed::Words(values) = it { Some(values) } else { None });
    let own: Vec<String> = client.unasked.iter().map(|it| (*it).to_owned()).collect();
    let comment = "// Runs without a rule.".to_owned();
    let never = never_by_prefix(&words, client);
    group(
        out,
        client,
        Group {
            tools: vec![SHELL.to_owned()],
            selector: "words",
            own: (own, comment),
            parts: words,
            except: never,
        },
    );
    let tools = client.tools;
    let read = of(|it| if let Listed::Reads(values) = it { Some(values) } else { None });
    let own = if tools.reads_work_tree { vec!["./**".to_owned()] } else { Vec::new() };
    let comment = "// Files of the work tree are read without a question.".to_owned();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    group(
        out,
        client,
        Group {
            tools: names(tools.read.0),
            selector: "reads",
            own: (own, comment),
            parts: read,
            except: Vec::new(),
        },
    );
    let write = of(|it| if let Listed::Writes(values) = it { Some(values) } else { None });
    group(
        out,
        client,
        Group {
            tools: names(tools.write.0),
            selector: "writes",
            own: Default::default(),
            parts: write,
            except: Vec::new(),
        },
    );
    let hosts = of(|it| if let Listed::Hosts(values) = it { Some(values) } else { None });
    group(
        out,
        client,
        Group {
            tools: names(tools.fetch.0),
            selector: "connects",
            own: Default::default(),
            parts: hosts,
            except: Vec::new(),
        },
    );
    let named = of(|it| if let Listed::Tools(values) = it { Some(values) } else { None });
    group(
        out,
        client,
        Group {
            tools: Vec::new(),
            selector: "tool",
            own: Default::default(),
            parts: named,
            except: Vec::new(),
        },
    );
    out.line(1, "}", None);
}

/// An exception: the values of one selector, for some tools.
struct Group<'i> {
    tools: Vec<String>,
    selector: &'static str,
    /// The client's own values, with a comment.
    own: (Vec<String>, String),
    /// The values of rules.
    parts: Vec<(PartId, &'i Vec<String>)>,
    /// Values that are left out.
    except: Vec<String>,
}

fn group(out: &mut Written, client: &ClientRules, group: Group<'_>) {
    let Group { tools, selector, own: (own, comment), parts, except } = group;
    if own.is_empty() && parts.is_empty() {
        return;
    }
    out.line(2, "except {", None);
    if !tools.is_empty() {
        out.line(3, &format!("tool {}", all_quoted(&tools)), None);
    }
    out.line(3, &format!("{selector} \\"), None);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut lines: Vec<(String, String, Option<PartId>)> = Vec::new();
    for (part, values) in parts {
        let fresh: Vec<String> =
            values.iter().filter(|value| seen.insert(value)).cloned().collect();
        if fresh.is_empty() {
            continue;
        }
        let at = client.rules.get(part.0).map(|rule| format!("// {}", rule.at.shown()));
        lines.push((all_quoted(&fresh), at.unwrap_or_default(), Some(part)));
    }
    let own: Vec<String> = own.into_iter().filter(|value| !seen.contains(value.as_str())).collect();
    if !own.is_empty() {
        lines.insert(0, (all_quoted(&own), comment, None));
    }
    let last = lines.len().saturating_sub(1);
    for (number, (values, comment, part)) in lines.into_iter().enumerate() {
        let line = match (number == last, except.is_empty()) {
            (false, _) => format!("{values} \\ {comment}"),
            (true, true) => format!("{values} {comment}"),
            (true, false) => format!("{values} {{ except {} }} {comment}", all_quoted(&except)),
        };
        // As `relay fmt` does: after a comment, a line goes on at the node's own depth.
        let depth = if number == 0 { 4 } else { 3 };
        out.line(depth, line.trim_end(), part);
    }
    out.line(2, "}", None);
}

/// Returns the commands that the client asks about in spite of a pattern.
fn never_by_prefix(words: &[(PartId, &Vec<String>)], client: &ClientRules) -> Vec<String> {
    let all = || words.iter().flat_map(|(_, values)| values.iter());
    let is_meant = |program: &str| {
        all().any(|pattern| {
            let first = pattern.split(' ').next().unwrap_or_default();
            pattern.contains('*') && glob::matches(first, program)
        })
    };
    let never = client.never_by_prefix.iter().filter(|(program, _)| is_meant(program));
    never.flat_map(|(_, patterns)| patterns.iter().map(|it| (*it).to_owned())).collect()
}

fn expect(expected: &Expected, out: &mut Written) {
    let Expected { of, decision, rule, tool, text } = expected;
    let rule = rule.as_ref().map(|rule| format!(" rule={}", quoted(rule))).unwrap_or_default();
    let tool = tool.as_ref().map(|tool| format!(" tool={}", quoted(tool))).unwrap_or_default();
    let text = raw(text);
    out.line(0, &format!("expect decision{rule}{tool} {{ {decision} {text} }}"), Some(*of));
}
