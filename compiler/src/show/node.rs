//! Nodes of the effective project in KDL and JSON.

use relay_engine::invisible;
use serde_json::{Map, Value, json};

use crate::measure::Measure;

/// The white space before a line for each node around it.
const INDENT: &str = "    ";

/// A node with its values in force.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct EffectiveNode {
    pub(super) name: &'static str,
    pub(super) arguments: Vec<Scalar>,
    pub(super) properties: Vec<(&'static str, Scalar)>,
    /// The properties whose names the author chose.
    pub(super) facts: Vec<(String, Scalar)>,
    pub(super) children: Vec<EffectiveNode>,
    /// `file:line` of its place.
    pub(super) at: Option<String>,
    /// The properties that have their default.
    pub(super) defaults: Vec<&'static str>,
    /// Whether it was generated from the prompt's text: `relay show` prints it in a comment.
    pub(super) generated: bool,
    /// Whether the folder of the prompt says it, and no node of the prompt may: a comment, too.
    pub(super) of_folder: bool,
}

impl EffectiveNode {
    fn is_comment(&self) -> bool {
        self.generated || self.of_folder
    }

    /// Returns whether it is a block of generated nodes, of which nothing is written.
    fn has_comments_alone(&self) -> bool {
        let is_block = self.arguments.is_empty() && self.properties.is_empty();
        is_block && !self.children.is_empty() && self.children.iter().all(Self::is_comment)
    }
}

/// A value as KDL and JSON both write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scalar {
    Text(String),
    /// A text with a type annotation.
    Annotated(&'static str, String),
    Number(u64),
    Boolean(bool),
    Chars(u64),
    Measured(&'static Measure, u64),
    Integer(i64),
    Null,
}

/// Writes a node and its children as KDL; with `origins`, comments hold their places.
pub(super) fn write_kdl(node: &EffectiveNode, depth: usize, origins: bool, out: &mut String) {
    if !origins && (node.is_comment() || node.has_comments_alone()) {
        return;
    }
    indent(depth, out);
    // Generated nodes are comments: as nodes they would count as written.
    let (before, after) = match (node.generated, node.of_folder) {
        (true, _) => ("// ", " (generated):"),
        (false, true) => ("// ", " (of its folder):"),
        (false, false) => ("", ""),
    };
    out.extend([before, node.name, after]);
    for argument in &node.arguments {
        out.push(' ');
        argument.write_kdl(depth, out);
    }
    for (name, value) in &node.properties {
        out.extend([" ", name, "="]);
        value.write_kdl(depth, out);
    }
    for (name, value) in &node.facts {
        out.push(' ');
        quote(name, depth, out);
        out.push('=');
        value.write_kdl(depth, out);
    }
    let has_children = node.children.iter().any(|child| origins || !child.is_comment());
    if has_children {
        out.push_str(" {");
    }
    if origins {
        let defaults =
            (!node.defaults.is_empty()).then(|| format!("default: {}", node.defaults.join(", ")));
        let notes: Vec<&str> = node.at.as_deref().into_iter().chain(defaults.as_deref()).collect();
        if !notes.is_empty() {
            out.push_str(&format!("  // {}", in_comment(&notes.join("; "))));
        }
    }
    out.push('\n');
    for child in &node.children {
        write_kdl(child, depth + 1, origins, out);
    }
    if has_children {
        indent(depth, out);
        out.push_str("}\n");
    }
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(INDENT, depth));
}

impl Scalar {
    /// Returns a value as KDL writes it, in no node.
    pub(super) fn kdl(&self) -> String {
        let mut text = String::new();
        self.write_kdl(0, &mut text);
        text
    }

    /// Writes a value, `depth` nodes deep.
    fn write_kdl(&self, depth: usize, out: &mut String) {
        match self {
            Self::Text(text) => quote(text, depth, out),
            Self::Annotated(annotation, text) => {
                out.extend(["(", annotation, ")"]);
                quote(text, depth, out);
            }
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::Boolean(true) => out.push_str("#true"),
            Self::Boolean(false) => out.push_str("#false"),
            Self::Chars(number) => out.extend(["(chars)", &number.to_string()]),
            Self::Measured(measure, number) => out.push_str(&measure.written(*number)),
            Self::Integer(number) => out.push_str(&number.to_string()),
            Self::Null => out.push_str("#null"),
        }
    }

    /// Returns a value of `meta`.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Bool(yes) => Self::Boolean(*yes),
            Value::String(text) => Self::Text(text.clone()),
            Value::Number(number) => match number.as_i64() {
                Some(number) => Self::Integer(number),
                None => Self::Text(number.to_string()),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => Self::Null,
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) | Self::Annotated(_, text) => json!(text),
            Self::Number(number) | Self::Chars(number) | Self::Measured(_, number) => json!(number),
            Self::Boolean(yes) => json!(yes),
            Self::Integer(number) => json!(number),
            Self::Null => Value::Null,
        }
    }
}

/// Writes a text as a KDL string, `depth` nodes deep: multi-line where it has lines.
fn quote(text: &str, depth: usize, out: &mut String) {
    let is_plain =
        |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b':' | b'#');
    if text.bytes().all(is_plain) {
        return out.extend(["\"", text, "\""]);
    }
    let lines = text.contains('\n');
    let invisible = invisible::search(text);
    let mut invisible = invisible.iter().map(|found| found.range.clone()).peekable();
    let mut escaped = String::with_capacity(text.len());
    let mut next = 0;
    while let Some(rest) = text.get(next..) {
        let plain = rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
        let (plain, rest) = rest.split_at(plain);
        escaped.push_str(plain);
        let Some(letter) = rest.chars().next() else { break };
        let at = next + plain.len();
        next = at + letter.len_utf8();
        while invisible.next_if(|range| range.end <= at).is_some() {}
        let is_invisible = invisible.peek().is_some_and(|range| range.contains(&at));
        match letter {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' if lines => escaped.push('\n'),
            '\t' => escaped.push_str("\\t"),
            letter if is_invisible || letter.is_control() => escaped.push_str(&escape(letter)),
            // A CI would read it as a command.
            ':' | '#' if begins_command(text, at) => escaped.push_str(&escape(letter)),
            letter => escaped.push(letter),
        }
    }
    if !lines {
        return out.extend(["\"", &escaped, "\""]);
    }
    let indent = INDENT.repeat(depth + 1);
    // A line of white space alone counts as empty in KDL.
    let body: Vec<String> = escaped
        .split('\n')
        .map(|line| match line {
            "" => String::new(),
            line if line.trim().is_empty() => {
                format!("{indent}{}", line.chars().map(escape).collect::<String>())
            }
            line => format!("{indent}{line}"),
        })
        .collect();
    out.extend(["\"\"\"\n", &body.join("\n"), "\n", &indent, "\"\"\""]);
}

fn escape(letter: char) -> String {
    format!("\\u{{{:x}}}", u32::from(letter))
}

/// Returns whether the text at `at` begins a command of GitHub Actions in a log: `::` at the
/// beginning of a line, `##[` anywhere.
fn begins_command(text: &str, at: usize) -> bool {
    let (before, rest) = text.split_at_checked(at).unwrap_or_default();
    let begins_line = || before.rsplit('\n').next().unwrap_or_default().trim().is_empty();
    rest.starts_with("##[") || (rest.starts_with("::") && text.contains('\n') && begins_line())
}

/// Returns a text for a comment: in one line, with invisible characters made visible.
fn in_comment(text: &str) -> String {
    invisible::visible(text).replace('\n', "\\n")
}

/// Returns a node and its children as JSON.
pub(super) fn node_json(node: &EffectiveNode) -> Value {
    let mut properties = Map::new();
    for (name, value) in &node.properties {
        properties.insert((*name).into(), value.json());
    }
    for (name, value) in &node.facts {
        properties.insert(name.clone(), value.json());
    }
    json!({
        "node": node.name,
        "arguments": node.arguments.iter().map(Scalar::json).collect::<Vec<_>>(),
        "properties": properties,
        "children": node.children.iter().map(node_json).collect::<Vec<_>>(),
        "at": node.at,
        "defaults": node.defaults,
        "generated": node.generated,
    })
}
