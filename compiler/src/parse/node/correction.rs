//! Corrections: the text to write instead of a misplaced node or value.

use super::value::{Scalar, Value, suggestion};
use crate::diagnostic::Edit;
use crate::grammar::{Field, Form, Kind, Rule};
use crate::language;
use crate::language::shared::{NEW, TEXT};
use crate::source::Span;
use relay_engine::nearest::nearest;

/// The search for a nested rule goes this deep.
const DEPTH_MAX: usize = 4;
/// A help repeats so many characters of a text.
const TEXT_CHARS_MAX: usize = 40;

/// A node as written.
pub(super) struct Written<'n> {
    pub(super) name: &'n str,
    pub(super) arguments: &'n [Value],
    pub(super) has_properties: bool,
}

/// Returns the help for a child that a node of `rule`, or a document, does not take.
pub(super) fn of_node(child: &Written<'_>, rule: Option<&Rule>, known: &[&'static str]) -> String {
    let name = child.name;
    if name.starts_with("<!--") || name == "--" {
        return "comments begin with `//`, or are between `/*` and `*/`".to_owned();
    }
    // At the top of a document, lines after `project NAME` are easily meant for it.
    let project = || language::TOP.iter().copied().find(|rule| rule.name == "project");
    if let Some(help) = rule.or_else(project).and_then(|rule| as_value(child, rule)) {
        return help;
    }
    let children = rule.map_or(language::TOP, |rule| rule.children);
    // The word is right and its braces are missing: `prompt` at the top, `skill` outside of
    // `skills`.
    let path = children.iter().find_map(|rule| path_to(name, rule, DEPTH_MAX));
    if let Some(path) = path {
        return within(&path, child);
    }
    // A nearly right name is more likely than a name at the wrong place.
    if nearest(name, known.iter().copied()).is_none() {
        if let Some(home) = home(name) {
            return home;
        }
        if let Some(help) = rule.and_then(|rule| as_name(child, rule)) {
            return help;
        }
        if let Some(word) = rule.and_then(declared) {
            return format!(
                "write its node before the name, as in `{word} {name}`; known nodes: {}",
                known.join(", ")
            );
        }
    }
    suggestion(name, known, "nodes")
}

/// Returns the help for a property that a node of `rule` does not take.
pub(super) fn of_property(name: &str, rule: &Rule) -> String {
    // A row that lacks a meaning is read only to be reported.
    let known = rule.fields.iter().filter(|field| field.is_property() && !field.meaning.is_empty());
    let mut known: Vec<_> = known.map(|field| field.name).collect();
    known.sort_unstable();
    if nearest(name, known.iter().copied()).is_none() {
        if rule.has_child(name) {
            return format!(
                "`{name}` is a node of its own: write it in the braces, `{{ {name} … }}`"
            );
        }
        if let Some(node) = nearest(name, rule.child_names()) {
            return format!(
                "did you mean the node `{node}`? write it in the braces: `{{ {node} … }}`"
            );
        }
        let mut owners = Vec::new();
        collect_owners(name, language::TOP, &mut owners);
        if let [_, ..] = owners.as_slice() {
            let owners: Vec<String> = owners.iter().map(|owner| format!("`{owner}`")).collect();
            return format!("`{name}` is a property of {}", owners.join(", "));
        }
    }
    suggestion(name, &known, "properties")
}

/// Returns the help for a property that holds the argument of its node: `prompt name=a`, `gate enabled=#true`.
pub(super) fn of_named(node: &str, name: &str, value: &Value) -> String {
    match &value.scalar {
        Scalar::Boolean(yes) => format!("write `{node} {}`", if *yes { "on" } else { "off" }),
        _ => {
            let value = written(value).unwrap_or_else(|| "NAME".to_owned());
            format!("write the value alone, without `{name}=`: `{node} {value}`")
        }
    }
}

/// Returns whether a child that is not `known` is a name without its node.
pub(super) fn is_bare_name(child: &Written<'_>, known: &[&'static str]) -> bool {
    !child.has_properties
        && nearest(child.name, known.iter().copied()).is_none()
        && home(child.name).is_none()
}

/// Collects the nodes that have a property.
fn collect_owners(name: &str, rules: &[&'static Rule], owners: &mut Vec<&'static str>) {
    for rule in rules {
        let has = rule.property(name).is_some_and(|field| !field.meaning.is_empty());
        if has && !owners.contains(&rule.name) {
            owners.push(rule.name);
        }
        collect_owners(name, rule.children, owners);
    }
}

/// Returns the help for surplus values: the first of them and those that follow it.
pub(super) fn of_values(node: &Written<'_>, rule: &Rule, taken: usize) -> String {
    let (kept, extra) = node.arguments.split_at(taken.min(node.arguments.len()));
    let [first, ..] = extra else { return String::new() };
    let word = node.name;
    let Scalar::Text(text) = &first.scalar else {
        return "remove it, or write it as a property, `name=value`".to_owned();
    };
    let value = extra.get(1).and_then(written);
    if rule.property(text).is_some() {
        let value = value.unwrap_or_else(|| "…".to_owned());
        return format!("`{text}` is a property: write `{text}={value}`");
    }
    if rule.has_child(text) {
        let value = value.map(|value| format!(" {value}")).unwrap_or_default();
        return format!("`{text}` is a node of its own: write it in braces, `{{ {text}{value} }}`");
    }
    let is_name = taken == 1 && rule.property(NEW.name).is_some();
    if let ([Value { scalar: Scalar::Text(name), .. }], [_], true) = (kept, extra, is_name)
        && (text == word || home(text).is_some())
    {
        return format!("a name has no spaces: write `{word} {name}-{text}`");
    }
    if text == word {
        let nodes = separate(node);
        return format!("begin each `{word}` on a line of its own, or after a `;`: `{nodes}`");
    }
    if home(text).is_some() {
        let before = kept.iter().filter_map(written).collect::<Vec<_>>().join(" ");
        let after = extra.iter().filter_map(written).collect::<Vec<_>>().join(" ");
        return format!(
            "begin `{text}` on a line of its own, or after a `;`: `{word} {before}; {after}`"
        );
    }
    if let (0, Some(word)) = (taken, named(rule))
        && let Some(names) = extra.iter().map(written).collect::<Option<Vec<_>>>()
    {
        return format!("write nodes in braces: {}", each_named(rule, word, &names));
    }
    if let Some(help) = as_text(node, rule, extra) {
        return help;
    }
    if taken == 0
        && let [_] = extra
        && let Some(value) = written(first)
    {
        let named =
            rule.fields.iter().filter(|field| takes_any_text(field) && field.name != NEW.name);
        let named: Vec<String> =
            named.map(|field| format!("`{word} {}={value}`", field.name)).collect();
        if !named.is_empty() {
            return format!("write the name of the property before it: {}", named.join(" or "));
        }
    }
    let words: Option<Vec<&str>> = node.arguments.iter().map(words_of).collect();
    if let (1, Some(_), Some(words)) = (taken, rule.property(NEW.name), &words) {
        let nodes: Vec<String> = words.iter().map(|name| format!("{word} {name}")).collect();
        return format!(
            "a name is one word, `{word} {}`; several are nodes of their own, `{}`",
            words.join("-"),
            nodes.join("; ")
        );
    }
    let takes_text = taken > 0
        && rule
            .argument(taken - 1)
            .is_some_and(|field| matches!(field.kind, Kind::Text(_) | Kind::Name(_)));
    match words.filter(|_| takes_text) {
        Some(words) => {
            let (before, joined) = words.split_at(taken - 1);
            let before: String = before.iter().map(|word| format!("{word} ")).collect();
            format!("quote a text of several words: `{word} {before}\"{}\"`", joined.join(" "))
        }
        None => "remove it; a text with spaces needs quotes, and a property an `=`".to_owned(),
    }
}

/// Returns the nodes of one word that were written as one node, apart.
fn separate(node: &Written<'_>) -> String {
    let mut nodes = node.name.to_owned();
    for value in node.arguments.iter().filter_map(written) {
        let apart = if value == node.name { "; " } else { " " };
        nodes.push_str(apart);
        nodes.push_str(&value);
    }
    nodes
}

/// Returns the help for a text after the name of a node whose text is in its braces.
fn as_text(node: &Written<'_>, rule: &Rule, extra: &[Value]) -> Option<String> {
    let [Value { scalar: Scalar::Text(text), .. }] = extra else { return None };
    if !rule.has_child(TEXT.name) || !text.contains(char::is_whitespace) {
        return None;
    }
    let kept = node.arguments.split_last().map_or(&[] as &[Value], |(_, kept)| kept);
    let before: String = kept.iter().filter_map(written).map(|value| format!(" {value}")).collect();
    let line = text.lines().next().unwrap_or_default();
    let start: String = line.chars().take(TEXT_CHARS_MAX).collect();
    let rest = if start.len() < text.len() { "…" } else { "" };
    Some(format!("write the text in braces: `{}{before} {{ text \"{start}{rest}\" }}`", node.name))
}

/// Returns whether a field is a property with any text as its value.
fn takes_any_text(field: &Field) -> bool {
    field.is_property()
        && !field.meaning.is_empty()
        && matches!(field.kind, Kind::Text(_) | Kind::Name(_))
}

/// Returns the correction of surplus values, where [`of_values`] names one that is certain; `properties` are the places of
/// the values of the node's properties.
pub(super) fn edits_of_values(
    node: &Written<'_>,
    properties: &[Span],
    rule: &Rule,
    taken: usize,
) -> Vec<Edit> {
    let (kept, extra) = node.arguments.split_at(taken.min(node.arguments.len()));
    let ([.., before], [first, ..], Some(last)) = (kept, extra, extra.last()) else {
        return Vec::new();
    };
    let Scalar::Text(text) = &first.scalar else { return Vec::new() };
    let is_name = rule.property(text).is_some() || rule.has_child(text);
    if !is_name && text == node.name {
        if extra.len() == 1 {
            return Vec::new();
        }
        // Each begins a node; what lies before it belongs to the node before.
        let values = node.arguments.iter().map(|value| value.at).chain(properties.iter().copied());
        let is_word = |value: &&Value| words_of(value) == Some(node.name);
        let begins = extra.iter().filter(is_word).map(|value| value.at.start);
        let ends = begins
            .filter_map(|begin| values.clone().map(|at| at.end).filter(|end| *end <= begin).max());
        let edit = |end| Edit { at: Span { start: end, end, ..first.at }, text: ";".into() };
        return ends.map(edit).collect();
    }
    let at = Span { start: before.at.start, ..last.at };
    // One text in place of them would lose a comment between them, or a property.
    let is_whole = extra.iter().all(|value| value.follows_argument);
    let takes_text = rule
        .argument(taken - 1)
        .is_some_and(|field| matches!(field.kind, Kind::Text(_) | Kind::Line(_)));
    let words: Option<Vec<&str>> =
        std::iter::once(before).chain(extra).map(|value| bare_word(value)).collect();
    match words.filter(|_| takes_text && is_whole && !is_name && home(text).is_none()) {
        Some(words) => vec![Edit { at, text: format!("\"{}\"", words.join(" ")) }],
        None => Vec::new(),
    }
}

/// Returns a word that was written bare.
fn bare_word(value: &Value) -> Option<&str> {
    let word = words_of(value).filter(|_| value.annotation.is_none())?;
    let is_bare = word.len() == value.at.end.saturating_sub(value.at.start) as usize;
    (is_bare && !word.contains(['"', '\\'])).then_some(word)
}

/// Returns the help for a node that is a value of the node around it: a property, or one of its
/// words.
fn as_value(child: &Written<'_>, rule: &Rule) -> Option<String> {
    let name = child.name;
    if let Some(Field { name, kind, .. }) = rule.property(name) {
        let value = match child.arguments {
            [value] => written(value)?,
            _ => example(*kind),
        };
        let node = rule.name;
        return Some(format!(
            "`{name}` is a property: write `{name}={value}` after the name, before the braces of the `{node}`"
        ));
    }
    let is_word =
        |field: &&Field| matches!(field.kind, Kind::Words(words) if words.contains(&name));
    let field = rule.fields.iter().find(is_word)?;
    Some(match field.form {
        Form::Argument | Form::Optional => format!("write `{} {name}`", rule.name),
        _ => format!("write `{}={name}`", field.name),
    })
}

/// Returns the help for a name in place of the one node that takes it.
fn as_name(child: &Written<'_>, rule: &Rule) -> Option<String> {
    let word = named(rule).filter(|_| !child.has_properties)?;
    if child.arguments.is_empty() {
        return Some(format!("write `{word} {}`", child.name));
    }
    let names = child.arguments.iter().map(written).collect::<Option<Vec<_>>>()?;
    let names = std::iter::once(child.name.to_owned()).chain(names).collect::<Vec<_>>();
    Some(format!("write a node for each name: {}", each_named(rule, word, &names)))
}

/// Returns the word of the one kind of node that `rule` holds, if such nodes have names.
fn named(rule: &Rule) -> Option<&'static str> {
    let [child] = rule.children else { return None };
    child.argument(0).is_some_and(|field| field.form == Form::Argument).then_some(child.name)
}

/// Returns the word of the first kind of node in `rule` that declares a name, if `rule` is a block of such nodes.
fn declared(rule: &Rule) -> Option<&'static str> {
    if rule.argument(0).is_some() {
        return None;
    }
    let declares = |child: &&&Rule| {
        let named = child.argument(0).is_some_and(|field| field.form == Form::Argument);
        named && child.property(NEW.name).is_some()
    };
    rule.children.iter().find(declares).map(|child| child.name)
}

/// Returns a node of `rule` with a node for each of the names.
fn each_named(rule: &Rule, word: &str, names: &[String]) -> String {
    let nodes: Vec<String> = names.iter().map(|name| format!("{word} {name}")).collect();
    format!("`{} {{ {} }}`", rule.name, nodes.join("; "))
}

/// Returns the words from `rule` to the node called `name` in it.
fn path_to<'r>(name: &str, rule: &'r Rule, depth: usize) -> Option<Vec<&'r Rule>> {
    if depth == 0 {
        return None;
    }
    if rule.children.iter().any(|child| child.name == name) {
        return Some(vec![rule]);
    }
    rule.children.iter().find_map(|child| {
        let mut path = path_to(name, child, depth - 1)?;
        path.insert(0, rule);
        Some(path)
    })
}

/// Returns the help for a node that belongs into other nodes, which may be here.
fn within(path: &[&Rule], child: &Written<'_>) -> String {
    let name = child.name;
    let argument = child.arguments.first().and_then(written);
    let argument = argument.map(|argument| format!(" {argument}")).unwrap_or_default();
    let opened: String = path.iter().map(|rule| format!("{} {{ ", opening(rule))).collect();
    let closed = " }".repeat(path.len());
    let place = path.iter().map(|rule| format!("`{}`", rule.name)).collect::<Vec<_>>().join(" > ");
    format!("`{name}` belongs in {place}: write `{opened}{name}{argument} …{closed}`")
}

/// Returns a node's word and its first value.
fn opening(rule: &Rule) -> String {
    let word = rule.name;
    match rule.argument(0) {
        Some(Field { kind: Kind::Words([first, ..]), .. }) => format!("{word} {first}"),
        Some(Field { form: Form::Argument, .. }) => format!("{word} NAME"),
        _ => word.to_owned(),
    }
}

/// Returns the place of nodes called `name`; `None` if the name is unknown.
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

/// Returns a value as written; `None` if it has an annotation, which may be the fault.
fn written(value: &Value) -> Option<String> {
    if value.annotation.is_some() {
        return None;
    }
    Some(match &value.scalar {
        Scalar::Text(text) if is_word(text) => text.clone(),
        Scalar::Text(text) => format!("{text:?}"),
        Scalar::Integer(number) => number.to_string(),
        Scalar::Float(number) => number.clone(),
        Scalar::Boolean(yes) => format!("#{yes}"),
        Scalar::Null => "#null".to_owned(),
    })
}

fn words_of(value: &Value) -> Option<&str> {
    match &value.scalar {
        Scalar::Text(text) => Some(text),
        Scalar::Float(number) => Some(number),
        Scalar::Integer(_) | Scalar::Boolean(_) | Scalar::Null => None,
    }
}

fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_*".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(plain)
}

fn example(kind: Kind) -> String {
    match kind {
        Kind::Text(_) | Kind::Line(_) | Kind::Name(_) => "\"…\"".to_owned(),
        Kind::Boolean => "#true".to_owned(),
        Kind::Number { .. } => "N".to_owned(),
        Kind::Measured { measure, .. } => measure.example.to_owned(),
        Kind::Chars { .. } => "(chars)N".to_owned(),
        Kind::Regex => "(regex)\"…\"".to_owned(),
        Kind::File => "(file)\"/…\"".to_owned(),
        Kind::Words(words) => words.first().copied().unwrap_or("…").to_owned(),
    }
}
