//! The part of a bundle that a caller sees.
//!
//! A server answers from a [`View`] alone, so what an audience does not see is to it as if it did
//! not exist: the same tables, with a mask.

use relay_bundle::{
    AudienceView, Bundle, CallerRole, Corrupt, Gate, Kind, List, MaskView, MessagePiece, Messages,
    Page, PromptView, ResourceView, TemplateView, Tier, Tool,
};

use crate::place::Placement;
use crate::sent::Sent;

/// A bundle, as an audience sees it.
#[derive(Clone, Copy)]
pub struct View<'b> {
    bundle: &'b Bundle,
    sees: Sees<'b>,
    /// The role of the caller; absent without a place, or if the project has no roles.
    role: Option<&'b CallerRole>,
}

/// The extent of a view.
#[derive(Clone, Copy)]
enum Sees<'b> {
    /// Everything: the bundle has no audiences.
    Everything,
    /// The rows of one audience.
    Audience(AudienceView<'b>),
    /// Nothing, since the caller has no place in the project.
    Nothing,
}

impl<'b> View<'b> {
    /// Returns what a caller sees who is placed there.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn of(bundle: &'b Bundle, placement: &Placement) -> Result<Self, Corrupt> {
        let sees = match bundle.audiences().of(placement.tenant, placement.role)? {
            Some(audience) => Sees::Audience(audience),
            None => Sees::Everything,
        };
        let role = placement.role.and_then(|role| bundle.roles().get(role));
        Ok(Self { bundle, sees, role })
    }

    /// Returns what a caller sees who has no place in the project: nothing.
    #[must_use]
    pub fn nothing(bundle: &'b Bundle) -> Self {
        Self { bundle, sees: Sees::Nothing, role: None }
    }

    /// Returns what the audience with this number sees; without audiences, everything.
    ///
    /// Callers of one audience may have several roles, so the view has none.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed, or has no such audience.
    pub fn of_audience(bundle: &'b Bundle, number: usize) -> Result<Self, Corrupt> {
        if bundle.audiences().count() == 0 {
            return Ok(Self { bundle, sees: Sees::Everything, role: None });
        }
        Ok(Self { bundle, sees: Sees::Audience(bundle.audiences().get(number)?), role: None })
    }

    /// Returns the number of the audience; `None` if the bundle has none, or nothing is seen.
    #[must_use]
    pub fn audience(&self) -> Option<usize> {
        match self.sees {
            Sees::Audience(audience) => Some(audience.number()),
            Sees::Everything | Sees::Nothing => None,
        }
    }

    /// Returns whether everything is seen, since the bundle has no audiences.
    #[must_use]
    pub fn sees_everything(&self) -> bool {
        matches!(self.sees, Sees::Everything)
    }

    /// Returns whether the caller has a place in the project.
    #[must_use]
    pub fn has_place(&self) -> bool {
        !matches!(self.sees, Sees::Nothing)
    }

    /// Returns the role of the caller; `None` without a place, if the project has no roles, or if the
    /// view is of an audience.
    pub(crate) fn role(&self) -> Option<&'b CallerRole> {
        self.role
    }

    /// Returns the most tier that calls of the caller may reach.
    ///
    /// In a project with roles, a view without one is of an audience: its callers have the lowest.
    pub(crate) fn tier_max(&self) -> Tier {
        match self.role {
            Some(role) => role.tier.value,
            None if self.bundle.roles().is_empty() => Tier::Irreversible,
            None => Tier::ReadOnly,
        }
    }

    /// Returns how many rows of a list are seen.
    #[must_use]
    pub fn count(&self, list: List) -> usize {
        match self.sees {
            Sees::Everything => self.bundle.list(list).count(),
            Sees::Audience(audience) => audience.count(list),
            Sees::Nothing => 0,
        }
    }

    /// Returns whether a row of a list is seen.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn sees(&self, list: List, row: usize) -> Result<bool, Corrupt> {
        Ok(match self.sees {
            Sees::Everything => row < self.bundle.list(list).count(),
            Sees::Audience(audience) => audience.rows(list)?.contains(row),
            Sees::Nothing => false,
        })
    }

    /// Returns the rows of a list that are seen, in their order.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn rows(&self, list: List) -> Result<Rows<'b>, Corrupt> {
        Ok(match self.sees {
            Sees::Everything => Rows::All(0..self.bundle.list(list).count()),
            Sees::Audience(audience) => Rows::Masked(Box::new(audience.rows(list)?.rows())),
            Sees::Nothing => Rows::All(0..0),
        })
    }

    /// Returns how many pages a list has.
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
    /// The bundle is not what was signed, or the list has no such page.
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
    /// The bundle is not what was signed.
    pub fn find_prompt(&self, name: &str) -> Result<Option<PromptView<'b>>, Corrupt> {
        let Some(prompt) = self.bundle.find_prompt(name)? else { return Ok(None) };
        Ok(self.sees(List::Prompts, prompt.index())?.then_some(prompt))
    }

    /// Returns the prompts whose name it is in lower case, by their rows.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn prompts_named(&self, lower: &str) -> Result<Vec<usize>, Corrupt> {
        let mut seen = Vec::new();
        for row in self.bundle.prompts_named(lower)? {
            if self.sees(List::Prompts, row)? {
                seen.push(row);
            }
        }
        Ok(seen)
    }

    /// Returns a prompt by its row, which must be of one that is seen.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn prompt(&self, row: usize) -> Result<PromptView<'b>, Corrupt> {
        // The order of selection has a set of its own, which a bundle that was altered may not share.
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
    /// The bundle is not what was signed.
    pub fn find_resource(&self, uri: &str) -> Result<Option<ResourceView<'b>>, Corrupt> {
        let Some(resource) = self.bundle.find_resource(uri)? else { return Ok(None) };
        Ok(self.sees(List::Resources, resource.index())?.then_some(resource))
    }

    /// Returns whether the bundle has a prompt of this name that is not seen: for records alone.
    #[must_use]
    pub fn hides_prompt(&self, name: &str) -> bool {
        let found = self.bundle.find_prompt(name).ok().flatten();
        found.is_some_and(|prompt| self.sees(List::Prompts, prompt.index()).is_ok_and(|it| !it))
    }

    /// Returns whether the bundle has a resource of this URI that is not seen: for records alone.
    #[must_use]
    pub fn hides_resource(&self, uri: &str) -> bool {
        let found = self.bundle.find_resource(uri).ok().flatten();
        found.is_some_and(|it| self.sees(List::Resources, it.index()).is_ok_and(|it| !it))
    }

    /// Returns whether the bundle has a URI template that is not seen: for records alone.
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
    /// The bundle is not what was signed.
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
    /// The bundle is not what was signed.
    pub fn tools(&self) -> Result<impl Iterator<Item = &'b Tool> + use<'b>, Corrupt> {
        let tools = self.bundle.tools();
        Ok(self.rows(List::Tools)?.filter_map(|row| tools.get(row)))
    }

    /// Returns the gate; `None` if sessions are not gated, or nothing is seen.
    #[must_use]
    pub fn gate(&self) -> Option<&'b Gate> {
        self.bundle.gate().filter(|_| self.has_place())
    }

    /// Returns the text that a client reads when it connects; empty if nothing is seen.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn instructions(&self) -> Result<String, Corrupt> {
        if !self.has_place() {
            return Ok(String::new());
        }
        Ok(self.bundle.messages().instructions(self.index()?))
    }

    /// Returns the names of the prompts that the instructions list, in their order.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
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

    /// Returns a message with the index of prompts in it, in pieces.
    pub(crate) fn message(
        &self,
        choose: impl FnOnce(&'b Messages) -> &'b [MessagePiece],
    ) -> &'b [MessagePiece] {
        choose(self.bundle.messages())
    }

    /// Returns the index of prompts, where each audience has its own; else it is in the messages.
    pub(crate) fn index(&self) -> Result<&'b str, Corrupt> {
        match self.sees {
            Sees::Audience(audience) => audience.index(),
            Sees::Everything | Sees::Nothing => Ok(""),
        }
    }

    /// Returns the places of prompts among those that are seen, of rows. What is sent to a client says
    /// nothing of how many others there are.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn places_of(&self, sent: &Sent) -> Result<Sent, Corrupt> {
        let Sees::Audience(audience) = self.sees else { return Ok(sent.clone()) };
        let mask = audience.rows(List::Prompts)?;
        let seen = sent.iter().filter(|row| mask.contains(*row as usize));
        let place = |row: u32| u32::try_from(mask.position(row as usize)).ok();
        Ok(Sent::from_indexes(seen.filter_map(place)))
    }

    /// Returns the rows of prompts, of places among those that are seen.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn rows_of(&self, places: &Sent) -> Result<Sent, Corrupt> {
        let Sees::Audience(audience) = self.sees else { return Ok(places.clone()) };
        let rows = (0..).zip(audience.rows(List::Prompts)?.rows());
        let named = rows.filter(|(place, _)| places.contains(*place));
        Ok(Sent::from_indexes(named.filter_map(|(_, row)| u32::try_from(row).ok())))
    }

    /// Returns the ranks that are seen.
    pub(crate) fn ranks(&self) -> Result<Ranks<'b>, Corrupt> {
        Ok(match self.sees {
            Sees::Everything => Ranks::All,
            Sees::Audience(audience) => Ranks::Masked(audience.ranks()?),
            Sees::Nothing => Ranks::None,
        })
    }

    /// Returns how many prompts that briefings may send are seen, of `all`.
    pub(crate) fn ranked(&self, all: usize) -> usize {
        match self.sees {
            Sees::Everything => all,
            Sees::Audience(audience) => audience.ranked(),
            Sees::Nothing => 0,
        }
    }

    /// Returns how many prompts of priority 10 are seen, of `all`.
    pub(crate) fn always(&self, all: usize) -> usize {
        match self.sees {
            Sees::Everything => all,
            Sees::Audience(audience) => audience.always(),
            Sees::Nothing => 0,
        }
    }

    /// Returns the bundle, for the tables that a mask is applied to.
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

/// The ranks that are seen.
#[derive(Clone, Copy)]
pub(crate) enum Ranks<'b> {
    All,
    Masked(MaskView<'b>),
    None,
}

impl Ranks<'_> {
    /// Returns whether a rank is seen.
    pub(crate) fn contains(self, rank: usize) -> bool {
        match self {
            Self::All => true,
            Self::Masked(mask) => mask.contains(rank),
            Self::None => false,
        }
    }

    /// Returns the bits of the 64 ranks from `start` on, which is a multiple of 64.
    pub(crate) fn word(self, start: usize) -> u64 {
        match self {
            Self::All => u64::MAX,
            Self::Masked(mask) => mask.word(start / 64),
            Self::None => 0,
        }
    }
}
