//! A request -> its keys, and the rules that it may concern.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use relay_bundle::{Bundle, Corrupt, Numbers, RuleIndexView, RuleKey, RuleKind, Selector, Subject};
use relay_policy::effect::{Call, Effect, What};
use relay_policy::facts::Facts;
use relay_policy::rule::{
    LiteralOperands, LiteralPath, Literals, PartlyKnown, Request, ends, folders, searched,
};
use relay_policy::tier::Floor;

use super::word::{
    ALWAYS, ANY_PROGRAM, BELOW, EFFECT, ENDS, IS, PLAIN, PROGRAM, REGEX, TOOL, TOOLS, anything,
    file, known_name,
};

/// The most literals that a word is compared with of which a part is known. Beyond it, it may be any of them.
const LITERALS_MAX: usize = 1_024;

/// A request, whose keys say which rules it concerns.
#[derive(Clone, Copy)]
pub(crate) struct Keyed<'k> {
    pub(crate) bundle: &'k Bundle,
    pub(crate) request: &'k Request<'k>,
}

/// The numbers of the rules that a request may concern, rising.
#[derive(Debug)]
pub struct Concerned {
    /// Those with a literal of the request: only they may mean it for sure.
    pub keyed: Vec<u32>,
    /// Others that may mean it, since a value of it is open.
    pub open: Vec<u32>,
    /// Whether any other rule may mean it, since a part of it may be anything.
    pub may_be_any: bool,
}

/// Something done with the keys of a request.
trait Visit {
    /// Takes the rules of a key.
    fn take(&mut self, key: &RuleKey<'_>) -> Result<(), Corrupt>;

    /// Takes the rules of a key that has no literal of the request.
    fn take_open(&mut self, key: &RuleKey<'_>) -> Result<(), Corrupt>;

    /// Takes the rules of the literals of a family that a value of the request may be.
    fn take_partly_known(
        &mut self,
        family: &RuleKey<'_>,
        value: &PartlyKnown<'_>,
    ) -> Result<(), Corrupt>;

    /// Returns whether a key may have rules.
    fn has(&mut self, key: &RuleKey<'_>) -> Result<bool, Corrupt>;
}

/// The numbers of rules, found by their keys.
struct Found<'b> {
    index: RuleIndexView<'b>,
    keyed: Vec<u32>,
    open: Vec<u32>,
}

impl Visit for Found<'_> {
    fn take(&mut self, key: &RuleKey<'_>) -> Result<(), Corrupt> {
        self.keyed.extend(self.index.of(key)?.iter());
        Ok(())
    }

    fn take_open(&mut self, key: &RuleKey<'_>) -> Result<(), Corrupt> {
        self.open.extend(self.index.of(key)?.iter());
        Ok(())
    }

    fn take_partly_known(
        &mut self,
        family: &RuleKey<'_>,
        value: &PartlyKnown<'_>,
    ) -> Result<(), Corrupt> {
        let mut beginning = family.then(IS).text();
        let literal_start = beginning.len();
        beginning.push_str(value.beginning());
        for (count, entry) in self.index.beginning_with(&beginning)?.enumerate() {
            if count == LITERALS_MAX {
                return self.take_open(family);
            }
            let (key, rules) = entry?;
            if key.get(literal_start..).is_some_and(|literal| value.may_be(literal)) {
                self.open.extend(rules.iter());
            }
        }
        Ok(())
    }

    fn has(&mut self, key: &RuleKey<'_>) -> Result<bool, Corrupt> {
        Ok(!self.index.of(key)?.is_empty())
    }
}

impl Visit for BTreeSet<String> {
    fn take(&mut self, key: &RuleKey<'_>) -> Result<(), Corrupt> {
        self.insert(key.text());
        Ok(())
    }

    fn take_open(&mut self, key: &RuleKey<'_>) -> Result<(), Corrupt> {
        Visit::take(self, key)
    }

    fn take_partly_known(
        &mut self,
        family: &RuleKey<'_>,
        _: &PartlyKnown<'_>,
    ) -> Result<(), Corrupt> {
        Visit::take(self, family)
    }

    fn has(&mut self, _: &RuleKey<'_>) -> Result<bool, Corrupt> {
        Ok(true)
    }
}

/// The literals of a request, each kind read once, for all bases.
struct Details<'k> {
    request: &'k Request<'k>,
    paths: BTreeMap<&'static str, Literals<LiteralPath>>,
    hosts: Option<Literals<String>>,
}

impl<'k> Keyed<'k> {
    /// Returns the rules that the request may concern.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub(crate) fn concerned(self) -> Result<Concerned, Corrupt> {
        let Found { mut keyed, mut open, .. } = self.found()?;
        sort(&mut keyed);
        sort(&mut open);
        open.retain(|number| keyed.binary_search(number).is_err());
        Ok(Concerned { keyed, open, may_be_any: self.may_be_any() })
    }

    /// Returns the numbers of rules of a kind that may mean a request of which a part may be anything, rising.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub(crate) fn of_anything(
        self,
        kind: RuleKind,
        observed: bool,
    ) -> Result<Numbers<'k>, Corrupt> {
        self.bundle.rule_index().of(&RuleKey::new(&anything(kind, observed)))
    }

    /// Returns the numbers of the rules that allow and are about the tool, the program or the kind of an effect
    /// of the request, whichever operands, paths and hosts they name, rising; all that allow, if the program is
    /// unknown.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub(crate) fn near(self, effect: &Effect) -> Result<Vec<u32>, Corrupt> {
        let Request { facts, effects, tool, .. } = *self.request;
        let allow = self.of_anything(RuleKind::Allow, false)?;
        let call = effect.by.and_then(|id| effects.call(id));
        let mut numbers: Vec<u32> = Vec::new();
        if call.is_some_and(|call| !effects.is_exact(call.program)) {
            numbers.extend(allow.iter());
        } else if !allow.is_empty() {
            let index = self.bundle.rule_index();
            let mut take = |base: &RuleKey<'_>| -> Result<(), Corrupt> {
                numbers.extend(index.of(base)?.iter().filter(|number| allow.contains(*number)));
                Ok(())
            };
            for [kind, name] in tool_bases(tool) {
                take(&RuleKey::new(kind).then(name))?;
            }
            if let Some(call) = call {
                take(&RuleKey::new(ANY_PROGRAM))?;
                let program = effects.display(call.program);
                let of_program = RuleKey::new(PROGRAM);
                names(&program, facts).try_for_each(|name| take(&of_program.then(&name)))?;
            }
            let of_effect = RuleKey::new(EFFECT);
            for selector in Selector::ALL.iter().filter(|selector| is_of(effect, **selector)) {
                take(&of_effect.then(selector.word()))?;
            }
            sort(&mut numbers);
        }
        Ok(numbers)
    }

    fn found(self) -> Result<Found<'k>, Corrupt> {
        let index = self.bundle.rule_index();
        let mut found = Found { index, keyed: Vec::new(), open: Vec::new() };
        self.visit(&mut found)?;
        Ok(found)
    }

    /// Returns the keys of the rules that the request may concern; `None` if it may concern any
    /// rule.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub(crate) fn keys(self) -> Result<Option<BTreeSet<String>>, Corrupt> {
        if self.may_be_any() {
            return Ok(None);
        }
        let mut keys = BTreeSet::new();
        self.visit(&mut keys)?;
        Ok(Some(keys))
    }

    /// Returns whether the request may concern rules without a key of it, since a part of it is not known.
    fn may_be_any(self) -> bool {
        let effects = self.request.effects;
        let is_open = |effect: &Effect| effect.may_be_anything() || effect.may_be_any_effect();
        effects.calls().iter().any(|call| !effects.is_exact(call.program))
            || effects.all().iter().any(is_open)
    }

    /// Visits the keys of the request.
    fn visit(self, out: &mut impl Visit) -> Result<(), Corrupt> {
        let Request { tool, text, effects, .. } = *self.request;
        let mut details = Details { request: self.request, paths: BTreeMap::new(), hosts: None };
        let calls: Vec<&Call> = effects.calls().iter().collect();
        out.take(&RuleKey::new(ALWAYS))?;
        let of_regex = RuleKey::new(REGEX);
        for automaton in self.bundle.automata_in_place()?.matching(&searched(tool, text)) {
            out.take(&of_regex.then(&automaton.to_string()))?;
        }
        for [kind, name] in tool_bases(tool) {
            details.base(&RuleKey::new(kind).then(name), &[], out)?;
        }
        if !calls.is_empty() {
            details.base(&RuleKey::new(ANY_PROGRAM), &calls, out)?;
        }
        self.programs(&calls, &mut details, out)?;
        self.effects(&mut details, out)
    }

    /// Visits the keys of rules over programs of a name.
    fn programs<'e>(
        self,
        calls: &[&'e Call],
        details: &mut Details<'_>,
        out: &mut impl Visit,
    ) -> Result<(), Corrupt> {
        let Request { facts, effects, .. } = *self.request;
        let mut named: Vec<(String, &'e Call)> = Vec::with_capacity(calls.len());
        for call in calls {
            let program = effects.display(call.program);
            named.extend(names(&program, facts).map(|name| (name.into_owned(), *call)));
        }
        named.sort_by(|(one, _), (other, _)| one.cmp(other));
        let of_program = RuleKey::new(PROGRAM);
        for same in named.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((name, _)) = same.first() else { continue };
            let calls: Vec<&Call> = same.iter().map(|(_, call)| *call).collect();
            details.base(&of_program.then(name), &calls, out)?;
        }
        Ok(())
    }

    /// Visits the keys of rules over effects alone.
    fn effects(self, details: &mut Details<'_>, out: &mut impl Visit) -> Result<(), Corrupt> {
        let effects = self.request.effects;
        let has_unknown = effects.calls().iter().any(|call| call.node.is_none());
        let of_effect = RuleKey::new(EFFECT);
        for selector in Selector::ALL.iter().filter(|it| it.subject() == Subject::Effect) {
            let may_be_unknown =
                selector.is_of_paths() || matches!(selector, Selector::Connects | Selector::Runs);
            if !(has_unknown && may_be_unknown
                || effects.all().iter().any(|effect| is_of(effect, *selector)))
            {
                continue;
            }
            let base = of_effect.then(selector.word());
            if begin(&base, out)? {
                let details_of = base.then(" ");
                match selector {
                    Selector::Connects => details.hosts(&details_of, out)?,
                    _ if selector.is_of_paths() => details.paths(&details_of, *selector, out)?,
                    // INVARIANT: the others have no details.
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Details<'_> {
    /// Visits the keys of a base, whose operands are those of these calls.
    fn base(
        &mut self,
        base: &RuleKey<'_>,
        calls: &[&Call],
        out: &mut impl Visit,
    ) -> Result<(), Corrupt> {
        if !begin(base, out)? {
            return Ok(());
        }
        let base = &base.then(" ");
        self.operands(base, calls, out)?;
        for selector in Selector::ALL.iter().filter(|it| it.is_of_paths()) {
            self.paths(base, *selector, out)?;
        }
        self.hosts(base, out)
    }

    /// Visits the keys of operands after a base.
    fn operands(
        &self,
        base: &RuleKey<'_>,
        calls: &[&Call],
        out: &mut impl Visit,
    ) -> Result<(), Corrupt> {
        let family = base.then(Selector::Operands.word());
        if calls.is_empty() || !out.has(&family)? {
            return Ok(());
        }
        let LiteralOperands { certain, partly_known } = self.request.literal_operands(calls);
        if certain.is_open {
            out.take_open(&family)?;
        } else {
            for value in &partly_known {
                out.take_partly_known(&family, value)?;
            }
        }
        let is = family.then(IS);
        certain.all.iter().try_for_each(|operand| out.take(&is.then(operand)))
    }

    /// Visits the keys of paths after a base.
    fn paths(
        &mut self,
        base: &RuleKey<'_>,
        selector: Selector,
        out: &mut impl Visit,
    ) -> Result<(), Corrupt> {
        let word = selector.word();
        let family = base.then(word);
        if !out.has(&family)? {
            return Ok(());
        }
        let request = self.request;
        let paths = self.paths.entry(word).or_insert_with(|| request.literal_paths(selector));
        if paths.is_open {
            out.take_open(&family)?;
        }
        let (is, below) = (family.then(IS), family.then(BELOW));
        let mut last = "";
        for LiteralPath { text, is_whole } in &paths.all {
            for folder in folders(text) {
                // They are sorted, so the folders of a path are often those of the one before.
                if !is_in(last, folder) {
                    out.take(&is.then(folder))?;
                }
                let below = below.then(folder);
                if !out.has(&below)? {
                    break;
                }
                if *is_whole && folder.len() == text.len() {
                    out.take_open(&below)?;
                }
            }
            last = text;
        }
        Ok(())
    }

    /// Visits the keys of hosts after a base.
    fn hosts(&mut self, base: &RuleKey<'_>, out: &mut impl Visit) -> Result<(), Corrupt> {
        let family = base.then(Selector::Connects.word());
        if !out.has(&family)? {
            return Ok(());
        }
        let hosts = self.hosts.get_or_insert_with(|| self.request.literal_hosts());
        if hosts.is_open {
            out.take_open(&family)?;
        }
        let is = family.then(IS);
        for host in &hosts.all {
            out.take(&is.then(host))?;
        }
        let ends: BTreeSet<&str> = hosts.all.iter().flat_map(|host| ends(host)).collect();
        let ends_in = family.then(ENDS);
        ends.into_iter().try_for_each(|end| out.take(&ends_in.then(end)))
    }
}

/// Visits the keys of a base and of its plain rules; returns whether there may be others.
fn begin(base: &RuleKey<'_>, out: &mut impl Visit) -> Result<bool, Corrupt> {
    if !out.has(base)? {
        return Ok(false);
    }
    out.take(&base.then(PLAIN))?;
    Ok(true)
}

/// Returns the bases of rules over tools that a tool may be meant by.
fn tool_bases(tool: &str) -> impl Iterator<Item = [&str; 2]> {
    let folders = tool.match_indices('/').filter_map(|(end, _)| tool.get(..=end));
    [[TOOL, tool], [TOOLS, ""]].into_iter().chain(folders.map(|folder| [TOOLS, folder]))
}

/// Returns the known names of a program: as it is written, and by its file.
fn names<'n>(program: &'n str, facts: &Facts<'_>) -> impl Iterator<Item = Cow<'n, str>> {
    let file = program.contains('/').then(|| file(program));
    iter::once(program).chain(file).map(move |name| known_name(name, facts))
}

/// Returns whether rules by a selector are about an effect.
fn is_of(effect: &Effect, selector: Selector) -> bool {
    selector.subject() == Subject::Effect
        && match effect.what {
            // What reads a path and acts may do anything to it.
            What::Path { .. } => selector.is_of_paths(),
            // A program at a path that no fact describes is code that the text does not show.
            What::Doubt(Floor::UnknownProgram, _) => selector == Selector::Runs,
            _ => effect.name() == selector.word(),
        }
}

fn sort(numbers: &mut Vec<u32>) {
    numbers.sort_unstable();
    numbers.dedup();
}

/// Returns whether a path is a folder or lies in it.
fn is_in(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || folder.ends_with('/') || rest.starts_with('/'))
}
