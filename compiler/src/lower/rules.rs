//! The rules of a policy, as rows, with the keys of their index.

use hashbrown::HashMap;
use relay_bundle::{AutomataWriter, Condition, Example, Rule, Selector, Setting};
use relay_engine::rule_keys;
use relay_policy::facts::Facts;
use relay_policy::host::canonical_host;

use super::places::Places;
use crate::automaton::Automata;
use crate::model::Policy;
use crate::shipped_policy::ShippedPolicy;
use crate::source::Spanned;

/// The scopes of the policy, and those that rules have by their own `tenant=` and `role=`.
pub(super) struct Scopes {
    pub(super) rows: Vec<relay_bundle::Scope>,
    /// The number of each rule's own scope: by scope around it, tenant and role.
    own: HashMap<OwnScope, u32>,
}

/// The scope around a rule, its tenant and its role.
type OwnScope = (Option<u32>, Option<String>, Option<String>);

impl Scopes {
    /// Lowers the scopes of a policy.
    pub(super) fn of(policy: &Policy, places: &Places<'_>) -> Self {
        let text = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.value.clone());
        let mut rows: Vec<relay_bundle::Scope> = policy
            .scopes
            .iter()
            .map(|scope| relay_bundle::Scope {
                parent: scope.parent.and_then(|parent| u32::try_from(parent).ok()),
                tenant: text(&scope.tenant),
                role: text(&scope.role),
                hosts: text(&scope.host).into_iter().map(host).collect(),
                mode: scope
                    .mode
                    .as_ref()
                    .map(|mode| Setting { value: mode.value, at: Some(places.of(mode.at)) }),
                at: places.of(scope.at),
            })
            .collect();
        let mut own = HashMap::new();
        for rule in &policy.rules {
            let around = rule.scope.and_then(|scope| u32::try_from(scope).ok());
            let key = (around, text(&rule.tenant), text(&rule.role));
            if (key.1.is_none() && key.2.is_none()) || own.contains_key(&key) {
                continue;
            }
            own.insert(key.clone(), u32::try_from(rows.len()).unwrap_or(u32::MAX));
            let (parent, tenant, role) = key;
            let at = places.of(rule.at);
            rows.push(relay_bundle::Scope {
                parent,
                tenant,
                role,
                hosts: Vec::new(),
                mode: None,
                at,
            });
        }
        Self { rows, own }
    }

    fn of_rule(&self, rule: &crate::ast::PolicyRule) -> Option<u32> {
        let text = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.value.clone());
        let around = rule.scope.and_then(|scope| u32::try_from(scope).ok());
        let own = self.own.get(&(around, text(&rule.tenant), text(&rule.role)));
        own.copied().or(around)
    }
}

/// Lowers the rules of a policy, sorted by name.
pub(super) fn rules(
    policy: &Policy,
    scopes: &Scopes,
    table: &[u8],
    places: &Places<'_>,
) -> (Vec<Rule>, Vec<u8>) {
    // `shipped_facts::table` has checked it, or a test of the shipped one.
    let Ok(facts) = Facts::reopen(table) else { return Default::default() };
    let mut rules: Vec<Rule> = policy
        .rules
        .iter()
        .map(|rule| {
            let example = |matches: bool| {
                move |text: &Spanned<String>| Example {
                    text: text.value.clone(),
                    matches,
                    at: places.of(text.at),
                }
            };
            let matches = rule.matches.iter().map(example(true));
            let mut lowered = Rule {
                name: rule.name.value.clone(),
                kind: rule.kind(),
                tier: rule.tier.as_ref().map(|tier| tier.value),
                observe: rule.observe.as_ref().is_some_and(|observe| observe.value),
                ttl_s: rule.ttl_s.as_ref().map(|ttl| ttl.value),
                because: rule.because.clone().map(|because| places.written(because)),
                scope: scopes.of_rule(rule),
                origin: rule.origin.map(ShippedPolicy::origin),
                conditions: rule.conditions.iter().map(|it| condition(it, places)).collect(),
                examples: matches.chain(rule.no_matches.iter().map(example(false))).collect(),
                keys: Vec::new(),
                at: places.of(rule.at),
            };
            lowered.conditions.sort_by_key(|condition| condition.group);
            lowered
        })
        .collect();
    rules.sort_by(|one, other| one.name.cmp(&other.name));
    let automata = automata(&mut rules, places.automata());
    // A key may be the number of an automaton.
    for rule in &mut rules {
        rule.keys = rule_keys::keys(rule, &facts);
    }
    (rules, automata)
}

/// Makes the automata of regexes, in the order of the rules, and gives each condition its number.
pub(crate) fn automata(rules: &mut [Rule], made: &Automata) -> Vec<u8> {
    let mut out = AutomataWriter::default();
    let mut has_any = false;
    for condition in rules.iter_mut().flat_map(|rule| &mut rule.conditions) {
        if condition.selector != Selector::Text {
            continue;
        }
        // INVARIANT: `resolve` has compiled every regex.
        let regex = condition.values.first().map(|regex| made.of(&regex.value));
        if let Some(Ok(parts)) = regex.as_deref() {
            condition.automaton = Some(out.add(parts));
            has_any = true;
        }
    }
    if has_any { out.finish() } else { Vec::new() }
}

fn condition(condition: &crate::ast::PolicyCondition, places: &Places<'_>) -> Condition {
    let is_host = matches!(condition.selector, Selector::Connects | Selector::Host);
    let texts = |texts: &[Spanned<String>]| {
        let each = texts.iter().map(|text| {
            let value = if is_host { host(text.value.clone()) } else { text.value.clone() };
            Setting { value, at: Some(places.of(text.at)) }
        });
        each.collect()
    };
    Condition {
        group: condition.group,
        selector: condition.selector,
        argument: condition.argument.as_ref().map(|argument| argument.value.clone()),
        values: texts(&condition.values),
        except: texts(&condition.except),
        automaton: None,
        at: places.of(condition.at),
    }
}

/// Returns a host or a pattern of hosts in one spelling.
fn host(written: String) -> String {
    if written.contains(['*', '?']) {
        return written.to_ascii_lowercase();
    }
    canonical_host(&written).into_owned()
}
