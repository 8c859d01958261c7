//! A call of a tool -> its texts, hosts and effects, for rules.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, Selector, Tier};
use relay_policy::classify::{Doing, Rules, Verdict, changes_code, classify_request, parses};
use relay_policy::facts::Facts;
use relay_policy::location::Location;
use relay_policy::rule::{Argument, Request, Seen};
use relay_policy::tier::Floor;
use serde_json::{Map, Value};

use super::call::{Call, Door};
use super::hosts::{Hosts, readings};
use crate::glob;
use crate::rule_keys::Keyed;
use crate::tool::{self, ForwardSpec, Typed};

/// A call of a tool, taken apart.
pub(super) struct Asked {
    /// The text for a shell; empty for other tools.
    pub(super) text: String,
    /// The hosts that its arguments name, and that of its session.
    pub(super) hosts: Vec<String>,
    /// Its arguments as texts.
    pub(super) arguments: Vec<(String, String)>,
    /// Where it runs.
    pub(super) location: Location,
    /// Its effects and their tiers.
    pub(super) verdict: Verdict,
    /// Its tier: that of its effects, or that of the tool itself.
    pub(super) tier: Tier,
    /// The tier of the tool itself.
    pub(super) own_tier: Tier,
    /// Whether its arguments name a host outside the project.
    pub(super) is_outside: bool,
}

/// The arguments and hosts of a call as rules see them.
pub(super) struct Given<'a> {
    arguments: Vec<Argument<'a>>,
    hosts: Vec<&'a str>,
    seen: Seen,
}

impl Asked {
    /// Takes a call apart. `own_tier` is the tier of a tool that the project offers.
    pub(super) fn of(
        bundle: &Bundle,
        call: &Call<'_>,
        own_tier: Option<Tier>,
        facts: &Facts<'_>,
        rules: &Rules,
    ) -> Result<Self, Corrupt> {
        let given = |name: &str| call.arguments.get(name).filter(|value| !value.is_null());
        let text_of = |name: &str| given(name).map(shown);
        let reach = tool::reach(call.tool);
        let mut doubts: Vec<(Floor, &'static str)> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        let mut hosts = Vec::new();
        let mut effects: Vec<(Selector, Option<String>)> = Vec::new();
        let mut own = own_tier.unwrap_or_default();
        let mut is_outside = false;
        let is_known = own_tier.is_some() || tool::find(call.tool).is_some();
        if let Door::Client(client) = call.door {
            effects.extend(client.effects.iter().cloned());
            doubts.extend(client.doubts.iter().copied());
        }
        if let Some(reach) = reach {
            own = own.max(reach.tier);
            if let Some(name) = reach.text {
                let text = text_of(name).unwrap_or_default();
                let is_shown = match reach.is_typed {
                    true => typed(&text, &mut texts, &mut doubts),
                    false => code(&text, call.arguments, &mut texts, &mut doubts),
                };
                // The code of a session is typed later.
                if !is_shown || reach.is_session {
                    effects.push((Selector::Runs, None));
                }
            }
            let found = Hosts::of(reach, text_of, &rules.inventory);
            // Another server may read a forward in a text that is malformed here.
            let is_open = call.door != Door::Server && found.forward == Some(None);
            is_outside = found.is_outside || is_open;
            if is_outside {
                own = own.max(reach.outside_tier);
            }
            let connected = found.named.iter().chain(&found.on_the_way);
            effects.extend(connected.map(|host| (Selector::Connects, Some(host.clone()))));
            hosts = found.named;
            if let Some(forward) = &found.forward {
                effects.extend(forward_effects(forward.as_ref()));
            }
            for (name, selector) in reach.effects {
                let value = text_of(name).filter(|value| !value.is_empty());
                let value = value.map(|value| match *name == tool::REMOTE_PATH {
                    true => from_home(value),
                    false => value,
                });
                effects.extend(value.map(|value| (*selector, Some(value))));
            }
        } else if call.door == Door::Elsewhere && !is_known {
            let declared = declared(bundle, call.tool);
            effects = declared_effects(&declared, call.arguments);
            if declared.is_empty() {
                doubts.push((Floor::UnknownTool, "no project declares the effects of this tool"));
            } else if effects.iter().all(|(_, value)| value.is_none()) {
                doubts.push((Floor::UnknownTool, "no argument is one that the project declares"));
            }
        }
        // A terminal on another host takes the text.
        let there = call.location.host().into_iter().flat_map(readings);
        hosts.extend(there.map(ToOwned::to_owned));
        let input = text_of("stdin").filter(|text| !text.is_empty());
        if let (Some(input), Some(first)) = (&input, texts.first_mut())
            && parses(first)
        {
            // A shell among the commands reads it as code, all others as data.
            *first = format!("{{ {first}\n}} <<<{}", tool::quote_word(input));
        }
        let mut variables = Vec::new();
        if let Some(json) = text_of("env_json").filter(|json| reach.is_some() && !json.is_empty()) {
            match Variables::of(&json, facts) {
                // The texts may use their values for anything.
                Variables::Harmless(given) => variables = given,
                Variables::MayChangeCode(given) => {
                    effects.push((Selector::Runs, None));
                    variables = given;
                }
                Variables::ChangeCode(reason) => doubts.push((Floor::Unparsed, reason)),
            }
        }
        // A server has found the folder itself.
        let cwd = text_of("cwd").filter(|cwd| reach.is_some() && !cwd.is_empty());
        let location = match cwd.filter(|_| call.door != Door::Server) {
            Some(cwd) => call.location.within(&cwd).unwrap_or_else(|| {
                doubts.push((Floor::Unparsed, "its folder is relative to one that is not shown"));
                Location::default()
            }),
            // Lines that were typed before may have entered another folder.
            None if reach.is_some_and(|reach| reach.is_typed) => call.location.adrift(),
            None => call.location.clone(),
        };
        let shown_texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let arguments: Vec<(Selector, Option<&str>)> =
            effects.iter().map(|(selector, value)| (*selector, value.as_deref())).collect();
        // A file server that is asked to recurse means all below its path too.
        let are_trees = given("recursive").is_some_and(|value| *value != Value::Bool(false));
        let doing = Doing {
            texts: &shown_texts,
            variables: &variables,
            arguments: &arguments,
            are_trees,
            doubts: &doubts,
        };
        let verdict = classify_request(&doing, &location, facts, rules);
        let tier = verdict.tier.max(own);
        let arguments = call.arguments.iter().map(|(name, value)| (name.clone(), shown(value)));
        Ok(Self {
            // Regexes see the input as it is.
            text: texts.into_iter().chain(input).collect::<Vec<_>>().join("\n"),
            hosts,
            arguments: arguments.collect(),
            location,
            verdict,
            tier,
            own_tier: own,
            is_outside,
        })
    }
}

impl Asked {
    /// Returns its arguments and hosts as rules see them.
    pub(super) fn given(&self) -> Given<'_> {
        let arguments = self.arguments.iter().map(|(name, value)| Argument { name, value });
        let hosts = self.hosts.iter().map(String::as_str);
        Given { arguments: arguments.collect(), hosts: hosts.collect(), seen: Seen::default() }
    }

    /// Returns the keys of the rules that it may concern; `None` if it may concern any rule.
    pub(super) fn keys(
        &self,
        bundle: &Bundle,
        tool: &str,
        judging: (&Facts<'_>, &Rules),
    ) -> Result<Option<BTreeSet<String>>, Corrupt> {
        let given = self.given();
        let request = self.request((tool, None), judging, &given);
        Keyed { bundle, request: &request }.keys()
    }

    /// Returns the request that rules are asked about.
    pub(super) fn request<'r>(
        &'r self,
        (tool, client): (&'r str, Option<&'r str>),
        (facts, rules): (&'r Facts<'r>, &'r Rules),
        given: &'r Given<'r>,
    ) -> Request<'r> {
        Request {
            effects: &self.verdict.effects,
            facts,
            paths: &rules.paths,
            classes: &rules.classes,
            inventory: &rules.inventory,
            location: &self.location,
            tool,
            arguments: &given.arguments,
            hosts: &given.hosts,
            client,
            tier: self.tier,
            text: &self.text,
            seen: &given.seen,
        }
    }
}

/// Returns the arguments of another server's tool with an effect, as the project declares them.
fn declared(bundle: &Bundle, tool: &str) -> Vec<(String, Selector)> {
    let rows = bundle.policy().map_or(&[][..], |policy| &policy.tools);
    let matching =
        rows.iter().filter(|row| row.patterns.iter().any(|pattern| glob::matches(pattern, tool)));
    let each = matching.flat_map(|row| &row.arguments);
    each.map(|argument| (argument.name.clone(), argument.effect)).collect()
}

/// Returns the effects of a call's arguments, each with its value. The value of an argument that the
/// call leaves out is any: if another one with a text may be it by another name, or no declared one is
/// given, the tool still acts.
fn declared_effects(
    declared: &[(String, Selector)],
    arguments: &Map<String, Value>,
) -> Vec<(Selector, Option<String>)> {
    let texts = |name: &str| arguments.get(name).map(texts_in).unwrap_or_default();
    let is_declared = |name: &str| declared.iter().any(|(declared, _)| declared == name);
    let has_other = arguments.iter().any(|(name, value)| !is_declared(name) && holds_text(value));
    let has_any = declared.iter().any(|(name, _)| !texts(name).is_empty());
    let mut effects = Vec::new();
    for (name, selector) in declared {
        let texts = texts(name);
        if texts.is_empty() && (has_other || !has_any) {
            effects.push((*selector, None));
        }
        effects.extend(texts.into_iter().map(|text| (*selector, Some(text))));
    }
    effects
}

/// Returns whether a text is in a value.
fn holds_text(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(items) => items.iter().any(holds_text),
        Value::Object(members) => members.values().any(holds_text),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns a value as a text: JSON, unless it is a text.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns all texts in a value.
fn texts_in(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts_in).collect(),
        Value::Object(members) => members.values().flat_map(texts_in).collect(),
        Value::Null => Vec::new(),
        other => vec![shown(other)],
    }
}

/// Adds the text of a call as the shells read it that run it, and doubts about it; returns whether
/// its code is in a language that is read.
fn code(
    text: &str,
    arguments: &Map<String, Value>,
    texts: &mut Vec<String>,
    doubts: &mut Vec<(Floor, &'static str)>,
) -> bool {
    if arguments.get("use_shell") == Some(&Value::Bool(false)) {
        match tool::split_words(text) {
            Some(words) => texts.push(tool::join_words(words.iter().map(String::as_str))),
            None => doubts.push((Floor::Unparsed, "its words are not a command")),
        }
        return true;
    }
    match arguments.get("interpreter").and_then(Value::as_str) {
        None | Some("bash") => texts.push(text.to_owned()),
        // Another shell may read the text otherwise, so both readings count.
        Some("sh") => {
            texts.push(text.to_owned());
            texts.push(format!("sh -c {}", tool::quote_word(text)));
        }
        Some("python" | "python3" | "py") => {
            texts.push(format!("python3 -c {}", tool::quote_word(text)))
        }
        Some(_) => {
            texts.push(text.to_owned());
            return false;
        }
    }
    true
}

/// Adds a typed text as the program in the terminal may read it, and doubts about it; the program is
/// taken for a shell, so its code is read.
fn typed(text: &str, texts: &mut Vec<String>, doubts: &mut Vec<(Floor, &'static str)>) -> bool {
    let Typed { readings, is_doubtful } = tool::typed(text);
    texts.extend(readings);
    if is_doubtful {
        doubts
            .push((Floor::Unparsed, "its keys may make the line another one than is written here"));
    }
    true
}

/// The variables that a call gives a process.
enum Variables {
    /// Programs run the same code with them: the names, each with its value.
    Harmless(Vec<(String, String)>),
    /// No fact says that the same code runs with them.
    MayChangeCode(Vec<(String, String)>),
    /// They change the code that runs, or cannot be read.
    ChangeCode(&'static str),
}

impl Variables {
    /// Reads variables as JSON.
    fn of(json: &str, facts: &Facts<'_>) -> Self {
        let variables: Result<Map<String, Value>, _> = serde_json::from_str(json);
        let Ok(variables) = variables else {
            return Self::ChangeCode("its environment is no JSON object");
        };
        if variables.keys().any(|name| changes_code(name)) {
            return Self::ChangeCode("its environment changes the code that runs");
        }
        // A variable that is taken away is empty where a text uses it.
        let text = |value: &Value| if value.is_null() { String::new() } else { shown(value) };
        let given = variables.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        match variables.keys().all(|name| facts.is_harmless_variable(name)) {
            true => Self::Harmless(given),
            false => Self::MayChangeCode(given),
        }
    }
}

/// Returns the effects of a forward: any port and any target if its text is malformed.
fn forward_effects(forward: Option<&ForwardSpec>) -> Vec<(Selector, Option<String>)> {
    let Some(ForwardSpec { port, target, .. }) = forward else {
        return vec![(Selector::Listens, None), (Selector::Connects, None)];
    };
    // The targets of a dynamic forward are decided one by one.
    let target = target.iter().map(|(host, _)| (Selector::Connects, Some(host.clone())));
    [(Selector::Listens, Some(port.to_string()))].into_iter().chain(target).collect()
}

/// Returns a path on another host from the home of its user, where a relative one begins.
fn from_home(path: String) -> String {
    match path.starts_with(['/', '~']) {
        true => path,
        false => format!("~/{path}"),
    }
}
