//! Settings: the values of a node, each with its row.
//!
//! A row of a node's rule says where the value is written, its kind, range, default and meaning. A
//! line of [`settings!`] binds the row to a field. Reading, the default, the patch of a `when`,
//! `relay show` and the reference then go by the row, and name no setting.

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

/// A setting whose type is not named: a [`Setting`] has a default, and an optional one has none.
pub(crate) trait Slot {
    /// Returns what holds if nothing is written.
    fn unwritten(default: Option<Literal<'static>>) -> Self
    where
        Self: Sized;

    /// Takes what was written. INVARIANT: it was checked by the setting's row.
    fn set(&mut self, written: Spanned<Literal<'_>>);

    /// Returns the value, as a field of this kind writes it; `None` if there is none.
    fn literal(&self, kind: Kind) -> Option<Literal<'_>>;

    /// Returns where it was written; a default has no place.
    fn at(&self) -> Option<Span>;
}

impl<T: Scalar> Slot for Setting<T> {
    #[expect(clippy::expect_used, reason = "the row of a setting of this type has a default")]
    fn unwritten(default: Option<Literal<'static>>) -> Self {
        Self { value: default.and_then(T::decode).expect("a default"), at: None }
    }

    fn set(&mut self, written: Spanned<Literal<'_>>) {
        if let Some(value) = T::decode(written.value) {
            *self = Self { value, at: Some(written.at) };
        }
    }

    fn literal(&self, kind: Kind) -> Option<Literal<'_>> {
        Some(self.value.encode(kind))
    }

    fn at(&self) -> Option<Span> {
        self.at
    }
}

impl<T: Scalar> Slot for Option<Spanned<T>> {
    fn unwritten(_default: Option<Literal<'static>>) -> Self {
        None
    }

    fn set(&mut self, written: Spanned<Literal<'_>>) {
        *self = T::decode(written.value).map(|value| Spanned { value, at: written.at });
    }

    fn literal(&self, kind: Kind) -> Option<Literal<'_>> {
        self.as_ref().map(|written| written.value.encode(kind))
    }

    fn at(&self) -> Option<Span> {
        self.as_ref().map(|written| written.at)
    }
}

impl Slot for Option<Spanned<String>> {
    fn unwritten(_default: Option<Literal<'static>>) -> Self {
        None
    }

    fn set(&mut self, written: Spanned<Literal<'_>>) {
        if let Literal::Text(text) = written.value {
            *self = Some(Spanned { value: text.to_owned(), at: written.at });
        }
    }

    fn literal(&self, _kind: Kind) -> Option<Literal<'_>> {
        self.as_ref().map(|written| Literal::Text(&written.value))
    }

    fn at(&self) -> Option<Span> {
        self.as_ref().map(|written| written.at)
    }
}

/// Returns how many of these settings were written.
pub(crate) fn count_written(settings: &[(&'static str, &dyn Slot)]) -> usize {
    settings.iter().filter(|(_, setting)| setting.at().is_some()).count()
}

/// Declares a struct of settings: `FIELD: TYPE = ROW` in the braces of the rule that has the row.
///
/// The struct's own fields come first; they begin with their type's default.
macro_rules! settings {
    (
        $(#[$doc:meta])*
        struct $name:ident { $($(#[$other_doc:meta])* $other:ident: $other_type:ty,)* }
        $($rule:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $row:literal,)* })*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name {
            $($(#[$other_doc])* pub(crate) $other: $other_type,)*
            $($($(#[$field_doc])* pub(crate) $field: $type,)*)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($other: <$other_type>::default(),)*
                    $($($field: $crate::setting::Slot::unwritten($rule.default($row)),)*)*
                }
            }
        }

        impl $name {
            /// Returns the settings that a rule has rows for, each with the name of its row.
            pub(crate) fn of(
                &self,
                rule: &'static $crate::grammar::Rule,
            ) -> Vec<(&'static str, &dyn $crate::setting::Slot)> {
                $(if std::ptr::eq(rule, &$rule) {
                    return vec![$(($row, &self.$field)),*];
                })*
                Vec::new()
            }

            /// Returns the same, to be changed.
            pub(crate) fn of_mut(
                &mut self,
                rule: &'static $crate::grammar::Rule,
            ) -> Vec<(&'static str, &mut dyn $crate::setting::Slot)> {
                $(if std::ptr::eq(rule, &$rule) {
                    return vec![$(($row, &mut self.$field)),*];
                })*
                Vec::new()
            }
        }
    };
}
pub(crate) use settings;
