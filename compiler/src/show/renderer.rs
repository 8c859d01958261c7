//! The renderer of the effective project, and the parts that several nodes share.

use super::node::{EffectiveNode, Scalar};
use crate::grammar::{Form, Kind, Literal, Rule};
use crate::language::shared::{ENABLED, TEMPLATE};
use crate::setting::{Setting, Settings};
use crate::source::{Sources, Span, Spanned};

pub(super) struct Renderer<'s, 'f> {
    pub(super) sources: &'s Sources<'f>,
}

impl Renderer<'_, '_> {
    /// Begins a node with a name.
    pub(super) fn named(&self, rule: &'static Rule, name: &Spanned<String>) -> EffectiveNode {
        EffectiveNode {
            arguments: vec![said(name)],
            at: self.at(name.at),
            ..EffectiveNode::of(rule)
        }
    }

    pub(super) fn at(&self, at: Span) -> Option<String> {
        let place = self.sources.place(at);
        Some(format!("{}:{}", place.file, place.line))
    }
}

/// Returns a literal as a field of this kind writes it.
pub(super) fn scalar(literal: Literal<'_>, kind: Kind) -> Scalar {
    match (literal, kind) {
        (Literal::Boolean(yes), _) => Scalar::Boolean(yes),
        (Literal::Text(text), Kind::Regex) => Scalar::Annotated("regex", text.into()),
        (Literal::Text(text), Kind::File) => Scalar::Annotated("file", text.into()),
        (Literal::Word(text) | Literal::Text(text), _) => Scalar::Text(text.into()),
        (Literal::Number(number), Kind::Measured { measure, .. }) => {
            Scalar::Measured(measure, number)
        }
        (Literal::Number(number), Kind::Chars { .. }) => Scalar::Chars(number),
        (Literal::Number(number), _) => Scalar::Number(number),
    }
}

/// Returns the word of a field that takes words.
fn word(literal: Literal<'_>, kind: Kind) -> Option<&'static str> {
    match (literal, kind) {
        (Literal::Word(word), Kind::Words(words)) => words.iter().copied().find(|it| *it == word),
        _ => None,
    }
}

/// Returns a literal as it is written in KDL.
pub(crate) fn literal_kdl(literal: Literal<'_>, kind: Kind) -> String {
    scalar(literal, kind).kdl()
}

/// Returns a node of a rule with all of its settings.
pub(super) fn said_by(rule: &'static Rule, settings: &dyn Settings) -> EffectiveNode {
    let mut node = EffectiveNode::of(rule);
    node.settings(rule, settings);
    node.texts(rule, settings);
    node.nodes(rule, settings);
    node
}

/// Returns a node that holds others.
pub(super) fn block(rule: &'static Rule, children: Vec<EffectiveNode>) -> EffectiveNode {
    EffectiveNode { children, ..EffectiveNode::of(rule) }
}

pub(super) fn said(text: &Spanned<String>) -> Scalar {
    Scalar::Text(text.value.clone())
}

pub(super) fn list(name: &'static str, texts: &[Spanned<String>]) -> EffectiveNode {
    EffectiveNode { name, arguments: texts.iter().map(said).collect(), ..EffectiveNode::default() }
}

pub(super) fn leaf(name: &'static str, argument: &str) -> EffectiveNode {
    EffectiveNode {
        name,
        arguments: vec![Scalar::Text(argument.into())],
        ..EffectiveNode::default()
    }
}

impl EffectiveNode {
    /// Begins a node of a rule.
    pub(super) fn of(rule: &'static Rule) -> Self {
        Self { name: rule.name, ..Self::default() }
    }

    /// Adds a property of the rule.
    pub(super) fn put(&mut self, rule: &'static Rule, name: &'static str, value: Scalar) {
        debug_assert!(rule.property(name).is_some(), "{} {name}", rule.name);
        self.properties.push((name, value));
    }

    /// Removes a property, written or default.
    pub(super) fn forget(&mut self, name: &'static str) {
        self.properties.retain(|(known, _)| *known != name);
        self.defaults.retain(|known| *known != name);
    }

    /// Marks the node as left out of the bundle.
    pub(super) fn switched_off(&mut self) {
        self.properties.push((ENABLED.name, Scalar::Boolean(false)));
    }

    /// Adds the settings that are arguments and properties, each with its value in force.
    pub(super) fn settings(&mut self, rule: &'static Rule, settings: &dyn Settings) {
        for (name, setting) in settings.of(rule) {
            let Some(field) = rule.field(name) else { continue };
            let is_shown = !matches!(field.form, Form::Either | Form::Switch);
            for (literal, at) in setting.values(field.kind).into_iter().filter(|_| is_shown) {
                let value = scalar(literal, field.kind);
                let shown = if field.is_property() {
                    self.properties.push((field.name, value));
                    field.name
                } else {
                    self.arguments.push(value);
                    word(literal, field.kind).unwrap_or(rule.name)
                };
                if at.is_none() {
                    self.defaults.push(shown);
                }
            }
        }
    }

    /// Adds the settings that may be nodes, each as a node with its text.
    pub(super) fn texts(&mut self, rule: &'static Rule, settings: &dyn Settings) {
        for (name, setting) in settings.of(rule) {
            let Some(field) = rule.field(name) else { continue };
            let values = setting.values(field.kind).into_iter();
            for (literal, _) in values.filter(|_| field.form == Form::Either) {
                if let Literal::Text(text) = literal {
                    self.children.push(leaf(field.name, text));
                }
            }
        }
    }

    /// Adds the children that have settings.
    pub(super) fn nodes(&mut self, rule: &'static Rule, settings: &dyn Settings) {
        for rule in rule.children {
            let mut node = Self::of(rule);
            node.settings(rule, settings);
            if !(node.arguments.is_empty() && node.properties.is_empty()) {
                self.children.push(node);
            }
        }
    }

    pub(super) fn template(&mut self, is_template: bool, worth_saying: bool) {
        if worth_saying {
            self.properties.push((TEMPLATE.name, Scalar::Boolean(is_template)));
        }
    }

    pub(super) fn setting<T>(
        &mut self,
        name: &'static str,
        setting: &Setting<T>,
        text: impl Fn(&T) -> Scalar,
    ) {
        self.properties.push((name, text(&setting.value)));
        if setting.at.is_none() {
            self.defaults.push(name);
        }
    }

    pub(super) fn optional(&mut self, name: &'static str, text: Option<&Spanned<String>>) {
        if let Some(text) = text {
            self.properties.push((name, Scalar::Text(text.value.clone())));
        }
    }
}
