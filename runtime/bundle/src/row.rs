//! Rows: fixed records of a section, used in place.
//!
//! Every number is little-endian and unaligned. A change to a row is a change of the format.

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::section::Kind;

/// The offset, index or number of an absent value.
pub(crate) const ABSENT: u32 = u32::MAX;

/// A flat record of a section.
pub(crate) trait Row: FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned {
    /// The section.
    const KIND: Kind;
}

/// Declares the row of a section, and checks at compile time that its size equals the one in the
/// table of sections.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident of $kind:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy,
            zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable,
            zerocopy::KnownLayout, zerocopy::Unaligned,
        )]
        #[repr(C)]
        pub(crate) struct $name { $($(#[$field_doc])* pub(crate) $field: $type,)+ }

        impl crate::row::Row for $name {
            const KIND: crate::section::Kind = crate::section::Kind::$kind;
        }

        const _: () = assert!(size_of::<$name>() == crate::section::Kind::$kind.row_bytes());
    };
}
pub(crate) use row;

/// Bytes of `Strings`, `Bodies` or `PageBytes`.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Text {
    pub(crate) offset: U32,
    pub(crate) length: U32,
}

impl Text {
    /// An absent text.
    pub(crate) const ABSENT: Self = Self { offset: U32::new(ABSENT), length: U32::ZERO };
}

row! {
    /// One string of a list.
    ListedString of StringLists {
        text: Text,
    }
}

/// Rows `start..start + count` of another section.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Range {
    pub(crate) start: U32,
    pub(crate) count: U32,
}

impl Range {
    /// An empty range.
    pub(crate) const EMPTY: Self = Self { start: U32::ZERO, count: U32::ZERO };
}

/// A text, and the row of its place in `Places`; [`ABSENT`] for a default or a generated text.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Written {
    pub(crate) text: Text,
    pub(crate) at: U32,
}

impl Written {
    /// An absent text.
    pub(crate) const ABSENT: Self = Self { text: Text::ABSENT, at: U32::new(ABSENT) };
}
