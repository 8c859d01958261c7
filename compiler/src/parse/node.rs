//! KDL nodes as plain values, and the reader that takes them apart and misses nothing.
//!
//! A node's [`Rule`] says what it takes; [`Reader::finish`] reports everything else, with the
//! nearest name that it takes, and sees to it that all that the rule lists was read. That is how
//! no line of a project is inert.

use std::collections::BTreeSet;

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::grammar::{self, Field, Form, Kind, Literal, Rule};
use crate::nearest::nearest;
use crate::setting::Slot;
use crate::source::{Span, Spanned};

/// A node with all that stands on it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: Spanned<String>,
    pub(super) annotation: Option<Spanned<String>>,
    pub(super) arguments: Vec<Value>,
    pub(super) properties: Vec<Property>,
    pub(super) children: Option<Vec<Node>>,
}

/// `name=value`
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: Spanned<String>,
    pub(super) value: Value,
}

/// A value, perhaps with a type annotation.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) scalar: Scalar,
    pub(super) annotation: Option<Spanned<String>>,
    pub(super) at: Span,
}

/// A KDL value. Numbers with a fraction keep their text: no part of the language takes one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Text(String),
    Integer(i128),
    Float(String),
    Boolean(bool),
    Null,
}

/// Nodes that later versions of the language have, with what they are for.
pub(crate) const RESERVED: &[(&str, &str)] = &[
    ("expect", "expectations that every build checks"),
    ("for", "who sees a prompt"),
    ("hosts", "the inventory of hosts"),
    ("policy", "policies"),
    ("roles", "roles"),
    ("servers", "upstream servers"),
    ("sessions", "tools for terminal sessions"),
    ("shell", "tools that run commands"),
    ("skills", "skills"),
    ("ssh", "tools that reach hosts"),
    ("tenants", "tenants"),
    ("users", "users and groups"),
];

/// Type annotations of the language.
const ANNOTATIONS: &[&str] = &["bytes", "chars", "duration", "env", "file", "regex"];

/// A node that is one text.
pub(super) static TEXT: Rule = Rule {
    name: "text",
    what: "a text",
    meaning: "The text itself.",
    fields: &[Field::argument("a text", Kind::Text("text"), "The text.")],
    children: &[],
    example: "",
};

/// Takes a node apart.
pub(super) struct Reader<'n> {
    node: &'n Node,
    rule: &'static Rule,
    arguments_taken: usize,
    /// The properties and the children that were asked for.
    properties: BTreeSet<&'static str>,
    children: BTreeSet<&'static str>,
}

impl<'n> Reader<'n> {
    /// Begins to read `node` by its rule; reports a property that is given twice, since KDL itself lets the
    /// last one win, and an annotation on the node, which means nothing.
    pub(super) fn new(node: &'n Node, rule: &'static Rule, out: &mut Diagnostics) -> Self {
        for (index, property) in node.properties.iter().enumerate() {
            let mut before = node.properties.iter().take(index);
            if let Some(first) = before.find(|first| first.name.value == property.name.value) {
                out.report(
                    property.name.at,
                    DuplicateProperty {
                        name: property.name.value.clone(),
                        first_at: first.name.at,
                        at: property.name.at,
                    },
                );
            }
        }
        if let Some(annotation) = &node.annotation {
            report_annotation(annotation, out);
        }
        Self {
            node,
            rule,
            arguments_taken: 0,
            properties: BTreeSet::new(),
            children: BTreeSet::new(),
        }
    }

    /// Takes the next argument, which must be there.
    pub(super) fn argument(&mut self, out: &mut Diagnostics) -> Option<&'n Value> {
        let field = self.rule.argument(self.arguments_taken)?;
        self.required_argument(field.name, out)
    }

    /// Takes the next argument, which must be there if nothing else says `what`.
    pub(super) fn required_argument(
        &mut self,
        what: &'static str,
        out: &mut Diagnostics,
    ) -> Option<&'n Value> {
        let value = self.optional_argument();
        if value.is_none() {
            let node = self.node.name.value.clone();
            out.report(self.node.name.at, MissingArgument { node, what, at: self.node.name.at });
        }
        value
    }

    /// Takes the next argument, if there is one.
    pub(super) fn optional_argument(&mut self) -> Option<&'n Value> {
        debug_assert!(self.rule.argument(self.arguments_taken).is_some(), "{}", self.rule.what);
        let value = self.node.arguments.get(self.arguments_taken)?;
        self.arguments_taken += 1;
        Some(value)
    }

    /// Takes all arguments as texts: one must be there, and none is empty.
    pub(super) fn texts(&mut self, out: &mut Diagnostics) -> Vec<Spanned<String>> {
        self.argument(out);
        self.arguments_taken = self.node.arguments.len();
        self.node.arguments.iter().filter_map(|value| value.non_empty(out)).collect()
    }

    /// Takes a property.
    pub(super) fn property(&mut self, name: &'static str) -> Option<&'n Value> {
        self.properties.insert(name);
        let found = self.node.properties.iter().find(|property| property.name.value == name);
        found.map(|property| &property.value)
    }

    /// Takes a property as its row says.
    pub(super) fn value<T: grammar::Scalar>(
        &mut self,
        name: &'static str,
        out: &mut Diagnostics,
    ) -> Option<Spanned<T>> {
        let value = self.property(name)?;
        let Spanned { value, at } = value.literal(self.rule.property(name)?.kind, out)?;
        T::decode(value).map(|value| Spanned { value, at })
    }

    /// Takes the settings of the node, in the order of its rule's rows.
    pub(super) fn settings(&mut self, settings: Vec<&mut dyn Slot>, out: &mut Diagnostics) {
        for (field, setting) in self.rule.fields.iter().zip(settings) {
            let value = match field.form {
                Form::Argument | Form::Arguments => self.argument(out),
                Form::Optional => self.optional_argument(),
                Form::Property | Form::Either => self.property(field.name),
            };
            if let Some(written) = value.and_then(|value| value.literal(field.kind, out)) {
                setting.set(written);
            }
        }
    }

    /// Takes a child that may stand there once.
    pub(super) fn child(&mut self, name: &'static str, out: &mut Diagnostics) -> Option<&'n Node> {
        let mut found = self.children(name);
        let first = found.next();
        for again in found {
            out.report(
                again.name.at,
                DuplicateNode {
                    name: name.into(),
                    first_at: first.map_or(again.name.at, |first| first.name.at),
                    at: again.name.at,
                },
            );
        }
        first
    }

    /// Takes all children of a name.
    pub(super) fn children(
        &mut self,
        name: &'static str,
    ) -> impl Iterator<Item = &'n Node> + use<'n> {
        self.children.insert(name);
        let children = self.node.children.as_deref().unwrap_or_default();
        children.iter().filter(move |child| child.name.value == name)
    }

    /// Takes a text that may be a property or a child with one argument.
    pub(super) fn text(
        &mut self,
        name: &'static str,
        out: &mut Diagnostics,
    ) -> Option<Spanned<String>> {
        let property = self.property(name);
        let child = self.child(name, out);
        if let (Some(first), Some(again)) = (property, child) {
            let (first_at, at) = (first.at, again.name.at);
            out.report(at, DuplicateNode { name: name.into(), first_at, at });
        }
        let value = match (property, child) {
            (Some(value), _) => Some(value),
            (None, Some(child)) => {
                let mut reader = Reader::new(child, &TEXT, out);
                let value = reader.argument(out);
                reader.finish_as(name, out);
                value
            }
            (None, None) => None,
        };
        value?.text(out)
    }

    /// Takes all children of the names in the rule, in the order of the text.
    pub(super) fn all_children(&mut self) -> impl Iterator<Item = &'n Node> + use<'n> {
        self.children.extend(self.rule.children.iter().map(|rule| rule.name));
        let known = self.rule.children;
        let children = self.node.children.as_deref().unwrap_or_default();
        children.iter().filter(|child| known.iter().any(|rule| rule.name == child.name.value))
    }

    /// Reports everything on the node that its rule does not list.
    pub(super) fn finish(self, out: &mut Diagnostics) {
        let what = self.rule.what;
        self.finish_as(what, out);
    }

    /// Reports everything on the node that its rule does not list; `what` names it for people.
    pub(super) fn finish_as(self, what: &str, out: &mut Diagnostics) {
        let properties = self.rule.property_names();
        let children = self.rule.child_names();
        // INVARIANT: what a rule lists is read, and what is read is listed.
        debug_assert!(self.properties.iter().eq(&properties), "{what}: {:?}", self.properties);
        debug_assert!(self.children.iter().eq(&children), "{what}: {:?}", self.children);
        for extra in self.node.arguments.get(self.arguments_taken..).unwrap_or_default() {
            let taken = self.arguments_taken;
            let what = what.to_owned();
            out.report(extra.at, ExtraArgument { what, taken, at: extra.at });
        }
        for property in &self.node.properties {
            let name = &property.name;
            if !properties.contains(&name.value.as_str()) {
                out.report(
                    name.at,
                    UnknownProperty {
                        name: name.value.clone(),
                        what: what.into(),
                        help: suggestion(&name.value, &properties, "properties"),
                        at: name.at,
                    },
                );
            }
        }
        for child in self.node.children.as_deref().unwrap_or_default() {
            if !children.contains(&child.name.value.as_str()) {
                unknown(child, &children, what, out);
            }
        }
    }
}

impl Value {
    /// Returns the text; reports any other value and every annotation.
    pub(super) fn text(&self, out: &mut Diagnostics) -> Option<Spanned<String>> {
        self.plain(out)?;
        match &self.scalar {
            Scalar::Text(text) => Some(Spanned { value: text.clone(), at: self.at }),
            _ => self.wrong_type("a text", out),
        }
    }

    /// Returns the text if it is not empty.
    pub(super) fn non_empty(&self, out: &mut Diagnostics) -> Option<Spanned<String>> {
        let text = self.text(out)?;
        if text.value.trim().is_empty() {
            out.report(self.at, EmptyText { at: self.at });
            return None;
        }
        Some(text)
    }

    /// Returns what a field of this kind takes; a text is not read by its kind.
    pub(super) fn literal(
        &self,
        kind: Kind,
        out: &mut Diagnostics,
    ) -> Option<Spanned<Literal<'static>>> {
        let value = match kind {
            Kind::Text(_) => return None,
            Kind::Boolean => Literal::Boolean(self.boolean(out)?),
            Kind::Number { low, high } => {
                self.plain(out)?;
                Literal::Number(self.in_range(self.whole(out)?, low, high, out)?)
            }
            Kind::Bytes { high } => Literal::Number(self.bytes(high, out)?),
            Kind::Chars { low, high } => {
                self.unit("chars", out)?;
                Literal::Number(self.in_range(self.whole(out)?, low, high, out)?)
            }
            Kind::Words(words) => Literal::Word(self.word(words, out)?),
        };
        Some(Spanned { value, at: self.at })
    }

    fn boolean(&self, out: &mut Diagnostics) -> Option<bool> {
        self.plain(out)?;
        match self.scalar {
            Scalar::Boolean(yes) => Some(yes),
            _ => self.wrong_type("#true or #false", out),
        }
    }

    /// Returns a number of bytes: `(bytes)8192` or `(bytes)"8KiB"`.
    fn bytes(&self, high: u64, out: &mut Diagnostics) -> Option<u64> {
        self.unit("bytes", out)?;
        let number = match &self.scalar {
            Scalar::Text(text) => match bytes(text) {
                Some(number) => number,
                None => {
                    out.report(self.at, NoSize { text: text.clone(), at: self.at });
                    return None;
                }
            },
            _ => self.whole(out)?,
        };
        self.in_range(number, 0, high, out)
    }

    /// Reports an annotation that is missing or not that of the unit.
    fn unit(&self, unit: &'static str, out: &mut Diagnostics) -> Option<()> {
        let (found, at) = match &self.annotation {
            Some(annotation) if annotation.value == unit => return Some(()),
            Some(annotation) => (Some(annotation.value.clone()), annotation.at),
            None => (None, self.at),
        };
        out.report(at, WrongUnit { unit, found, at });
        None
    }

    fn word(&self, words: &'static [&'static str], out: &mut Diagnostics) -> Option<&'static str> {
        let text = self.text(out)?;
        let found = words.iter().find(|word| **word == text.value);
        if found.is_none() {
            let help = suggestion(&text.value, words, "words");
            out.report(self.at, UnknownWord { word: text.value, help, at: self.at });
        }
        found.copied()
    }

    fn whole(&self, out: &mut Diagnostics) -> Option<i128> {
        match self.scalar {
            Scalar::Integer(number) => Some(number),
            _ => self.wrong_type("a whole number", out),
        }
    }

    fn in_range(&self, number: i128, low: u64, high: u64, out: &mut Diagnostics) -> Option<u64> {
        match u64::try_from(number) {
            Ok(value) if (low..=high).contains(&value) => Some(value),
            _ => {
                out.report(self.at, OutOfRange { number, low, high, at: self.at });
                None
            }
        }
    }

    /// Reports an annotation where none belongs.
    pub(super) fn plain(&self, out: &mut Diagnostics) -> Option<()> {
        match &self.annotation {
            None => Some(()),
            Some(annotation) => {
                report_annotation(annotation, out);
                None
            }
        }
    }

    fn wrong_type<T>(&self, expected: &'static str, out: &mut Diagnostics) -> Option<T> {
        let found = match &self.scalar {
            Scalar::Text(_) => "a text".to_owned(),
            Scalar::Integer(number) => format!("the number {number}"),
            Scalar::Float(number) => format!("the number {number}"),
            Scalar::Boolean(yes) => format!("#{yes}"),
            Scalar::Null => "#null".to_owned(),
        };
        out.report(self.at, WrongType { expected, found, at: self.at });
        None
    }
}

/// Returns the bytes of `8KiB`; `None` for any other form.
///
/// Only units that mean one thing: a kB is 1000 bytes to some and 1024 to others.
fn bytes(text: &str) -> Option<i128> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at_checked(digits)?;
    let factor = match unit {
        "B" => 1,
        "KiB" => 1024,
        "MiB" => 1024 * 1024,
        _ => return None,
    };
    number.parse::<i128>().ok()?.checked_mul(factor)
}

/// Reports a node that does not belong where it stands.
pub(super) fn unknown(node: &Node, known: &[&str], what: &str, out: &mut Diagnostics) {
    let Spanned { value: name, at } = &node.name;
    if let Some((_, purpose)) = RESERVED.iter().find(|(reserved, _)| reserved == name) {
        out.report(*at, Reserved { name: name.clone(), purpose, at: *at });
        return;
    }
    let help = suggestion(name, known, "nodes");
    out.report(*at, UnknownNode { name: name.clone(), what: what.into(), help, at: *at });
}

fn report_annotation(annotation: &Spanned<String>, out: &mut Diagnostics) {
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

fn suggestion(name: &str, known: &[&str], kind: &str) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("no {kind} are known here"),
        None => format!("known {kind}: {}", known.join(", ")),
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("unknown node `{name}` in {what}")]
#[diagnostic(code(node::unknown))]
struct UnknownNode {
    name: String,
    what: String,
    #[help]
    help: String,
    #[label(primary, "not known here")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is not in this version of relay")]
#[diagnostic(
    code(node::reserved),
    help(
        "the name is kept for {purpose}, which come with a later version; remove the node until then"
    )
)]
struct Reserved {
    name: String,
    purpose: &'static str,
    #[label(primary, "nothing would enforce this")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` stands here twice")]
#[diagnostic(code(node::duplicate), help("keep one of them"))]
pub(super) struct DuplicateNode {
    pub(super) name: String,
    #[label("first here")]
    pub(super) first_at: Span,
    #[label(primary, "again here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{node}` needs {what}")]
#[diagnostic(code(node::missing_argument), help("write it behind the node's name"))]
struct MissingArgument {
    node: String,
    what: &'static str,
    #[label(primary, "nothing follows")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{what} takes {taken} value{} here", if *taken == 1 { "" } else { "s" })]
#[diagnostic(
    code(node::extra_argument),
    help("remove it; a text with spaces needs quotes, and a property an `=`")
)]
struct ExtraArgument {
    what: String,
    taken: usize,
    #[label(primary, "one too many")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("unknown property `{name}` of {what}")]
#[diagnostic(code(property::unknown))]
struct UnknownProperty {
    name: String,
    what: String,
    #[help]
    help: String,
    #[label(primary, "not known here")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("property `{name}` is given twice")]
#[diagnostic(code(property::duplicate), help("keep one; KDL alone would silently take the last"))]
struct DuplicateProperty {
    name: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("expected {expected}, found {found}")]
#[diagnostic(code(value::wrong_type))]
struct WrongType {
    expected: &'static str,
    found: String,
    #[label(primary, "this value")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{number} is not within {low} and {high}")]
#[diagnostic(code(value::out_of_range), help("write a number from {low} to {high}"))]
struct OutOfRange {
    number: i128,
    low: u64,
    high: u64,
    #[label(primary, "out of range")]
    at: Span,
}

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

#[derive(Debug, Error, Diagnostic)]
#[error("the text is empty")]
#[diagnostic(code(value::empty), help("write something, or remove the node"))]
struct EmptyText {
    #[label(primary, "nothing but white space")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{}", match found { Some(found) => format!("expected the unit `({unit})`, found `({found})`"), None => format!("the value needs its unit `({unit})`") })]
#[diagnostic(code(value::wrong_unit), help("write `({unit})` in front of the number"))]
struct WrongUnit {
    unit: &'static str,
    found: Option<String>,
    #[label(primary, "unit missing or wrong")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{text}` is not a number of bytes")]
#[diagnostic(
    code(value::size),
    help(
        "write a whole number and its unit, as in `(bytes)\"8KiB\"`; the units are B, KiB (1024 B) and MiB (1024 KiB)"
    )
)]
struct NoSize {
    text: String,
    #[label(primary, "not a size")]
    at: Span,
}

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

#[derive(Debug, Error, Diagnostic)]
#[error("the annotation `({name})` means nothing here")]
#[diagnostic(code(value::annotation), help("remove it"))]
struct UnexpectedAnnotation {
    name: String,
    #[label(primary, "no value with a unit belongs here")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`({name})` names a secret, and no secret belongs here")]
#[diagnostic(
    code(value::secret),
    help(
        "what stands here goes into the bundle and to clients; secrets live in the server's configuration"
    )
)]
struct SecretNotExpected {
    name: String,
    #[label(primary, "not a place for a secret")]
    at: Span,
}
