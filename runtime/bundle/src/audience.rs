//! Audiences: the views of callers by tenant and role.
//!
//! Tenants that look alike to the project form one class. A class of tenants and a role have an
//! audience; pairs with the same view share one. An audience is a set of rows of each list, the
//! first rows of its pages, and the index of prompts in its instructions. A bundle without
//! audiences shows everything to everyone.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::mask::{Mask, MaskView, byte_count};
use crate::page::{List, Page};
use crate::part::Part;
use crate::reader::Room;
use crate::row::{Range, Text, row};
use crate::section::Kind;
use crate::writer::{Writer, number};

/// The audiences of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audiences {
    /// The class of callers that give no tenant, then that of each tenant.
    pub tenant_classes: Vec<u32>,
    /// The audience of each pair: those of the first class of tenants, by role, then those of the
    /// next. In a project of tenants alone, each class has one.
    pub table: Vec<u32>,
    /// The audiences.
    pub list: Vec<Audience>,
}

/// An audience: the parts of a bundle that it sees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audience {
    /// The prompts.
    pub prompts: Visible,
    /// The resources with a fixed URI.
    pub resources: Visible,
    /// The URI templates.
    pub templates: Visible,
    /// The tools.
    pub tools: Visible,
    /// The index of prompts, as displayed in its messages.
    pub index: String,
    /// The prompts in the index of the instructions, in order.
    pub listed: Vec<u32>,
}

/// The part of a list that an audience sees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visible {
    /// The rows.
    pub rows: Mask,
    /// The first row of each page.
    pub pages: Vec<u32>,
}

row! {
    /// An audience.
    Row of Audiences {
        /// The pages of each list, in the order of [`List::ALL`].
        pages: [Range; 4],
        /// The number of visible rows of each list.
        counts: [U32; 4],
        /// The number of visible prompts that briefings may send, and the number of these with
        /// priority 10.
        ranked: U32,
        always: U32,
        /// The index of prompts, in `Bodies`.
        index: Text,
        listed: Range,
    }
}

impl Audience {
    /// Returns the visible part of a list.
    #[must_use]
    pub fn visible(&self, list: List) -> &Visible {
        match list {
            List::Prompts => &self.prompts,
            List::Resources => &self.resources,
            List::Templates => &self.templates,
            List::Tools => &self.tools,
        }
    }
}

/// The offsets of an audience's masks in their section, in bytes.
struct Layout {
    rows: [usize; 4],
    /// Prompts that briefings may send.
    ranked: usize,
}

impl Layout {
    /// Returns the first byte of a list's mask.
    fn of(&self, list: List) -> usize {
        let before = List::ALL.into_iter().zip(self.rows).take_while(|(each, _)| *each != list);
        before.map(|(_, rows)| byte_count(rows)).sum()
    }

    /// Returns the first byte of the mask by rank.
    fn by_rank(&self) -> usize {
        self.rows.iter().map(|rows| byte_count(*rows)).sum()
    }

    /// Returns the number of bytes of an audience.
    fn bytes(&self) -> usize {
        self.by_rank() + byte_count(self.ranked)
    }
}

impl Part for Option<Audiences> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.audiences().list()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        let Some(audiences) = self else { return Ok(()) };
        let order = std::mem::take(&mut out.order);
        out.audiences(audiences, &order, out.always);
        out.list_entries()
    }
}

impl Writer<'_> {
    /// Writes the audiences, given the order of selection and the number of prompts with priority
    /// 10.
    fn audiences(&mut self, audiences: &Audiences, order: &[u32], always: usize) {
        let Audiences { tenant_classes, table, list } = audiences;
        let numbers = |values: &[u32]| values.iter().map(|value| U32::new(*value)).collect();
        let classes: Vec<U32> = numbers(tenant_classes);
        self.records(Kind::TenantClasses, &classes);
        let table: Vec<U32> = numbers(table);
        self.records(Kind::AudienceTable, &table);
        for audience in list {
            let sees = |rank: &usize| {
                order.get(*rank).is_some_and(|row| audience.prompts.rows.contains(*row as usize))
            };
            let by_rank = Mask::of(order.len(), |rank| sees(&rank));
            for list in List::ALL {
                self.bytes(Kind::AudienceMasks, audience.visible(list).rows.bytes());
            }
            self.bytes(Kind::AudienceMasks, by_rank.bytes());
            let pages = List::ALL.map(|list| {
                let pages: Vec<U32> = numbers(&audience.visible(list).pages);
                self.records(Kind::AudiencePages, &pages)
            });
            let listed: Vec<U32> = numbers(&audience.listed);
            let row = Row {
                pages,
                counts: List::ALL.map(|list| number(audience.visible(list).rows.count())),
                ranked: number(by_rank.count()),
                always: number((0..always).filter(sees).count()),
                index: self.body(audience.index.as_bytes()),
                listed: self.records(Kind::AudienceIndex, &listed),
            };
            self.rows(&[row]);
        }
    }
}

/// An audience, in place.
#[derive(Clone, Copy)]
pub struct AudienceView<'b> {
    bundle: &'b Bundle,
    number: usize,
    row: &'b Row,
}

/// The audiences of a bundle, in place.
#[derive(Clone, Copy)]
pub struct AudiencesView<'b> {
    bundle: &'b Bundle,
}

impl Bundle {
    /// Returns the audiences.
    #[must_use]
    pub fn audiences(&self) -> AudiencesView<'_> {
        AudiencesView { bundle: self }
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> AudiencesView<'b> {
    /// Returns the number of audiences; 0 if everyone sees everything.
    #[must_use]
    pub fn count(self) -> usize {
        self.bundle.reader.count(Kind::Audiences)
    }

    /// Returns the audience of callers of a tenant and in a role, by their numbers; `None` if
    /// everyone sees everything.
    pub fn of(
        self,
        tenant: Option<usize>,
        role: Option<usize>,
    ) -> Result<Option<AudienceView<'b>>, Corrupt> {
        if self.count() == 0 {
            return Ok(None);
        }
        let cell = |kind, index| {
            self.bundle.reader.record::<U32>(kind, index).map(|number| number.get() as usize)
        };
        let class = cell(Kind::TenantClasses, tenant.map_or(0, |tenant| tenant.saturating_add(1)))?;
        // INVARIANT: the role belongs to this bundle, so a pair is in the columns of its class.
        let first = class.saturating_mul(self.bundle.roles().len().max(1));
        let number = cell(Kind::AudienceTable, first.saturating_add(role.unwrap_or(0)))?;
        self.get(number).map(Some)
    }

    /// Returns the audience with this number.
    pub fn get(self, number: usize) -> Result<AudienceView<'b>, Corrupt> {
        Ok(AudienceView { bundle: self.bundle, number, row: self.bundle.reader.row(number)? })
    }

    /// Returns all audiences as owned values; `None` if everyone sees everything.
    pub fn list(self) -> Result<Option<Audiences>, Corrupt> {
        if self.count() == 0 {
            return Ok(None);
        }
        let numbers = |kind| {
            let number =
                |index| self.bundle.reader.record::<U32>(kind, index).map(|number| number.get());
            (0..self.bundle.reader.count(kind)).map(number).collect::<Result<Vec<_>, _>>()
        };
        let mut pages = Room::of_numbers(&self.bundle.reader, Kind::AudiencePages);
        let mut listed = Room::of_numbers(&self.bundle.reader, Kind::AudienceIndex);
        let list = (0..self.count()).map(|number| {
            let audience = self.get(number)?;
            audience.row.pages.iter().try_for_each(|range| pages.take(*range))?;
            listed.take(audience.row.listed)?;
            audience.to_owned()
        });
        Ok(Some(Audiences {
            tenant_classes: numbers(Kind::TenantClasses)?,
            table: numbers(Kind::AudienceTable)?,
            list: list.collect::<Result<_, _>>()?,
        }))
    }
}

impl<'b> AudienceView<'b> {
    /// Returns its number.
    #[must_use]
    pub fn number(self) -> usize {
        self.number
    }

    /// Returns the number of visible rows of a list.
    #[must_use]
    pub fn count(self, list: List) -> usize {
        let counts = List::ALL.into_iter().zip(self.row.counts);
        counts.into_iter().find(|(each, _)| *each == list).map_or(0, |(_, n)| n.get() as usize)
    }

    /// Returns the number of visible prompts that briefings may send.
    #[must_use]
    pub fn ranked(self) -> usize {
        self.row.ranked.get() as usize
    }

    /// Returns the number of these with priority 10.
    #[must_use]
    pub fn always(self) -> usize {
        self.row.always.get() as usize
    }

    /// Returns the visible rows of a list.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn rows(self, list: List) -> Result<MaskView<'b>, Corrupt> {
        let layout = self.layout();
        let first = self.first_byte(&layout)?.saturating_add(layout.of(list));
        self.bundle.reader.mask(Kind::AudienceMasks, first, self.bundle.list(list).count())
    }

    /// Returns the ranks of the visible prompts.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn ranks(self) -> Result<MaskView<'b>, Corrupt> {
        let layout = self.layout();
        let first = self.first_byte(&layout)?.saturating_add(layout.by_rank());
        self.bundle.reader.mask(Kind::AudienceMasks, first, layout.ranked)
    }

    /// Returns the number of pages of a list.
    #[must_use]
    pub fn page_count(self, list: List) -> usize {
        self.pages(list).count.get() as usize
    }

    /// Returns a page of a list; `first` is a row of the whole list, hidden rows included.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn page(self, list: List, index: usize) -> Result<Page, Corrupt> {
        let wrong = || Corrupt::Record { section: Kind::AudiencePages.name(), what: "page" };
        let pages = self.pages(list);
        let start = |index: usize| -> Result<usize, Corrupt> {
            if index >= pages.count.get() as usize {
                return Ok(self.bundle.list(list).count());
            }
            let at = (pages.start.get() as usize).checked_add(index).ok_or_else(wrong)?;
            let row: &U32 = self.bundle.reader.record(Kind::AudiencePages, at)?;
            Ok(row.get() as usize)
        };
        if index >= pages.count.get() as usize {
            return Err(wrong());
        }
        let (first, end) = (start(index)?, start(index + 1)?);
        if first > end || end > self.bundle.list(list).count() {
            return Err(wrong());
        }
        let rows = self.rows(list)?;
        let mut json = String::from("[");
        let mut count = 0;
        for row in (first..end).filter(|row| rows.contains(*row)) {
            if count > 0 {
                json.push(',');
            }
            json.push_str(self.bundle.list(list).entry(row)?);
            count += 1;
        }
        json.push(']');
        Ok(Page { first: u32::try_from(first).map_err(|_| wrong())?, count, json })
    }

    /// Returns the index of prompts, as displayed in messages.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn index(self) -> Result<&'b str, Corrupt> {
        self.bundle.reader.text(Kind::Bodies, self.row.index)
    }

    /// Returns the rows of the prompts in the index of the instructions, in order.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn listed(self) -> Result<Vec<usize>, Corrupt> {
        let numbers = self.numbers(Kind::AudienceIndex, self.row.listed)?;
        Ok(numbers.into_iter().map(|row| row as usize).collect())
    }

    /// Returns the audience as an owned value.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn to_owned(self) -> Result<Audience, Corrupt> {
        let visible = |list| {
            let pages = self.numbers(Kind::AudiencePages, self.pages(list))?;
            Ok(Visible { rows: self.rows(list)?.to_owned(), pages })
        };
        Ok(Audience {
            prompts: visible(List::Prompts)?,
            resources: visible(List::Resources)?,
            templates: visible(List::Templates)?,
            tools: visible(List::Tools)?,
            index: self.index()?.to_owned(),
            listed: self.numbers(Kind::AudienceIndex, self.row.listed)?,
        })
    }

    fn pages(self, list: List) -> Range {
        let pages = List::ALL.into_iter().zip(self.row.pages);
        pages.into_iter().find(|(each, _)| *each == list).map_or(Range::EMPTY, |(_, pages)| pages)
    }

    fn numbers(self, kind: Kind, range: Range) -> Result<Vec<u32>, Corrupt> {
        let (start, count) = (range.start.get() as usize, range.count.get() as usize);
        let end = start.checked_add(count).filter(|end| *end <= self.bundle.reader.count(kind));
        let end = end.ok_or(Corrupt::Record { section: kind.name(), what: "range" })?;
        let number = |index| self.bundle.reader.record::<U32>(kind, index).map(|it| it.get());
        (start..end).map(number).collect()
    }

    fn layout(self) -> Layout {
        let rows = List::ALL.map(|list| self.bundle.list(list).count());
        Layout { rows, ranked: self.bundle.reader.count(Kind::TagOrder) }
    }

    fn first_byte(self, layout: &Layout) -> Result<usize, Corrupt> {
        let wrong = Corrupt::Record { section: Kind::AudienceMasks.name(), what: "layout" };
        self.number.checked_mul(layout.bytes()).ok_or(wrong)
    }
}
