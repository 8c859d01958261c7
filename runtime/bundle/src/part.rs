//! A part of a bundle's contents that is a table: an owned value, and the way between it and its
//! sections. Each concept implements it in its own file.

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::section::Kind;
use crate::writer::Writer;

/// An owned value that has a section, and perhaps others beside it.
pub(crate) trait Part: Sized {
    /// Reads it from its section `kind`, and those beside it.
    fn read(bundle: &Bundle, kind: Kind) -> Result<Self, Corrupt>;

    /// Writes it.
    ///
    /// # Errors
    ///
    /// A value has no JSON form. No contents that the compiler makes cause this.
    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error>;

    /// Reads it from a bundle, and writes it again.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed, or no contents give what it has.
    fn write_again(bundle: &Bundle, kind: Kind, out: &mut Writer<'_>) -> Result<(), Corrupt> {
        let malformed = |_| Corrupt::Record { section: kind.name(), what: "text" };
        Self::read(bundle, kind)?.write(kind, out).map_err(malformed)
    }
}

/// A section that is one text.
impl Part for String {
    fn read(bundle: &Bundle, kind: Kind) -> Result<Self, Corrupt> {
        bundle.reader.whole_text(kind).map(str::to_owned)
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.bytes(kind, self.as_bytes());
        Ok(())
    }
}

/// A section that another crate reads.
impl Part for Vec<u8> {
    fn read(bundle: &Bundle, kind: Kind) -> Result<Self, Corrupt> {
        bundle.reader.section(kind).map(<[u8]>::to_vec)
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.bytes(kind, self);
        Ok(())
    }
}
