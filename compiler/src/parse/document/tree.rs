//! Tokens -> nodes (KDL 2, "Full Grammar"), with a fault for each node that differs from KDL.

mod correction;
mod cursor;
mod meant;
pub(super) mod report;
mod unquoted;

use super::super::node::{Node, Property, Scalar, Value};
use super::scalar::{self, Invalid};
use super::token::Token;
use crate::diagnostic::{Diagnostics, Edit};
use crate::grammar::{Kind, Rule};
use crate::language::{self, Top};
use crate::source::{FileId, Span, Spanned};

use self::correction::{Correction, Role, Slot};
use self::cursor::{Cursor, Line};
use self::report::{DEPTH_MAX, FAULTS_MAX, NODES_MAX};
use self::report::{NestedTooDeep, Syntax, TooManyFaults, TooManyNodes, WrongVersion};
use self::unquoted::Unquoted;

/// The most values of one node, arguments and properties together.
pub(crate) const VALUES_MAX: usize = 1024;

/// Returns the nodes of a document; `None` if it has syntax faults, which are reported.
pub(super) fn nodes(file: FileId, text: &str, out: &mut Diagnostics) -> Option<Vec<Node>> {
    let mut reader = TreeReader {
        cursor: Cursor::new(file, text),
        open: Vec::new(),
        suspect: None,
        nodes: 0,
        faults: 0,
        out,
    };
    let nodes = reader.block();
    nodes.ok().filter(|_| reader.faults == 0)
}

struct TreeReader<'t, 'o> {
    cursor: Cursor<'t>,
    /// The open braces.
    open: Vec<Brace>,
    /// The first open brace whose closing brace is missing, by the indentation.
    suspect: Option<Brace>,
    nodes: usize,
    faults: usize,
    out: &'o mut Diagnostics,
}

/// An open brace.
#[derive(Debug, Clone, Copy)]
struct Brace {
    at: usize,
    line: Line,
    /// The name of its node; `None` if the node is unreadable.
    name: Option<Span>,
}

/// The part of a document that a fault makes unreadable.
enum Skipped {
    /// The rest of the node.
    Node,
    /// The rest of the document.
    Document,
}

/// A node, or a comment.
enum Statement {
    Node(Node),
    /// A node after a `/-`, or a fault that costs nothing else.
    Comment,
}

/// Whether a node goes on.
enum Part {
    /// More may follow; directly, or after white space.
    More { apart: bool },
    /// The node has ended.
    End,
}

impl<'t> TreeReader<'t, '_> {
    /// Takes white space, comments and line ends between nodes.
    fn line_space(&mut self) -> Result<(), Skipped> {
        loop {
            match self.cursor.peek() {
                Some(Token::Newline | Token::LineComment) => _ = self.cursor.advance(),
                _ if !self.node_space()? => return Ok(()),
                _ => {}
            }
        }
    }

    /// Takes white space within a node; returns whether there was any.
    fn node_space(&mut self) -> Result<bool, Skipped> {
        let mut found = false;
        loop {
            match self.cursor.peek() {
                Some(Token::Space | Token::BlockComment) => _ = self.cursor.advance(),
                Some(Token::Continuation) => self.continuation()?,
                Some(Token::UnclosedComment) => {
                    let at = self.cursor.at();
                    let at = self.cursor.file.span(at, at + 2);
                    self.fault(at, "the comment is not closed", Some("close it with `*/`"));
                    return Err(Skipped::Document);
                }
                _ => return Ok(found),
            }
            found = true;
        }
    }

    /// Takes a `\` and the line end after it.
    fn continuation(&mut self) -> Result<(), Skipped> {
        let at = self.cursor.next_span();
        self.cursor.advance();
        while matches!(self.cursor.peek(), Some(Token::Space | Token::BlockComment)) {
            self.cursor.advance();
        }
        self.cursor.take(Token::LineComment);
        if self.cursor.peek().is_none() || self.cursor.take(Token::Newline).is_some() {
            return Ok(());
        }
        let help = "outside of texts a `\\` only joins the next line to its own";
        self.fault(at, "this `\\` is not at the end of its line", Some(help));
        Err(Skipped::Node)
    }

    /// Reads nodes up to the brace that closes them, or to the end of the document.
    fn block(&mut self) -> Result<Vec<Node>, Skipped> {
        let mut nodes = Vec::new();
        loop {
            match self.late_block(nodes.last_mut()).and_then(|()| self.statement()) {
                Ok(Some(Statement::Node(node))) => nodes.push(node),
                Ok(Some(Statement::Comment)) => {}
                Ok(None) => {
                    nodes.shrink_to_fit();
                    return Ok(nodes);
                }
                Err(Skipped::Node) => self.skip_node()?,
                Err(Skipped::Document) => return Err(Skipped::Document),
            }
            if self.faults >= FAULTS_MAX {
                let at = self.cursor.next_span();
                self.out.report(at, TooManyFaults { at });
                return Err(Skipped::Document);
            }
        }
    }

    /// Reports braces that begin on the line after their node, and gives them to it.
    fn late_block(&mut self, before: Option<&mut Node>) -> Result<(), Skipped> {
        self.line_space()?;
        let Some(node) = before.filter(|node| node.children.is_none()) else { return Ok(()) };
        if self.cursor.peek() == Some(Token::Open) {
            let values = node.arguments.iter().map(|value| value.at);
            let values = values.chain(node.properties.iter().map(|property| property.value.at));
            let end = values.map(|at| at.end).fold(node.name.at.end, u32::max);
            let written = self.cursor.slice(node.name.at.start as usize, end as usize);
            let message = format!("the `{{` of `{}` begins a line", node.name.value);
            let written = scalar::start_of(written);
            let help = format!("write `{written} {{` in one line: a node ends with its line");
            self.fault(self.cursor.next_span(), &message, Some(&help));
            node.children = Some(self.children(Some(node.name.at))?);
        }
        Ok(())
    }

    /// Reads the next node of a block; `None` at the end of the block.
    fn statement(&mut self) -> Result<Option<Statement>, Skipped> {
        self.line_space()?;
        let at = self.cursor.next_span();
        match self.cursor.peek() {
            None => self.end_of_document().map(|()| None),
            Some(Token::Close) => {
                let closing = self.cursor.line;
                self.cursor.advance();
                let Some(open) = self.open.pop() else {
                    self.fault(at, "this `}` closes nothing", Some("remove it, or add its `{`"));
                    return Ok(Some(Statement::Comment));
                };
                let moved = !closing.begun && closing.number != open.line.number;
                if moved && closing.indent < open.line.indent && self.suspect.is_none() {
                    self.suspect = Some(open);
                }
                Ok(None)
            }
            Some(Token::Slashdash) => {
                self.cursor.advance();
                self.line_space()?;
                if matches!(self.cursor.peek(), None | Some(Token::Close)) {
                    let help = "remove it, or write the node that it comments out";
                    self.fault(at, "no node follows this `/-`", Some(help));
                    return Ok(Some(Statement::Comment));
                }
                let node = self.node()?;
                if self.nodes == 1 {
                    self.version(&node)?;
                }
                Ok(Some(Statement::Comment))
            }
            Some(_) => self.node().map(|node| Some(Statement::Node(node))),
        }
    }

    /// Reports a version of KDL other than 2 that a document declares.
    ///
    /// The rest stays unread: its faults would be those of KDL 2 alone.
    fn version(&mut self, node: &Node) -> Result<(), Skipped> {
        let version = node.arguments.first().filter(|_| node.name.value == "kdl-version");
        let Some(version) = version.filter(|version| version.scalar != Scalar::Integer(2)) else {
            return Ok(());
        };
        self.faults += 1;
        self.out.report(version.at, WrongVersion { at: version.at });
        Err(Skipped::Document)
    }

    fn end_of_document(&mut self) -> Result<(), Skipped> {
        let Some(last) = self.open.last() else { return Ok(()) };
        let open = self.suspect.as_ref().unwrap_or(last);
        let at = self.cursor.file.span(open.at, open.at + 1);
        // After a fault the missing brace may be a consequence: an unclosed text includes the
        // braces after it.
        if self.faults == 0 {
            let help = "add its `}`; the indentation of the lines after it says where";
            self.fault(at, "this `{` is not closed", Some(help));
        }
        Err(Skipped::Document)
    }

    fn node(&mut self) -> Result<Node, Skipped> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let at = self.cursor.next_span();
            self.faults += 1;
            self.out.report(at, TooManyNodes { at });
            return Err(Skipped::Document);
        }
        let annotation = self.annotation()?;
        let name = self.string("a node begins with its name")?;
        let mut node = Node {
            name,
            annotation,
            arguments: Vec::new(),
            properties: Vec::new(),
            children: None,
        };
        let mut after_block = false;
        let mut apart = self.node_space()?;
        while let Part::More { apart: next } = self.part(&mut node, apart, &mut after_block)? {
            apart = next;
        }
        // A list grows to four at once, and most nodes have one value: half of the memory would stay empty.
        node.arguments.shrink_to_fit();
        node.properties.shrink_to_fit();
        Ok(node)
    }

    /// Reads an entry or the children of a node, or its end.
    fn part(&mut self, node: &mut Node, apart: bool, block: &mut bool) -> Result<Part, Skipped> {
        let apart = match self.cursor.peek() {
            None | Some(Token::Close | Token::LineComment) => return Ok(Part::End),
            Some(Token::Newline | Token::Semicolon) => {
                self.cursor.advance();
                return Ok(Part::End);
            }
            Some(Token::Equals) if node.arguments.is_empty() && node.properties.is_empty() => {
                let name = &node.name.value;
                let after = self.cursor.rest().get(1..).unwrap_or_default();
                let help = meant::of_pair(name, after, Role::Name, self.rule()).unwrap_or_else(|| {
                    format!(
                        "a node is written `{name} VALUE`, without `=`; a property `{name}=VALUE`, without blanks, on the line of its node"
                    )
                });
                return self.fail(&format!("`{name}` has an `=` after it"), Some(&help));
            }
            Some(Token::Open) if node.children.is_some() => {
                let help = "put all children into one pair of braces";
                return self.fail("this node has two blocks of children", Some(help));
            }
            Some(Token::Open) => {
                *block = true;
                node.children = Some(self.children(Some(node.name.at))?);
                self.node_space()?
            }
            Some(Token::Slashdash) if !apart => {
                let message = "white space is missing before this `/-`";
                return self.fail_fixed(message, None, Some(correction::insert(" ")));
            }
            Some(Token::Slashdash) => {
                self.cursor.advance();
                self.line_space()?;
                if self.cursor.peek() == Some(Token::Open) {
                    *block = true;
                    self.children(Some(node.name.at))?;
                    self.node_space()?
                } else {
                    let (arguments, properties) = (node.arguments.len(), node.properties.len());
                    let apart = self.entry(node, true, *block)?;
                    node.arguments.truncate(arguments);
                    node.properties.truncate(properties);
                    apart
                }
            }
            Some(_) => self.entry(node, apart, *block)?,
        };
        Ok(Part::More { apart })
    }

    /// Reads the children of the node whose name is at `name`.
    fn children(&mut self, name: Option<Span>) -> Result<Vec<Node>, Skipped> {
        let brace = Brace { at: self.cursor.at(), line: self.cursor.line, name };
        if self.open.len() == DEPTH_MAX {
            let at = self.cursor.next_span();
            self.faults += 1;
            self.out.report(at, NestedTooDeep { at });
            return Err(Skipped::Document);
        }
        self.cursor.advance();
        self.open.push(brace);
        self.block()
    }

    /// Reads an argument or a property into `node`; returns whether white space follows it.
    fn entry(&mut self, node: &mut Node, apart: bool, after_block: bool) -> Result<bool, Skipped> {
        if after_block {
            let help = "begin the next node on a line of its own, or after a `;`";
            return self.fail("a node ends with its children", Some(help));
        }
        let begins =
            matches!(self.cursor.peek(), Some(Token::Word | Token::Text | Token::AnnotationOpen));
        if !apart && begins {
            let written = self.cursor.next.map(|(.., written)| written).unwrap_or_default();
            if written.starts_with(',') {
                let Invalid { message, help, .. } = scalar::comma(written);
                let fix = correction::of_comma(written, self.cursor.rest());
                return self.fail_fixed(&message, help.as_deref(), fix);
            }
            let help = "write a space between two values; a `\"` in a text is `\\\"`";
            return self.fail("white space is missing before this value", Some(help));
        }
        if let Some((written, word)) = self.word_for_keyword(node) {
            let name = &node.name.value;
            let message = format!("`{name}` takes `on` or `off`");
            let (help, fix) =
                (format!("write `{name} {word}`"), correction::replace(written, word));
            return self.fail_fixed(&message, Some(&help), Some(fix));
        }
        if node.properties.is_empty()
            && self.cursor.peek() == Some(Token::Word)
            && language::takes_text(&node.name.value, node.arguments.len())
            && let Some(unquoted) = unquoted::text(&self.cursor, || self.rule())
        {
            return self.not_quoted(node.name.at.start as usize, &unquoted);
        }
        if node.arguments.len() + node.properties.len() == VALUES_MAX {
            return self.fail(&format!("a node takes at most {VALUES_MAX} values"), None);
        }
        let annotation = self.annotation()?;
        let (name, taken) = (node.name.value.as_str(), node.arguments.len());
        let slot = Slot { role: Role::Value, node: Some(name), property: None, taken };
        let (scalar, at) = self.scalar("a value is expected here", slot)?;
        let apart = self.node_space()?;
        if self.cursor.take(Token::Equals).is_none() {
            let follows_argument = node.arguments.last().is_some_and(|before| {
                let between = self.cursor.slice(before.at.end as usize, at.start as usize);
                between.trim().is_empty()
            });
            node.arguments.push(Value { scalar, annotation, at, follows_argument });
            return Ok(apart);
        }
        self.node_space()?;
        let (Scalar::Text(key), None) = (scalar, annotation) else {
            let help = "a property is `name=value`; an annotation is before its value";
            self.fault(at, "this cannot be the name of a property", Some(help));
            return Err(Skipped::Node);
        };
        let annotation = self.annotation()?;
        let (scalar, value_at) = self.value_of(&node.name.value, &key, at)?;
        let value = Value { scalar, annotation, at: value_at, follows_argument: false };
        node.properties.push(Property { name: Spanned { value: key, at }, value });
        self.node_space()
    }

    /// Reads the value of the property `key` of `node`; the name of the property is at `key_at`.
    fn value_of(&mut self, node: &str, key: &str, key_at: Span) -> Result<(Scalar, Span), Skipped> {
        if self.cursor.peek() == Some(Token::Word)
            && language::is_text_property(key)
            && let Some(unquoted) = unquoted::text(&self.cursor, || self.rule())
        {
            return self.not_quoted(key_at.start as usize, &unquoted);
        }
        let missing = format!("the property `{key}` has no value");
        match self.cursor.peek() {
            None | Some(Token::Newline | Token::Semicolon | Token::Open | Token::Close) => {
                self.fail(&missing, Some("write one after the `=`, or remove the property"))
            }
            _ => {
                let slot =
                    Slot { role: Role::Property, node: Some(node), property: Some(key), taken: 0 };
                self.scalar(&missing, slot)
            }
        }
    }

    /// Reports an unquoted text; the node or property that it belongs to begins at `start`.
    fn not_quoted<T>(&mut self, start: usize, unquoted: &Unquoted<'_>) -> Result<T, Skipped> {
        let Unquoted { text, from, fault, to } = unquoted;
        let before = self.cursor.slice(start, *from);
        let help = format!("write `{before}{:?}`", scalar::start_of(text));
        let at = self.cursor.file.span(fault.start, fault.end);
        self.fault(at, "a text of several words or with marks needs quotes", Some(&help));
        self.skip_to(*to);
        Err(Skipped::Node)
    }

    /// Returns the next word, `true` or `false`, and the word to write instead where a node takes a word such as `on`.
    fn word_for_keyword(&self, node: &Node) -> Option<(&'t str, &'static str)> {
        let Some((Token::Word, _, written @ ("true" | "false" | "#true" | "#false"))) =
            self.cursor.next
        else {
            return None;
        };
        let rule = Top::of(&node.name.value)?.rule();
        let field = rule.argument(node.arguments.len())?;
        let words = matches!(field.kind, Kind::Words(["on", "off"]));
        let word = if written.ends_with("true") { "on" } else { "off" };
        words.then_some((written, word))
    }

    /// Takes the tokens before an offset.
    fn skip_to(&mut self, end: usize) {
        while self.cursor.peek().is_some() && self.cursor.at() < end {
            self.cursor.advance();
        }
    }

    /// Returns the rule of the node around the next token, if it is known.
    fn rule(&self) -> Option<&'static Rule> {
        let name = |brace: &Brace| {
            brace.name.map(|at| self.cursor.slice(at.start as usize, at.end as usize))
        };
        language::rule_at(self.open.iter().map(name))
    }

    /// Reads an optional `(name)`.
    fn annotation(&mut self) -> Result<Option<Box<Spanned<String>>>, Skipped> {
        if self.cursor.take(Token::AnnotationOpen).is_none() {
            return Ok(None);
        }
        self.node_space()?;
        let name = self.string("an annotation is one name in parentheses")?;
        self.node_space()?;
        if self.cursor.take(Token::AnnotationClose).is_none() {
            return self.fail("the annotation is not closed", Some("close it with `)`"));
        }
        self.node_space()?;
        Ok(Some(Box::new(name)))
    }

    /// Reads a text; `missing` is the fault if another value or token is there.
    fn string(&mut self, missing: &str) -> Result<Spanned<String>, Skipped> {
        let slot = Slot { role: Role::Name, node: None, property: None, taken: 0 };
        let (scalar, at) = self.scalar(missing, slot)?;
        match scalar {
            Scalar::Text(value) => Ok(Spanned { value, at }),
            _ => {
                let help = "a name that looks like a number or a keyword needs quotes";
                self.fault(at, missing, Some(help));
                Err(Skipped::Node)
            }
        }
    }

    fn scalar(&mut self, missing: &str, slot: Slot<'_>) -> Result<(Scalar, Span), Skipped> {
        let at = self.cursor.next_span();
        let Some((Token::Word | Token::Text, start, written)) = self.cursor.next else {
            return self.no_value(missing);
        };
        match scalar::decode(written) {
            Ok(scalar) => {
                self.cursor.advance();
                Ok((scalar, at))
            }
            Err(Invalid { message, help, part }) => {
                let part = part.map(|(from, to)| self.cursor.file.span(start + from, start + to));
                let rest = self.cursor.rest();
                let (around, kind) = (self.rule(), slot.kind(self.rule()));
                let fix = correction::of_value(written, rest, slot.role, kind);
                let help = meant::of_word(written, rest, &slot, around, fix.as_ref()).or(help);
                // A text in other quotes is underlined whole.
                let quoted = fix.as_ref().filter(|fix| fix.text.starts_with('"'));
                let length = quoted.map_or(written.len(), |fix| fix.to);
                let at = self.cursor.file.span(start, start + length.max(written.len()));
                self.fault_fixed(part.unwrap_or(at), &message, help.as_deref(), fix);
                if let Some(length) = correction::lines_in_quotes(rest) {
                    self.skip_to(start + length);
                }
                Err(Skipped::Node)
            }
        }
    }

    /// Reports the missing value at the next token, with its likely reason.
    fn no_value<T>(&mut self, missing: &str) -> Result<T, Skipped> {
        match self.cursor.next {
            Some((Token::UnclosedText, start, written)) => {
                // The span covers the opening quote alone: the rest may be half of the document.
                let quotes = written.len() - written.trim_start_matches('#').len() + 1;
                let at = self.cursor.file.span(start, start + quotes);
                let help =
                    "close it with `\"`; a text of several lines is between `\"\"\"` and `\"\"\"`";
                self.fault(at, "the text is not closed", Some(help));
                Err(Skipped::Node)
            }
            Some((Token::Stray, _, written)) if written.starts_with('#') => {
                let help = "comments begin with `//`; keywords are #true, #false and #null";
                let fix = correction::of_hash(self.cursor.rest());
                self.fail_fixed("a `#` alone means nothing", Some(help), fix)
            }
            Some((Token::Stray, _, "[" | "]")) => self.fail(
                "KDL has no lists in brackets",
                Some("write the values one after another: `name A B`"),
            ),
            Some((Token::Stray, _, written)) => {
                let message = format!("unexpected `{}`", written.escape_debug());
                self.fail(&message, Some("quote the text that holds it: `\"…\"`"))
            }
            Some((Token::Equals, ..)) => {
                let help =
                    "the values of a node follow its name without `=`; a property is `name=value`";
                self.fail("an `=` with no property before it", Some(help))
            }
            Some((Token::AnnotationClose, ..)) => self.fail(
                "this `)` closes nothing",
                Some("remove it, or quote the text that holds it"),
            ),
            _ => self.fail(missing, None),
        }
    }

    /// Reports a fault at the next token, and gives up the node.
    fn fail<T>(&mut self, message: &str, help: Option<&str>) -> Result<T, Skipped> {
        self.fault(self.cursor.next_span(), message, help);
        Err(Skipped::Node)
    }

    /// The same with a correction.
    fn fail_fixed<T>(
        &mut self,
        message: &str,
        help: Option<&str>,
        fix: Option<Correction>,
    ) -> Result<T, Skipped> {
        self.fault_fixed(self.cursor.next_span(), message, help, fix);
        Err(Skipped::Node)
    }

    fn fault(&mut self, at: Span, message: &str, help: Option<&str>) {
        self.fault_fixed(at, message, help, None);
    }

    /// Reports a fault at `at`; its correction begins at the next token.
    fn fault_fixed(
        &mut self,
        at: Span,
        message: &str,
        help: Option<&str>,
        fix: Option<Correction>,
    ) {
        self.faults += 1;
        let (message, help) = (message.to_owned(), help.map(ToOwned::to_owned));
        let start = self.cursor.at();
        let edit = |Correction { from, to, text }| Edit {
            at: self.cursor.file.span(start + from, start + to),
            text,
        };
        let edits = fix.map(edit).into_iter().collect();
        self.out.report_fixable(at, Syntax { message, help, at, edits });
    }

    /// Takes the rest of a node after a fault, and reports the faults of its children.
    fn skip_node(&mut self) -> Result<(), Skipped> {
        loop {
            match self.cursor.peek() {
                None | Some(Token::Close) => return Ok(()),
                Some(Token::Newline | Token::Semicolon) => {
                    self.cursor.advance();
                    return Ok(());
                }
                Some(Token::Open) => _ = self.children(None)?,
                Some(_) => _ = self.cursor.advance(),
            }
        }
    }
}
