//! The texts in any value that can be serialized.
//!
//! The search asks serde for them, so that a later field of a concept is searched automatically.
//! Only binary content that a value encodes for serde is copied.

use std::fmt::{self, Display};

use serde::Serialize;
use serde::ser::{self, Serializer};

/// Calls `each` with every text in a value: strings, and the keys of maps. Names of fields are
/// relay's own, and a value that formats itself is a place.
pub(super) fn texts(value: &impl Serialize, each: &mut dyn FnMut(&str)) {
    // This serializer and all types of a bundle always succeed.
    let _ = value.serialize(Texts { each });
}

struct Texts<'e> {
    each: &'e mut dyn FnMut(&str),
}

/// The error type that serde requires, which is never constructed.
#[derive(Debug)]
struct Never;

impl Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot be serialized")
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

type Done = Result<(), Never>;

/// Values free of text.
macro_rules! without_text {
    ($($name:ident($($type:ty),*),)+) => {
        $(fn $name(self $(, _: $type)*) -> Done { Ok(()) })+
    };
}

impl Serializer for Texts<'_> {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    without_text! {
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_f32(f32),
        serialize_f64(f64),
        serialize_char(char),
        serialize_bytes(&[u8]),
        serialize_none(),
        serialize_unit(),
        serialize_unit_struct(&'static str),
        serialize_unit_variant(&'static str, u32, &'static str),
    }

    fn serialize_str(self, text: &str) -> Done {
        (self.each)(text);
        Ok(())
    }

    /// A place: the names of files are in the provenance, once each.
    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Done {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Done {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        Ok(self)
    }
}

/// The parts of a value, of each kind of compound value.
macro_rules! compound {
    ($($kind:ident: $($part:ident($($name:ty)?)),+;)+) => {
        $(impl ser::$kind for Texts<'_> {
            type Ok = ();
            type Error = Never;

            $(fn $part<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Done {
                value.serialize(Texts { each: self.each })
            })+

            fn end(self) -> Done {
                Ok(())
            }
        })+
    };
}

compound! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(&'static str);
    SerializeStructVariant: serialize_field(&'static str);
}
