//! The roles of callers: the rows of `users`.
//!
//! A row has the direction of its effect on callers: both bundles are asked for each of those on
//! whom it decides. A caller gains if it was refused and is admitted, or if its place after has
//! something that its place before lacked. Gains of the role itself are findings of that role.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, Place, User, Who};
use relay_engine::place::{contains, number_of};

use crate::callers::{Affected, Both, Caller, Counting, Key};
use crate::decided::{Decided, Decisions};
use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::flip::Flip;
use crate::in_force::Given;
use crate::shown::Shown;

/// The most differences of the policy in a finding.
const NAMED_MAX: usize = 4;

/// Callers whose rows of `users` give them another tenant than before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moved {
    /// Absent for callers missing in `users`.
    pub(crate) id: Option<String>,
    /// The tenant before, and after.
    pub(crate) tenants: [Option<String>; 2],
}

/// The role that a row gives.
#[derive(Debug)]
struct Row {
    role: String,
    at: Place,
}

/// The effect of a row on the callers on whom it decides.
#[derive(Clone)]
struct Judged {
    direction: Direction,
    gain: Option<Gain>,
    are_all_asked: bool,
    /// The role of a caller that loses something and has the row's groups alone.
    lost: Option<String>,
    /// The tenants before and after of moved callers.
    tenants: BTreeSet<[Option<String>; 2]>,
}

/// A caller that gains.
#[derive(Clone)]
struct Gain {
    /// Its words: the subject (its id left out), and its authority on each side.
    words: [String; 2],
    /// Whether the policy has a part in it.
    is_of_policy: bool,
    is_proved: bool,
    /// A call that shows a gain by the policy.
    flip: Option<Flip>,
}

/// Compares the users of two bundles, and returns the callers that are moved to another tenant.
pub(crate) fn compare(shown: &Shown<'_>, out: &mut Findings) -> Result<BTreeSet<Moved>, Corrupt> {
    let [a, b] = shown.sides;
    let (of_a, of_b) = (rows(a)?, rows(b)?);
    let both = Both::of(a, b)?;
    let decisions = Decisions::new(shown, both.unnamed())?;
    let sides = Sides { a, b, both: &both, decisions: &decisions };
    let mut known: BTreeMap<_, Judged> = BTreeMap::new();
    let mut moved = BTreeSet::new();
    let new = of_b.keys().filter(|key| !of_a.contains_key(*key));
    for key in of_a.keys().chain(new) {
        let (old, new) = (of_a.get(key), of_b.get(key));
        if old.map(|old| &old.role) == new.map(|new| &new.role) {
            continue;
        }
        // Users with the same rows on both sides are placed alike.
        let class: (Option<&str>, [Vec<Counting<'_>>; 2]) =
            (key.tenant.as_deref(), both.class(key));
        let judged = match known.get(&class).filter(|_| key.who == Who::User) {
            Some(judged) => judged.of_user(&key.id),
            None => sides.judged(key)?,
        };
        let id = (key.who == Who::User).then(|| key.id.clone());
        let of_tenants = judged.tenants.iter().cloned();
        moved.extend(of_tenants.map(|tenants| Moved { id: id.clone(), tenants }));
        match (old, new) {
            (None, Some(new)) => out.push(sides.added(key, new, &judged)),
            (Some(old), None) => out.extend(sides.gone(key, old, &judged)?),
            (Some(old), Some(new)) => out.push(sides.changed(key, old, new, &judged)),
            (None, None) => {}
        }
        if key.who == Who::User {
            known.insert(class, judged);
        }
    }
    Ok(moved)
}

fn rows(bundle: &Bundle) -> Result<BTreeMap<Key, Row>, Corrupt> {
    let row = |User { who, id, tenant, role, at }| {
        let tenant = tenant.map(|tenant| bundle.tenants().name(tenant as usize)).transpose()?;
        let role = bundle.roles().get(role as usize).map_or("", |role| role.name.as_str());
        let key = Key { who, id, tenant: tenant.map(Into::into) };
        Ok((key, Row { role: role.into(), at }))
    };
    bundle.users().list()?.into_iter().map(row).collect()
}

/// The bundles, and their answers so far.
struct Sides<'d, 'b> {
    a: &'b Bundle,
    b: &'b Bundle,
    both: &'d Both,
    decisions: &'d Decisions<'d, 'b>,
}

impl<'b> Sides<'_, 'b> {
    /// Asks both bundles for the callers on whom a row decides.
    fn judged(&self, key: &Key) -> Result<Judged, Corrupt> {
        let Affected { callers, are_all } = self.both.affected(key);
        let mut judged = Judged {
            direction: Direction::Same,
            gain: None,
            are_all_asked: are_all,
            lost: None,
            tenants: BTreeSet::new(),
        };
        let own_groups = usize::from(key.who == Who::Group);
        for caller in &callers {
            if !self.decisions.have_room() {
                judged.are_all_asked = false;
                break;
            }
            let decided = self.decisions.of(caller)?;
            let Decided { before, after, loses, .. } = decided;
            if before == after || self.is_by_other_groups(key, caller, &decided)? {
                continue;
            }
            if self.is_gain(caller, &decided)? {
                judged.direction = Direction::NotProved;
                // A caller that certainly gains is the better example.
                if judged.gain.as_ref().is_none_or(|gain| !gain.is_proved && gain.flip.is_none()) {
                    let gain = self.gain(caller, &decided)?;
                    let is_shown = gain.is_proved || gain.flip.is_some();
                    if judged.gain.is_none() || is_shown {
                        judged.gain = Some(gain);
                    }
                }
            } else if loses {
                judged.direction = judged.direction.and(Direction::Narrower);
            }
            if let Some(before) = before {
                let is_of_row_alone = caller.groups.len() == own_groups && caller.role.is_none();
                if loses && is_of_row_alone && judged.lost.is_none() {
                    judged.lost = before.role.map(Into::into);
                }
                if let Some(after) = after.filter(|after| after.tenant != before.tenant) {
                    let tenants = [before.tenant, after.tenant];
                    judged.tenants.insert(tenants.map(|tenant| tenant.map(Into::into)));
                }
            }
        }
        if !judged.are_all_asked {
            judged.direction = Direction::NotProved;
        }
        Ok(judged)
    }

    /// Returns whether the decision on a caller is the same without the group of the row.
    fn is_by_other_groups(
        &self,
        key: &Key,
        caller: &Caller<'_>,
        decided: &Decided<'_>,
    ) -> Result<bool, Corrupt> {
        if key.who != Who::Group || caller.groups.len() < 2 {
            return Ok(false);
        }
        let mut others = caller.clone();
        others.groups.retain(|group| *group != key.id);
        Ok(self.decisions.of(&others)? == *decided)
    }

    /// Returns whether a caller gains. One that asks for a role gains only if all other roles gave
    /// it less before.
    fn is_gain(&self, caller: &Caller<'_>, decided: &Decided<'b>) -> Result<bool, Corrupt> {
        Ok(match decided.after {
            Some(after) if decided.gains && caller.role.is_some() => {
                !self.decisions.could_have(caller, after)?
            }
            _ => decided.gains,
        })
    }

    fn added(&self, key: &Key, new: &Row, judged: &Judged) -> Finding {
        let role = &new.role;
        let added = finding(key, "", Change::Added).at(None, Some(&new.at));
        let added = added.direction(judged.direction).breaking(judged.lost.is_some());
        judged.show(added.meaning(match (judged.gained(key), &judged.lost) {
            (Some(gained), _) => format!("the role is `{role}`; {gained}"),
            (None, _) if self.a.roles().is_empty() => {
                format!("the role is `{role}`; everyone saw everything")
            }
            (None, Some(lost)) => {
                format!("the role is `{role}`; another row of `users` gave `{lost}`")
            }
            (None, None) => format!("the role is `{role}`"),
        }))
    }

    /// Returns the finding for a removed row; `None` if its tenant was removed, which says so.
    fn gone(&self, key: &Key, old: &Row, judged: &Judged) -> Result<Option<Finding>, Corrupt> {
        let removed = finding(key, "", Change::Removed).breaking(true).at(Some(&old.at), None);
        let was = format!("the role was `{}`", old.role);
        if self.b.roles().is_empty() {
            let removed = removed.breaking(false).direction(Direction::NotProved);
            return Ok(Some(removed.meaning(format!("{was}; everyone sees everything"))));
        }
        let removed = removed.direction(judged.direction);
        if let Some(gained) = judged.gained(key) {
            return Ok(Some(judged.show(removed.meaning(format!("{was}; {gained}")))));
        }
        let has_tenant = match &key.tenant {
            Some(name) => self.b.tenants().find(name)?.is_some(),
            None => true,
        };
        Ok(has_tenant.then(|| removed.meaning(was)))
    }

    fn changed(&self, key: &Key, old: &Row, new: &Row, judged: &Judged) -> Finding {
        let (before, after) = (&old.role, &new.role);
        let change = Change::Value { before: Some(before.clone()), after: Some(after.clone()) };
        let changed = finding(key, "role", change).at(Some(&old.at), Some(&new.at));
        let is_in = |bundle: &Bundle| is_contained(bundle, after, before);
        let is_of_roles = judged.gain.as_ref().is_some_and(|gain| !gain.is_of_policy);
        judged.show(changed.direction(judged.direction).meaning(match judged.gained(key) {
            Some(_) if is_of_roles && (is_in(self.b) || is_in(self.a)) => {
                format!("`{after}` contains `{before}`")
            }
            Some(gained) => gained,
            None if judged.direction == Direction::Same => "it changes what no caller has".into(),
            None => "no caller gains by it".into(),
        }))
    }

    fn gain(&self, caller: &Caller<'_>, decided: &Decided<'b>) -> Result<Gain, Corrupt> {
        let Decided { before, after, is_proved, .. } = *decided;
        let mut gain = Gain {
            words: self.words(caller, before, after)?,
            is_of_policy: false,
            is_proved,
            flip: None,
        };
        if let (Some(before), Some(after)) = (before, after) {
            gain.is_of_policy = !self.decisions.of_policy(before, after)?.gained.is_empty();
            if gain.is_of_policy {
                gain.flip = self.decisions.flip(caller, before, after)?;
            }
        }
        Ok(gain)
    }

    /// Returns words for a caller (its id left out), and its authority before and after.
    fn words(
        &self,
        caller: &Caller<'_>,
        before: Option<Given<'b>>,
        after: Option<Given<'b>>,
    ) -> Result<[String; 2], Corrupt> {
        let Caller { id: _, tenant, groups, role } = caller;
        let mut who = match groups.as_slice() {
            [] => String::new(),
            [group] => format!(" of the group `{group}`"),
            groups => format!(" of the groups `{}`", groups.join("` and `")),
        };
        if self.both.have_tenants() {
            who.push_str(&match tenant {
                Some(tenant) if self.both.is_other_tenant(tenant) => " of an unknown tenant".into(),
                Some(tenant) => format!(" of tenant `{tenant}`"),
                None => " whose credentials say no tenant".into(),
            });
        }
        if let Some(role) = role {
            who.push_str(&format!(" that asks for the role `{role}`"));
        }
        let is_other_tenant = before.map(|it| it.tenant) != after.map(|it| it.tenant);
        let given = |given: Given<'_>| {
            let role = given.role.map_or_else(|| "everything".into(), |role| format!("`{role}`"));
            match given.tenant.filter(|_| is_other_tenant && tenant.is_none()) {
                Some(tenant) => format!("{role} of tenant `{tenant}`"),
                None => role,
            }
        };
        let has = after.map(given).unwrap_or_default();
        let mut what = match before {
            None => format!("was refused and now has {has}"),
            Some(before) => format!("had {} and now has {has}", given(before)),
        };
        if let Some(after) = after {
            let gained = self.decisions.gained(before, after)?;
            if !gained.is_empty() {
                what.push_str(&format!("; it gains {}", gained.join(", ")));
            }
        }
        if let (Some(before), Some(after)) = (before, after) {
            let of_policy = self.decisions.of_policy(before, after)?.gained;
            let (first, rest) = of_policy.split_at(of_policy.len().min(NAMED_MAX));
            if !first.is_empty() {
                what.push_str(&format!("; {}", first.join(", ")));
            }
            if !rest.is_empty() {
                what.push_str(&format!(" and {} more", rest.len()));
            }
        }
        Ok([who, what])
    }
}

impl Judged {
    /// Returns the same for another user with equal rows.
    fn of_user(&self, id: &str) -> Self {
        let mut judged = self.clone();
        if let Some(Gain { flip: Some(flip), .. }) = &mut judged.gain {
            flip.user = Some(id.to_owned());
        }
        judged
    }

    /// Adds the call that shows a gain by the policy. Other gains follow from the rows.
    fn show(&self, finding: Finding) -> Finding {
        match &self.gain {
            Some(gain) if gain.flip.is_some() || !gain.is_proved => {
                finding.decided(gain.flip.clone())
            }
            _ => finding,
        }
    }

    /// Returns words for the gain by a row, if there is one.
    fn gained(&self, key: &Key) -> Option<String> {
        match (&self.gain, self.are_all_asked) {
            (Some(Gain { words: [who, what], .. }), _) => {
                let subject = match key.who {
                    Who::User => format!("`{}`", key.id),
                    Who::Group | Who::Anyone => "a caller".into(),
                };
                Some(format!("{subject}{who} {what}"))
            }
            (None, false) => Some(
                "there are too many kinds of callers to ask for each, so one may gain by it".into(),
            ),
            (None, true) => None,
        }
    }
}

/// Returns whether a bundle says that a role contains another one.
fn is_contained(bundle: &Bundle, wide: &str, name: &str) -> bool {
    let roles = bundle.roles();
    let numbers = (number_of(roles, wide), number_of(roles, name));
    matches!(numbers, (Some(wide), Some(name)) if contains(roles, wide, name))
}

fn finding(key: &Key, part: &str, change: Change) -> Finding {
    let Key { who, id, tenant } = key;
    let kind = match who {
        Who::User => Kind::User,
        Who::Group => Kind::Group,
        Who::Anyone => Kind::Anyone,
    };
    let tenant = tenant.as_ref().map(|tenant| format!("in tenant {tenant}"));
    let role = Some(part.to_owned()).filter(|part| !part.is_empty());
    let part: Vec<String> = role.into_iter().chain(tenant).collect();
    Finding::new(Area::Authority, kind, id.clone(), change).part(part.join(" "))
}
