//! The roles of users, of groups, and of anyone else.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::place::Place;
use crate::row::{ABSENT, Text, row};
use crate::section::Kind;
use crate::writer::{Writer, number};

/// The subject of a row of `users`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// One caller, by id.
    User,
    /// The callers of a group.
    Group,
    /// Every caller.
    Anyone,
}

/// A row of `users`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// The subject.
    pub who: Who,
    /// The id or the group; empty for [`Who::Anyone`].
    pub id: String,
    /// The number of the tenant for which it counts; absent for every tenant.
    pub tenant: Option<u32>,
    /// The number of its role.
    pub role: u32,
    /// The place of its declaration.
    pub at: Place,
}

row! {
    /// A row of `users`, sorted by subject, id, and tenant, those of any tenant last.
    Row of Users {
        who: U32,
        id: Text,
        tenant: U32,
        role: U32,
        at: U32,
        /// The number of rows of this id from this one on, itself included.
        rest: U32,
    }
}

/// A row of `users`, in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserRow {
    /// Its number, in the order of the rows.
    pub number: usize,
    /// The number of the tenant for which it counts; absent for every tenant.
    pub tenant: Option<u32>,
    /// The number of its role.
    pub role: u32,
    /// The kind of its subject.
    pub who: Who,
}

impl Who {
    /// Returns the word of its node.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Anyone => "anyone",
        }
    }

    fn of_number(number: u32) -> Option<Self> {
        [Self::User, Self::Group, Self::Anyone].into_iter().find(|who| who.number() == number)
    }

    fn number(self) -> u32 {
        match self {
            Self::User => 0,
            Self::Group => 1,
            Self::Anyone => 2,
        }
    }
}

impl Writer<'_> {
    /// Writes the users, and the table of their ids.
    pub(crate) fn users(&mut self, users: &[User]) {
        // One entry of the table finds all rows of an id.
        let mut firsts = Vec::new();
        let mut start = 0;
        for run in users.chunk_by(|a, b| (a.who, &a.id) == (b.who, &b.id)) {
            for (place, User { who, id, tenant, role, at }) in run.iter().enumerate() {
                if place == 0 {
                    firsts.push((start, id.as_str()));
                }
                let row = Row {
                    who: who.number().into(),
                    id: self.string(id),
                    tenant: tenant.unwrap_or(ABSENT).into(),
                    role: (*role).into(),
                    at: self.place(at),
                    rest: number(run.len() - place),
                };
                self.rows(&[row]);
            }
            start += run.len();
        }
        self.sparse_name_index(Kind::UserIndex, &firsts);
    }
}

impl Part for Vec<User> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.users().list()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.users(self);
        Ok(())
    }
}

/// The rows of `users` of a bundle, in place.
#[derive(Clone, Copy)]
pub struct UsersView<'b> {
    bundle: &'b Bundle,
}

impl Bundle {
    /// Returns the rows of `users`.
    #[must_use]
    pub fn users(&self) -> UsersView<'_> {
        UsersView { bundle: self }
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> UsersView<'b> {
    /// Returns the number of rows.
    #[must_use]
    pub fn count(self) -> usize {
        self.bundle.reader.count(Kind::Users)
    }

    /// Returns the rows of a user, a group or anyone, as a range of numbers.
    pub fn of(self, who: Who, id: &str) -> Result<std::ops::Range<usize>, Corrupt> {
        let reader = &self.bundle.reader;
        let found = reader.find(Kind::UserIndex, id, |index| {
            let row: &Row = reader.row(index)?;
            let is_it = row.who.get() == who.number() && reader.string(row.id)? == id;
            Ok(is_it.then(|| index..index.saturating_add(row.rest.get() as usize)))
        })?;
        let Some(rows) = found else { return Ok(0..0) };
        let wrong = Corrupt::Record { section: Kind::Users.name(), what: "run" };
        let is_of_id = |index| {
            let row: &Row = reader.row(index)?;
            Ok(row.who.get() == who.number() && reader.string(row.id)? == id)
        };
        // The range has exactly the rows of the id.
        let Some(last) = rows.end.checked_sub(1).filter(|last| rows.contains(last)) else {
            return Err(wrong);
        };
        if rows.end > self.count()
            || !is_of_id(last)?
            || rows.end < self.count() && is_of_id(rows.end)?
        {
            return Err(wrong);
        }
        Ok(rows)
    }

    /// Returns the row with this number.
    pub fn row(self, number: usize) -> Result<UserRow, Corrupt> {
        let row: &Row = self.bundle.reader.row(number)?;
        let tenant = Some(row.tenant.get()).filter(|tenant| *tenant != ABSENT);
        let wrong = |what| Err(Corrupt::Record { section: Kind::Users.name(), what });
        if tenant.is_some_and(|tenant| tenant as usize >= self.bundle.tenants().count()) {
            return wrong("tenant");
        }
        if row.role.get() as usize >= self.bundle.roles().len() {
            return wrong("role");
        }
        let Some(who) = Who::of_number(row.who.get()) else { return wrong("kind") };
        Ok(UserRow { number, tenant, role: row.role.get(), who })
    }

    /// Returns the place of a row's declaration.
    pub fn at(self, number: usize) -> Result<Place<&'b str>, Corrupt> {
        let reader = &self.bundle.reader;
        reader.place_at(reader.row::<Row>(number)?.at)
    }

    /// Returns all rows as owned values.
    pub fn list(self) -> Result<Vec<User>, Corrupt> {
        let reader = &self.bundle.reader;
        let user = |number| {
            let row: &Row = reader.row(number)?;
            let UserRow { number: _, tenant, role, who } = self.row(number)?;
            Ok(User {
                who,
                id: reader.string(row.id)?.to_owned(),
                tenant,
                role,
                at: self.at(number)?.into_owned(),
            })
        };
        (0..self.count()).map(user).collect()
    }
}
