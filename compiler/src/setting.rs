//! Settings as rows: one declaration says where a setting is written, its type, range, default
//! and meaning. Reading, filling the default, renderer and the reference all go by it.

use crate::grammar::{Kind, Literal, Scalar};
use crate::source::{Span, Spanned};

/// A value, and where it was written; a default, or what was made of a text, has no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) at: Option<Span>,
}

impl<T> Setting<T> {
    /// Takes what was written, or the default.
    pub(crate) fn or(written: Option<Spanned<T>>, default: T) -> Self {
        match written {
            Some(Spanned { value, at }) => Self { value, at: Some(at) },
            None => Self { value: default, at: None },
        }
    }
}

/// A setting whose type is not named.
pub(crate) trait Slot {
    /// Takes what was written. INVARIANT: it was checked by the setting's row.
    fn set(&mut self, written: Spanned<Literal<'_>>);

    /// Returns the value, as a field of this kind writes it.
    fn literal(&self, kind: Kind) -> Literal<'static>;

    /// Returns where it was written; a default has no place.
    fn at(&self) -> Option<Span>;
}

impl<T: Scalar> Slot for Setting<T> {
    fn set(&mut self, written: Spanned<Literal<'_>>) {
        if let Some(value) = T::decode(written.value) {
            *self = Self { value, at: Some(written.at) };
        }
    }

    fn literal(&self, kind: Kind) -> Literal<'static> {
        self.value.encode(kind)
    }

    fn at(&self) -> Option<Span> {
        self.at
    }
}

/// Declares a struct of settings, and the rule of each node that has some of them.
///
/// `FIELD: TYPE = DEFAULT, ROW;` is a setting. The struct's own fields come first; they begin with
/// their type's default.
macro_rules! settings {
    (
        $(#[$doc:meta])*
        struct $name:ident { $($(#[$other_doc:meta])* $other:ident: $other_type:ty,)* }
        $(
            $(#[$rule_doc:meta])*
            $rule:ident: $node:literal, $what:literal, $children:expr, $meaning:literal {
                $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr, $row:expr;)*
            } $example:expr
        )*
    ) => {
        $(
            $(#[$rule_doc])*
            pub(crate) static $rule: $crate::grammar::Rule = $crate::grammar::Rule {
                name: $node,
                what: $what,
                meaning: $meaning,
                fields: &[$($row),*],
                children: $children,
                example: $example,
            };
        )*

        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name {
            $($(#[$other_doc])* pub(crate) $other: $other_type,)*
            $($($(#[$field_doc])* pub(crate) $field: Setting<$type>,)*)*
        }

        impl $name {
            /// Returns the defaults.
            pub(crate) fn defaults() -> Self {
                Self {
                    $($other: <$other_type>::default(),)*
                    $($($field: Setting { value: $default, at: None },)*)*
                }
            }

            /// Returns the settings of a node, in the order of its rule's fields.
            pub(crate) fn settings(&self, node: &str) -> Vec<&dyn Slot> {
                $(if node == $node {
                    return vec![$(&self.$field),*];
                })*
                Vec::new()
            }

            /// Returns the settings of a node to be filled, in the order of its rule's fields.
            pub(crate) fn settings_mut(&mut self, node: &str) -> Vec<&mut dyn Slot> {
                $(if node == $node {
                    return vec![$(&mut self.$field),*];
                })*
                Vec::new()
            }
        }
    };
}
pub(crate) use settings;
