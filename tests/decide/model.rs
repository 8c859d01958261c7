//! Decisions by the words of docs/policy.md: loops over all rules, and over all calls and effects.
//!
//! It asks the engine for the calls and effects of a request, and for nothing else. What rules mean,
//! and who is asked in which order, is written here a second time.

use std::collections::BTreeMap;

use relay_engine::decide::Decision;
use relay_policy::classify::{Rules, changes_agents, classify};
use relay_policy::effect::{
    Argument, ArgumentKind, Call, Effect, Effects, Fact, Hidden, Sent, Touch, What,
};
use relay_policy::facts::{Facts, Knowledge, Node};
use relay_policy::paths::PathClass;
use relay_policy::tier::Floor;

use crate::policy::entry::FACTS;

/// Whether something is meant: `Maybe` where a part is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meant {
    No,
    Maybe,
    Surely,
}

use Meant::{Maybe, No, Surely};

/// A line of a rule: a selector with its values.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) selector: &'static str,
    /// The name of the argument, of `arg`.
    pub(super) argument: &'static str,
    pub(super) values: Vec<&'static str>,
    pub(super) except: Vec<&'static str>,
}

/// A rule.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) tier: u8,
    pub(super) observe: bool,
    /// The number of its scope.
    pub(super) scope: Option<usize>,
    pub(super) lines: Vec<Line>,
    /// The lines of each `except { }`.
    pub(super) except: Vec<Vec<Line>>,
}

/// A scope, after the one around it.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) parent: Option<usize>,
    pub(super) tenant: &'static str,
    pub(super) role: &'static str,
    pub(super) host: &'static str,
    pub(super) mode: Option<&'static str>,
}

/// A policy.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    pub(super) mode: &'static str,
    pub(super) scopes: Vec<Scope>,
    pub(super) rules: Vec<Rule>,
}

/// The class of paths that every project of these tests names.
pub(super) const CLASS: (&str, &[&str], &[&str]) =
    ("ledger", &["/srv/**", "./data/**"], &["/srv/*.log"]);

/// A request.
pub(super) struct Request<'r> {
    pub(super) tenant: &'r str,
    pub(super) role: &'r str,
    pub(super) tool: &'r str,
    pub(super) arguments: BTreeMap<String, String>,
    pub(super) hosts: Vec<String>,
    pub(super) client: Option<&'r str>,
    /// The highest tier of the role, and whether it asks a person before tier 3.
    pub(super) role_tier: u8,
    pub(super) role_approves: bool,
    /// The tier of the tool itself.
    pub(super) tool_tier: u8,
    /// What a project without rules says of it.
    pub(super) bare: &'r Decision,
}

/// Returns the outcome of a request and the kind of the rule that decides.
pub(super) fn decide(
    policy: &Policy,
    facts: &Facts<'_>,
    known: &Knowledge,
    request: &Request<'_>,
) -> (&'static str, &'static str) {
    let verdict = request.bare.verdict.as_ref().expect("a project with a policy");
    let all = verdict.effects.all();
    let deeds = all.iter().zip(&verdict.tiers);
    let mut deeds: Vec<Deed<'_>> = deeds
        .map(|(effect, tier)| Deed {
            effect: Some(effect),
            by: effect.by.map(|by| by.number() as usize),
            tier: tier.number(),
        })
        .collect();
    let mut asked = Asked { facts, known, request, effects: &verdict.effects, tier: 0, policy };
    // What `tier` means is raised, for everyone; then what `lower` surely means is lowered.
    let mut raised = Vec::new();
    for rule in policy.rules.iter().filter(|rule| rule.kind == "tier") {
        for by in asked.fires(rule).1 {
            raised.push(Deed { effect: None, by, tier: rule.tier });
        }
    }
    deeds.extend(raised);
    for deed in &mut deeds {
        let is_agents = deed.effect.is_some_and(|effect| changes_agents(asked.effects, effect));
        for rule in policy.rules.iter().filter(|rule| rule.kind == "lower" && !is_agents) {
            if rule.tier < deed.tier && asked.covers(rule, deed) {
                deed.tier = rule.tier;
            }
        }
    }
    let worst = deeds.iter().map(|deed| deed.tier).max().unwrap_or(0);
    let tier = worst.max(request.tool_tier);
    asked.tier = tier;

    let restricts = |rule: &&Rule| !rule.observe && asked.is_in_force(rule.scope) != No;
    let fires = |kind: &str| {
        let rules = policy.rules.iter().filter(|rule| rule.kind == kind).filter(restricts);
        rules.into_iter().any(|rule| asked.fires(rule).0 != No)
    };
    if fires("deny") {
        return ("deny", "deny");
    }
    if tier > request.role_tier {
        return ("deny", "role-tier");
    }
    let mode = asked.mode();
    if mode == "readonly" && tier > 0 {
        return ("deny", "mode-readonly");
    }
    if fires("approve") {
        return ("approve", "approve");
    }
    if all.iter().any(|effect| changes_agents(asked.effects, effect)) {
        return ("approve", "agent-config");
    }
    if tier == 3 && request.role_approves {
        return ("approve", "role-approves");
    }
    if tier == 0 {
        return ("allow", "read-only");
    }
    if mode == "open" || tier == 1 {
        return ("allow", "mode");
    }
    let allows: Vec<&Rule> = policy
        .rules
        .iter()
        .filter(|rule| rule.kind == "allow" && asked.is_in_force_for_allow(rule.scope))
        .collect();
    let needing: Vec<&Deed<'_>> = deeds.iter().filter(|deed| deed.tier >= 2).collect();
    let are_covered = needing.iter().all(|deed| allows.iter().any(|rule| asked.covers(rule, deed)));
    let is_tool_covered =
        request.tool_tier < 2 || allows.iter().any(|rule| asked.permits_tool(rule));
    match are_covered && is_tool_covered {
        true => ("allow", "allow"),
        false => ("deny", "mode-guarded"),
    }
}

/// Something that happens, with its tier; without an effect, the raise by a rule.
#[derive(Clone, Copy)]
struct Deed<'e> {
    effect: Option<&'e Effect>,
    by: Option<usize>,
    tier: u8,
}

/// A request, with the policy.
struct Asked<'a> {
    facts: &'a Facts<'a>,
    known: &'a Knowledge,
    request: &'a Request<'a>,
    effects: &'a Effects,
    tier: u8,
    policy: &'a Policy,
}

const CALL: [&str; 4] = ["program", "sub", "flags", "operands"];
const PATHS: [&str; 5] = ["reads", "writes", "removes", "changes", "touches"];
const OTHERS: [&str; 5] = ["connects", "sends", "listens", "runs", "escalates"];

fn of_calls(lines: &[Line]) -> Vec<&Line> {
    lines.iter().filter(|line| CALL.contains(&line.selector)).collect()
}

fn of_effects(lines: &[Line]) -> Vec<&Line> {
    let is_it = |line: &&Line| PATHS.contains(&line.selector) || OTHERS.contains(&line.selector);
    lines.iter().filter(is_it).collect()
}

fn of_request(lines: &[Line]) -> Vec<&Line> {
    let is_other =
        |line: &&Line| ![&CALL[..], &PATHS, &OTHERS].iter().any(|all| all.contains(&line.selector));
    lines.iter().filter(is_other).collect()
}

fn all(each: impl IntoIterator<Item = Meant>) -> Meant {
    each.into_iter().min().unwrap_or(Surely)
}

fn any(each: impl IntoIterator<Item = Meant>) -> Meant {
    each.into_iter().max().unwrap_or(No)
}

fn surely(is_it: bool) -> Meant {
    if is_it { Surely } else { No }
}

/// Returns whether any value is meant and no exception is.
fn of_values(line: &Line, mut is_meant: impl FnMut(&str) -> Meant) -> Meant {
    let meant = any(line.values.iter().map(|value| is_meant(value)));
    match any(line.except.iter().map(|value| is_meant(value))) {
        No => meant,
        Maybe => meant.min(Maybe),
        Surely => No,
    }
}

impl<'a> Asked<'a> {
    /// Returns whether a scope is in force for a rule that restricts: where its host is not known, it
    /// may be.
    fn is_in_force(&self, scope: Option<usize>) -> Meant {
        let Some(scope) = scope.map(|number| &self.policy.scopes[number]) else { return Surely };
        let is = |wanted: &str, given: &str| surely(wanted.is_empty() || wanted == given);
        let host = match scope.host {
            "" => Surely,
            host => any(self.hosts().iter().map(|given| self.host(host, given))),
        };
        is(scope.tenant, self.request.tenant)
            .min(is(scope.role, self.request.role))
            .min(host)
            .min(self.is_in_force(scope.parent))
    }

    /// Returns whether a scope is surely in force, on all hosts of the request.
    fn is_in_force_for_allow(&self, scope: Option<usize>) -> bool {
        let Some(number) = scope else { return true };
        let Scope { parent, host, .. } = &self.policy.scopes[number];
        let on_all = |host: &str| {
            let hosts = self.hosts();
            !hosts.is_empty() && hosts.iter().all(|given| self.host(host, given) == Surely)
        };
        self.is_in_force(scope) != No
            && (host.is_empty() || on_all(host))
            && self.is_in_force_for_allow(*parent)
    }

    /// Returns the narrowest mode of those that no scope inside surely replaces.
    fn mode(&self) -> &'static str {
        let scopes = &self.policy.scopes;
        let with_mode: Vec<usize> =
            (0..scopes.len()).filter(|it| scopes[*it].mode.is_some()).collect();
        let is_inside = |mut inner: usize, outer: usize| loop {
            match scopes[inner].parent {
                Some(parent) if parent == outer => return true,
                Some(parent) => inner = parent,
                None => return false,
            }
        };
        let replaced = |outer: Option<usize>| {
            with_mode.iter().any(|inner| {
                outer.is_none_or(|outer| is_inside(*inner, outer))
                    && self.is_in_force_for_allow(Some(*inner))
            })
        };
        let mut modes = Vec::new();
        if !replaced(None) {
            modes.push(self.policy.mode);
        }
        for number in &with_mode {
            if self.is_in_force(Some(*number)) != No && !replaced(Some(*number)) {
                modes.extend(scopes[*number].mode);
            }
        }
        ["readonly", "guarded", "open"].into_iter().find(|mode| modes.contains(mode)).unwrap()
    }

    /// Returns the hosts on which the request runs; of the text, those of calls.
    fn hosts(&self) -> Vec<(String, bool)> {
        let named = self.request.hosts.iter().map(|host| (host.clone(), true));
        let called = self.effects.calls().iter().filter_map(|call| self.effects.host(call));
        let called = called
            .map(|host| (self.effects.display(host).into_owned(), self.effects.is_exact(host)));
        named.chain(called).collect()
    }

    fn host(&self, pattern: &str, (given, is_exact): &(String, bool)) -> Meant {
        if !is_exact {
            return word(pattern, given, false);
        }
        let host = given.rsplit('@').next().unwrap_or(given);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        word(pattern, if host == "127.1" { "127.0.0.1" } else { host }, true)
    }

    /// Returns whether a rule may mean the request, and the calls that it may mean; `None` for a part
    /// that is of no call.
    fn fires(&self, rule: &Rule) -> (Meant, Vec<Option<usize>>) {
        let whole =
            all(of_request(&rule.lines).into_iter().map(|line| self.of_request(line, false)));
        let (calls, effects) = (of_calls(&rule.lines), of_effects(&rule.lines));
        let mut parts: Vec<(Meant, Option<usize>)> = Vec::new();
        if !calls.is_empty() {
            for (number, call) in self.effects.calls().iter().enumerate() {
                let meant = all(calls.iter().map(|line| self.of_call(line, call, false)));
                let meant = meant.min(all(effects.iter().map(|line| {
                    let own = self.effects.all().iter().filter(|effect| is_by(effect, number));
                    any(own.map(|effect| self.of_effect(line, effect)))
                        .max(self.of_unknown(line, call))
                })));
                if !self.is_call_excepted(rule, number, call) {
                    parts.push((meant, Some(number)));
                }
            }
        } else if !effects.is_empty() {
            let mut least = Surely;
            let mut found = Vec::new();
            for line in effects {
                let mut most = No;
                for effect in self.effects.all() {
                    let meant = self.of_effect(line, effect);
                    if meant != No && !self.is_effect_excepted(rule, effect) {
                        most = most.max(meant);
                        found.push(effect.by.map(|by| by.number() as usize));
                    }
                }
                for (number, call) in self.effects.calls().iter().enumerate() {
                    let meant = self.of_unknown(line, call);
                    if meant != No && !self.is_call_excepted(rule, number, call) {
                        most = most.max(meant);
                        found.push(Some(number));
                    }
                }
                least = least.min(most);
            }
            parts = found.into_iter().map(|by| (least, by)).collect();
        } else if !self.is_all_excepted(rule) {
            parts.push((Surely, None));
        }
        parts.retain(|(meant, _)| *meant != No && whole != No);
        (
            any(parts.iter().map(|(meant, _)| whole.min(*meant))),
            parts.iter().map(|it| it.1).collect(),
        )
    }

    /// Returns whether a rule that permits covers a deed.
    fn covers(&self, rule: &Rule, deed: &Deed<'_>) -> bool {
        let request = of_request(&rule.lines);
        if request.iter().any(|line| self.of_request(line, true) != Surely) {
            return false;
        }
        let (calls, effects) = (of_calls(&rule.lines), of_effects(&rule.lines));
        let call = self.own_call(deed);
        let is_named = deed.effect.is_some_and(|effect| {
            effects.iter().any(|line| self.of_effect(line, effect) == Surely)
        });
        let is_meant = if calls.is_empty() && effects.is_empty() {
            let is_unknown_tool = deed
                .effect
                .is_some_and(|effect| matches!(effect.what, What::Doubt(Floor::UnknownTool, _)));
            is_unknown_tool && request.iter().any(|line| line.selector == "tool")
        } else if calls.is_empty() {
            is_named
        } else {
            call.is_some_and(|(number, call)| {
                calls.iter().all(|line| self.of_call(line, call, true) == Surely)
                    && self.has_effects(&effects, number)
                    && (is_named || self.is_fixed(&calls, call, deed))
            })
        };
        is_meant && !self.may_be_excepted(rule, call, deed)
    }

    /// Returns whether the effects of a call, of the kinds that a rule selects, are all surely meant,
    /// and there is one.
    fn has_effects(&self, lines: &[&Line], call: usize) -> bool {
        let mut count = 0;
        for line in lines {
            for effect in self.effects.all().iter().filter(|effect| is_by(effect, call)) {
                if is_of_kind(line.selector, effect) {
                    count += 1;
                    if self.of_effect(line, effect) != Surely {
                        return false;
                    }
                }
            }
        }
        lines.is_empty() || count > 0
    }

    fn permits_tool(&self, rule: &Rule) -> bool {
        let request = of_request(&rule.lines);
        let is_excepted = rule.except.iter().any(|lines| {
            of_request(lines).len() < lines.len()
                || all(lines.iter().map(|line| self.of_request(line, false))) != No
        });
        request.len() == rule.lines.len()
            && request.iter().any(|line| line.selector == "tool")
            && request.iter().all(|line| self.of_request(line, true) == Surely)
            && !is_excepted
    }

    /// Returns the call that does something itself; a redirection is of the shell.
    fn own_call(&self, deed: &Deed<'_>) -> Option<(usize, &'a Call)> {
        let number = deed.by?;
        let call = &self.effects.calls()[number];
        let is_own = deed.effect.is_none_or(|effect| {
            effect.is_own
                || matches!(effect.what, What::Doubt(Floor::UnknownProgram, _))
                    && call.node.is_none()
                    && call.span == effect.span
        });
        is_own.then_some((number, call))
    }

    /// Returns whether the lines about a call fix what it does: the deed of the program itself, an
    /// option that they name, or a word that they give.
    fn is_fixed(&self, lines: &[&Line], call: &Call, deed: &Deed<'_>) -> bool {
        let Some(effect) = deed.effect else { return true };
        let gives_word = || {
            let within = |word: &&Argument| {
                word.span.start <= effect.span.start && effect.span.end <= word.span.end
            };
            self.effects.arguments(call).iter().filter(within).any(|word| {
                let Some(value) = word.value else { return false };
                let (value, is_exact) = self.value(value);
                lines.iter().flat_map(|line| line.values.iter().map(move |it| (line, it))).any(
                    |(line, wanted)| {
                        let is_it = |wanted: &str| is_exact && value == wanted;
                        match (line.selector, word.kind) {
                            ("operands", ArgumentKind::Operand(_)) => is_it(wanted),
                            ("flags", ArgumentKind::Option(given)) => {
                                wanted.split_once('=').is_some_and(|(name, wanted)| {
                                    let given = self.facts.option_name(given);
                                    self.option(call, &given, name) == Surely && is_it(wanted)
                                })
                            }
                            _ => false,
                        }
                    },
                )
            })
        };
        let names_program = || {
            call.node.is_none()
                && lines.iter().any(|line| {
                    line.selector == "program" && line.values.iter().all(|it| !it.contains('*'))
                })
        };
        match effect.what {
            What::Declared(Fact::Program(_) | Fact::Form(..)) => true,
            // Options that one fact describes have one effect, whichever of them are given.
            What::Declared(Fact::Flag(_, _, name)) => {
                let of_row = self.facts.option_name(name);
                let words = self.effects.arguments(call).iter();
                let given = words.filter_map(|word| match word.kind {
                    ArgumentKind::Option(given) => Some(self.facts.option_name(given)),
                    _ => None,
                });
                let mut given = given.filter(|given| self.option(call, &of_row, given) != No);
                let is_named = |given: &str| {
                    let is_it = |flag: &&str| {
                        let flag = flag.split('=').next().unwrap_or_default();
                        self.option(call, given, flag) == Surely
                    };
                    lines
                        .iter()
                        .any(|line| line.selector == "flags" && line.values.iter().any(&is_it))
                };
                given.all(|given| is_named(&given)) && is_named(&of_row)
            }
            What::Declared(Fact::Value(..)) => {
                lines.iter().any(|line| line.selector == "operands") || gives_word()
            }
            What::Doubt(Floor::UnknownProgram, _) => names_program(),
            What::Runs(Hidden::Opaque, _) => gives_word() || names_program(),
            What::Path { .. }
            | What::Connects(_)
            | What::Listens(_)
            | What::Escalates(_)
            | What::Does(..) => gives_word(),
            _ => false,
        }
    }

    fn is_call_excepted(&self, rule: &Rule, number: usize, call: &Call) -> bool {
        rule.except.iter().any(|lines| {
            let own: Vec<&Effect> =
                self.effects.all().iter().filter(|effect| is_by(effect, number)).collect();
            of_request(lines).iter().all(|line| self.of_request(line, true) == Surely)
                && of_calls(lines).iter().all(|line| self.of_call(line, call, true) == Surely)
                && of_effects(lines).iter().all(|line| self.are_all_meant(line, &own))
        })
    }

    fn is_effect_excepted(&self, rule: &Rule, effect: &Effect) -> bool {
        let deed =
            Deed { effect: Some(effect), by: effect.by.map(|by| by.number() as usize), tier: 0 };
        rule.except.iter().any(|lines| {
            of_request(lines).iter().all(|line| self.of_request(line, true) == Surely)
                && of_calls(lines).iter().all(|line| {
                    let call = self.own_call(&deed);
                    call.is_some_and(|(_, call)| self.of_call(line, call, true) == Surely)
                })
                && of_effects(lines).iter().all(|line| self.of_effect(line, effect) == Surely)
        })
    }

    fn is_all_excepted(&self, rule: &Rule) -> bool {
        let every: Vec<&Effect> = self.effects.all().iter().collect();
        let calls = self.effects.calls();
        rule.except.iter().any(|lines| {
            of_request(lines).iter().all(|line| self.of_request(line, true) == Surely)
                && of_effects(lines).iter().all(|line| self.are_all_meant(line, &every))
                && (of_calls(lines).is_empty()
                    || !calls.is_empty()
                        && calls.iter().all(|call| {
                            of_calls(lines)
                                .iter()
                                .all(|line| self.of_call(line, call, true) == Surely)
                        }))
        })
    }

    /// Returns whether a line surely means all effects of its kind, of which there is one.
    fn are_all_meant(&self, line: &Line, effects: &[&Effect]) -> bool {
        let every = Line { values: vec!["*"], except: Vec::new(), ..line.clone() };
        let of_kind: Vec<_> =
            effects.iter().filter(|effect| self.of_effect(&every, effect) != No).collect();
        !of_kind.is_empty() && of_kind.iter().all(|effect| self.of_effect(line, effect) == Surely)
    }

    fn may_be_excepted(&self, rule: &Rule, call: Option<(usize, &Call)>, deed: &Deed<'_>) -> bool {
        rule.except.iter().any(|lines| {
            let effects = of_effects(lines);
            let may_mean =
                |effect: &Effect| effects.iter().all(|line| self.of_effect(line, effect) != No);
            let mut of_call = self
                .effects
                .all()
                .iter()
                .filter(|effect| effect.by.map(|by| by.number() as usize) == deed.by);
            of_request(lines).iter().all(|line| self.of_request(line, false) != No)
                && of_calls(lines)
                    .iter()
                    .all(|line| call.is_none_or(|(_, call)| self.of_call(line, call, false) != No))
                && (effects.is_empty()
                    || deed.effect.is_some_and(may_mean)
                    || of_call.any(may_mean))
        })
    }

    fn of_request(&self, line: &Line, is_permit: bool) -> Meant {
        let request = self.request;
        match line.selector {
            "tool" => of_values(line, |value| word(value, request.tool, true)),
            "arg" => request
                .arguments
                .get(line.argument)
                .map_or(No, |given| of_values(line, |value| word(value, given, true))),
            "client" => request
                .client
                .map_or(No, |client| of_values(line, |value| word(value, client, true))),
            "host" => {
                let hosts = self.hosts();
                let each =
                    hosts.iter().map(|given| of_values(line, |pattern| self.host(pattern, given)));
                match is_permit {
                    true if hosts.is_empty() => No,
                    true => all(each),
                    false => any(each),
                }
            }
            "min" => surely(line.values.iter().any(|tier| self.tier >= tier.parse().unwrap())),
            "max" => surely(line.values.iter().any(|tier| self.tier <= tier.parse().unwrap())),
            // The regexes of these tests are plain texts.
            "text" => surely(
                line.values
                    .iter()
                    .any(|text| format!("{} {}", request.tool, request.bare.text).contains(text)),
            ),
            other => panic!("{other}"),
        }
    }

    fn of_call(&self, line: &Line, call: &Call, is_permit: bool) -> Meant {
        let words: Vec<&Argument> = self.effects.arguments(call).iter().collect();
        let operands: Vec<&Argument> = words
            .iter()
            .copied()
            .filter(|word| matches!(word.kind, ArgumentKind::Operand(_)))
            .collect();
        match line.selector {
            "program" => of_values(line, |name| self.program(call, name)),
            "sub" => of_values(line, |wanted| self.sub(call, wanted, &operands)),
            "flags" => of_values(line, |flag| self.flag(call, flag, &words)),
            _ => {
                if operands.is_empty() {
                    return No;
                }
                let each = operands.iter().map(|operand| {
                    let Some(value) = operand.value else { return Maybe };
                    let (value, is_exact) = self.value(value);
                    let meant = of_values(line, |pattern| word(pattern, &value, is_exact));
                    // It may be no word at all, or several.
                    if operand.is_many { Maybe } else { meant }
                });
                if is_permit { all(each) } else { any(each) }
            }
        }
    }

    fn program(&self, call: &Call, name: &str) -> Meant {
        let (written, is_exact) = self.value(call.program);
        if !is_exact {
            return Maybe;
        }
        let folders =
            ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];
        let called =
            folders.iter().find_map(|folder| written.strip_prefix(folder)).unwrap_or(&written);
        if name.contains('*') {
            return word(name, called, true);
        }
        let is_alias = call.node.is_some_and(|node| {
            let command = self.facts.command_name(node);
            let program = command.split(' ').next().unwrap_or_default();
            let known = self.known.programs.iter().find(|it| it.names.iter().any(|it| it == name));
            known.is_some_and(|known| known.names.iter().any(|it| it == program))
        });
        let file = |path: &str| path.rsplit('/').next().map(str::to_owned);
        if called == name || written == name {
            Surely
        } else if is_alias || file(called) == file(name) {
            // It may be the same file, or a program that is only alike.
            Maybe
        } else {
            No
        }
    }

    fn sub(&self, call: &Call, wanted: &str, operands: &[&Argument]) -> Meant {
        let wanted: Vec<&str> = wanted.split(' ').collect();
        let written: Vec<String> = self.effects.subs(call).map(|sub| sub.into_owned()).collect();
        if written.len() >= wanted.len() && wanted.iter().zip(&written).all(|(a, b)| a == b) {
            return Surely;
        }
        // One fact may describe several names, and several sub-commands that are alike.
        let described = self.described(call);
        let named = described.first().and_then(|program| {
            let sub = |node: &'a Node, word: &&str| -> Option<&'a Node> {
                node.subs.iter().find(|sub| sub.names.iter().any(|it| it == word))
            };
            wanted.iter().try_fold(*program, sub)
        });
        let is_it = |node: &&Node| named.is_some_and(|named| std::ptr::eq(named, *node));
        if described.iter().skip(1).any(is_it) {
            return Maybe;
        }
        if call.node.is_some() && !call.has_doubt {
            return No;
        }
        // Nothing says which of these words are operands.
        let given = operands.iter().map(|operand| operand.value.map(|value| self.value(value)));
        let given = written.iter().map(|sub| Some((sub.clone(), true))).chain(given);
        let mut given = given.fuse();
        let each = wanted.iter().map(|wanted| match given.next() {
            None => No,
            Some(None) => No,
            Some(Some((value, is_exact))) => word(wanted, &value, is_exact),
        });
        let meant = all(each.collect::<Vec<_>>());
        if call.node.is_some() { meant.min(Maybe) } else { meant }
    }

    fn flag(&self, call: &Call, flag: &str, words: &[&Argument]) -> Meant {
        let (name, wanted) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        let each = words.iter().map(|argument| match argument.kind {
            ArgumentKind::Option(given) => {
                let given = self.facts.option_name(given);
                let named = self.option(call, &given, name);
                match (wanted, argument.value) {
                    (None, _) => named,
                    (Some(_), None) => No,
                    (Some(wanted), Some(value)) => {
                        let (value, is_exact) = self.value(value);
                        named.min(word(wanted, &value, is_exact))
                    }
                }
            }
            ArgumentKind::Help => surely(name == "--help" || name == "--version"),
            ArgumentKind::Operand(_) if call.node.is_none() => {
                let Some(value) = argument.value else { return Maybe };
                let (value, is_exact) = self.value(value);
                match wanted {
                    Some(_) => word(flag, &value, is_exact),
                    None => word(name, &value, is_exact).max(word(
                        &format!("{name}=*"),
                        &value,
                        is_exact,
                    )),
                }
            }
            _ => No,
        });
        match any(each) {
            No if call.has_doubt && call.node.is_some() => Maybe,
            meant => meant,
        }
    }

    /// Returns the facts of the program of a call and of its sub-commands.
    fn described(&self, call: &Call) -> Vec<&'a Node> {
        let Some(node) = call.node else { return Vec::new() };
        let command = self.facts.command_name(node);
        let mut nodes: Vec<&'a Node> = Vec::new();
        let mut next: &'a [Node] = &self.known.programs;
        for word in command.split(' ') {
            let found = next.iter().find(|it| it.names.iter().any(|it| it == word));
            let Some(found) = found else { break };
            nodes.push(found);
            next = &found.subs;
        }
        nodes
    }

    /// Returns whether two names are of one option of a call.
    fn option(&self, call: &Call, given: &str, name: &str) -> Meant {
        if given == name {
            return Surely;
        }
        let described = self.described(call);
        let has_both = |names: &&Vec<String>| {
            names.iter().any(|it| it == given) && names.iter().any(|it| it == name)
        };
        let own = described.last().into_iter().flat_map(|node| &node.flags);
        let around = described.iter().rev().skip(1).flat_map(|node| &node.flags);
        let mut rows = own.chain(around.filter(|flag| flag.everywhere)).map(|flag| &flag.names);
        let is_letter = |name: &str| name.len() == 2;
        match rows.find(has_both) {
            // A letter and a word are of one option; more names may be options that are alike.
            Some(names) if names.len() == 2 && is_letter(given) != is_letter(name) => Surely,
            Some(_) => Maybe,
            None => No,
        }
    }

    fn of_effect(&self, line: &Line, effect: &Effect) -> Meant {
        match effect.what {
            What::Path { touch, path, class, is_many, is_secret, .. }
                if PATHS.contains(&line.selector) =>
            {
                let happens = self.happens(line.selector, touch, effect);
                if happens == No {
                    return No;
                }
                let is_whole = is_many
                    || matches!(touch, Touch::Remove | Touch::Take | Touch::ChangeTree)
                    || happens == Maybe;
                let path = Touched {
                    path: self.effects.display(path).into_owned(),
                    is_open: self.effects.is_open(path),
                    is_pattern: !self.effects.is_exact(path),
                    class,
                    is_secret,
                    is_whole,
                };
                happens.min(of_values(line, |pattern| is_of(pattern, &path)))
            }
            What::Connects(host) if line.selector == "connects" => {
                let given = self.value(host);
                of_values(line, |pattern| self.host(pattern, &given))
            }
            What::Listens(value) if line.selector == "listens" => {
                let (value, is_exact) = self.value(value);
                of_values(line, |pattern| word(pattern, &value, is_exact))
            }
            What::Escalates(value) if line.selector == "escalates" => {
                let (value, is_exact) = self.value(value);
                of_values(line, |pattern| word(pattern, &value, is_exact))
            }
            What::Sends(sent) if line.selector == "sends" => {
                of_values(line, |wanted| match (wanted, sent) {
                    ("secret", Sent::Output) => Maybe,
                    ("*", _)
                    | ("secret", Sent::Secret)
                    | ("file", Sent::File)
                    | ("body", Sent::Body)
                    | ("output", Sent::Output)
                    | ("data", Sent::Data) => Surely,
                    _ => No,
                })
            }
            What::Runs(hidden, _) if line.selector == "runs" => of_values(line, |wanted| {
                let name = match hidden {
                    Hidden::Opaque => "opaque",
                    Hidden::Made => "made",
                    Hidden::Network => "remote",
                };
                surely(wanted == "*" || wanted == name)
            }),
            _ => No,
        }
    }

    /// Returns whether this happens to a path.
    fn happens(&self, selector: &str, touch: Touch, effect: &Effect) -> Meant {
        if is_of_kind(selector, effect) {
            return Surely;
        }
        // A program that reads its path and acts may do anything to it: `find /srv -delete`.
        let acts = |other: &Effect| {
            other.by == effect.by
                && other.by.is_some()
                && other.is_own
                && matches!(other.what, What::Declared(_) | What::Does(..) | What::Doubt(..))
        };
        let may = touch == Touch::Read && self.effects.all().iter().any(acts);
        if may { Maybe } else { No }
    }

    /// Returns whether a word of a program that no fact describes may be meant.
    fn of_unknown(&self, line: &Line, call: &Call) -> Meant {
        if call.node.is_some() {
            return No;
        }
        let is_path = PATHS.contains(&line.selector);
        let words = self.effects.arguments(call).iter().filter_map(|word| word.value);
        let each = words.map(|given| {
            let (text, is_exact) = self.value(given);
            let text = match text.split_once('=') {
                Some((_, value)) if text.starts_with('-') => value.to_owned(),
                _ => text,
            };
            if is_path {
                let path = Touched::of_word(&text, self.effects.is_open(given), is_exact);
                return of_values(line, |pattern| is_of(pattern, &path)).min(Maybe);
            }
            if line.selector != "connects" {
                return No;
            }
            let Some((_, rest)) = text.split_once("://") else { return No };
            let host = rest.split(['/', '?', '#', ':']).next().unwrap_or(rest).to_owned();
            of_values(line, |pattern| self.host(pattern, &(host.clone(), true))).min(Maybe)
        });
        any(each.collect::<Vec<_>>())
    }

    fn value(&self, value: relay_policy::effect::Value) -> (String, bool) {
        (self.effects.display(value).into_owned(), self.effects.is_exact(value))
    }
}

fn is_by(effect: &Effect, call: usize) -> bool {
    effect.by.is_some_and(|by| by.number() as usize == call)
}

/// Returns whether an effect is of the kind that a selector names.
fn is_of_kind(selector: &str, effect: &Effect) -> bool {
    match (effect.what, selector) {
        (What::Path { .. }, "touches") => true,
        (What::Path { touch: Touch::Take, .. }, "reads") => true,
        _ => effect.name() == selector,
    }
}

/// A path to which something happens.
struct Touched {
    path: String,
    /// Whether a part of it may be any text.
    is_open: bool,
    /// Whether a part of it stands for names within its folder.
    is_pattern: bool,
    class: PathClass,
    is_secret: bool,
    /// Whether it happens to all below it.
    is_whole: bool,
}

impl Touched {
    /// Returns a word as a path, seen from the work tree.
    fn of_word(word: &str, is_open: bool, is_exact: bool) -> Self {
        let plain = word.replace('…', "x");
        let (home, rest) = match plain.strip_prefix("~/") {
            Some(rest) => ("~/", rest),
            None => ("", plain.as_str()),
        };
        let rest = match is_exact {
            true => format!("'{}'", rest.replace('\'', "'\\''")),
            false => rest.to_owned(),
        };
        let verdict = classify(&format!("cat -- {home}{rest}"), &FACTS, &Rules::default());
        let effects = &verdict.effects;
        let read = effects.all().iter().find_map(|effect| match effect.what {
            What::Path { path, class, is_secret, .. } => Some((path, class, is_secret)),
            _ => None,
        });
        let (path, class, is_secret) = match read {
            Some((path, class, is_secret)) => {
                (effects.display(path).into_owned(), class, is_secret)
            }
            None => (word.to_owned(), PathClass::Unknown, false),
        };
        Self { path, is_open, is_pattern: !is_exact, class, is_secret, is_whole: true }
    }
}

/// Returns whether a path is of a class, or matches a pattern.
fn is_of(pattern: &str, touched: &Touched) -> Meant {
    let Touched { path, is_open, is_pattern, class, is_secret, is_whole } = touched;
    let of_class = |is_it: bool| match is_it {
        true if !is_open => Surely,
        true => Maybe,
        false if *is_open || *class == PathClass::Unknown => Maybe,
        false => No,
    };
    let (patterns, except): (Vec<&str>, &[&str]) = match pattern {
        "*" => return Surely,
        "secret" => {
            let name = path.rsplit('/').next().unwrap_or_default();
            let is_unknown = *is_pattern && name.contains(['*', '?']);
            let may_be = is_unknown && SECRETS.iter().any(|secret| of_names(secret, name) != No);
            return if may_be && !is_secret { Maybe } else { of_class(*is_secret) };
        }
        "critical" => return of_class(*class == PathClass::Critical),
        "admits" => return of_class(*class == PathClass::Admits),
        "scratch" => return of_class(*class == PathClass::Scratch),
        "device" => return of_class(*class == PathClass::Device),
        name if name == CLASS.0 => (CLASS.1.to_vec(), CLASS.2),
        pattern => (vec![pattern], &[]),
    };
    if *is_open {
        return Maybe;
    }
    let of = |patterns: &[&str]| {
        any(patterns.iter().map(|pattern| match glob(pattern, path, *is_pattern) {
            Surely => Surely,
            No if *is_whole && may_be_below(pattern, path) => Maybe,
            other => other,
        }))
    };
    let meant = match of(&patterns) {
        No if *class == PathClass::Unknown => return Maybe,
        meant => meant,
    };
    match of(except) {
        No => meant,
        Maybe => meant.min(Maybe),
        Surely => No,
    }
}

/// Returns the root of a path or pattern, and its parts.
fn parts(path: &str) -> (&str, Vec<&str>) {
    let (root, rest) = match path {
        "~" => ("~", ""),
        _ if path.starts_with('/') => ("/", &path[1..]),
        _ if path.starts_with("~/") => ("~", &path[2..]),
        _ if path.starts_with("**/") => ("any", path),
        "." => (".", ""),
        _ => (".", path.strip_prefix("./").unwrap_or(path)),
    };
    (root, rest.split('/').filter(|part| !part.is_empty()).collect())
}

/// Returns whether a path matches a pattern of paths. A part with unknown letters may be any name.
fn glob(pattern: &str, path: &str, is_pattern: bool) -> Meant {
    fn each(pattern: &[&str], path: &[&str], is_pattern: bool) -> Meant {
        match (pattern.split_first(), path.split_first()) {
            (None, None) => Surely,
            (None, Some(_)) => No,
            (Some((&"**", rest)), None) => each(rest, path, is_pattern),
            (Some((&"**", rest)), Some((_, others))) => {
                each(rest, path, is_pattern).max(each(pattern, others, is_pattern))
            }
            (Some(_), None) => No,
            (Some((part, rest)), Some((name, others))) => {
                let is_unknown = is_pattern && name.contains(['…', '*', '?']);
                let meant = match is_unknown {
                    true => of_names(part, name),
                    false => word(part, name, true),
                };
                if meant == No { No } else { meant.min(each(rest, others, is_pattern)) }
            }
        }
    }
    let ((root, pattern), (of, path)) = (parts(pattern), parts(path));
    match root == "any" || root == of {
        // It leaves the work tree, and may come back.
        true if root == "." && path.first() == Some(&"..") => Maybe,
        true => each(&pattern, &path, is_pattern),
        false => No,
    }
}

/// Returns whether one of the names for which a pattern of the shell stands may match a part of a pattern.
fn of_names(part: &str, name: &str) -> Meant {
    // A shell finds no hidden name so.
    if part.starts_with('.') && name.starts_with(['*', '?']) {
        return No;
    }
    word(part, name, false).min(Maybe)
}

/// Names and endings of files with secrets, as far as wildcards may mean them.
const SECRETS: &[&str] = &[
    ".netrc",
    ".pgpass",
    ".env",
    "shadow",
    "gshadow",
    "credentials",
    ".git-credentials",
    ".htpasswd",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    "kubeconfig",
    "environ",
    ".vault-token",
    ".npmrc",
    ".pypirc",
    ".my.cnf",
    "master.key",
    "secrets.yaml",
    "secrets.yml",
    "secrets.json",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    ".env.*",
];

/// Returns whether a path of a pattern may lie below a folder.
fn may_be_below(pattern: &str, folder: &str) -> bool {
    let ((root, pattern), (of, names)) = (parts(pattern), parts(folder));
    if root != "any" && root != of {
        return false;
    }
    for (number, name) in names.iter().enumerate() {
        match pattern.get(number) {
            Some(&"**") => return true,
            Some(part) => {
                let is_unknown = name.contains(['…', '*', '?']);
                if !is_unknown && word(part, name, true) == No {
                    return false;
                }
            }
            None => return false,
        }
    }
    pattern.len() > names.len()
}

/// Returns whether a text matches a pattern of words. Of a text that is not exact, `…` and `*` are
/// any text, and `?` is a letter.
fn word(pattern: &str, text: &str, is_exact: bool) -> Meant {
    fn matches(pattern: &[char], text: &[char], is_exact: bool, may: bool) -> bool {
        let unknown = |letter: &char| !is_exact && matches!(letter, '…' | '*' | '?');
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), None) => matches(rest, text, is_exact, may),
            (Some(('*', rest)), Some((_, others))) => {
                matches(rest, text, is_exact, may)
                    || matches(pattern, others, is_exact, may)
                    || may && unknown(&text[0]) && matches(pattern, others, is_exact, may)
            }
            (rest, Some((letter, others))) if may && unknown(letter) => {
                let one = rest.is_some_and(|(_, rest)| match letter {
                    '?' => matches(rest, others, is_exact, may),
                    _ => matches(rest, text, is_exact, may),
                });
                one || *letter != '?' && matches(pattern, others, is_exact, may)
            }
            (Some(('?', rest)), Some((letter, others))) => {
                !unknown(letter) && matches(rest, others, is_exact, may)
            }
            (Some((wanted, rest)), Some((letter, others))) => {
                wanted == letter && matches(rest, others, is_exact, may)
            }
            _ => false,
        }
    }
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    if matches(&pattern, &text, is_exact, false) {
        Surely
    } else if !is_exact && matches(&pattern, &text, is_exact, true) {
        Maybe
    } else {
        No
    }
}
