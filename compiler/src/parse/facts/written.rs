//! Nodes of facts as written, for checks that need the place of each word. Broken parts are
//! skipped: the reader reports them.

use relay_policy::facts::Role;

use crate::parse::node::{Node, Scalar, Value};
use crate::source::{Span, Spanned};

/// A word of a node with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'n> {
    pub(super) text: &'n str,
    pub(super) at: Span,
}

impl<'n> Word<'n> {
    /// Returns a text with its place.
    pub(super) fn of(text: &'n Spanned<String>) -> Self {
        Self { text: &text.value, at: text.at }
    }
}

/// Returns the names, patterns or other words after a node's name.
pub(super) fn words(node: &Node) -> impl Iterator<Item = Word<'_>> {
    node.arguments.iter().filter_map(word)
}

/// Returns the children of a node with one of these names, in the order of the text.
pub(super) fn children<'n>(node: &'n Node, names: &[&str]) -> impl Iterator<Item = &'n Node> {
    let children = node.children.as_deref().unwrap_or_default();
    children.iter().filter(move |child| names.contains(&child.name.value.as_str()))
}

/// Returns a property that is a text.
pub(super) fn text<'n>(node: &'n Node, name: &str) -> Option<Word<'n>> {
    word(property(node, name)?)
}

/// Returns a property that is a small number.
pub(super) fn number(node: &Node, name: &str) -> Option<Spanned<u8>> {
    let Value { scalar: Scalar::Integer(number), at, .. } = property(node, name)? else {
        return None;
    };
    Some(Spanned { value: u8::try_from(*number).ok()?, at: *at })
}

/// Returns whether a property is `#true`.
pub(super) fn is_set(node: &Node, name: &str) -> bool {
    property(node, name).is_some_and(|value| value.scalar == Scalar::Boolean(true))
}

/// Returns the place of a property.
pub(super) fn place(node: &Node, name: &str) -> Option<Span> {
    node.properties.iter().find(|it| it.name.value == name).map(|it| it.name.at)
}

/// Returns the role in the first word of a node.
pub(super) fn role(node: &Node) -> Option<Role> {
    Role::from_word(words(node).next()?.text)
}

fn property<'n>(node: &'n Node, name: &str) -> Option<&'n Value> {
    node.properties.iter().find(|it| it.name.value == name).map(|it| &it.value)
}

fn word(value: &Value) -> Option<Word<'_>> {
    match &value.scalar {
        Scalar::Text(text) => Some(Word { text, at: value.at }),
        _ => None,
    }
}
