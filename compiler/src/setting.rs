//! Settings: the values of a node, each with its row.
//!
//! A row of a node's rule has the place of the value, its kind, range, default and meaning. A line
//! of [`settings!`] binds the row to a field. Reading, the default, the patch of a `when`, `relay
//! show` and the reference then go by the row, for every setting alike.

use crate::grammar::{Kind, Literal, Rule, Scalar};
use crate::source::{Span, Spanned};

/// A value with its place; a default or a generated value has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) at: Option<Span>,
}

impl<T> Setting<T> {
    /// Takes the written value, or the default.
    pub(crate) fn or(written: Option<Spanned<T>>, default: T) -> Self {
        match written {
            Some(Spanned { value, at }) => Self { value, at: Some(at) },
            None => Self { value: default, at: None },
        }
    }
}

/// A setting of any type: only a [`Setting`] has a default.
pub(crate) trait Slot {
    /// Returns the value of a missing setting.
    fn unwritten(default: Option<Literal<'static>>) -> Self
    where
        Self: Sized;

    /// Takes the written values: one value, or those of a list, which is empty if all were faulty.
    /// INVARIANT: they were checked by the setting's row.
    fn set(&mut self, written: &[Spanned<Literal<'_>>]);

    /// Returns the values for a field of this kind, each with its place; empty if the value is
    /// absent.
    fn values(&self, kind: Kind) -> Vec<(Literal<'_>, Option<Span>)>;

    /// Returns its place; `None` for a default.
    fn at(&self) -> Option<Span>;
}

impl<T: Scalar> Slot for Setting<T> {
    #[expect(clippy::expect_used, reason = "the row of a setting of this type has a default")]
    fn unwritten(default: Option<Literal<'static>>) -> Self {
        Self { value: default.and_then(T::decode).expect("a default"), at: None }
    }

    fn set(&mut self, written: &[Spanned<Literal<'_>>]) {
        let decoded = |written: &Spanned<Literal<'_>>| {
            T::decode(written.value).map(|value| Self { value, at: Some(written.at) })
        };
        if let Some(setting) = written.first().and_then(decoded) {
            *self = setting;
        }
    }

    fn values(&self, kind: Kind) -> Vec<(Literal<'_>, Option<Span>)> {
        vec![(self.value.encode(kind), self.at)]
    }

    fn at(&self) -> Option<Span> {
        self.at
    }
}

impl<T: Scalar> Slot for Option<Spanned<T>> {
    fn unwritten(_default: Option<Literal<'static>>) -> Self {
        None
    }

    fn set(&mut self, written: &[Spanned<Literal<'_>>]) {
        *self = written.first().and_then(|written| {
            T::decode(written.value).map(|value| Spanned { value, at: written.at })
        });
    }

    fn values(&self, kind: Kind) -> Vec<(Literal<'_>, Option<Span>)> {
        self.iter().map(|written| (written.value.encode(kind), Some(written.at))).collect()
    }

    fn at(&self) -> Option<Span> {
        self.as_ref().map(|written| written.at)
    }
}

impl Slot for Option<Spanned<String>> {
    fn unwritten(_default: Option<Literal<'static>>) -> Self {
        None
    }

    fn set(&mut self, written: &[Spanned<Literal<'_>>]) {
        *self = written.first().and_then(text);
    }

    fn values(&self, _kind: Kind) -> Vec<(Literal<'_>, Option<Span>)> {
        self.iter().map(placed).collect()
    }

    fn at(&self) -> Option<Span> {
        self.as_ref().map(|written| written.at)
    }
}

/// A list of texts. A written list that is empty had only faults.
impl Slot for Option<Vec<Spanned<String>>> {
    fn unwritten(_default: Option<Literal<'static>>) -> Self {
        None
    }

    fn set(&mut self, written: &[Spanned<Literal<'_>>]) {
        *self = Some(written.iter().filter_map(text).collect());
    }

    fn values(&self, _kind: Kind) -> Vec<(Literal<'_>, Option<Span>)> {
        self.iter().flatten().map(placed).collect()
    }

    fn at(&self) -> Option<Span> {
        self.iter().flatten().next().map(|written| written.at)
    }
}

fn text(written: &Spanned<Literal<'_>>) -> Option<Spanned<String>> {
    match written.value {
        Literal::Text(text) => Some(Spanned { value: text.to_owned(), at: written.at }),
        Literal::Boolean(_) | Literal::Number(_) | Literal::Word(_) => None,
    }
}

fn placed(written: &Spanned<String>) -> (Literal<'_>, Option<Span>) {
    (Literal::Text(&written.value), Some(written.at))
}

/// The settings of a node and of the nodes in it.
pub(crate) trait Settings {
    /// Returns the settings of a node of this rule that leaves all out.
    fn unwritten(rule: &'static Rule) -> Self
    where
        Self: Sized;

    /// Returns the settings of a rule's rows, each with the name of its row.
    fn of(&self, rule: &'static Rule) -> Vec<(&'static str, &dyn Slot)>;

    /// Returns the same, to be changed.
    fn of_mut(&mut self, rule: &'static Rule) -> Vec<(&'static str, &mut dyn Slot)>;
}

/// A node that a block may hold any number of times: its rule, its place, its settings.
#[derive(Debug, Clone)]
pub(crate) struct Entry<T> {
    pub(crate) rule: &'static Rule,
    pub(crate) at: Span,
    pub(crate) settings: T,
}

/// Returns the number of written settings.
pub(crate) fn count_written(settings: &[(&'static str, &dyn Slot)]) -> usize {
    settings.iter().filter(|(_, setting)| setting.at().is_some()).count()
}

/// Declares a struct of settings: `FIELD: TYPE = ROW` in the braces of the rules that have the row.
///
/// The struct's own fields come first; they begin with their type's default. A setting begins with
/// the default of its row, in the first rule that has it.
macro_rules! settings {
    (
        $(#[$doc:meta])*
        struct $name:ident { $($(#[$other_doc:meta])* $other:ident: $other_type:ty,)* }
        $($rule:ident $(| $alike:ident)* {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $row:expr,)*
        })*
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

        impl $crate::setting::Settings for $name {
            fn unwritten(rule: &'static $crate::grammar::Rule) -> Self {
                let mut settings = Self::default();
                $(if [&$rule $(, &$alike)*].iter().any(|each| std::ptr::eq(*each, rule)) {
                    $(settings.$field = $crate::setting::Slot::unwritten(rule.default($row));)*
                })*
                settings
            }

            fn of(
                &self,
                rule: &'static $crate::grammar::Rule,
            ) -> Vec<(&'static str, &dyn $crate::setting::Slot)> {
                let mut all: Vec<(&'static str, &dyn $crate::setting::Slot)> = Vec::new();
                $(if [&$rule $(, &$alike)*].iter().any(|each| std::ptr::eq(*each, rule)) {
                    $(all.push(($row, &self.$field));)*
                })*
                all
            }

            fn of_mut(
                &mut self,
                rule: &'static $crate::grammar::Rule,
            ) -> Vec<(&'static str, &mut dyn $crate::setting::Slot)> {
                let mut all: Vec<(&'static str, &mut dyn $crate::setting::Slot)> = Vec::new();
                $(if [&$rule $(, &$alike)*].iter().any(|each| std::ptr::eq(*each, rule)) {
                    $(all.push(($row, &mut self.$field));)*
                })*
                all
            }
        }
    };
}
pub(crate) use settings;
