//! The decisions of both bundles on one caller, and whether it gains or loses by the change.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use relay_bundle::{Bundle, CallerRole, Corrupt, List, Setting, Tier};
use relay_engine::place::{Placement, number_of, place};
use relay_engine::view::View;

use crate::audience::name;
use crate::callers::Caller;
use crate::flip::Flip;
use crate::in_force::{Compared, Given, InForce};
use crate::role;
use crate::shown::Shown;

/// The most callers that both bundles are asked for.
const ASKED_MAX: usize = 262_144;

/// The most names of a kind in a finding.
const NAMED_MAX: usize = 4;

/// The decisions on a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decided<'b> {
    /// Its place before; absent if it was refused.
    pub(crate) before: Option<Given<'b>>,
    pub(crate) after: Option<Given<'b>>,
    pub(crate) gains: bool,
    /// Whether it gains by more than the policy, so that no call has to show it.
    pub(crate) is_proved: bool,
    pub(crate) loses: bool,
}

/// A comparison of two places: whether the second has more, and whether the first has more.
#[derive(Clone, Copy)]
struct Extent {
    gains: bool,
    is_proved: bool,
    loses: bool,
}

/// Both bundles, and their answers so far.
pub(crate) struct Decisions<'d, 'b> {
    a: &'b Bundle,
    b: &'b Bundle,
    shown: &'d Shown<'b>,
    unnamed: String,
    /// The row of the first bundle for each row of the second; `None` for a new one.
    counterparts: Vec<(List, Vec<Option<usize>>)>,
    extents: RefCell<BTreeMap<[Given<'b>; 2], Extent>>,
    /// The calls that show gains by the policy.
    flips: RefCell<BTreeMap<[Given<'b>; 2], Option<Flip>>>,
    asked: Cell<usize>,
}

impl<'d, 'b> Decisions<'d, 'b> {
    pub(crate) fn new(shown: &'d Shown<'b>, unnamed: String) -> Result<Self, Corrupt> {
        let [a, b] = shown.sides;
        let counterparts = List::ALL.into_iter().map(|list| Ok((list, counterparts(a, b, list)?)));
        Ok(Self {
            a,
            b,
            shown,
            unnamed,
            counterparts: counterparts.collect::<Result<_, Corrupt>>()?,
            extents: RefCell::default(),
            flips: RefCell::default(),
            asked: Cell::new(0),
        })
    }

    /// Returns whether more callers may be asked for.
    pub(crate) fn have_room(&self) -> bool {
        self.asked.get() < ASKED_MAX
    }

    /// Asks both bundles for a caller.
    pub(crate) fn of(&self, caller: &Caller<'_>) -> Result<Decided<'b>, Corrupt> {
        let before = self.place(self.a, caller)?;
        let after = self.place(self.b, caller)?;
        let extent = |gains, loses| Extent { gains, is_proved: gains, loses };
        let Extent { gains, is_proved, loses } = match (before, after) {
            (None, None) => extent(false, false),
            (None, Some(_)) => extent(true, false),
            (Some(_), None) => extent(false, true),
            (Some(before), Some(after)) => self.extent(before, after)?,
        };
        Ok(Decided { before, after, gains, is_proved, loses })
    }

    /// Returns whether a caller that asks for a role could have had all of it before, by asking for
    /// another role or leaving the role out.
    pub(crate) fn could_have(
        &self,
        caller: &Caller<'_>,
        after: Given<'b>,
    ) -> Result<bool, Corrupt> {
        let roles = self.a.roles().iter().map(|role| Some(role.name.as_str()));
        for role in [None].into_iter().chain(roles) {
            let before = self.place(self.a, &Caller { role, ..caller.clone() })?;
            if let Some(before) = before
                && !self.extent(before, after)?.gains
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the place of a caller; `None` if it is refused.
    fn place(&self, bundle: &'b Bundle, caller: &Caller<'_>) -> Result<Option<Given<'b>>, Corrupt> {
        self.asked.set(self.asked.get() + 1);
        let groups: Vec<String> = caller.groups.iter().map(|group| (*group).to_owned()).collect();
        let Ok(Placement { tenant, role, row: _ }) =
            place(bundle, &caller.identity(&self.unnamed, &groups))?
        else {
            return Ok(None);
        };
        let tenant = tenant.map(|tenant| bundle.tenants().name(tenant)).transpose()?;
        let role = role.and_then(|role| bundle.roles().get(role)).map(|role| role.name.as_str());
        Ok(Some(Given { tenant, role }))
    }

    /// Compares the rows and the authority of a place before with those of one after. A caller that
    /// stays in a place is left out: gains of its role or tenant are findings of their own.
    fn extent(&self, before: Given<'b>, after: Given<'b>) -> Result<Extent, Corrupt> {
        if before == after {
            return Ok(Extent { gains: false, is_proved: false, loses: false });
        }
        if let Some(known) = self.extents.borrow().get(&[before, after]) {
            return Ok(*known);
        }
        let is_other = |tenant: Option<&str>, other, bundle: &Bundle| {
            tenant.is_some() && tenant != other && bundle.tenants().count() > 0
        };
        let (tier_a, tools_a) = authority(self.a, before);
        let (tier_b, tools_b) = authority(self.b, after);
        let mut extent = Extent {
            gains: false,
            is_proved: is_other(after.tenant, before.tenant, self.a)
                || tier_b > tier_a
                || !role::covers(tools_a, tools_b),
            loses: is_other(before.tenant, after.tenant, self.b)
                || tier_a > tier_b
                || !role::covers(tools_b, tools_a),
        };
        self.each_row(before, after, &mut |_, _, Seen { before, after, is_new }| {
            extent.is_proved |= after && !before;
            extent.loses |= before && !after && !is_new;
        })?;
        let of_policy = self.of_policy(before, after)?;
        extent.gains = extent.is_proved || !of_policy.gained.is_empty();
        extent.loses |= of_policy.loses;
        self.extents.borrow_mut().insert([before, after], extent);
        Ok(extent)
    }

    /// Compares the rules and modes in force in a place before with those in one after.
    pub(crate) fn of_policy(
        &self,
        before: Given<'b>,
        after: Given<'b>,
    ) -> Result<Compared, Corrupt> {
        let (Some(of_a), Some(of_b)) = (view(self.a, before)?, view(self.b, after)?) else {
            return Ok(Compared::default());
        };
        let of_a = InForce::of(self.a, &self.shown.old, before, &of_a)?;
        Ok(of_a.compare(&InForce::of(self.b, &self.shown.new, after, &of_b)?))
    }

    /// Returns a call of a caller that the policy refuses less in the place after.
    pub(crate) fn flip(
        &self,
        caller: &Caller<'_>,
        before: Given<'b>,
        after: Given<'b>,
    ) -> Result<Option<Flip>, Corrupt> {
        let known = self.flips.borrow().get(&[before, after]).cloned();
        let flip = match known {
            Some(known) => known,
            None => {
                let (of_a, of_b) = (view(self.a, before)?, view(self.b, after)?);
                let rules = self.of_policy(before, after)?.rules;
                let views = of_a.zip(of_b).map(|(of_a, of_b)| [of_a, of_b]);
                let flip = views.and_then(|views| self.shown.moved(&rules, views));
                self.flips.borrow_mut().insert([before, after], flip.clone());
                flip
            }
        };
        let owned = |name: Option<&str>| name.map(str::to_owned);
        let groups: Vec<String> = caller.groups.iter().map(|group| (*group).to_owned()).collect();
        // Groups place a caller without rows of its own.
        let user = caller.id.or_else(|| groups.is_empty().then_some(self.unnamed.as_str()));
        Ok(flip.map(|flip| Flip {
            tenant: owned(caller.tenant),
            role: owned(caller.role),
            user: owned(user),
            groups,
            ..flip
        }))
    }

    /// Returns the gains of a place after over one before, in words.
    pub(crate) fn gained(
        &self,
        before: Option<Given<'b>>,
        after: Given<'b>,
    ) -> Result<Vec<String>, Corrupt> {
        let mut words = Vec::new();
        let (tier_b, tools_b) = authority(self.b, after);
        let known = before.map(|before| authority(self.a, before));
        match known {
            Some((tier_a, _)) if tier_a >= tier_b => {}
            Some((tier_a, _)) => {
                words.push(format!("tier {} → {}", tier_a.number(), tier_b.number()))
            }
            None => words.push(format!("tier {}", tier_b.number())),
        }
        if !known.is_some_and(|(_, tools_a)| role::covers(tools_a, tools_b)) {
            let is_new = |tool: &&Setting<String>| {
                !known
                    .is_some_and(|(_, tools_a)| role::covers(tools_a, Some(slice::from_ref(*tool))))
            };
            words.push(match tools_b {
                Some(tools) => {
                    let names = tools.iter().filter(is_new).map(|tool| tool.value.as_str());
                    listed("tool", &names.collect::<Vec<_>>())
                }
                None => "all tools".to_owned(),
            });
        }
        let mut gained: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut add = |list: List, row: usize, seen: Seen| {
            if seen.after && !seen.before {
                gained.entry(list as usize).or_default().push(row);
            }
        };
        match before {
            Some(before) => self.each_row(before, after, &mut add)?,
            None => {
                let Some(view) = view(self.b, after)? else { return Ok(words) };
                for (list, counterparts) in &self.counterparts {
                    let seen = Seen { before: false, after: true, is_new: false };
                    let rows = view.rows(*list)?.filter(|row| *row < counterparts.len());
                    rows.for_each(|row| add(*list, row, seen));
                }
            }
        }
        for (list, kind) in [
            (List::Prompts, "prompt"),
            (List::Resources, "resource"),
            (List::Templates, "resource"),
        ] {
            let rows = gained.remove(&(list as usize)).unwrap_or_default();
            let names = rows.iter().map(|row| name(self.b, list, *row));
            let names = names.collect::<Result<Vec<_>, _>>()?;
            words.extend((!names.is_empty()).then(|| listed(kind, &names)));
        }
        Ok(words)
    }

    /// Hands over each row of the second bundle: whether a place before and one after see it.
    fn each_row(
        &self,
        before: Given<'b>,
        after: Given<'b>,
        hand: &mut dyn FnMut(List, usize, Seen),
    ) -> Result<(), Corrupt> {
        let (Some(seen_a), Some(seen_b)) = (view(self.a, before)?, view(self.b, after)?) else {
            return Ok(());
        };
        // The place before in the second bundle: it shows which new rows that place sees.
        let kept = view(self.b, before)?;
        for (list, counterparts) in &self.counterparts {
            let [of_a, of_b] = [seen_a, seen_b].map(|view| view.rows(*list));
            let (of_a, of_b): (BTreeSet<_>, BTreeSet<_>) = (of_a?.collect(), of_b?.collect());
            let of_kept: Option<BTreeSet<usize>> =
                kept.map(|view| view.rows(*list)).transpose()?.map(Iterator::collect);
            for (row, counterpart) in counterparts.iter().enumerate() {
                let was_seen = match counterpart {
                    Some(old) => of_a.contains(old),
                    // Without roles, everyone saw everything.
                    None if self.a.roles().is_empty() => continue,
                    None => of_kept.as_ref().is_some_and(|rows| rows.contains(&row)),
                };
                let is_new = counterpart.is_none();
                hand(*list, row, Seen { before: was_seen, after: of_b.contains(&row), is_new });
            }
        }
        Ok(())
    }
}

/// Whether a row is seen.
#[derive(Clone, Copy)]
struct Seen {
    before: bool,
    after: bool,
    /// Whether only the second bundle has it.
    is_new: bool,
}

/// Returns names with their kind: ``prompts `a`, `b` and 3 more``.
fn listed(kind: &str, names: &[&str]) -> String {
    let (first, rest) = names.split_at(names.len().min(NAMED_MAX));
    let quoted: Vec<_> = first.iter().map(|name| format!("`{name}`")).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    format!("{kind}{plural} {}{more}", quoted.join(", "))
}

/// Returns the view of a place; `None` if the bundle lacks its tenant or its role.
fn view<'b>(bundle: &'b Bundle, given: Given<'_>) -> Result<Option<View<'b>>, Corrupt> {
    let Given { tenant, role } = given;
    let role = match role {
        None => None,
        Some(name) => match number_of(bundle.roles(), name) {
            Some(role) => Some(role),
            None => return Ok(None),
        },
    };
    if role.is_none() && !bundle.roles().is_empty() {
        return Ok(None);
    }
    let tenant = match tenant {
        None => None,
        Some(name) => match bundle.tenants().find(name)? {
            Some(tenant) => Some(tenant),
            None => return Ok(None),
        },
    };
    Ok(Some(View::of(bundle, &Placement { tenant, role, row: None })?))
}

/// Returns the highest tier and the tools of a place; in a project that has no roles, all.
fn authority<'b>(bundle: &'b Bundle, given: Given<'_>) -> (Tier, Option<&'b [Setting<String>]>) {
    let role = given.role.and_then(|name| bundle.roles().get(number_of(bundle.roles(), name)?));
    match role {
        Some(CallerRole { tier, tools, .. }) => (tier.value, tools.as_deref()),
        None => (Tier::Irreversible, None),
    }
}

fn counterparts(a: &Bundle, b: &Bundle, list: List) -> Result<Vec<Option<usize>>, Corrupt> {
    let mut rows = BTreeMap::new();
    for row in 0..a.list(list).count() {
        rows.insert(name(a, list, row)?, row);
    }
    let of = |row| Ok(rows.get(name(b, list, row)?).copied());
    (0..b.list(list).count()).map(of).collect()
}
