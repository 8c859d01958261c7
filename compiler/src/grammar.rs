//! The types of the tables of the language: a rule for each node, a row for each value on it.
//!
//! The parser accepts exactly the names that the rules list, and `docs/language.md` is made of
//! them, so both agree. The rules are in `language`.

use relay_bundle::Tier;

use crate::measure::{BYTES, DURATION, Measure};

/// A node: its parts and its purpose.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Its word.
    pub(crate) name: &'static str,
    /// Its name in diagnostics: `a prompt`.
    pub(crate) what: &'static str,
    /// Its purpose, in one line.
    pub(crate) meaning: &'static str,
    /// Its arguments and properties.
    pub(crate) fields: &'static [Field],
    /// The nodes in it.
    pub(crate) children: &'static [&'static Rule],
    /// A document that shows it, for the reference; a rule that lacks one is described with the
    /// node around it.
    pub(crate) example: &'static str,
}

/// An argument or a property.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// The property's name; for an argument its kind: `a name`.
    pub(crate) name: &'static str,
    /// The place of the value.
    pub(crate) form: Form,
    /// The values that it takes.
    pub(crate) kind: Kind,
    /// The value of a missing one, if there is a default.
    pub(crate) default: Option<Literal<'static>>,
    /// Its purpose, in one line.
    pub(crate) meaning: &'static str,
}

/// The place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// After the node's word, required.
    Argument,
    /// After the node's word, optional.
    Optional,
    /// After the node's word, once or more.
    Arguments,
    /// The same; the values of several such nodes are joined.
    Joined,
    /// `name=value`
    Property,
    /// `name=value`, which decides whether the node counts: `relay show` writes it only on nodes
    /// that are switched off.
    Switch,
    /// `name=value`, or a node in this one with the value as its argument.
    Either,
    /// The same, which `relay show` writes as `name=value`.
    Line,
    /// `name=value`, once or more, with names that the author chooses.
    Keys,
}

/// The values that a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A text; the word names it for people.
    Text(&'static str),
    /// A text of one line.
    Line(&'static str),
    /// A non-empty text.
    Name(&'static str),
    /// `#true` or `#false`.
    Boolean,
    /// A whole number.
    Number {
        /// The lowest.
        low: u64,
        /// The highest.
        high: u64,
    },
    /// A number with a unit: `(bytes)"8KiB"`, `(duration)"60s"`.
    Measured {
        /// The units.
        measure: &'static Measure,
        /// The least.
        low: u64,
        /// The most.
        high: u64,
    },
    /// `(chars)100`
    Chars {
        /// The fewest.
        low: u64,
        /// The most.
        high: u64,
    },
    /// `(regex)"…"`
    Regex,
    /// `(file)"…"`: an absolute path on the server.
    File,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// The numbers that a row takes.
pub(crate) struct Numbers {
    pub(crate) low: u64,
    pub(crate) high: u64,
    pub(crate) default: u64,
}

/// A value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literal<'t> {
    Boolean(bool),
    Number(u64),
    Word(&'t str),
    Text(&'t str),
}

/// The type of a field.
pub(crate) trait Scalar: Copy {
    /// Its words; empty for other kinds.
    const WORDS: &'static [&'static str] = &[];

    /// Returns the value of a literal; `None` if it is of another type.
    fn decode(literal: Literal<'_>) -> Option<Self>;

    /// Returns the literal of the value, for a field of this kind.
    fn encode(self, kind: Kind) -> Literal<'static>;
}

impl Field {
    pub(crate) const fn argument(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, form: Form::Argument, kind, default: None, meaning }
    }

    pub(crate) const fn optional(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, form: Form::Optional, kind, default: None, meaning }
    }

    pub(crate) const fn arguments(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, form: Form::Arguments, kind, default: None, meaning }
    }

    /// Returns the row of the values of nodes that are joined.
    pub(crate) const fn joined(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, form: Form::Joined, kind, default: None, meaning }
    }

    pub(crate) const fn property(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, form: Form::Property, kind, default: None, meaning }
    }

    /// Returns the row of a text that is a property or a node.
    pub(crate) const fn either(name: &'static str, meaning: &'static str) -> Self {
        Self { name, form: Form::Either, kind: Kind::Text("text"), default: None, meaning }
    }

    /// Returns the row of a text of one line that is a property or a node.
    pub(crate) const fn title(name: &'static str, meaning: &'static str) -> Self {
        Self { kind: Kind::Line("text"), ..Self::either(name, meaning) }
    }

    /// Returns the row of a short text that is a property or a node.
    pub(crate) const fn line(name: &'static str, meaning: &'static str) -> Self {
        Self { form: Form::Line, ..Self::title(name, meaning) }
    }

    /// Returns the row with a default.
    pub(crate) const fn or(self, default: Literal<'static>) -> Self {
        Self { default: Some(default), ..self }
    }
}

impl Rule {
    /// Returns the rule of a childless node.
    pub(crate) const fn leaf(
        name: &'static str,
        what: &'static str,
        meaning: &'static str,
        fields: &'static [Field],
    ) -> Self {
        Self { name, what, meaning, fields, children: &[], example: "" }
    }

    /// Returns the row of the argument after `taken` others.
    pub(crate) fn argument(&self, taken: usize) -> Option<&'static Field> {
        let is_argument = |field: &&Field| !field.is_property() && field.form != Form::Keys;
        self.fields.iter().filter(is_argument).nth(taken)
    }

    /// Returns the row of a property.
    pub(crate) fn property(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.is_property() && field.name == name)
    }

    /// Returns the row of a name.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the default of a row.
    pub(crate) fn default(&self, name: &str) -> Option<Literal<'static>> {
        self.field(name)?.default
    }

    /// Returns the numbers that a row takes, if it takes numbers and has a default.
    pub(crate) fn numbers(&self, name: &str) -> Option<Numbers> {
        let field = self.field(name)?;
        match (field.kind, field.default?) {
            (Kind::Number { low, high }, Literal::Number(default)) => {
                Some(Numbers { low, high, default })
            }
            _ => None,
        }
    }

    /// Returns whether several of its nodes are joined.
    pub(crate) fn is_joined(&self) -> bool {
        self.fields.iter().any(|field| field.form == Form::Joined)
    }

    /// Returns the names of the properties that the node takes, sorted.
    pub(crate) fn property_names(&self) -> Vec<&'static str> {
        let properties = self.fields.iter().filter(|field| field.is_property());
        let mut names: Vec<_> = properties.map(|field| field.name).collect();
        names.sort_unstable();
        names
    }

    /// Returns the names of the nodes that may be in it, sorted.
    pub(crate) fn child_names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.names_of_children().collect();
        names.sort_unstable();
        names
    }

    /// Returns whether a node of this name may be in it. The parser asks at each node.
    pub(crate) fn has_child(&self, name: &str) -> bool {
        self.names_of_children().any(|known| known == name)
    }

    fn names_of_children(&self) -> impl Iterator<Item = &'static str> {
        let texts =
            self.fields.iter().filter(|field| matches!(field.form, Form::Either | Form::Line));
        texts.map(|field| field.name).chain(self.children.iter().map(|rule| rule.name))
    }
}

impl Field {
    /// Returns whether its name is written: `name=value`.
    pub(crate) fn is_property(&self) -> bool {
        matches!(self.form, Form::Property | Form::Switch | Form::Either | Form::Line)
    }

    /// Returns whether it is a list: the arguments of a node.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.form, Form::Arguments | Form::Joined)
    }
}

impl Scalar for bool {
    fn decode(literal: Literal<'_>) -> Option<Self> {
        match literal {
            Literal::Boolean(yes) => Some(yes),
            Literal::Word("on") => Some(true),
            Literal::Word("off") => Some(false),
            Literal::Word(_) | Literal::Number(_) | Literal::Text(_) => None,
        }
    }

    fn encode(self, kind: Kind) -> Literal<'static> {
        match (kind, self) {
            (Kind::Words(_), true) => Literal::Word("on"),
            (Kind::Words(_), false) => Literal::Word("off"),
            (_, yes) => Literal::Boolean(yes),
        }
    }
}

/// Implements [`Scalar`] for numbers. A row's range must fit its type.
macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Scalar for $type {
            fn decode(literal: Literal<'_>) -> Option<Self> {
                match literal {
                    Literal::Number(number) => Self::try_from(number).ok(),
                    Literal::Boolean(_) | Literal::Word(_) | Literal::Text(_) => None,
                }
            }

            fn encode(self, _kind: Kind) -> Literal<'static> {
                Literal::Number(self.into())
            }
        })*
    };
}

numbers!(u8, u32, u64);

impl Kind {
    /// Sizes up to a number of bytes.
    pub(crate) const fn bytes(low: u64, high: u64) -> Self {
        Self::Measured { measure: &BYTES, low, high }
    }

    /// Durations of a number of seconds.
    pub(crate) const fn duration(low: u64, high: u64) -> Self {
        Self::Measured { measure: &DURATION, low, high }
    }

    /// A tier, by its number.
    pub(crate) const TIER: Self = Self::Number { low: 0, high: Tier::Irreversible as u64 };
}

impl Scalar for Tier {
    fn decode(literal: Literal<'_>) -> Option<Self> {
        u8::decode(literal).and_then(Self::from_number)
    }

    fn encode(self, kind: Kind) -> Literal<'static> {
        self.number().encode(kind)
    }
}

/// Implements [`Scalar`] for a type whose values are words.
macro_rules! words {
    ($type:ty { $($word:literal = $value:path,)* }) => {
        impl $crate::grammar::Scalar for $type {
            const WORDS: &'static [&'static str] = &[$($word),*];

            fn decode(literal: $crate::grammar::Literal<'_>) -> Option<Self> {
                match literal {
                    $($crate::grammar::Literal::Word($word) => Some($value),)*
                    _ => None,
                }
            }

            fn encode(self, _kind: $crate::grammar::Kind) -> $crate::grammar::Literal<'static> {
                #[allow(unreachable_patterns, reason = "a type may have values without a word")]
                $crate::grammar::Literal::Word(match self {
                    $($value => $word,)*
                    _ => "",
                })
            }
        }
    };
}
pub(crate) use words;
