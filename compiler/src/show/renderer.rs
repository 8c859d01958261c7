//! What every node of the effective project is made with.

use super::node::{EffectiveNode, Scalar};
use crate::grammar::{Kind, Literal};
use crate::setting::Setting;
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
        (Literal::Word(word), _) => Scalar::Text(word.into()),
        (Literal::Number(number), Kind::Bytes { .. }) => Scalar::Bytes(number),
        (Literal::Number(number), Kind::Chars { .. }) => Scalar::Chars(number),
        (Literal::Number(number), _) => Scalar::Number(number),
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

    pub(super) fn child(&mut self, name: &'static str, text: Option<&Spanned<String>>) {
        if let Some(text) = text {
            self.children.push(leaf(name, &text.value));
        }
    }
}
