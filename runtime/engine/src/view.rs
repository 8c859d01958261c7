//! The part of a bundle that a caller sees.
//!
//! A server answers only from a [`View`], so rows hidden from an audience do not exist for it: the
//! tables are the same, with a mask.

use relay_bundle::{
    AudienceView, Bundle, CallerRole, Corrupt, Gate, Kind, List, MaskView, MessagePiece, Messages,
    Page, PromptView, ResourceView, TemplateView, Tier, Tool,
};

use crate::place::Placement;
use crate::sent::Sent;

/// A bundle as seen by an audience.
#[derive(Clone, Copy)]
pub struct View<'b> {
    bundle: &'b Bundle,
    sees: Sees<'b>,
    /// The role of the caller, if it has a place and the project has roles.
    role: Option<&'b CallerRole>,
    /// The row of the tenant of the caller.
    tenant: Option<usize>,
}

/// The extent of a view.
#[derive(Clone, Copy)]
enum Sees<'b> {
    /// Everything: the bundle has no audiences.
    Everything,
    /// The rows of one audience.
    Audience(AudienceView<'b>),
    /// Nothing: the caller has no place in the project.
    Nothing,
}

impl<'b> View<'b> {
    /// Returns the view of a caller with this placement.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn of(bundle: &'b Bundle, placement: &Placement) -> Result<Self, Corrupt> {
        let sees = match bundle.audiences().of(placement.tenant, placement.role)? {
            Some(audience) => Sees::Audience(audience),
            None => Sees::Everything,
        };
        let role = placement.role.and_then(|role| bundle.roles().get(role));
        Ok(Self { bundle, sees, role, tenant: placement.tenant })
    }

    /// Returns the empty view of an unplaced caller.
    #[must_use]
    pub fn nothing(bundle: &'b Bundle) -> Self {
        Self { bundle, sees: Sees::Nothing, role: None, tenant: None }
    }

    /// Returns the view of the audience with this number; everything in a bundle without audiences.
    ///
    /// Callers of one audience may differ in role, so the view leaves it out.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt, or the audience is unknown.
    pub fn of_audience(bundle: &'b Bundle, number: usize) -> Result<Self, Corrupt> {
        if bundle.audiences().count() == 0 {
            return Ok(Self { bundle, sees: Sees::Everything, role: None, tenant: None });
        }
        let sees = Sees::Audience(bundle.audiences().get(number)?);
        Ok(Self { bundle, sees, role: None, tenant: None })
    }

    /// Returns the number of the audience, if the bundle has audiences and something is visible.
    #[must_use]
    pub fn audience(&self) -> Option<usize> {
        match self.sees {
            Sees::Audience(audience) => Some(audience.number()),
            Sees::Everything | Sees::Nothing => None,
        }
    }

    /// Returns whether everything is visible, since the bundle has no audiences.
    #[must_use]
    pub fn sees_everything(&self) -> bool {
        matches!(self.sees, Sees::Everything)
    }

    /// Returns whether the caller has a place in the project.
    #[must_use]
    pub fn has_place(&self) -> bool {
        !matches!(self.sees, Sees::Nothing)
    }

    /// Returns whether the caller's role asks a person before a call of tier 3.
    #[must_use]
    pub fn asks_before_tier_3(&self) -> bool {
        self.role().and_then(|role| role.approve.as_ref()).is_some_and(|approve| approve.value)
    }

    /// Returns the role of the caller, if it has a place in a project with roles; `None` for the
    /// view of an audience.
    pub(crate) fn role(&self) -> Option<&'b CallerRole> {
        self.role
    }

    /// Returns the name of the caller's tenant; `None` without a tenant, or for a view of an audience.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub(crate) fn tenant_name(&self) -> Result<Option<&'b str>, Corrupt> {
        self.tenant.map(|row| self.bundle.tenants().name(row)).transpose()
    }

    /// Returns the highest tier for calls of the caller.
    ///
    /// In a project with roles, a view that lacks one is of an audience: its callers have the
    /// lowest tier.
    pub(crate) fn tier_max(&self) -> Tier {
        match self.role {
            Some(role) => role.tier.value,
            None if self.bundle.roles().is_empty() => Tier::Irreversible,
            None => Tier::ReadOnly,
        }
    }

    /// Returns the number of visible rows of a list.
    #[must_use]
    pub fn count(&self, list: List) -> usize {
        match self.sees {
            Sees::Everything => self.bundle.list(list).count(),
            Sees::Audience(audience) => audience.count(list),
            Sees::Nothing => 0,
        }
    }

    /// Returns whether a row of a list is visible.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn sees(&self, list: List, row: usize) -> Result<bool, Corrupt> {
        Ok(match self.sees {
            Sees::Everything => row < self.bundle.list(list).count(),
            Sees::Audience(audience) => audience.rows(list)?.contains(row),
            Sees::Nothing => false,
        })
    }

    /// Returns the visible rows of a list, in order.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn rows(&self, list: List) -> Result<Rows<'b>, Corrupt> {
        Ok(match self.sees {
            Sees::Everything => Rows::All(0..self.bundle.list(list).count()),
            Sees::Audience(audience) => Rows::Masked(Box::new(audience.rows(list)?.rows())),
            Sees::Nothing => Rows::All(0..0),
        })
    }

    /// Returns the number of pages of a list.
    #[must_use]
    pub fn page_count(&self, list: List) -> usize {
        match self.sees {
            Sees::Everything => self.bundle.list(list).page_count(),
            Sees::Audience(audience) => audience.page_count(list),
            Sees::Nothing => 0,
        }
    }

    /// Returns the JSON array of the entries of a page.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt, or the page is out of range.
    pub fn page(&self, list: List, index: usize) -> Result<Page, Corrupt> {
        match self.sees {
            Sees::Audience(audience) => audience.page(list, index),
            Sees::Everything | Sees::Nothing => {
                let Page { first, count, json } = self.bundle.list(list).page(index)?;
                Ok(Page { first, count, json: json.to_owned() })
            }
        }
    }

    /// Returns a prompt by its name.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn find_prompt(&self, name: &str) -> Result<Option<PromptView<'b>>, Corrupt> {
        let Some(prompt) = self.bundle.find_prompt(name)? else { return Ok(None) };
        Ok(self.sees(List::Prompts, prompt.index())?.then_some(prompt))
    }

    /// Returns the rows of the prompts with this name in lower case.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn prompts_named(&self, lower: &str) -> Result<Vec<usize>, Corrupt> {
        let mut seen = Vec::new();
        for row in self.bundle.prompts_named(lower)? {
            if self.sees(List::Prompts, row)? {
                seen.push(row);
            }
        }
        Ok(seen)
    }

    /// Returns a prompt by its row, which must be visible.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn prompt(&self, row: usize) -> Result<PromptView<'b>, Corrupt> {
        // The order of selection has a separate mask, which may differ in an altered bundle.
        if !self.sees(List::Prompts, row)? {
            let section = Kind::AudienceMasks.name();
            return Err(Corrupt::Record { section, what: "rank" });
        }
        self.bundle.prompt(row)
    }

    /// Returns a resource with a fixed URI.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn find_resource(&self, uri: &str) -> Result<Option<ResourceView<'b>>, Corrupt> {
        let Some(resource) = self.bundle.find_resource(uri)? else { return Ok(None) };
        Ok(self.sees(List::Resources, resource.index())?.then_some(resource))
    }

    /// Returns whether the view hides a prompt with this name; only for records.
    #[must_use]
    pub fn hides_prompt(&self, name: &str) -> bool {
        let found = self.bundle.find_prompt(name).ok().flatten();
        found.is_some_and(|prompt| self.sees(List::Prompts, prompt.index()).is_ok_and(|it| !it))
    }

    /// Returns whether the view hides a resource with this URI; only for records.
    #[must_use]
    pub fn hides_resource(&self, uri: &str) -> bool {
        let found = self.bundle.find_resource(uri).ok().flatten();
        found.is_some_and(|it| self.sees(List::Resources, it.index()).is_ok_and(|it| !it))
    }

    /// Returns whether the view hides this URI template; only for records.
    #[must_use]
    pub fn hides_template(&self, uri_template: &str) -> bool {
        let is_it = |row: &usize| {
            let found =
                self.bundle.templates().get(*row).and_then(|template| template.uri_template());
            found.is_ok_and(|found| found == uri_template)
        };
        let row = (0..self.bundle.templates().count()).find(is_it);
        row.is_some_and(|row| self.sees(List::Templates, row).is_ok_and(|it| !it))
    }

    /// Returns the URI templates, in the order of their list.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn templates(
        &self,
    ) -> Result<impl Iterator<Item = Result<TemplateView<'b>, Corrupt>> + use<'b>, Corrupt> {
        let bundle = self.bundle;
        Ok(self.rows(List::Templates)?.map(move |row| bundle.templates().get(row)))
    }

    /// Returns the tools, in the order of their list.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn tools(&self) -> Result<impl Iterator<Item = &'b Tool> + use<'b>, Corrupt> {
        let tools = self.bundle.tools();
        Ok(self.rows(List::Tools)?.filter_map(|row| tools.get(row)))
    }

    /// Returns the gate, if sessions are gated and something is visible.
    #[must_use]
    pub fn gate(&self) -> Option<&'b Gate> {
        self.bundle.gate().filter(|_| self.has_place())
    }

    /// Returns the text for a connecting client; empty if nothing is visible.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn instructions(&self) -> Result<String, Corrupt> {
        if !self.has_place() {
            return Ok(String::new());
        }
        Ok(self.bundle.messages().instructions(self.index()?, self.is_guided()?))
    }

    /// Returns whether it sees all tools that the guidance names.
    fn is_guided(&self) -> Result<bool, Corrupt> {
        let named = &self.bundle.messages().guided_tools;
        let seen = self.tools()?.filter(|tool| named.contains(&tool.name)).count();
        Ok(seen == named.len())
    }

    /// Returns the names of the prompts that the instructions list, in their order.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn listed(&self) -> Result<Vec<&'b str>, Corrupt> {
        match self.sees {
            Sees::Everything => {
                Ok(self.bundle.messages().prompt_index.iter().map(String::as_str).collect())
            }
            Sees::Audience(audience) => {
                let rows = audience.listed()?.into_iter();
                rows.map(|row| self.bundle.prompt(row)?.name()).collect()
            }
            Sees::Nothing => Ok(Vec::new()),
        }
    }

    /// Returns the pieces of a message, with the index of prompts in it.
    pub(crate) fn message(
        &self,
        choose: impl FnOnce(&'b Messages) -> &'b [MessagePiece],
    ) -> &'b [MessagePiece] {
        choose(self.bundle.messages())
    }

    /// Returns the index of prompts of the audience; without audiences, the messages hold it.
    pub(crate) fn index(&self) -> Result<&'b str, Corrupt> {
        match self.sees {
            Sees::Audience(audience) => audience.index(),
            Sees::Everything | Sees::Nothing => Ok(""),
        }
    }

    /// Converts rows of prompts to positions among the visible ones. Data for a client then hides
    /// the number of other prompts.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn places_of(&self, sent: &Sent) -> Result<Sent, Corrupt> {
        let Sees::Audience(audience) = self.sees else { return Ok(sent.clone()) };
        let mask = audience.rows(List::Prompts)?;
        let seen = sent.iter().filter(|row| mask.contains(*row as usize));
        let place = |row: u32| u32::try_from(mask.position(row as usize)).ok();
        Ok(Sent::from_indexes(seen.filter_map(place)))
    }

    /// Converts positions among the visible prompts to rows.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn rows_of(&self, places: &Sent) -> Result<Sent, Corrupt> {
        let Sees::Audience(audience) = self.sees else { return Ok(places.clone()) };
        let rows = (0..).zip(audience.rows(List::Prompts)?.rows());
        let named = rows.filter(|(place, _)| places.contains(*place));
        Ok(Sent::from_indexes(named.filter_map(|(_, row)| u32::try_from(row).ok())))
    }

    /// Returns the visible ranks.
    pub(crate) fn ranks(&self) -> Result<Ranks<'b>, Corrupt> {
        Ok(match self.sees {
            Sees::Everything => Ranks::All,
            Sees::Audience(audience) => Ranks::Masked(audience.ranks()?),
            Sees::Nothing => Ranks::None,
        })
    }

    /// Returns the number of visible prompts that briefings may send, and that an index counts.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn briefed(&self) -> Result<usize, Corrupt> {
        let all = self.bundle.tag_index()?.map_or(0, |index| index.rank_count());
        Ok(self.ranked(all))
    }

    /// Returns the number of visible prompts that briefings may send, of `all`.
    pub(crate) fn ranked(&self, all: usize) -> usize {
        match self.sees {
            Sees::Everything => all,
            Sees::Audience(audience) => audience.ranked(),
            Sees::Nothing => 0,
        }
    }

    /// Returns the number of visible prompts of priority 10, of `all`.
    pub(crate) fn always(&self, all: usize) -> usize {
        match self.sees {
            Sees::Everything => all,
            Sees::Audience(audience) => audience.always(),
            Sees::Nothing => 0,
        }
    }

    /// Returns the bundle, for the tables under a mask.
    pub(crate) fn bundle(&self) -> &'b Bundle {
        self.bundle
    }
}

/// Rows of a list.
pub enum Rows<'b> {
    /// All of a range.
    All(std::ops::Range<usize>),
    /// Those of a mask.
    Masked(Box<dyn Iterator<Item = usize> + 'b>),
}

impl Iterator for Rows<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            Self::All(rows) => rows.next(),
            Self::Masked(rows) => rows.next(),
        }
    }
}

/// The visible ranks.
#[derive(Clone, Copy)]
pub(crate) enum Ranks<'b> {
    All,
    Masked(MaskView<'b>),
    None,
}

impl Ranks<'_> {
    /// Returns whether a rank is visible.
    pub(crate) fn contains(self, rank: usize) -> bool {
        match self {
            Self::All => true,
            Self::Masked(mask) => mask.contains(rank),
            Self::None => false,
        }
    }

    /// Returns the bits of the 64 ranks from `start`, a multiple of 64.
    pub(crate) fn word(self, start: usize) -> u64 {
        match self {
            Self::All => u64::MAX,
            Self::Masked(mask) => mask.word(start / 64),
            Self::None => 0,
        }
    }
}
