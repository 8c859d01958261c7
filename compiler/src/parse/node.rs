//! KDL nodes as plain values, and the reader that takes them apart and misses nothing.
//!
//! A node's [`Rule`] says what it takes; [`Reader::finish`] reports everything else, with the
//! nearest name that it takes, and sees to it that all that the rule lists was read. That is how
//! no line of a project is inert.

mod value;

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::grammar::{self, Form, Rule};
use crate::language;
use crate::language::shared::TEXT;
use crate::setting::Slot;
use crate::source::{FileId, Span, Spanned};
use relay_engine::nearest::nearest;
use value::{report_annotation, suggestion};

pub(super) use value::{Scalar, Value};

/// A node with its arguments, properties and children.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) name: Spanned<String>,
    pub(super) annotation: Option<Spanned<String>>,
    pub(super) arguments: Vec<Value>,
    pub(super) properties: Vec<Property>,
    pub(super) children: Option<Vec<Node>>,
}

/// `name=value`
#[derive(Debug, Clone)]
pub(super) struct Property {
    pub(super) name: Spanned<String>,
    pub(super) value: Value,
}

impl Node {
    /// Returns the nodes of a file as those of one node.
    pub(super) fn of_file(file: FileId, nodes: Vec<Self>) -> Self {
        let at = Span { file, start: 0, end: 0 };
        Self {
            name: Spanned { value: String::new(), at },
            annotation: None,
            arguments: Vec::new(),
            properties: Vec::new(),
            children: Some(nodes),
        }
    }
}

/// Takes a node apart.
pub(super) struct Reader<'n> {
    node: &'n Node,
    rule: &'static Rule,
    arguments_taken: usize,
    /// The properties and the children that were asked for.
    properties: BTreeSet<&'static str>,
    children: BTreeSet<&'static str>,
    /// Whether the author chooses the names of the properties.
    any_property: bool,
}

impl<'n> Reader<'n> {
    /// Begins to read `node` by its rule; reports a property that is given twice, since KDL itself lets the
    /// last one win, and an annotation on the node, which means nothing.
    pub(super) fn new(node: &'n Node, rule: &'static Rule, out: &mut Diagnostics) -> Self {
        let mut first_at: BTreeMap<&str, Span> = BTreeMap::new();
        for Spanned { value: name, at } in node.properties.iter().map(|property| &property.name) {
            match first_at.entry(name) {
                Entry::Vacant(entry) => _ = entry.insert(*at),
                Entry::Occupied(first) => {
                    let (name, first_at, at) = (name.clone(), *first.get(), *at);
                    out.report(at, DuplicateProperty { name, first_at, at });
                }
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
            any_property: false,
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

    /// Takes all properties, whatever their names: one must be there.
    pub(super) fn all_properties(&mut self, out: &mut Diagnostics) -> &'n [Property] {
        self.any_property = true;
        if self.node.properties.is_empty() {
            let (node, at) = (self.node.name.value.clone(), self.node.name.at);
            out.report(at, MissingArgument { node, what: "a `key=value`", at });
        }
        &self.node.properties
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

    /// Takes settings of the node, each by its row; those that are arguments in their order.
    pub(super) fn settings(
        &mut self,
        settings: Vec<(&'static str, &mut dyn Slot)>,
        out: &mut Diagnostics,
    ) {
        for (name, setting) in settings {
            let Some(field) = self.rule.field(name) else { continue };
            let value = match field.form {
                Form::Argument | Form::Arguments => self.argument(out),
                Form::Optional => self.optional_argument(),
                Form::Property | Form::Keys => self.property(name),
                Form::Either | Form::Line => self.either(name, out),
            };
            if let Some(written) = value.and_then(|value| value.literal(field.kind, out)) {
                setting.set(written);
            }
        }
    }

    /// Takes a child that may be there once.
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
        self.either(name, out)?.text(out)
    }

    /// Takes a value that may be a property or a child with one argument.
    fn either(&mut self, name: &'static str, out: &mut Diagnostics) -> Option<&'n Value> {
        let property = self.property(name);
        let child = self.child(name, out);
        if let (Some(first), Some(again)) = (property, child) {
            let (first_at, at) = (first.at, again.name.at);
            out.report(at, DuplicateNode { name: name.into(), first_at, at });
        }
        match (property, child) {
            (Some(value), _) => Some(value),
            (None, Some(child)) => {
                let mut reader = Reader::new(child, &TEXT, out);
                let value = reader.argument(out);
                reader.finish_as(name, out);
                value
            }
            (None, None) => None,
        }
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
            if !self.any_property && !properties.contains(&name.value.as_str()) {
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

/// Reports a node that does not belong where it is.
pub(super) fn unknown(node: &Node, known: &[&str], what: &str, out: &mut Diagnostics) {
    let Spanned { value: name, at } = &node.name;
    if let Some((_, purpose)) = language::RESERVED.iter().find(|(reserved, _)| reserved == name) {
        return reserved(name, purpose, *at, out);
    }
    // A name that is nearly right is more likely than one at the wrong place.
    let near = nearest(name, known.iter().copied()).is_some();
    let home = if near { None } else { home(name) };
    let help = home.unwrap_or_else(|| suggestion(name, known, "nodes"));
    out.report(*at, UnknownNode { name: name.clone(), what: what.into(), help, at: *at });
}

/// Reports a name that has a meaning in a later version.
pub(super) fn reserved(name: &str, purpose: &'static str, at: Span, out: &mut Diagnostics) {
    out.report(at, Reserved { name: name.to_owned(), purpose, at });
}

/// Returns where nodes called `name` belong; `None` if there are none.
fn home(name: &str) -> Option<String> {
    fn collect(name: &str, within: &[&'static Rule], homes: &mut Vec<&'static str>) {
        for rule in within {
            let is_home = rule.children.iter().any(|child| child.name == name);
            if is_home && !homes.contains(&rule.what) {
                homes.push(rule.what);
            }
            collect(name, rule.children, homes);
        }
    }
    if language::TOP.iter().any(|rule| rule.name == name) {
        return Some(format!("`{name}` belongs at the top of a document, outside of all braces"));
    }
    let mut homes = Vec::new();
    collect(name, language::TOP, &mut homes);
    (!homes.is_empty()).then(|| format!("`{name}` belongs in {}", homes.join(", or in ")))
}

/// No line of a project is without effect: a mistyped node that is ignored would be a rule that
/// agents never get.
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

/// The name has a meaning in a later version of relay. If it meant anything else now, projects
/// would change their meaning with an update.
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

/// With two nodes it would depend on their order which one counts.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is declared twice")]
#[diagnostic(code(node::duplicate), help("keep one of them"))]
pub(super) struct DuplicateNode {
    pub(super) name: String,
    #[label("first here")]
    pub(super) first_at: Span,
    #[label(primary, "again here")]
    pub(super) at: Span,
}

/// The node is named, or set, by the value that follows it.
#[derive(Debug, Error, Diagnostic)]
#[error("`{node}` needs {what}")]
#[diagnostic(code(node::missing_argument), help("write it after the node's name"))]
struct MissingArgument {
    node: String,
    what: &'static str,
    #[label(primary, "nothing follows")]
    at: Span,
}

/// What is not read would be a line without effect. The usual causes are missing quotes and a
/// missing `=`.
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

/// No line of a project is without effect: a mistyped property that is ignored would leave its
/// setting at the default.
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

/// KDL takes the last of the two without a word, and a reviewer may have read the first.
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
