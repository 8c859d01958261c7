//! Decisions by the words of docs/policy.md: loops over all rules, and over all calls and effects.
//!
//! It asks the engine for the calls and effects of a request, and for nothing else. What rules mean,
//! and who is asked in which order, is written here a second time.

mod call;
mod effect;
mod meant;
mod path;

use std::collections::BTreeMap;

use relay_engine::decide::Decision;
use relay_policy::classify::changes_agents;
use relay_policy::effect::{Argument, ArgumentKind, Call, Effect, Effects, Fact, Hidden, What};
use relay_policy::facts::{Facts, Knowledge};
use relay_policy::tier::Floor;

use self::effect::is_of_kind;
use self::meant::Meant::{Maybe, No, Surely};
use self::meant::{Meant, all, any, surely, word};

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
    /// The tier of a project without rules.
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
        if !calls.is_empty() || !effects.is_empty() {
            // A text that is not understood may do anything, and so may code that is not literal.
            for effect in self.effects.all() {
                let is_open = match effect.what {
                    What::Doubt(floor, _) => floor == Floor::Unparsed,
                    What::Runs(hidden, _) => hidden != Hidden::Opaque,
                    _ => false,
                };
                if is_open {
                    parts.push((Maybe, effect.by.map(|by| by.number() as usize)));
                }
            }
        }
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
            parts.extend(found.into_iter().map(|by| (least, by)));
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
            is_named && self.has_effects(&effects, deed.by)
        } else {
            call.is_some_and(|(number, call)| {
                calls.iter().all(|line| self.of_call(line, call, true) == Surely)
                    && self.has_effects(&effects, Some(number))
                    && self.names_hosts(rule, number, call)
                    && (is_named || self.is_fixed(&calls, call, deed))
            })
        };
        is_meant && !self.may_be_excepted(rule, call, deed)
    }

    /// Returns whether the effects of a call, of the kinds that a rule selects, are all surely meant,
    /// and there is one.
    fn has_effects(&self, lines: &[&Line], call: Option<usize>) -> bool {
        let mut count = 0;
        for line in lines {
            let is_of_call = |effect: &&Effect| effect.by.map(|by| by.number() as usize) == call;
            for effect in self.effects.all().iter().filter(is_of_call) {
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

    /// Returns whether a rule names each host that an option of a call gives, or writes it in its words.
    fn names_hosts(&self, rule: &Rule, number: usize, call: &Call) -> bool {
        let (calls, effects) = (of_calls(&rule.lines), of_effects(&rule.lines));
        self.effects.all().iter().filter(|effect| is_by(effect, number) && effect.is_own).all(
            |effect| {
                let What::Connects(host) = effect.what else { return true };
                // After the name of the program, and in no operand.
                let is_of_operand = self.effects.arguments(call).iter().any(|word| {
                    matches!(word.kind, ArgumentKind::Operand(_))
                        && word.span.start <= effect.span.start
                        && effect.span.end <= word.span.end
                });
                if is_of_operand || effect.span.start <= call.span.start {
                    return true;
                }
                let (host, is_exact) = self.value(host);
                let deed = Deed { effect: Some(effect), by: Some(number), tier: 0 };
                let writes = |line: &&&Line| {
                    let is_of_words = ["operands", "flags"].contains(&line.selector);
                    is_of_words
                        && line.values.iter().any(|value| {
                            let literal = value.split(['*', '?']).next().unwrap_or_default();
                            literal.split(['/', '@', ':', '=', ',']).any(|part| part == host)
                        })
                };
                effects.iter().any(|line| self.of_effect(line, effect) == Surely)
                    || self.is_fixed(&calls, call, &deed)
                    || is_exact && calls.iter().any(|line| writes(&line))
            },
        )
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

    fn value(&self, value: relay_policy::effect::Value) -> (String, bool) {
        (self.effects.display(value).into_owned(), self.effects.is_exact(value))
    }
}

fn is_by(effect: &Effect, call: usize) -> bool {
    effect.by.is_some_and(|by| by.number() as usize == call)
}
