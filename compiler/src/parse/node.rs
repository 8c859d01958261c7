//! KDL nodes as plain values, and the reader that takes them apart completely.
//!
//! A node's [`Rule`] lists its parts; [`Reader::finish`] reports everything else, with the nearest
//! known name, and asserts that all listed parts were read. So every line of a project has an
//! effect.

mod correction;
mod report;
mod value;

use hashbrown::hash_map::{self, HashMap};
use relay_bundle::Tier;

use crate::diagnostic::Diagnostics;
use crate::grammar::{self, Field, Form, Kind, Literal, Rule};
use crate::language;
use crate::language::shared::{BECAUSE, FILE, NEW, TEXT};
use crate::setting::{Entry, Settings};
use crate::source::{FileId, Span, Spanned};
use value::report_annotation;

pub(super) use report::DuplicateNode;
use report::{
    DuplicateProperty, ExtraArgument, MissingArgument, NoReason, Reserved, UnknownNode,
    UnknownProperty,
};
pub(super) use value::{Scalar, SeveralLines, Value};

/// A node with its arguments, properties and children.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) name: Spanned<String>,
    /// Boxed, as that of a value is: it is rare.
    pub(super) annotation: Option<Box<Spanned<String>>>,
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
    /// Returns the node in the form that corrections take.
    fn written(&self) -> correction::Written<'_> {
        let Self { name, annotation: _, arguments, properties, children: _ } = self;
        correction::Written { name: &name.value, arguments, has_properties: !properties.is_empty() }
    }

    /// Returns whether a second node follows in this one, since a `;` is missing, which is reported: `role a tier=1
    /// role b tier=2`.
    fn is_joined(&self) -> bool {
        let is_word =
            |value: &Value| matches!(&value.scalar, Scalar::Text(text) if *text == self.name.value);
        self.arguments.iter().skip(1).any(is_word)
    }

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

/// Names that were read, sorted. They are kept where [`Reader::finish_as`] compares them with the rule's: in
/// builds with debug assertions.
#[derive(Default)]
struct Taken(Vec<&'static str>);

impl Taken {
    fn insert(&mut self, name: &'static str) {
        if cfg!(debug_assertions)
            && let Err(place) = self.0.binary_search(&name)
        {
            self.0.insert(place, name);
        }
    }
}

/// Takes a node apart.
pub(super) struct Reader<'n> {
    node: &'n Node,
    rule: &'static Rule,
    arguments_taken: usize,
    /// The names of the properties and the children that were read.
    properties: Taken,
    children: Taken,
    /// Whether the author chooses the names of the properties.
    any_property: bool,
    /// The property that holds the value of an argument: `prompt name=a`.
    named: Option<&'n Property>,
}

impl<'n> Reader<'n> {
    /// Begins to read `node` by its rule. Reports a repeated property, of which KDL itself takes
    /// the last one, and an annotation on the node, which is meaningless.
    pub(super) fn new(node: &'n Node, rule: &'static Rule, out: &mut Diagnostics) -> Self {
        let mut first_at: HashMap<&str, Span> = HashMap::new();
        for Spanned { value: name, at } in node.properties.iter().map(|property| &property.name) {
            match first_at.entry(name) {
                hash_map::Entry::Vacant(entry) => _ = entry.insert(*at),
                hash_map::Entry::Occupied(first) if !node.is_joined() => {
                    let (name, first_at, at) = (name.clone(), *first.get(), *at);
                    out.report(at, DuplicateProperty { name, first_at, at });
                }
                hash_map::Entry::Occupied(_) => {}
            }
        }
        if let Some(annotation) = &node.annotation {
            report_annotation(annotation, out);
        }
        Self {
            node,
            rule,
            arguments_taken: 0,
            properties: Taken::default(),
            children: Taken::default(),
            any_property: false,
            named: None,
        }
    }

    /// Takes the next argument, which is required.
    pub(super) fn argument(&mut self, out: &mut Diagnostics) -> Option<&'n Value> {
        let field = self.rule.argument(self.arguments_taken)?;
        self.required_argument(field.name, out)
    }

    /// Takes the next argument, which is required unless the node has `what` elsewhere.
    pub(super) fn required_argument(
        &mut self,
        what: &'static str,
        out: &mut Diagnostics,
    ) -> Option<&'n Value> {
        let field = self.rule.argument(self.arguments_taken);
        let kind = field.map(|field| field.kind);
        let value = self.optional_argument();
        if value.is_some() {
            return value;
        }
        self.named = field.and_then(|field| self.as_property(field));
        if let (Some(property), Some(kind)) = (self.named, kind) {
            let is_valid = property.value.literal(kind, &mut Diagnostics::new(false)).is_some();
            return is_valid.then_some(&property.value);
        }
        if !self.is_in_braces(kind) {
            self.missing_argument(what, kind, out);
        }
        None
    }

    /// Returns the property, reported as unknown, that was meant for an argument: `name=a`, `enabled=#true`.
    fn as_property(&self, argument: &Field) -> Option<&'n Property> {
        let names: &[&str] = match argument.kind {
            Kind::Words(["on", "off"]) => &["enabled", "on", "active", "state", "value"],
            Kind::Name(_) | Kind::Text(_) | Kind::Line(_) => &["name", "id", "text", "value"],
            _ => &[],
        };
        self.node.properties.iter().find(|property| {
            let name = property.name.value.as_str();
            names.contains(&name) && self.rule.property(name).is_none()
        })
    }

    /// Returns whether the word of an argument was written as a node in the braces, which is
    /// reported there.
    fn is_in_braces(&self, kind: Option<Kind>) -> bool {
        let Some(Kind::Words(words)) = kind else { return false };
        self.node.children.iter().flatten().any(|child| words.contains(&child.name.value.as_str()))
    }

    fn missing_argument(&self, what: &'static str, kind: Option<Kind>, out: &mut Diagnostics) {
        let Spanned { value: node, at } = self.node.name.clone();
        let help = match kind {
            Some(Kind::Words([word, ..])) => {
                format!("write it after the node's name: `{node} {word}`")
            }
            _ => "write it after the node's name".to_owned(),
        };
        out.report(at, MissingArgument { node, what, help, at });
    }

    /// Takes the next argument, if there is one.
    pub(super) fn optional_argument(&mut self) -> Option<&'n Value> {
        debug_assert!(self.rule.argument(self.arguments_taken).is_some(), "{}", self.rule.what);
        let value = self.node.arguments.get(self.arguments_taken)?;
        self.arguments_taken += 1;
        Some(value)
    }

    /// Takes the next argument, which is required, as the text of its row.
    pub(super) fn name(&mut self, out: &mut Diagnostics) -> Option<Spanned<String>> {
        let what = self.rule.argument(self.arguments_taken)?.name;
        self.required_name(what, out)
    }

    /// Takes the next argument as the text of its row; it is required unless the node has `what`
    /// elsewhere.
    pub(super) fn required_name(
        &mut self,
        what: &'static str,
        out: &mut Diagnostics,
    ) -> Option<Spanned<String>> {
        let kind = self.rule.argument(self.arguments_taken)?.kind;
        self.required_argument(what, out)?.literal(kind, out).and_then(owned)
    }

    /// Takes the next argument, which is required, as a tier.
    pub(super) fn tier(&mut self, out: &mut Diagnostics) -> Option<Spanned<Tier>> {
        self.word(out)
    }

    /// Takes the next argument, which is required, by its row.
    pub(super) fn word<T: grammar::Scalar>(&mut self, out: &mut Diagnostics) -> Option<Spanned<T>> {
        let kind = self.rule.argument(self.arguments_taken)?.kind;
        let Spanned { value, at } = self.argument(out)?.literal(kind, out)?;
        T::decode(value).map(|value| Spanned { value, at })
    }

    /// Takes all other arguments, of which one is required, as the texts of their row.
    pub(super) fn texts(&mut self, out: &mut Diagnostics) -> Vec<Spanned<String>> {
        self.list(out).into_iter().filter_map(owned).collect()
    }

    /// Takes all arguments, of which one is required, by their row.
    fn list(&mut self, out: &mut Diagnostics) -> Vec<Spanned<Literal<'n>>> {
        let first = self.arguments_taken;
        let kind = self.rule.argument(first).map(|field| field.kind);
        self.argument(out);
        self.arguments_taken = self.node.arguments.len();
        let values = self.node.arguments.iter().skip(first);
        values.filter_map(|value| value.literal(kind?, out)).collect()
    }

    /// Takes a property.
    pub(super) fn property(&mut self, name: &'static str) -> Option<&'n Value> {
        self.properties.insert(name);
        let found = self.node.properties.iter().find(|property| property.name.value == name);
        found.map(|property| &property.value).or_else(|| self.misplaced(name))
    }

    /// Returns the value of a property that was written as a node in the braces, which is reported there. It
    /// counts, so that its absence is not reported too.
    fn misplaced(&self, name: &'static str) -> Option<&'n Value> {
        let field = self.rule.property(name).filter(|_| name != FILE.name)?;
        let mut children = self.node.children.iter().flatten();
        let child = children.find(|child| child.name.value == name)?;
        if self.rule.has_child(name) {
            return None;
        }
        let [value] = child.arguments.as_slice() else { return None };
        let is_valid = value.literal(field.kind, &mut Diagnostics::new(false)).is_some();
        is_valid.then_some(value)
    }

    /// Returns the names that lack their node, which is reported: `roles { admin }`, `tenants a b`,
    /// `tenant a tenant b`.
    pub(super) fn bare_names(&self) -> Vec<Spanned<String>> {
        let rule = self.rule;
        let mut names: Vec<Spanned<String>> = Vec::new();
        let text = |value: &Value| match &value.scalar {
            Scalar::Text(text) => Some(Spanned { value: text.clone(), at: value.at }),
            _ => None,
        };
        let children = self.node.children.iter().flatten();
        for child in children.filter(|child| rule.has_child(&child.name.value)) {
            let joined = child.arguments.windows(2).filter_map(|pair| {
                let [word, name] = pair else { return None };
                text(name).filter(|_| word.scalar == Scalar::Text(child.name.value.clone()))
            });
            names.extend(joined);
        }
        let known = rule.child_names();
        for child in self.unknown_children() {
            if correction::is_bare_name(&child.written(), &known) {
                names.push(child.name.clone());
                names.extend(child.arguments.iter().filter_map(text));
            }
        }
        names.extend(self.node.arguments.iter().filter_map(text));
        names
    }

    /// Takes all properties, of any names; one is required.
    pub(super) fn all_properties(&mut self, out: &mut Diagnostics) -> &'n [Property] {
        self.any_property = true;
        if self.node.properties.is_empty() {
            self.missing_argument("a `key=value`", None, out);
        }
        &self.node.properties
    }

    /// Takes a property by its row.
    pub(super) fn value<T: grammar::Scalar>(
        &mut self,
        name: &'static str,
        out: &mut Diagnostics,
    ) -> Option<Spanned<T>> {
        let value = self.property(name)?;
        let Spanned { value, at } = value.literal(self.rule.property(name)?.kind, out)?;
        T::decode(value).map(|value| Spanned { value, at })
    }

    /// Takes a property by its row, or the row's default.
    pub(super) fn value_or_default<T: grammar::Scalar + Default>(
        &mut self,
        name: &'static str,
        out: &mut Diagnostics,
    ) -> T {
        let default = self.rule.default(name).and_then(T::decode);
        debug_assert!(default.is_some(), "{} {name} has no default", self.rule.name);
        self.value(name, out).map(|written| written.value).or(default).unwrap_or_default()
    }

    /// Takes the property of a node in a `when` that adds it.
    pub(super) fn is_new(&mut self, out: &mut Diagnostics) -> Option<Spanned<bool>> {
        self.value(NEW.name, out)
    }

    /// Takes the settings of the node and of the nodes in it, each by its row; those that are
    /// arguments in their order.
    pub(super) fn settings(&mut self, settings: &mut dyn Settings, out: &mut Diagnostics) {
        for (name, setting) in settings.of_mut(self.rule) {
            let Some(field) = self.rule.field(name) else { continue };
            if field.is_list() {
                setting.set(&self.list(out));
                continue;
            }
            let value = self.written(field, out);
            if let Some(written) = value.and_then(|value| value.literal(field.kind, out)) {
                setting.set(&[written]);
            }
        }
        for rule in self.rule.children {
            if settings.of(rule).is_empty() {
                continue;
            }
            if rule.is_joined() {
                self.joined(rule, settings, out);
            } else if let Some(child) = self.child(rule.name, out) {
                let mut reader = Reader::new(child, rule, out);
                reader.settings(settings, out);
                reader.finish(out);
            }
        }
    }

    /// Takes all children of a rule that is one list, as that list.
    fn joined(&mut self, rule: &'static Rule, settings: &mut dyn Settings, out: &mut Diagnostics) {
        let mut is_written = false;
        let mut values = Vec::new();
        for child in self.children(rule.name) {
            let mut reader = Reader::new(child, rule, out);
            values.extend(reader.list(out));
            reader.finish(out);
            is_written = true;
        }
        if is_written {
            settings.of_mut(rule).into_iter().for_each(|(_, setting)| setting.set(&values));
        }
    }

    /// Takes all children of these rules, in the order of the text, each as its settings.
    pub(super) fn entries<T: Settings>(
        &mut self,
        rules: &[&'static Rule],
        out: &mut Diagnostics,
    ) -> Vec<Entry<T>> {
        self.any_children(rules).map(|(rule, child)| entry(child, rule, out)).collect()
    }

    /// Takes a child that may appear once.
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

    /// Returns whether the node may have children of this rule.
    pub(super) fn takes(&self, rule: &Rule) -> bool {
        self.rule.children.iter().any(|child| child.name == rule.name)
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

    /// Takes a text by its row.
    pub(super) fn text(
        &mut self,
        name: &'static str,
        out: &mut Diagnostics,
    ) -> Option<Spanned<String>> {
        let field = self.rule.field(name)?;
        self.written(field, out)?.literal(field.kind, out).and_then(owned)
    }

    /// Takes the value of a row from the place that the row names.
    fn written(&mut self, field: &'static Field, out: &mut Diagnostics) -> Option<&'n Value> {
        match field.form {
            Form::Argument | Form::Arguments | Form::Joined => self.argument(out),
            Form::Optional => self.optional_argument(),
            Form::Property | Form::Switch | Form::Keys => self.property(field.name),
            Form::Either | Form::Line => self.either(field.name, out),
        }
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

    /// Takes all children of these rules, in the order of the text, each with its rule.
    pub(super) fn any_children<'r>(
        &mut self,
        rules: &'r [&'static Rule],
    ) -> impl Iterator<Item = (&'static Rule, &'n Node)> + use<'n, 'r> {
        rules.iter().for_each(|rule| self.children.insert(rule.name));
        let children = self.node.children.as_deref().unwrap_or_default();
        children.iter().filter_map(|child| {
            let rule = rules.iter().find(|rule| rule.name == child.name.value)?;
            Some((*rule, child))
        })
    }

    /// Returns whether the node has an unlisted property or child.
    pub(super) fn has_unknown(&self) -> bool {
        let mut properties = self.node.properties.iter();
        properties.any(|property| !self.takes_property(property))
            || self.unknown_children().next().is_some()
    }

    /// Returns whether the node has more arguments than its rule lists.
    pub(super) fn has_surplus(&self) -> bool {
        let lists = |field: &Field| matches!(field.form, Form::Arguments | Form::Joined);
        let mut taken = 0;
        while let Some(field) = self.rule.argument(taken) {
            if lists(field) {
                return false;
            }
            taken += 1;
        }
        self.node.arguments.len() > taken
    }

    /// Returns the unlisted children.
    pub(super) fn unknown_children(&self) -> impl Iterator<Item = &'n Node> + use<'n> {
        let rule = self.rule;
        let children = self.node.children.iter().flatten();
        children.filter(|child| !rule.has_child(&child.name.value))
    }

    fn takes_property(&self, property: &Property) -> bool {
        self.rule.property(&property.name.value).is_some()
    }

    /// Reports all unlisted parts of the node.
    pub(super) fn finish(self, out: &mut Diagnostics) {
        let what = self.rule.what;
        self.finish_as(what, out);
    }

    /// Reports all unlisted parts of the node; `what` names it for people.
    pub(super) fn finish_as(self, what: &str, out: &mut Diagnostics) {
        // INVARIANT: the code reads exactly the names that a rule lists.
        debug_assert_eq!(self.properties.0, self.rule.property_names(), "{what}");
        debug_assert_eq!(self.children.0, self.rule.child_names(), "{what}");
        if let Some([first, rest @ ..]) = self.node.arguments.get(self.arguments_taken..) {
            let (count, taken) = (1 + rest.len(), self.arguments_taken);
            let at = Span { end: rest.last().map_or(first.at.end, |last| last.at.end), ..first.at };
            let help = correction::of_values(&self.node.written(), self.rule, taken);
            let ends: Vec<Span> =
                self.node.properties.iter().map(|property| property.value.at).collect();
            let edits = correction::edits_of_values(&self.node.written(), &ends, self.rule, taken);
            let what = what.to_owned();
            out.report_fixable(at, ExtraArgument { what, taken, count, help, at, edits });
        }
        for property in &self.node.properties {
            let name = &property.name;
            if name.value == BECAUSE.name
                && let Scalar::Text(text) = &property.value.scalar
                && !text.trim().is_empty()
                && !text.contains(char::is_alphanumeric)
            {
                let (text, at) = (text.clone(), property.value.at);
                out.report(at, NoReason { text, at });
            }
            if !self.any_property && !self.takes_property(property) {
                out.report(
                    name.at,
                    UnknownProperty {
                        name: name.value.clone(),
                        what: what.into(),
                        help: match self.named {
                            Some(named) if named.name.at == name.at => correction::of_named(
                                &self.node.name.value,
                                &named.name.value,
                                &named.value,
                            ),
                            _ => correction::of_property(&name.value, self.rule),
                        },
                        at: name.at,
                    },
                );
            }
        }
        for child in self.unknown_children() {
            unknown(child, Some(self.rule), what, out);
        }
    }
}

/// Reads a node as its settings.
pub(super) fn entry<T: Settings>(
    node: &Node,
    rule: &'static Rule,
    out: &mut Diagnostics,
) -> Entry<T> {
    let mut settings = T::unwritten(rule);
    let mut reader = Reader::new(node, rule, out);
    reader.settings(&mut settings, out);
    reader.finish(out);
    Entry { rule, at: node.name.at, settings }
}

/// Returns the owned text of a literal.
fn owned(literal: Spanned<Literal<'_>>) -> Option<Spanned<String>> {
    match literal.value {
        Literal::Text(text) => Some(Spanned { value: text.to_owned(), at: literal.at }),
        Literal::Boolean(_) | Literal::Number(_) | Literal::Word(_) => None,
    }
}

/// Reports a misplaced node: in a node of `rule`, or at the top of a document.
pub(super) fn unknown(node: &Node, rule: Option<&Rule>, what: &str, out: &mut Diagnostics) {
    let Spanned { value: name, at } = &node.name;
    if let Some((_, purpose)) = language::RESERVED.iter().find(|(reserved, _)| reserved == name) {
        return reserved(name, purpose, *at, out);
    }
    let top = || language::TOP.iter().map(|rule| rule.name).collect();
    let known = rule.map_or_else(top, Rule::child_names);
    let help = correction::of_node(&node.written(), rule, &known);
    out.report(*at, UnknownNode { name: name.clone(), what: what.into(), help, at: *at });
}

/// Reports a name reserved for a later version.
pub(super) fn reserved(name: &str, purpose: &'static str, at: Span, out: &mut Diagnostics) {
    out.report(at, Reserved { name: name.to_owned(), purpose, at });
}
