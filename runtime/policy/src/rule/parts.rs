//! A rule, ready to be asked about requests.

use relay_bundle::{Automaton, Bundle, Corrupt, Rule, RuleView, Selector, Subject};

use super::call::Called;
use super::condition::{Condition, Values};
use super::effect::{effect_fit, is_of_kind, unknown_fit};
use super::fit::Fit;
use super::request::Request;
use crate::effect::{Call, CallId, Effect, Fact, Hidden, What};
use crate::facts::NameId;
use crate::span::Span;
use crate::tier::Floor;

/// The conditions of a rule, or of one of its exceptions.
#[derive(Clone, Default)]
struct Group<'r> {
    call: Vec<Condition<'r>>,
    effect: Vec<Condition<'r>>,
    request: Vec<Condition<'r>>,
}

/// The conditions of a rule and its exceptions.
#[derive(Clone)]
pub struct Meaning<'r> {
    own: Group<'r>,
    except: Vec<Group<'r>>,
}

/// The part of a request that a rule means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Whether it is certain.
    pub fit: Fit,
    /// The bytes of the text; absent for the request as a whole.
    pub span: Option<Span>,
    /// The call that it means, if it means one.
    pub call: Option<CallId>,
}

impl<'r> Meaning<'r> {
    /// Reads the rule of a bundle.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn of(rule: RuleView<'r>) -> Result<Self, Corrupt> {
        let mut groups = Groups::default();
        for condition in rule.conditions()? {
            let condition = condition?;
            let read = Condition {
                selector: condition.selector()?,
                argument: condition.argument()?,
                values: Values::InPlace(condition.values()),
                except: Values::InPlace(condition.except()),
                regex: condition.automaton()?,
            };
            groups.add(condition.group(), read);
        }
        Ok(groups.meaning())
    }

    /// Takes a rule that is not in a bundle yet, or was read from one. A regex of it may be found in
    /// any text.
    #[must_use]
    pub fn of_rule(rule: &'r Rule) -> Self {
        let mut groups = Groups::default();
        for condition in &rule.conditions {
            groups.add(condition.group, of_condition(condition, None));
        }
        groups.meaning()
    }

    /// Takes a rule that was read from a bundle and may have lost conditions or values since.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn of_changed(bundle: &'r Bundle, rule: &'r Rule) -> Result<Self, Corrupt> {
        let mut groups = Groups::default();
        for condition in &rule.conditions {
            let regex = condition.automaton.map(|number| bundle.automaton(number)).transpose()?;
            groups.add(condition.group, of_condition(condition, regex));
        }
        Ok(groups.meaning())
    }

    /// Returns whether the rule is about calls or effects, and so may mean a request of which a part is
    /// not known.
    #[must_use]
    pub fn is_about_parts(&self) -> bool {
        !self.own.call.is_empty() || !self.own.effect.is_empty()
    }

    /// Returns the first part of the request that the rule may mean, the surest of its kind; `None`
    /// if it means none.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn fires(&self, request: &Request<'_>) -> Result<Option<Part>, Corrupt> {
        let mut best: Option<Part> = None;
        self.each_part(request, false, |part| {
            if best.is_none_or(|best| best.fit < part.fit) {
                best = Some(part);
            }
        })?;
        Ok(best)
    }

    /// Returns all parts of the request that the rule may mean.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn parts(&self, request: &Request<'_>) -> Result<Vec<Part>, Corrupt> {
        let mut parts = Vec::new();
        self.each_part(request, true, |part| parts.push(part))?;
        Ok(parts)
    }

    /// Visits the parts of the request that the rule may mean: of a rule over effects alone only the
    /// surest, unless all are wanted.
    fn each_part(
        &self,
        request: &Request<'_>,
        wants_all: bool,
        mut visit: impl FnMut(Part),
    ) -> Result<(), Corrupt> {
        let whole = self.own.request_fit(request, false)?;
        if whole == Fit::No {
            return Ok(());
        }
        let mut found = |fit: Fit, span: Option<Span>, call: Option<CallId>| {
            let fit = fit.min(whole);
            if fit != Fit::No {
                visit(Part { fit, span, call });
            }
        };
        let effects = request.effects;
        if self.is_about_parts() {
            for effect in effects.all().iter().filter(|effect| effect.may_be_anything()) {
                found(Fit::Maybe, Some(effect.span), effect.by);
            }
        }
        if !self.own.call.is_empty() {
            for (number, call) in effects.calls().iter().enumerate() {
                let mut fit = self.own.call_fit(request, call, false);
                if fit == Fit::No || self.excepts_call(request, number, call)? {
                    continue;
                }
                let mut span = call.span;
                for condition in &self.own.effect {
                    let own = effects.all().iter().filter(|effect| is_of(effect, number));
                    let each = own.map(|effect| (effect_fit(request, condition, effect), effect));
                    let (effect_fit, effect) = each
                        .max_by_key(|(fit, _)| *fit)
                        .map_or((Fit::No, None), |(fit, effect)| (fit, Some(effect)));
                    fit = fit.min(effect_fit.max(unknown_fit(request, condition, call)));
                    span = effect.map_or(span, |effect| effect.span);
                }
                found(fit, Some(span), effects.call_id(number));
            }
        } else if !self.own.effect.is_empty() {
            let mut fit = Fit::Surely;
            let mut span = None;
            let mut by = None;
            let mut others = Vec::new();
            for condition in &self.own.effect {
                let mut most = Fit::No;
                for effect in effects.all() {
                    let one = effect_fit(request, condition, effect);
                    if one == Fit::No || self.excepts_effect(request, effect)? {
                        continue;
                    }
                    if wants_all {
                        others.push((Some(effect.span), effect.by));
                    }
                    if one > most {
                        most = one;
                        span = Some(effect.span);
                        by = effect.by;
                    }
                }
                for (number, call) in effects.calls().iter().enumerate() {
                    let one = unknown_fit(request, condition, call);
                    if one == Fit::No || self.excepts_call(request, number, call)? {
                        continue;
                    }
                    if wants_all {
                        others.push((Some(call.span), effects.call_id(number)));
                    }
                    if one > most {
                        most = one;
                        span = Some(call.span);
                        by = effects.call_id(number);
                    }
                }
                fit = fit.min(most);
                if fit == Fit::No {
                    return Ok(());
                }
            }
            // The surest comes first.
            found(fit, span, by);
            others.into_iter().for_each(|(span, by)| found(fit, span, by));
        } else if !self.excepts_all(request)? {
            found(Fit::Surely, None, None);
        }
        Ok(())
    }

    /// Returns whether the rule certainly means an effect, and names or fixes it.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn covers(&self, request: &Request<'_>, effect: &Effect) -> Result<bool, Corrupt> {
        if self.own.request_fit(request, true)? != Fit::Surely {
            return Ok(false);
        }
        let call = own_call(request, effect);
        let names =
            |condition: &Condition<'_>| effect_fit(request, condition, effect) == Fit::Surely;
        let is_named = self.own.effect.iter().any(names);
        let is_covered = match (call, self.own.call.is_empty()) {
            (Some(call), false) => {
                self.own.call_fit(request, call, true) == Fit::Surely
                    && self.own.has_effects(request, effect.by)
                    && self.own.names_hosts(request, call, effect.by)
                    && (is_named || self.own.fixes(request, call, effect))
            }
            (None, false) => false,
            // A rule over tools covers the doubt about the tool itself.
            (_, true) if self.own.effect.is_empty() => {
                matches!(effect.what, What::Doubt(Floor::UnknownTool, _)) && self.own.names_tool()
            }
            // Its call may read other paths and send them as the rule permits.
            (_, true) => is_named && self.own.has_effects(request, effect.by),
        };
        Ok(is_covered && !self.may_except(request, call, effect)?)
    }

    /// Returns whether the rule permits the tool itself, with any effects.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn permits_tool(&self, request: &Request<'_>) -> Result<bool, Corrupt> {
        let is_whole =
            self.own.call.is_empty() && self.own.effect.is_empty() && self.own.names_tool();
        Ok(is_whole
            && self.own.request_fit(request, true)? == Fit::Surely
            && !self.excepts_any(request)?)
    }

    /// Returns the selectors by which a rule that permits does not certainly mean an effect; for one
    /// that means it and does not name or fix it, the part that it lacks.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn fails_on(&self, request: &Request<'_>, effect: &Effect) -> Result<Vec<String>, Corrupt> {
        let mut fails = Vec::new();
        for condition in &self.own.request {
            if request.fit(condition, true)? != Fit::Surely {
                fails.push(condition.selector.word().to_owned());
            }
        }
        let call = own_call(request, effect);
        for condition in &self.own.call {
            let called = call.map(|call| Called::of(request, call));
            if called.is_none_or(|called| called.fit(condition, true) != Fit::Surely) {
                fails.push(condition.selector.word().to_owned());
            }
        }
        if !self.own.call.is_empty() && !self.own.has_effects(request, effect.by) {
            fails.extend(self.own.effect.iter().map(|it| it.selector.word().to_owned()));
        }
        if fails.is_empty()
            && call.is_some_and(|call| {
                !self.own.call.is_empty() && !self.own.names_hosts(request, call, effect.by)
            })
        {
            fails.push("connects: the host is not named".to_owned());
        }
        if fails.is_empty() {
            let lacks = match effect.what {
                What::Declared(Fact::Flag(_, _, name)) => {
                    format!("flags: `{}` is not named", request.facts.option_name(name))
                }
                _ => format!("{}: not named", effect.name()),
            };
            let is_excepted = self.may_except(request, call, effect)?;
            fails.push(if is_excepted { "except".to_owned() } else { lacks });
        }
        Ok(fails)
    }

    /// Returns whether an exception certainly means a call.
    fn excepts_call(
        &self,
        request: &Request<'_>,
        number: usize,
        call: &Call,
    ) -> Result<bool, Corrupt> {
        for group in &self.except {
            let mut fit = group.request_fit(request, true)?;
            fit = fit.min(group.call_fit(request, call, true));
            for condition in &group.effect {
                let own = request.effects.all().iter().filter(|effect| is_of(effect, number));
                fit = fit.min(all_of(request, condition, own));
            }
            if fit == Fit::Surely {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether an exception certainly means an effect.
    fn excepts_effect(&self, request: &Request<'_>, effect: &Effect) -> Result<bool, Corrupt> {
        for group in &self.except {
            let mut fit = group.request_fit(request, true)?;
            if !group.call.is_empty() {
                let call = own_call(request, effect);
                fit = fit.min(call.map_or(Fit::No, |call| group.call_fit(request, call, true)));
            }
            for condition in &group.effect {
                fit = fit.min(effect_fit(request, condition, effect));
            }
            if fit == Fit::Surely {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether an exception certainly means all of the request.
    fn excepts_all(&self, request: &Request<'_>) -> Result<bool, Corrupt> {
        let effects = request.effects;
        for group in &self.except {
            let mut fit = group.request_fit(request, true)?;
            if !group.call.is_empty() {
                let calls = effects.calls();
                let all = Fit::all(calls.iter().map(|call| group.call_fit(request, call, true)));
                fit = if calls.is_empty() { Fit::No } else { fit.min(all) };
            }
            for condition in &group.effect {
                fit = fit.min(all_of(request, condition, effects.all().iter()));
            }
            if fit == Fit::Surely {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether an exception of a rule that permits may mean an effect.
    fn may_except(
        &self,
        request: &Request<'_>,
        call: Option<&Call>,
        effect: &Effect,
    ) -> Result<bool, Corrupt> {
        for group in &self.except {
            let mut fit = group.request_fit(request, false)?;
            if !group.call.is_empty() {
                fit = fit.min(call.map_or(Fit::Maybe, |call| group.call_fit(request, call, false)));
            }
            if !group.effect.is_empty() {
                // Another effect of the call may be the excepted one.
                let of_call = request.effects.all().iter().filter(|other| other.by == effect.by);
                let of_call = of_call.chain([effect]);
                let fits = of_call.map(|effect| {
                    Fit::all(group.effect.iter().map(|it| effect_fit(request, it, effect)))
                });
                fit = fit.min(Fit::any(fits));
            }
            if fit != Fit::No {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether an exception may mean a part of the request.
    fn excepts_any(&self, request: &Request<'_>) -> Result<bool, Corrupt> {
        let is_about_parts =
            |group: &&Group<'_>| !group.call.is_empty() || !group.effect.is_empty();
        for group in &self.except {
            if is_about_parts(&group) || group.request_fit(request, false)? != Fit::No {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Group<'_> {
    fn request_fit(&self, request: &Request<'_>, is_permit: bool) -> Result<Fit, Corrupt> {
        let mut least = Fit::Surely;
        for condition in &self.request {
            least = least.min(request.fit(condition, is_permit)?);
            if least == Fit::No {
                break;
            }
        }
        Ok(least)
    }

    fn call_fit(&self, request: &Request<'_>, call: &Call, is_permit: bool) -> Fit {
        let called = Called::of(request, call);
        Fit::all(self.call.iter().map(|condition| called.fit(condition, is_permit)))
    }

    /// Returns whether the effects of a call, of the kinds that these conditions select, are all
    /// certainly meant, and there is one.
    fn has_effects(&self, request: &Request<'_>, by: Option<CallId>) -> bool {
        let own = || request.effects.all().iter().filter(|effect| effect.by == by);
        let mut count = 0;
        for condition in &self.effect {
            for effect in own().filter(|effect| is_of_kind(condition.selector, effect)) {
                count += 1;
                if effect_fit(request, condition, effect) != Fit::Surely {
                    return false;
                }
            }
        }
        self.effect.is_empty() || count > 0
    }

    /// Returns whether each host that an option of a call gives is named, or written in a word of the
    /// conditions: an option such as `docker -H` sends a call elsewhere.
    fn names_hosts(&self, request: &Request<'_>, call: &Call, by: Option<CallId>) -> bool {
        let called = Called::of(request, call);
        let own = request.effects.all().iter().filter(|it| it.by == by && it.is_own);
        let mut hosts = own.filter_map(|effect| match effect.what {
            What::Connects(host) if called.is_in_option(effect.span) => Some((effect, host)),
            _ => None,
        });
        hosts.all(|(effect, host)| {
            self.effect.iter().any(|it| effect_fit(request, it, effect) == Fit::Surely)
                || self.call.iter().any(|it| called.is_fixed(it, effect.span))
                || self.call.iter().any(|it| called.writes_host(it, host))
        })
    }

    fn names_tool(&self) -> bool {
        self.request.iter().any(|condition| condition.selector == Selector::Tool)
    }

    /// Returns whether a condition gives an option by its own name.
    fn names_option(&self, called: Called<'_>, given: NameId) -> bool {
        let names = |flag: &str| {
            let flag = flag.split_once('=').map_or(flag, |(flag, _)| flag);
            called.named(given, flag) == Fit::Surely
        };
        let mut flags = self.call.iter().filter(|it| it.selector == Selector::Flags);
        flags.any(|condition| condition.values.has(names))
    }

    fn has(&self, selector: Selector) -> bool {
        self.call.iter().any(|condition| condition.selector == selector)
    }

    /// Returns whether the conditions fix an effect of a call that they certainly mean: the action
    /// of the program itself, an option that they name, or a word that they give.
    fn fixes(&self, request: &Request<'_>, call: &Call, effect: &Effect) -> bool {
        let called = Called::of(request, call);
        let gives_word = || self.call.iter().any(|it| called.is_fixed(it, effect.span));
        match effect.what {
            What::Declared(Fact::Program(_) | Fact::Form(..)) => true,
            // Options of one row have one effect, whichever of them are given.
            What::Declared(Fact::Flag(_, _, name)) => {
                called.options_like(name).all(|given| self.names_option(called, given))
            }
            What::Declared(Fact::Value(..)) => self.has(Selector::Operands) || gives_word(),
            What::Doubt(Floor::UnknownProgram, _) => {
                call.node.is_none() && self.call.iter().any(|it| names_literally(it))
            }
            What::Path { .. } | What::Connects(_) | What::Listens(_) | What::Escalates(_) => {
                gives_word()
            }
            What::Does(..) => gives_word(),
            // A program that no fact describes is trusted whole, as is a file that the rule names.
            What::Runs(Hidden::Opaque, _) => {
                gives_word()
                    || (call.node.is_none() && self.call.iter().any(|it| names_literally(it)))
            }
            What::Raised(_) => true,
            What::Sends(_)
            | What::Runs(..)
            | What::Mounts(_)
            | What::Unlisted { .. }
            | What::AnyOption(_)
            | What::Doubt(..) => false,
        }
    }
}

fn of_condition<'r>(
    condition: &'r relay_bundle::Condition,
    regex: Option<Automaton<'r>>,
) -> Condition<'r> {
    Condition {
        selector: condition.selector,
        argument: condition.argument.as_deref(),
        values: Values::Settings(&condition.values),
        except: Values::Settings(&condition.except),
        regex,
    }
}

/// Returns the call that causes an effect itself; the doubt about an unknown program belongs to its
/// call.
fn own_call<'r>(request: &Request<'r>, effect: &Effect) -> Option<&'r Call> {
    let call = request.effects.call(effect.by?)?;
    let is_program = matches!(effect.what, What::Doubt(Floor::UnknownProgram, _))
        && call.node.is_none()
        && call.span == effect.span;
    (effect.is_own || is_program).then_some(call)
}

/// Returns whether a condition names programs without a pattern.
fn names_literally(condition: &Condition<'_>) -> bool {
    condition.selector == Selector::Program
        && !condition.values.has(|name| name.contains(['*', '?']))
}

/// Returns whether a condition means all effects of its kind, of which there is one at least.
fn all_of<'e>(
    request: &Request<'_>,
    condition: &Condition<'_>,
    effects: impl Iterator<Item = &'e Effect>,
) -> Fit {
    let kind = Condition { values: Values::Every, except: Values::Patterns(&[]), ..*condition };
    let mut fit = None;
    for effect in effects.filter(|effect| effect_fit(request, &kind, effect) != Fit::No) {
        let one = effect_fit(request, condition, effect);
        fit = Some(fit.map_or(one, |fit: Fit| fit.min(one)));
    }
    fit.unwrap_or(Fit::No)
}

fn is_of(effect: &Effect, call: usize) -> bool {
    effect.by.is_some_and(|by| by.number() as usize == call)
}

/// The groups of a rule while they are read.
#[derive(Default)]
struct Groups<'r> {
    own: Group<'r>,
    except: Vec<Group<'r>>,
}

impl<'r> Groups<'r> {
    fn add(&mut self, number: u8, condition: Condition<'r>) {
        let group = match usize::from(number).checked_sub(1) {
            None => &mut self.own,
            Some(number) => {
                if self.except.len() <= number {
                    self.except.resize_with(number + 1, Group::default);
                }
                let Some(group) = self.except.get_mut(number) else { return };
                group
            }
        };
        match condition.selector.subject() {
            Subject::Call => group.call.push(condition),
            Subject::Effect => group.effect.push(condition),
            Subject::Request => group.request.push(condition),
        }
    }

    fn meaning(self) -> Meaning<'r> {
        Meaning { own: self.own, except: self.except }
    }
}
