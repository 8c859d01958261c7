//! A table in a bundle's contents: an owned value, and its conversion to and from its sections.
//! Each concept implements it in its own file.

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::section::Kind;
use crate::writer::Writer;

/// An owned value with a main section, and perhaps further ones.
pub(crate) trait Part: Sized {
    /// Reads it from its section `kind` and its further sections.
    fn read(bundle: &Bundle, kind: Kind) -> Result<Self, Corrupt>;

    /// Writes it.
    ///
    /// # Errors
    ///
    /// A value has no JSON form. Contents from the compiler never cause this.
    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error>;

    /// Reads it from a bundle, writes it again, and gives it to `seen`, whole or a row at a time.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt, or cannot follow from any contents.
    fn write_again(
        bundle: &Bundle,
        kind: Kind,
        out: &mut Writer<'_>,
        seen: &mut dyn FnMut(Self) -> Result<(), Corrupt>,
    ) -> Result<(), Corrupt> {
        let malformed = |_| Corrupt::Record { section: kind.name(), what: "text" };
        let whole = Self::read(bundle, kind)?;
        whole.write(kind, out).map_err(malformed)?;
        seen(whole)
    }
}

/// A section with a single text.
impl Part for String {
    fn read(bundle: &Bundle, kind: Kind) -> Result<Self, Corrupt> {
        bundle.reader.whole_text(kind).map(str::to_owned)
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.bytes(kind, self.as_bytes());
        Ok(())
    }
}

/// A section for another crate.
impl Part for Vec<u8> {
    fn read(bundle: &Bundle, kind: Kind) -> Result<Self, Corrupt> {
        bundle.reader.section(kind).map(<[u8]>::to_vec)
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.bytes(kind, self);
        Ok(())
    }
}
