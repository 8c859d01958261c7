//! The rules of a client as parts of a policy: never wider. A restriction is kept or becomes stricter, a permission is
//! kept or becomes narrower.

use relay_policy::facts::Facts;

use super::commands::{self, Form, SHELL};
use super::model::{Answer, ClientRule, ClientRules, Command, Paths, Subject};
use super::node::{Kind, RuleNode, Sample, Selectors};
use super::regex::BEYOND_ASCII;

/// The beginning of the note on a rule that means more than at the client.
pub(crate) const MORE: &str = "it is about every call";

/// A rule of the client and the parts of the policy that it becomes.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// The number of the rule.
    pub(crate) rule: usize,
    /// The parts.
    pub(crate) parts: Vec<Part>,
    /// The differences, or the reason why the policy lacks it.
    pub(crate) reasons: Vec<String>,
    /// Findings that the written policy has about it.
    pub(crate) unknown: Vec<String>,
}

/// A part of a policy.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The node, or the exception of the rule about unlisted calls.
    pub(crate) form: PartForm,
    /// Calls that it is about.
    pub(crate) samples: Vec<Sample>,
    /// Other forms that mean at least as much, the best last.
    pub(crate) others: Vec<Form>,
    /// Whether it means the same calls as the rule.
    pub(crate) is_exact: bool,
}

/// The form of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartForm {
    /// A rule.
    Rule(RuleNode),
    /// An exception of the rule about unlisted calls.
    Listed(Listed),
    /// Nothing: another rule restricts the same calls.
    Covered,
}

/// Calls that run unasked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Listed {
    /// Commands, by their written words.
    Words(Vec<String>),
    /// Files that tools read.
    Reads(Vec<String>),
    /// Files that tools write.
    Writes(Vec<String>),
    /// Hosts that tools fetch from.
    Hosts(Vec<String>),
    /// Tools, by their names.
    Tools(Vec<String>),
}

/// Translates all rules of a client.
///
/// # Errors
///
/// A rule that restricts is beyond a policy: its number, and the reason.
pub(crate) fn all(client: &ClientRules, facts: &Facts<'_>) -> Result<Vec<Item>, (usize, String)> {
    let mut names = Names::default();
    let mut items = Vec::new();
    for (number, rule) in client.rules.iter().enumerate() {
        let reasons = rule.notes.clone();
        let mut item = Item { rule: number, parts: Vec::new(), reasons, unknown: Vec::new() };
        match (rule.answer, &rule.subject) {
            (_, Subject::Inert(reason)) => item.reasons.push(reason.clone()),
            (Answer::Allow, Subject::Unnamed(reason)) => item.reasons.push(reason.clone()),
            (_, Subject::Unnamed(reason)) => return Err((number, reason.clone())),
            (Answer::Allow, _) if client.unlisted == Answer::Allow => {
                allow(rule, client, facts, &mut names, &mut item);
            }
            (Answer::Allow, _) => listed(rule, client, &mut item),
            (Answer::Ask | Answer::Deny, _) => {
                restrict(rule, client, facts, &mut names, &mut item);
            }
        }
        items.push(item);
    }
    Ok(items)
}

/// Adds the rules for calls that are denied, or that a person is asked about.
fn restrict(
    rule: &ClientRule,
    client: &ClientRules,
    facts: &Facts<'_>,
    names: &mut Names,
    item: &mut Item,
) {
    let (kind, prefix) = match rule.answer {
        Answer::Deny => (Kind::Deny, "no"),
        Answer::Ask | Answer::Allow => (Kind::Approve, "ask"),
    };
    let mut add = |hint: &str, mut forms: Vec<Form>, samples: Vec<Sample>| {
        forms.reverse();
        let Some(first) = forms.pop() else { return };
        let form = match names.is_first(kind, &first.selectors) {
            true => PartForm::Rule(RuleNode {
                kind,
                name: names.fresh(prefix, hint),
                because: because(client, rule),
                selectors: first.selectors,
            }),
            false => PartForm::Covered,
        };
        let is_exact = first.wider.is_none();
        item.reasons.extend(first.wider);
        let is_exact = is_exact && !rule.notes.iter().any(|note| note.starts_with(MORE));
        item.parts.push(Part { form, samples, others: forms, is_exact });
    };
    let one = |selectors: Selectors, wider: Option<String>| vec![Form { selectors, wider }];
    match &rule.subject {
        Subject::Commands(all) => {
            for command in all {
                let texts = commands::sample(command).into_iter();
                let samples = texts.map(|text| Sample { tool: None, text }).collect();
                add(&hint(command), commands::restrict(command, facts), samples);
            }
        }
        Subject::Reads(Paths { patterns, is_exact }) => {
            let wider = (!is_exact).then(|| "`?` and `[…]` are any letters here".to_owned());
            let samples = patterns.first().map(|path| command_sample("cat", path));
            let selectors = Selectors::default().with("reads", patterns.clone());
            add(&path_hint("read", patterns), one(selectors, wider), samples.into_iter().collect());
        }
        Subject::Writes(Paths { patterns, is_exact }) => {
            let wider = (!is_exact).then(|| "`?` and `[…]` are any letters here".to_owned());
            let samples = patterns.first().map(|path| command_sample("touch", path));
            let selectors = Selectors::default().with("writes", patterns.clone());
            add(
                &path_hint("write", patterns),
                one(selectors, wider),
                samples.into_iter().collect(),
            );
        }
        Subject::Hosts(hosts) => {
            let samples = hosts.first().map(|host| Sample {
                tool: None,
                text: format!("curl https://{}/", host.replace('*', "x")),
            });
            let selectors = Selectors::default().with("connects", hosts.clone());
            let hint = format!("fetch {}", hosts.join(" "));
            add(&hint, one(selectors, None), samples.into_iter().collect());
        }
        Subject::Tools { patterns, argument } => {
            let mut selectors = Selectors::default().with("tool", patterns.clone());
            selectors.argument.clone_from(argument);
            let named = patterns.join(" ");
            let hint = match argument {
                Some((name, value)) => format!("{named} {name} {value}"),
                None => named,
            };
            let samples = patterns.first().map(|it| tool_sample(it, argument.as_ref()));
            add(&hint, one(selectors, None), samples.into_iter().collect());
        }
        Subject::Everything => {
            let selectors = Selectors::default().with("tool", ["*".to_owned()]);
            let samples = vec![Sample { tool: None, text: "true".to_owned() }];
            add("everything", one(selectors, None), samples);
        }
        Subject::Inert(_) | Subject::Unnamed(_) => {}
    }
    // The commands of a rule are alternatives, so its examples belong to all of its parts.
    if let [part] = item.parts.as_mut_slice() {
        let examples = rule.examples.iter().cloned();
        part.samples.extend(examples.map(|text| Sample { tool: None, text }));
    }
}

/// Adds exceptions of the rule about unlisted calls.
fn listed(rule: &ClientRule, client: &ClientRules, item: &mut Item) {
    let mut add = |listed: Listed, samples: Vec<Sample>, is_exact: bool| {
        let form = PartForm::Listed(listed);
        item.parts.push(Part { form, samples, others: Vec::new(), is_exact });
    };
    let at = |tools: (&[&str], &str), value: String| {
        // In the argument of a tool, `~` is a name.
        let tool = tools.0.first().filter(|_| !value.starts_with("~/"));
        tool.map(|tool| Sample {
            tool: Some((*tool).to_owned()),
            text: serde_json::json!({ tools.1: value }).to_string(),
        })
    };
    match &rule.subject {
        Subject::Commands(all) => {
            for command in all {
                match commands::permit(command) {
                    Some(patterns) => {
                        let sample = commands::sample(command)
                            .map(|text| Sample { tool: None, text })
                            .into_iter()
                            .collect();
                        add(Listed::Words(patterns), sample, *command != Command::Any);
                        if *command == Command::Any {
                            item.reasons.push(
                                "lists of commands as they are written run; others are asked about"
                                    .to_owned(),
                            );
                        }
                    }
                    None => item
                        .reasons
                        .push("no pattern of words means these commands alone".to_owned()),
                }
            }
        }
        Subject::Reads(paths) => {
            let sample = paths.patterns.first().and_then(|it| at(client.tools.read, path_of(it)));
            add(
                Listed::Reads(paths.patterns.clone()),
                sample.into_iter().collect(),
                paths.is_exact,
            );
        }
        Subject::Writes(paths) => {
            let sample = paths.patterns.first().and_then(|it| at(client.tools.write, path_of(it)));
            add(
                Listed::Writes(paths.patterns.clone()),
                sample.into_iter().collect(),
                paths.is_exact,
            );
        }
        Subject::Hosts(hosts) => {
            let url = |host: &String| format!("https://{}/", host.replace('*', "x"));
            let sample = hosts.first().and_then(|host| at(client.tools.fetch, url(host)));
            add(Listed::Hosts(hosts.clone()), sample.into_iter().collect(), true);
        }
        Subject::Tools { patterns, argument: None } => {
            let samples = patterns.first().map(|it| tool_sample(it, None));
            add(Listed::Tools(patterns.clone()), samples.into_iter().collect(), true);
        }
        Subject::Everything => {
            item.reasons.push("a policy of relay lists what may run".to_owned());
        }
        Subject::Tools { .. } | Subject::Inert(_) | Subject::Unnamed(_) => {
            item.reasons.push("a permission by an argument is not read".to_owned());
        }
    }
}

/// Adds rules that allow, for a client that runs unlisted commands.
fn allow(
    rule: &ClientRule,
    client: &ClientRules,
    facts: &Facts<'_>,
    names: &mut Names,
    item: &mut Item,
) {
    let Subject::Commands(all) = &rule.subject else {
        item.reasons.push("the mode permits it or asks a person".to_owned());
        return;
    };
    for command in all {
        let form = match command {
            Command::Prefix(_) | Command::Tokens(_) => {
                commands::restrict(command, facts).into_iter().next()
            }
            _ => None,
        };
        // A form that means more commands would permit them.
        let Some(form) = form.filter(|it| it.wider.is_none() && it.selectors.regex.is_none())
        else {
            item.reasons.push("no selector means these commands alone".to_owned());
            continue;
        };
        let node = RuleNode {
            kind: Kind::Allow,
            name: names.fresh("may", &hint(command)),
            because: because(client, rule),
            selectors: form.selectors,
        };
        let sample = commands::sample(command).map(|text| Sample { tool: None, text });
        let samples = sample.into_iter().collect();
        let form = PartForm::Rule(node);
        item.parts.push(Part { form, samples, others: Vec::new(), is_exact: false });
        item.reasons.push("an option that raises the tier, and effects that it does not name, still need another rule".to_owned());
    }
}

fn because(client: &ClientRules, rule: &ClientRule) -> String {
    let text = format!("{}, {}: {}", client.client, rule.at.shown(), rule.written);
    crate::text::shortened(&text, 200)
}

fn command_sample(program: &str, path: &str) -> Sample {
    Sample { tool: None, text: format!("{program} {}", shell_word(&path_of(path))) }
}

/// Returns a word of a shell that stands for a path.
fn shell_word(path: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-~+@%".contains(letter);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "x"))
    }
}

/// Returns a path that a pattern means.
fn path_of(pattern: &str) -> String {
    let path = pattern.strip_prefix("**/").unwrap_or(pattern);
    let path = path.replace("**/", "").replace("**", "a").replace('*', "x");
    path.strip_prefix("./").map_or(path.clone(), str::to_owned)
}

fn tool_sample(pattern: &str, argument: Option<&(String, String)>) -> Sample {
    let tool = pattern.replace('*', "x");
    let text = match argument {
        Some((name, value)) => serde_json::json!({ name: value.replace('*', "x") }).to_string(),
        None => "{}".to_owned(),
    };
    if tool == SHELL {
        return Sample { tool: Some(tool), text: with_command(&text) };
    }
    Sample { tool: Some(tool), text }
}

fn with_command(text: &str) -> String {
    match text.strip_prefix('{') {
        Some("}") | None => r#"{"command":"true"}"#.to_owned(),
        Some(rest) => format!("{{\"command\":\"true\",{rest}"),
    }
}

fn hint(command: &Command) -> String {
    match command {
        Command::Any => "commands".to_owned(),
        Command::Regex(regex) if regex == BEYOND_ASCII => "letters beyond ascii".to_owned(),
        Command::Exact(text) | Command::Glob(text) | Command::Regex(text) => text.clone(),
        Command::Prefix(words) | Command::Tokens(words) => words.join(" "),
    }
}

fn path_hint(verb: &str, patterns: &[String]) -> String {
    format!("{verb} {}", patterns.first().map(String::as_str).unwrap_or_default())
}

/// The names and selectors that are taken.
#[derive(Default)]
struct Names {
    names: std::collections::BTreeSet<String>,
    selectors: Vec<(Kind, Selectors)>,
}

impl Names {
    /// Returns whether this is the first rule of its kind with these selectors.
    fn is_first(&mut self, kind: Kind, selectors: &Selectors) -> bool {
        let is_first = !self.selectors.iter().any(|(of, all)| *of == kind && all == selectors);
        if is_first {
            self.selectors.push((kind, selectors.clone()));
        }
        is_first
    }

    /// Makes a name of a text.
    fn fresh(&mut self, prefix: &str, hint: &str) -> String {
        const CHARS_MAX: usize = 40;
        let mut name = format!("{prefix}-");
        for letter in hint.chars() {
            let letter = letter.to_ascii_lowercase();
            if letter.is_ascii_alphanumeric() {
                name.push(letter);
            } else if !name.ends_with('-') {
                name.push('-');
            }
            if name.len() >= CHARS_MAX {
                break;
            }
        }
        let name = name.trim_end_matches('-').to_owned();
        let mut number = 1;
        let mut fresh = name.clone();
        while !self.names.insert(fresh.clone()) {
            number += 1;
            fresh = format!("{name}-{number}");
        }
        fresh
    }
}
