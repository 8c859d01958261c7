//! Values of a document, read by their kind.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::grammar::{Kind, Literal};
use crate::measure::{BYTES, DURATION, Measure};
use crate::source::{Span, Spanned, is_newline};
use relay_bundle::Tier;
use relay_engine::nearest::nearest;

/// A value, perhaps with a type annotation.
#[derive(Debug, Clone)]
pub(in crate::parse) struct Value {
    pub(in crate::parse) scalar: Scalar,
    /// Boxed, since few values have one and each takes the room.
    pub(in crate::parse) annotation: Option<Box<Spanned<String>>>,
    pub(in crate::parse) at: Span,
    /// Whether only blanks lie between it and the argument before it, rather than a comment or
    /// something disabled.
    pub(in crate::parse) follows_argument: bool,
}

/// A KDL value. Numbers with a fraction keep their text: the language has only whole numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::parse) enum Scalar {
    Text(String),
    Integer(i128),
    Float(String),
    Boolean(bool),
    Null,
}

/// Type annotations of the language.
const ANNOTATIONS: &[&str] = &["bytes", "chars", "duration", "env", "file", "regex"];

impl Value {
    /// Returns the text; reports any other value and every annotation.
    pub(in crate::parse) fn text(&self, out: &mut Diagnostics) -> Option<Spanned<String>> {
        self.written(out).map(|text| Spanned { value: text.to_owned(), at: self.at })
    }

    fn written(&self, out: &mut Diagnostics) -> Option<&str> {
        self.plain(out)?;
        match &self.scalar {
            Scalar::Text(text) => Some(text),
            _ => self.wrong_type("a text", self.quoted(), out),
        }
    }

    /// Returns the text, unless it is empty.
    fn written_name(&self, out: &mut Diagnostics) -> Option<&str> {
        let text = self.written(out)?;
        if text.trim().is_empty() {
            out.report(self.at, EmptyText { at: self.at });
            return None;
        }
        Some(text)
    }

    /// Returns the text if it has one line.
    fn written_line(&self, out: &mut Diagnostics) -> Option<&str> {
        let text = self.written(out)?;
        if text.contains(is_newline) {
            out.report(self.at, SeveralLines { at: self.at });
            return None;
        }
        Some(text)
    }

    /// Returns the value for a field of this kind.
    pub(in crate::parse) fn literal(
        &self,
        kind: Kind,
        out: &mut Diagnostics,
    ) -> Option<Spanned<Literal<'_>>> {
        let value = match kind {
            Kind::Text(_) => Literal::Text(self.written(out)?),
            Kind::Line(_) => Literal::Text(self.written_line(out)?),
            Kind::Name(_) => Literal::Text(self.written_name(out)?),
            Kind::Boolean => Literal::Boolean(self.boolean(out)?),
            Kind::Number { low, high } => {
                self.plain(out)?;
                Literal::Number(self.in_range(self.whole(low, high, out)?, low, high, out)?)
            }
            Kind::Measured { measure, low, high } => {
                Literal::Number(self.measured(measure, (low, high), out)?)
            }
            Kind::Chars { low, high } => {
                self.unit("chars", out)?;
                Literal::Number(self.in_range(self.whole(low, high, out)?, low, high, out)?)
            }
            Kind::Words(words) => Literal::Word(self.word(words, out)?),
            Kind::Regex => Literal::Text(self.annotated("regex", "a regex", out)?),
            Kind::File => Literal::Text(self.annotated("file", "a path", out)?),
        };
        Some(Spanned { value, at: self.at })
    }

    /// Returns a regex, `(regex)"…"`; reports any other value.
    pub(in crate::parse) fn regex(&self, out: &mut Diagnostics) -> Option<Spanned<String>> {
        let text = self.annotated("regex", "a regex", out)?;
        Some(Spanned { value: text.to_owned(), at: self.at })
    }

    /// Returns a text with a type annotation, unless it is empty.
    fn annotated(
        &self,
        annotation: &'static str,
        what: &'static str,
        out: &mut Diagnostics,
    ) -> Option<&str> {
        self.unit(annotation, out)?;
        match &self.scalar {
            Scalar::Text(text) if text.is_empty() => {
                out.report(self.at, EmptyText { at: self.at });
                None
            }
            Scalar::Text(text) => Some(text),
            _ => self.wrong_type(what, self.quoted(), out),
        }
    }

    fn boolean(&self, out: &mut Diagnostics) -> Option<bool> {
        self.plain(out)?;
        match self.scalar {
            Scalar::Boolean(yes) => Some(yes),
            _ => self.wrong_type("#true or #false", self.as_boolean(), out),
        }
    }

    /// Returns a number with its unit: `(bytes)"8KiB"`.
    fn measured(
        &self,
        measure: &'static Measure,
        (low, high): (u64, u64),
        out: &mut Diagnostics,
    ) -> Option<u64> {
        self.unit(measure.annotation, out)?;
        let number = match &self.scalar {
            Scalar::Text(text) => match measure.read(text) {
                Some(number) => number,
                None => return self.unmeasured(measure, text, out),
            },
            Scalar::Integer(number) if !measure.may_be_bare => {
                return self.unmeasured(measure, &number.to_string(), out);
            }
            _ => self.whole(low, high, out)?,
        };
        if measure.may_be_bare || Self::is_within(number, (low, high)).is_some() {
            return self.in_range(number, low, high, out);
        }
        let shown = |number: u64| {
            let (count, unit) = measure.in_largest(number);
            format!("{count}{unit}")
        };
        let limit = format!("{} to {}", shown(low), shown(high));
        let number = u64::try_from(number).map_or_else(|_| number.to_string(), shown);
        let help = format!("write a value from {limit}");
        out.report(self.at, OutOfRange { number, limit, help, at: self.at });
        None
    }

    fn is_within(number: i128, (low, high): (u64, u64)) -> Option<u64> {
        u64::try_from(number).ok().filter(|number| (low..=high).contains(number))
    }

    fn unmeasured(
        &self,
        measure: &'static Measure,
        text: &str,
        out: &mut Diagnostics,
    ) -> Option<u64> {
        let Measure { values, .. } = *measure;
        let (text, help) = (text.to_owned(), measure.help(text));
        out.report(self.at, Unmeasured { text, values, help, at: self.at });
        None
    }

    /// Reports an annotation that is missing or names another unit.
    fn unit(&self, unit: &'static str, out: &mut Diagnostics) -> Option<()> {
        let (found, at) = match &self.annotation {
            Some(annotation) if annotation.value == unit => return Some(()),
            Some(annotation) => (Some(annotation.value.clone()), annotation.at),
            None => (None, self.at),
        };
        let help = self.with_unit(unit);
        out.report(at, WrongUnit { unit, found, help, at });
        None
    }

    /// Returns the value with its unit, as the author should write it.
    fn with_unit(&self, unit: &str) -> String {
        match &self.scalar {
            Scalar::Text(text) if unit == BYTES.annotation => BYTES.help(text),
            Scalar::Text(text) if unit == DURATION.annotation => DURATION.help(text),
            Scalar::Integer(number) if unit == DURATION.annotation => {
                DURATION.help(&number.to_string())
            }
            Scalar::Text(_) if matches!(unit, "regex" | "file") => {
                format!("write `({unit})` before the text, without a blank")
            }
            Scalar::Integer(number) => format!("write `({unit}){number}`"),
            Scalar::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("write `({unit}){text}`")
            }
            _ => format!("write `({unit})` and a whole number"),
        }
    }

    fn word(&self, words: &'static [&'static str], out: &mut Diagnostics) -> Option<&'static str> {
        self.plain(out)?;
        let Scalar::Text(text) = &self.scalar else {
            return self.wrong_type("a word", self.as_word(words), out);
        };
        let text = Spanned { value: text.clone(), at: self.at };
        let found = words.iter().find(|word| **word == text.value);
        if found.is_none() {
            let help = suggestion(&text.value, words, "words");
            out.report(self.at, UnknownWord { word: text.value, help, at: self.at });
        }
        found.copied()
    }

    fn whole(&self, low: u64, high: u64, out: &mut Diagnostics) -> Option<i128> {
        match self.scalar {
            Scalar::Integer(number) => Some(number),
            _ => self.wrong_type("a whole number", self.as_whole(low, high), out),
        }
    }

    /// Returns the number to write in place of this value.
    fn as_whole(&self, low: u64, high: u64) -> String {
        let range = range(low, high);
        let Scalar::Text(text) = &self.scalar else {
            return format!("write a whole number {range}");
        };
        let is_number = text.parse::<u64>().is_ok_and(|number| (low..=high).contains(&number));
        let tier = Tier::ALL.into_iter().find(|tier| tier.name().eq_ignore_ascii_case(text));
        match tier.filter(|_| Kind::TIER == Kind::Number { low, high }) {
            _ if is_number => format!("write it without quotes: `{text}`"),
            Some(tier) => format!("write the tier as its number: `{}`", tier.number()),
            None => format!("write a whole number {range}, without quotes"),
        }
    }

    /// Returns the value as a quoted text, as the author should write it.
    fn quoted(&self) -> String {
        match &self.scalar {
            Scalar::Integer(number) => format!("write it in quotes: `\"{number}\"`"),
            Scalar::Float(number) => format!("write it in quotes: `\"{number}\"`"),
            Scalar::Boolean(yes) => format!("write it in quotes if it is a text: `\"{yes}\"`"),
            Scalar::Text(_) | Scalar::Null => {
                "write a text in quotes, or leave the value out".to_owned()
            }
        }
    }

    fn as_boolean(&self) -> String {
        let known = match &self.scalar {
            Scalar::Text(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => Some(true),
                "false" | "no" | "off" => Some(false),
                _ => None,
            },
            Scalar::Integer(number) => match number {
                1 => Some(true),
                0 => Some(false),
                _ => None,
            },
            Scalar::Float(_) | Scalar::Boolean(_) | Scalar::Null => None,
        };
        known.map_or_else(
            || "write `#true` or `#false`, with the `#`".to_owned(),
            |yes| format!("write `#{yes}`"),
        )
    }

    /// Returns the word to write in place of this value.
    fn as_word(&self, words: &[&str]) -> String {
        match (&self.scalar, words) {
            (Scalar::Boolean(yes), ["on", "off"]) => {
                format!("write `{}`", if *yes { "on" } else { "off" })
            }
            _ => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("write one of {}", words.join(", "))
            }
        }
    }

    fn in_range(&self, number: i128, low: u64, high: u64, out: &mut Diagnostics) -> Option<u64> {
        let found = Self::is_within(number, (low, high));
        if found.is_none() {
            let help = format!("write a number {}", range(low, high));
            let (number, limit) = (number.to_string(), limit(low, high));
            out.report(self.at, OutOfRange { number, limit, help, at: self.at });
        }
        found
    }

    /// Reports an annotation of a value that takes none.
    pub(in crate::parse) fn plain(&self, out: &mut Diagnostics) -> Option<()> {
        match &self.annotation {
            None => Some(()),
            Some(annotation) => {
                report_annotation(annotation, out);
                None
            }
        }
    }

    fn wrong_type<T>(
        &self,
        expected: &'static str,
        help: String,
        out: &mut Diagnostics,
    ) -> Option<T> {
        let found = match &self.scalar {
            Scalar::Text(_) => "a text".to_owned(),
            Scalar::Integer(number) => format!("the number {number}"),
            Scalar::Float(number) => format!("the number {number}"),
            Scalar::Boolean(yes) => format!("#{yes}"),
            Scalar::Null => "#null".to_owned(),
        };
        out.report(self.at, WrongType { expected, found, help, at: self.at });
        None
    }
}

/// Returns the numbers of a range, for people.
fn range(low: u64, high: u64) -> String {
    match is_open(high) {
        true => format!("from {low}"),
        false => format!("from {low} to {high}"),
    }
}

/// Returns the ends of a range, for people.
fn limit(low: u64, high: u64) -> String {
    match is_open(high) {
        true => format!("{low} and above"),
        false => format!("{low} to {high}"),
    }
}

/// Returns whether a range ends where TOML or JSON ends it, far beyond any use.
fn is_open(high: u64) -> bool {
    high >= i64::MAX.unsigned_abs()
}

pub(super) fn report_annotation(annotation: &Spanned<String>, out: &mut Diagnostics) {
    let Spanned { value: name, at } = annotation;
    if matches!(name.as_str(), "env" | "file") {
        out.report(*at, SecretNotExpected { name: name.clone(), at: *at });
    } else if ANNOTATIONS.contains(&name.as_str()) {
        out.report(*at, UnexpectedAnnotation { name: name.clone(), at: *at });
    } else {
        let help = suggestion(name, ANNOTATIONS, "annotations");
        out.report(*at, UnknownAnnotation { name: name.clone(), help, at: *at });
    }
}

/// Returns a help with the nearest known name, or with all of them.
pub(super) fn suggestion(name: &str, known: &[&str], kind: &str) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("no {kind} are known here"),
        None => format!("known {kind}: {}", known.join(", ")),
    }
}

/// The setting has one type of value. A conversion could change the meaning.
#[derive(Debug, Error, Diagnostic)]
#[error("expected {expected}, found {found}")]
#[diagnostic(code(value::wrong_type))]
struct WrongType {
    expected: &'static str,
    found: String,
    #[help]
    help: String,
    #[label(primary, "this value")]
    at: Span,
}

/// Each number has a range in which a server works well. A number out of it is an error and is
/// never changed in silence.
#[derive(Debug, Error, Diagnostic)]
#[error("the value is {number}; the limit is {limit}")]
#[diagnostic(code(value::out_of_range))]
struct OutOfRange {
    number: String,
    limit: String,
    #[help]
    help: String,
    #[label(primary, "out of range")]
    at: Span,
}

/// The setting takes one of a few words. A mistyped one would leave it at the default.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown word `{word}`")]
#[diagnostic(code(value::unknown_word))]
struct UnknownWord {
    word: String,
    #[help]
    help: String,
    #[label(primary, "not known here")]
    at: Span,
}

/// Reports and clients print the text in one line. Text after a line end would look like another
/// report.
#[derive(Debug, Error, Diagnostic)]
#[error("the text has several lines")]
#[diagnostic(code(value::several_lines), help("write it in one line"))]
pub(in crate::parse) struct SeveralLines {
    #[label(primary, "one line is expected")]
    pub(in crate::parse) at: Span,
}

/// An empty text has no effect, and looks as if something had been written.
#[derive(Debug, Error, Diagnostic)]
#[error("the text is empty")]
#[diagnostic(code(value::empty), help("write something, or remove the node"))]
struct EmptyText {
    #[label(primary, "nothing but white space")]
    at: Span,
}

/// The unit of the value is missing or another one. Units are written, so that a reader can tell
/// bytes from characters.
#[derive(Debug, Error, Diagnostic)]
#[error("{}", match found { Some(found) => format!("expected the unit `({unit})`, found `({found})`"), None => format!("the value needs its unit `({unit})`") })]
#[diagnostic(code(value::wrong_unit))]
struct WrongUnit {
    unit: &'static str,
    found: Option<String>,
    #[help]
    help: String,
    #[label(primary, "unit missing or wrong")]
    at: Span,
}

/// Sizes and durations are written with their unit, so that a reader can tell KiB from MiB.
#[derive(Debug, Error, Diagnostic)]
#[error("`{text}` is not {values}")]
#[diagnostic(code(value::size))]
struct Unmeasured {
    text: String,
    values: &'static str,
    #[help]
    help: String,
    #[label(primary, "not a number with a unit")]
    at: Span,
}

/// An annotation names the unit of a number. An unknown one would be ignored, and the number read
/// in another unit.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown annotation `({name})`")]
#[diagnostic(code(value::unknown_annotation))]
struct UnknownAnnotation {
    name: String,
    #[help]
    help: String,
    #[label(primary, "not known")]
    at: Span,
}

/// Annotations are units, and this value is unitless.
#[derive(Debug, Error, Diagnostic)]
#[error("the annotation `({name})` means nothing here")]
#[diagnostic(code(value::annotation), help("remove it"))]
struct UnexpectedAnnotation {
    name: String,
    #[label(primary, "no value with a unit belongs here")]
    at: Span,
}

/// All of a project goes into the bundle, and its texts to clients, so a secret would be published.
#[derive(Debug, Error, Diagnostic)]
#[error("`({name})` names a secret, and no secret belongs here")]
#[diagnostic(
    code(value::secret),
    help(
        "every value here goes into the bundle and to clients; secrets live in the server's configuration"
    )
)]
struct SecretNotExpected {
    name: String,
    #[label(primary, "not a place for a secret")]
    at: Span,
}
