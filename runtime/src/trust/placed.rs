//! The bundle in force, as one caller sees it. Every answer is made from this.

use std::sync::Arc;

use relay_bundle::{Corrupt, Place, Repeat, Who};
use relay_engine::cascade::{self, Explained, Question};
use relay_engine::glob;
use relay_engine::place::{self, Identity, NoPlace, Placement};
use relay_engine::view::View;

use super::loaded::Loaded;
use crate::caller::principal::Principal;

/// The bundle in force, and the place of a caller in its project.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) loaded: Arc<Loaded>,
    place: Result<Placement, NoPlace>,
    /// The name of the caller's tenant, if the project has it.
    tenant: Option<String>,
}

/// The part of a bundle that callers see: equal for those who see the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    Everything,
    Audience(usize),
    Nothing,
}

impl Placed {
    /// Places a caller in the bundle in force.
    pub(crate) fn new(loaded: Arc<Loaded>, principal: &Principal) -> Result<Self, Corrupt> {
        let Principal { id, issuer: _, tenant, groups, role } = principal;
        let identity = Identity { id, tenant: tenant.as_deref(), groups, role: role.as_deref() };
        let place = place::place(&loaded.bundle, &identity)?;
        let number = place.as_ref().ok().and_then(|place| place.tenant);
        let tenant = number.map(|number| loaded.bundle.tenants().name(number)).transpose()?;
        let tenant = tenant.map(ToOwned::to_owned);
        Ok(Self { loaded, place, tenant })
    }

    /// Returns the reason for refusing the caller a place, if it has none.
    pub(crate) fn refusal(&self) -> Option<&NoPlace> {
        self.place.as_ref().err()
    }

    /// Returns the caller's view, which is empty for an unplaced caller.
    pub(crate) fn view(&self) -> Result<View<'_>, Corrupt> {
        match &self.place {
            Ok(placement) => View::of(&self.loaded.bundle, placement),
            Err(_) => Ok(View::nothing(&self.loaded.bundle)),
        }
    }

    /// Returns the caller's part of the bundle, to compare callers.
    pub(crate) fn seen(&self) -> Seen {
        let view = self.view().ok();
        match (view.as_ref().and_then(View::audience), view.is_some_and(|view| view.has_place())) {
            (Some(audience), _) => Seen::Audience(audience),
            (None, true) => Seen::Everything,
            (None, false) => Seen::Nothing,
        }
    }

    /// Returns the name of the caller's role, if it has a place and the project has roles.
    pub(crate) fn role(&self) -> Option<&str> {
        let role = self.place.as_ref().ok()?.role?;
        self.loaded.bundle.roles().get(role).map(|role| role.name.as_str())
    }

    /// Returns the name of the caller's tenant, if the project has it.
    pub(crate) fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Returns the skills' text for a call, and the names of the skills; `None` for an empty text.
    pub(crate) fn skills(
        &self,
        question: Question<'_>,
    ) -> Result<Option<(String, Vec<String>)>, Corrupt> {
        let bundle = &self.loaded.bundle;
        let resolution = cascade::resolve(bundle, question)?;
        let text = resolution.text()?;
        if text.is_empty() {
            return Ok(None);
        }
        let winners = resolution.matched.iter().filter(|matched| matched.overridden_by.is_none());
        let name = |skill: u32| Ok(bundle.skill(skill as usize)?.name()?.to_owned());
        let names = winners.map(|matched| name(matched.skill)).collect::<Result<_, Corrupt>>()?;
        Ok(Some((text, names)))
    }

    /// Returns when callers get the text of their skills again.
    pub(crate) fn repeat(&self) -> Repeat {
        let settings = self.loaded.bundle.skill_settings();
        settings.map_or(Repeat::Always, |settings| settings.repeat.value)
    }

    /// Returns whether `users` names a user for the caller's tenant, or for every tenant.
    pub(crate) fn is_user_of_own_tenant(&self, id: &str) -> Result<bool, Corrupt> {
        let own = self.place.as_ref().ok().and_then(|place| place.tenant);
        let bundle = &self.loaded.bundle;
        for number in bundle.users().of(Who::User, id)? {
            let tenant = bundle.users().row(number)?.tenant;
            if tenant.is_none_or(|tenant| own == Some(tenant as usize)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether the role of the caller admits a tool of this name, of any origin.
    pub(crate) fn admits_tool(&self, name: &str) -> Result<bool, Corrupt> {
        let Ok(placement) = &self.place else { return Ok(false) };
        let bundle = &self.loaded.bundle;
        let role = placement.role.and_then(|role| bundle.roles().get(role));
        let Some(patterns) = role.and_then(|role| role.tools.as_ref()) else { return Ok(true) };
        // The tools of the gate are seen with every role.
        let is_seen = || Ok(self.view()?.tools()?.any(|tool| tool.name == name));
        Ok(patterns.iter().any(|pattern| glob::matches(&pattern.value, name)) || is_seen()?)
    }

    /// Returns whether a line of `users` names the caller itself, for every tenant.
    pub(crate) fn is_user_of_all_tenants(&self) -> Result<bool, Corrupt> {
        let Some(row) = self.place.as_ref().ok().and_then(|place| place.row) else {
            return Ok(false);
        };
        let row = self.loaded.bundle.users().row(row)?;
        Ok(row.who == Who::User && row.tenant.is_none())
    }

    /// Explains the skills' text for a call; notes are left out.
    pub(crate) fn explain(&self, question: Question<'_>) -> Result<Explained, Corrupt> {
        cascade::explain(&self.loaded.bundle, question)
    }

    /// Returns notes on odd names in a question.
    pub(crate) fn notes(&self, question: Question<'_>) -> Result<Vec<String>, Corrupt> {
        cascade::notes(&self.loaded.bundle, question)
    }

    /// Returns whether the project has tenants.
    pub(crate) fn has_tenants(&self) -> bool {
        self.loaded.bundle.tenants().count() > 0
    }

    /// Returns a place as the caller may know it: `FILE:LINE`, or only the file if the project may
    /// hide something from a caller, since line numbers disclose how much is hidden.
    pub(crate) fn shown_place<'p>(&self, place: &'p str) -> &'p str {
        let bundle = &self.loaded.bundle;
        if bundle.roles().is_empty() && !self.has_tenants() {
            return place;
        }
        let is_line =
            |line: &str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        match place.rsplit_once(':') {
            Some((file, line)) if is_line(line) => file,
            _ => place,
        }
    }

    /// Returns the line of `users` that gives the role.
    pub(crate) fn given_at(&self) -> Option<Place<&str>> {
        let row = self.place.as_ref().ok()?.row?;
        self.loaded.bundle.users().at(row).ok()
    }
}
