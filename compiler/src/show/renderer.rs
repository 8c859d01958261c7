//! The renderer of the effective project, and the parts that several nodes share.

use super::node::{EffectiveNode, Scalar};
use crate::grammar::{Form, Kind, Literal, Rule};
use crate::setting::{Setting, Slot};
use crate::source::{Sources, Span, Spanned};

pub(super) struct Renderer<'s, 'f> {
    pub(super) sources: &'s Sources<'f>,
}

impl Renderer<'_, '_> {
    pub(super) fn at(&self, at: Span) -> Option<String> {
        let place = self.sources.place(at);
        Some(format!("{}:{}", place.file, place.line))
    }
}

/// Returns a literal as a field of this kind writes it.
pub(super) fn scalar(literal: Literal<'_>, kind: Kind) -> Scalar {
    match (literal, kind) {
        (Literal::Boolean(yes), _) => Scalar::Boolean(yes),
        (Literal::Word(text) | Literal::Text(text), _) => Scalar::Text(text.into()),
        (Literal::Number(number), Kind::Bytes { .. }) => Scalar::Bytes(number),
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
    scalar(literal, kind).kdl(0)
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
    /// Adds the settings that are arguments and properties, each with its value in force.
    pub(super) fn settings<'s>(
        &mut self,
        rule: &'static Rule,
        settings: impl IntoIterator<Item = (&'static str, &'s dyn Slot)>,
    ) {
        for (name, setting) in settings {
            let Some(field) = rule.field(name) else { continue };
            let Some(literal) = setting.literal(field.kind) else { continue };
            let value = scalar(literal, field.kind);
            let shown = match field.form {
                Form::Either => continue,
                Form::Property | Form::Line => {
                    self.properties.push((name, value));
                    name
                }
                Form::Argument | Form::Optional | Form::Arguments | Form::Keys => {
                    self.arguments.push(value);
                    word(literal, field.kind).unwrap_or(rule.name)
                }
            };
            if setting.at().is_none() {
                self.defaults.push(shown);
            }
        }
    }

    /// Adds the settings that may be nodes, each as a node with its text.
    pub(super) fn texts(&mut self, rule: &'static Rule, settings: Vec<(&'static str, &dyn Slot)>) {
        for (name, setting) in settings {
            let field = rule.field(name).filter(|field| field.form == Form::Either);
            let literal = field.and_then(|field| setting.literal(field.kind));
            if let Some(Literal::Text(text)) = literal {
                self.children.push(leaf(name, text));
            }
        }
    }

    pub(super) fn template(&mut self, is_template: bool, worth_saying: bool) {
        if worth_saying {
            self.properties.push(("template", Scalar::Boolean(is_template)));
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
