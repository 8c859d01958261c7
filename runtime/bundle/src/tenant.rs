//! The tenants of a project.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::place::Place;
use crate::reader::Reader;
use crate::row::{Text, row};
use crate::section::Kind;
use crate::writer::Writer;

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// The place of its declaration.
    pub at: Place,
}

row! {
    /// A tenant.
    Row of Tenants {
        name: Text,
        at: U32,
    }
}

impl Writer<'_> {
    /// Writes the tenants, and the table of their names.
    pub(crate) fn tenants(&mut self, tenants: &[Tenant]) {
        for Tenant { name, at } in tenants {
            let row = Row { name: self.string(name), at: self.place(at) };
            self.rows(&[row]);
        }
        self.name_index(Kind::TenantIndex, tenants.iter().map(|tenant| &tenant.name));
    }
}

impl Part for Vec<Tenant> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.tenants().list()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.tenants(self);
        Ok(())
    }
}

/// The tenants of a bundle, in place, in the order of their names.
#[derive(Clone, Copy)]
pub struct TenantsView<'b> {
    reader: &'b Reader,
}

impl Bundle {
    /// Returns the tenants of the project.
    #[must_use]
    pub fn tenants(&self) -> TenantsView<'_> {
        TenantsView { reader: &self.reader }
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> TenantsView<'b> {
    /// Returns the number of tenants.
    #[must_use]
    pub fn count(self) -> usize {
        self.reader.count(Kind::Tenants)
    }

    /// Returns the name of the tenant with this number.
    pub fn name(self, number: usize) -> Result<&'b str, Corrupt> {
        self.reader.string(self.reader.row::<Row>(number)?.name)
    }

    /// Returns the place of a tenant's declaration.
    pub fn at(self, number: usize) -> Result<Place<&'b str>, Corrupt> {
        self.reader.place_at(self.reader.row::<Row>(number)?.at)
    }

    /// Returns the number of the tenant with this name.
    pub fn find(self, name: &str) -> Result<Option<usize>, Corrupt> {
        self.reader.find(Kind::TenantIndex, name, |number| {
            Ok((self.name(number)? == name).then_some(number))
        })
    }

    /// Returns all tenants as owned values.
    pub fn list(self) -> Result<Vec<Tenant>, Corrupt> {
        let tenant = |number| {
            let name = self.name(number)?.to_owned();
            Ok(Tenant { name, at: self.at(number)?.into_owned() })
        };
        (0..self.count()).map(tenant).collect()
    }
}
