//! Effects -> hits and a tier, by facts and rules. Only this module names a tier, and it never sees
//! a script.

mod act;
mod adjust;
mod hit;
mod path;
mod rules;

use std::cmp::Reverse;

use smallvec::SmallVec;

pub use adjust::changes_agents;
pub use hit::{Cause, Hit, Verdict};
pub use rules::{ADJUST_KEY, Rules, RulesError};

use adjust::Ground;

use crate::effect::{CallId, Cap, Effect, Effects, Fact, Hidden, Mount, Sent, What};
use crate::facts::{Extent, Facts, NodeId, Role};
use crate::location::Location;
use crate::span::Span;
use crate::tier::{Floor, Tier};

/// The most hits of one text that are kept; the others are only counted.
const HITS_MAX: usize = 64;
/// The longest name of a program with its sub-commands that is displayed as it was called.
const CALLED_BYTES_MAX: usize = 64;

/// Returns the verdict on the effects of a text. `before` holds the effects of an earlier round
/// that reached further than the last one.
pub(crate) fn verdict(
    text: &str,
    mut effects: Effects,
    before: Option<Effects>,
    (facts, rules): (&Facts<'_>, &Rules),
    location: &Location,
) -> Verdict {
    let ground = Ground { facts, rules, location };
    if !rules.adjust.is_empty() {
        ground.raise(&mut effects);
    }
    if let Some(mut before) = before {
        if !rules.adjust.is_empty() {
            ground.raise(&mut before);
        }
        effects.append(&before);
    }
    let judge = Judge { effects: &effects, ground };
    let mut tiers = Vec::with_capacity(effects.all().len());
    let mut hits = Hits::default();
    for effect in effects.all() {
        let hit = judge.hit(effect);
        tiers.push(hit.as_ref().map_or(Tier::ReadOnly, |hit| hit.tier));
        if let Some(hit) = hit {
            hits.add(&judge, effect, hit);
        }
    }
    let Hits { mut kept, omitted, .. } = hits;
    kept.sort_by_key(|(hit, _)| (Reverse(hit.tier), hit.span));
    let hits: Vec<Hit> = kept
        .into_iter()
        .map(|(hit, effect)| {
            let is_fact = matches!(effect.what, What::Declared(_));
            let called = effect.by.filter(|_| is_fact).and_then(|call| judge.called(call));
            let called = called.and_then(|called| Some(str::from_utf8(&called).ok()?.into()));
            Hit { span: within(hit.span, text), called, ..hit }
        })
        .collect();
    let tier = hits.first().map_or(Tier::ReadOnly, |hit| hit.tier);
    effects.place(|span| within(span, text));
    Verdict { tier, hits, omitted, effects, tiers }
}

/// Returns a span within the text, at character boundaries.
fn within(span: Span, text: &str) -> Span {
    let start = text.floor_char_boundary(span.start as usize);
    let end = text.ceil_char_boundary((span.end as usize).min(text.len())).max(start);
    Span::new(start, end)
}

/// Distinct hits, each with its effect.
#[derive(Default)]
struct Hits<'e> {
    kept: Vec<(Hit, &'e Effect)>,
    /// The last byte at which a hit begins: a hit that begins after it is new.
    furthest: u32,
    /// The lowest tier of the hits once there are too many; only a higher hit replaces one of them.
    lowest: Tier,
    omitted: usize,
}

impl<'e> Hits<'e> {
    /// Adds the hit of an effect, unless it equals another hit or comes after too many.
    fn add(&mut self, judge: &Judge<'_>, effect: &'e Effect, hit: Hit) {
        let is_same = |(kept, by): &(Hit, &Effect)| *kept == hit && judge.calls_alike(by, effect);
        if hit.span.start <= self.furthest && self.kept.iter().any(is_same) {
            return;
        }
        if self.kept.len() < HITS_MAX {
            self.furthest = self.furthest.max(hit.span.start);
            self.kept.push((hit, effect));
            return;
        }
        self.omitted += 1;
        if hit.tier <= self.lowest {
            return;
        }
        // A higher hit replaces the lowest, so the highest tier is always kept.
        if let Some(lowest) = self.kept.iter_mut().min_by_key(|(kept, _)| kept.tier) {
            self.lowest = lowest.0.tier;
            if self.lowest < hit.tier {
                self.furthest = self.furthest.max(hit.span.start);
                *lowest = (hit, effect);
            }
        }
    }
}

/// The effects of a text, with the facts and rules that judge them.
struct Judge<'e> {
    effects: &'e Effects,
    ground: Ground<'e>,
}

impl Judge<'_> {
    /// Returns the hit of an effect; `None` if it raises nothing.
    fn hit(&self, effect: &Effect) -> Option<Hit> {
        let (tier, cause) = self.tier(effect)?;
        let tier = match self.cap(effect) {
            Some(cap) => tier.min(cap),
            None => tier,
        };
        let lowered = self.ground.lower(self.effects, effect, tier);
        let tier = lowered.and_then(|rule| rule.tier).unwrap_or(tier);
        if tier == Tier::ReadOnly {
            return None;
        }
        let raised = match effect.what {
            What::Raised(rule) => self.ground.rules.adjust.get(usize::from(rule)),
            _ => None,
        };
        let place = effect.fact.map(|(node, line)| self.ground.facts.place_of(node, line));
        let rule = lowered.or(raised).cloned();
        Some(Hit { tier, span: effect.span, cause, place, called: None, rule })
    }

    /// Returns the tier of an effect without its cap; `None` if that is certainly the lowest.
    fn tier(&self, effect: &Effect) -> Option<(Tier, Cause)> {
        let floor = |floor, reason| {
            Some((self.ground.rules.floors.tier(floor), Cause::Floor { floor, reason }))
        };
        match effect.what {
            What::Path { touch, class, is_many, is_tree, path, .. } => {
                let is_device = self.effects.bytes_of(path).starts_with(b"/dev/");
                let tier = path::tier(touch, class, path::Extent { is_many, is_tree, is_device })?;
                Some((tier, Cause::Path { touch, class, is_many }))
            }
            What::Connects(_) | What::Listens(_) | What::Escalates(_) => None,
            What::Sends(sent) => {
                let tier = match sent {
                    Sent::Data => return None,
                    Sent::File | Sent::Body | Sent::Output => Tier::Stateful,
                    Sent::Secret => Tier::Irreversible,
                };
                Some((tier, Cause::Shell(sent.says())))
            }
            What::Runs(hidden, reason) => match hidden {
                Hidden::Opaque => floor(Floor::OpaqueCode, reason),
                Hidden::Made => floor(Floor::UnknownWord, reason),
                Hidden::Network => Some((Tier::Irreversible, Cause::Shell(reason))),
            },
            What::Mounts(mount) => {
                let tier = match mount {
                    Mount::Folder => return None,
                    Mount::Unknown | Mount::Written => Tier::Stateful,
                    Mount::Host => Tier::Irreversible,
                };
                Some((tier, Cause::Shell(mount.says())))
            }
            What::Does(act, None) => Some((act::tier(act), Cause::Shell(act.says()))),
            What::Does(act, Some(language)) => {
                Some((act::tier(act), Cause::Code(language, act.says())))
            }
            What::Declared(fact) => Some(match fact {
                Fact::Program(node) => (self.ground.facts.tier(node)?, Cause::Program(node)),
                Fact::Form(node, form) => {
                    (self.ground.facts.form_row(form)?.tier, Cause::Form(node, form))
                }
                Fact::Flag(node, flag, name) => {
                    (self.ground.facts.flag_row(flag)?.tier, Cause::Flag(node, flag, name))
                }
                Fact::Value(node, value) => {
                    (self.ground.facts.value_row(value)?.tier, Cause::Value(node, value))
                }
            }),
            What::Unlisted { listed, is_literal } => Some(self.unlisted(listed, is_literal)),
            What::AnyOption(node) => {
                let reason = "this word is made by the text and may be an option";
                let cause = Cause::Floor { floor: Floor::UnknownFlag, reason };
                Some((self.any_option(node), cause))
            }
            What::Doubt(kind, reason) => floor(kind, reason),
            What::Raised(rule) => {
                let rule = self.ground.rules.adjust.get(usize::from(rule))?;
                Some((rule.tier?, Cause::Rule))
            }
        }
    }

    /// Returns the tier of an unlisted value: a hidden value may be any of the list.
    fn unlisted(&self, listed: Extent, is_literal: bool) -> (Tier, Cause) {
        if is_literal {
            let (floor, reason) = (Floor::UnknownFlag, "no fact declares this value");
            (self.ground.rules.floors.tier(floor), Cause::Floor { floor, reason })
        } else {
            let (floor, reason) = (Floor::UnknownWord, "this word decides and is not literal");
            let worst =
                self.ground.facts.values(listed).map(|row| row.tier).max().unwrap_or_default();
            (worst, Cause::Floor { floor, reason })
        }
    }

    /// Returns the highest tier of any option of a program or sub-command, and at least that of an
    /// undeclared option.
    fn any_option(&self, node: NodeId) -> Tier {
        let mut worst = self.ground.rules.floors.tier(Floor::UnknownFlag);
        let mut is_own = true;
        let mut next = self.ground.facts.node(node);
        while let Some(row) = next {
            for flag in self.ground.facts.flags(&row).filter(|flag| is_own || flag.is_everywhere) {
                let values = self.ground.facts.values(flag.values).map(|value| value.tier).max();
                let role = match flag.role {
                    role if role.is_code() => self.ground.rules.floors.tier(Floor::UnknownWord),
                    Role::Config => self.ground.rules.floors.tier(Floor::OpaqueCode),
                    Role::Read | Role::RemoteRead => Tier::ReadOnly,
                    role if role.is_path() => Tier::Stateful,
                    _ => Tier::ReadOnly,
                };
                worst = worst.max(flag.tier).max(role).max(values.unwrap_or_default());
            }
            is_own = false;
            next = row.parent.and_then(|parent| self.ground.facts.node(parent));
        }
        worst
    }

    /// Returns the limit on an effect from the dry run or check of its call.
    fn cap(&self, effect: &Effect) -> Option<Tier> {
        let call = effect.by.filter(|_| effect.is_capped).and_then(|id| self.effects.call(id))?;
        let tier = |cap: &Cap| match *cap {
            Cap::Flag(flag) => self.ground.facts.flag_row(flag)?.cap,
            Cap::Value(value) => self.ground.facts.value_row(value)?.cap,
            Cap::Help => Some(Tier::ReadOnly),
        };
        let caps = self.effects.caps(call);
        if caps.contains(&Cap::Help) {
            return Some(Tier::ReadOnly);
        }
        // A cap of 3 cancels the others: the setting may switch a dry run off.
        let tiers = || caps.iter().filter_map(tier);
        tiers().min().filter(|_| tiers().max() != Some(Tier::Irreversible))
    }

    /// Returns whether two effects belong to calls that look alike; otherwise they are separate
    /// hits.
    fn calls_alike(&self, one: &Effect, other: &Effect) -> bool {
        match (one.by.filter(|_| one.is_own), other.by.filter(|_| other.is_own)) {
            (None, None) => true,
            (Some(one), Some(other)) => one == other || self.called(one) == self.called(other),
            _ => false,
        }
    }

    /// Returns a program and its sub-commands as they were called; `None` if they are too long to
    /// display.
    fn called(&self, id: CallId) -> Option<SmallVec<[u8; CALLED_BYTES_MAX]>> {
        let call = self.effects.call(id)?;
        let mut called = SmallVec::new();
        for (number, word) in self.effects.command_words(call).enumerate() {
            // A word with a blank would look like two.
            let is_plain = word.bytes().all(|byte| byte.is_ascii_graphic());
            if number > 0 {
                called.push(b' ');
            }
            if !is_plain || called.len() + word.len() > CALLED_BYTES_MAX {
                return None;
            }
            called.extend_from_slice(word.as_bytes());
        }
        Some(called)
    }
}
