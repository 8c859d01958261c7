//! A template as its author wrote it -> the template that the engine renders.
//!
//! Both mean the same. In what is made, operators are filters of the [`engine`](super::engine),
//! which bound them; what loops and captures repeat is paid for; included files go by number; and
//! delimiters are characters that no author can write. On the way it is noted which names are
//! mentioned and how, which are set, and where each expression was written.

use std::ops::Range;

use minijinja::machinery::ast::{
    BinOp, BinOpKind, Call, CallArg, CallBlock, CompareOpKind, Const, Expr, Filter, ForLoop,
    IfCond, IfExpr, Macro, Spanned, Stmt, Test, UnaryOpKind,
};

use super::engine::{
    BLOCK_END, BLOCK_START, MEASURE, OPERATE, PAY, PRESENCE_TESTS, PRINT_END, PRINT_START,
};
use super::fault::{IncludeNotPlain, Syntax, Unsupported};
use super::source::{Source, Spot};
use crate::diagnostic::Diagnostics;

/// A template for the engine, and what is known about the one it was made from.
#[derive(Default)]
pub(super) struct Rewritten {
    pub(super) made: String,
    pub(super) places: Vec<Place>,
    pub(super) mentions: Vec<Mention>,
    pub(super) assigned: Vec<Name>,
    pub(super) filters: Vec<Name>,
    pub(super) tests: Vec<Name>,
}

/// Where an expression stands in both templates.
pub(super) struct Place {
    /// In the one that was made.
    pub(super) made: Range<usize>,
    /// The part that a fault of it is about: of a filter, its name and arguments.
    pub(super) written: Range<usize>,
    /// All of it.
    pub(super) extent: Range<usize>,
}

/// A name with its place.
pub(super) struct Name {
    pub(super) name: String,
    pub(super) at: Range<usize>,
}

/// A variable that is read.
pub(super) struct Mention {
    pub(super) name: String,
    pub(super) at: Range<usize>,
    pub(super) how: How,
}

/// What is done with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Its content matters.
    Read,
    /// It matters only whether it is there.
    Tested,
    /// It is printed as it is.
    Printed,
    /// It is printed as it is, if it is there.
    TestedAndPrinted,
}

/// How tightly an expression holds together, loosest first: what binds looser than its
/// surroundings needs brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    Choice,
    Or,
    And,
    Not,
    Comparison,
    Filter,
    Atom,
}

/// Finds the template that an include names, by its number; `None` if there is none, which is
/// reported unless it may be missing.
pub(super) type Link<'l> =
    dyn FnMut(&str, Range<usize>, bool, &mut Diagnostics) -> Option<usize> + 'l;

/// Returns the name of a template in the engine.
pub(super) fn template_name(number: usize) -> String {
    format!("t{number}")
}

/// Rewrites a parsed template. `repeated` says whether it may be rendered more than once, as an
/// included file may.
pub(super) fn rewrite(
    source: &Source,
    parsed: &Stmt<'_>,
    repeated: bool,
    link: &mut Link<'_>,
    out: &mut Diagnostics,
) -> Rewritten {
    let result = Rewritten::default();
    let mut rewriter = Rewriter { source, link, out, result, repeats: usize::from(repeated) };
    rewriter.statement(parsed);
    rewriter.result
}

struct Rewriter<'s, 'l> {
    source: &'s Source,
    link: &'s mut Link<'l>,
    out: &'s mut Diagnostics,
    result: Rewritten,
    /// How many constructs around this place may render it again.
    repeats: usize,
}

impl Rewriter<'_, '_> {
    fn put(&mut self, text: &str) {
        self.result.made.push_str(text);
    }

    fn spot(&self, at: &Range<usize>) -> Spot {
        self.source.spot(at)
    }

    /// Notes where the expression was written whose rewriting began at `start`.
    fn place(&mut self, start: usize, expr: &Expr<'_>) {
        let made = start..self.result.made.len();
        let place = Place { made, written: written(expr), extent: extent(expr) };
        self.result.places.push(place);
    }

    // --- statements ---

    fn statements(&mut self, statements: &[Stmt<'_>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn repeated(&mut self, statements: &[Stmt<'_>]) {
        self.repeats += 1;
        self.statements(statements);
        self.repeats -= 1;
    }

    /// Writes a tag; `content` writes what stands in it.
    fn tag(&mut self, keyword: &str, content: impl FnOnce(&mut Self)) {
        self.put(BLOCK_START);
        self.put(keyword);
        self.put(" ");
        content(self);
        self.put(BLOCK_END);
    }

    fn end(&mut self, keyword: &str) {
        self.tag(keyword, |_| {});
    }

    fn statement(&mut self, statement: &Stmt<'_>) {
        let start = self.result.made.len();
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitRaw(raw) => self.raw(raw.raw),
            Stmt::EmitExpr(emit) => {
                self.put(PRINT_START);
                self.expr(&emit.expr, Bond::Choice, How::Printed);
                self.put(PRINT_END);
                self.place(start, &emit.expr);
            }
            Stmt::ForLoop(each) => {
                self.for_loop(each);
                self.place(start, &each.iter);
            }
            Stmt::IfCond(condition) => {
                self.condition("if", condition);
                self.end("endif");
            }
            Stmt::WithBlock(with) => {
                self.tag("with", |this| {
                    for (index, (target, value)) in with.assignments.iter().enumerate() {
                        let start = this.result.made.len();
                        this.put(if index == 0 { "" } else { ", " });
                        this.assignment(target, value);
                        this.place(start, value);
                    }
                });
                self.statements(&with.body);
                self.end("endwith");
            }
            Stmt::Set(set) => {
                self.tag("set", |this| this.assignment(&set.target, &set.expr));
                self.place(start, &set.expr);
            }
            Stmt::SetBlock(set) => {
                self.tag("set", |this| {
                    this.target(&set.target);
                    if let Some(filter) = &set.filter {
                        this.put(" | ");
                        this.filters(filter);
                    }
                });
                self.statements(&set.body);
                self.end("endset");
            }
            Stmt::FilterBlock(block) => {
                self.tag("filter", |this| this.filters(&block.filter));
                self.statements(&block.body);
                self.end("endfilter");
                self.place(start, &block.filter);
            }
            Stmt::AutoEscape(block) => {
                let Spot { at, line } = self.spot(&range(block.enabled.span()));
                self.out.report(at, Unsupported { line, at });
            }
            Stmt::Block(block) => {
                let required = if block.required { " required" } else { "" };
                self.tag("block", |this| this.put(&format!("{}{required}", block.name)));
                // A required block has nothing but white space.
                self.repeated(if block.required { &[] } else { &block.body });
                self.end("endblock");
            }
            Stmt::Import(import) => {
                if let Some(name) = self.linked(&import.expr, false) {
                    self.tag("import", |this| {
                        this.put(&format!("\"{name}\" as "));
                        this.target(&import.name);
                    });
                    self.place(start, &import.expr);
                }
            }
            Stmt::FromImport(import) => {
                if let Some(name) = self.linked(&import.expr, false) {
                    self.tag("from", |this| {
                        this.put(&format!("\"{name}\" import "));
                        for (index, (name, alias)) in import.names.iter().enumerate() {
                            this.put(if index == 0 { "" } else { ", " });
                            match alias {
                                Some(alias) => {
                                    this.put(variable(name));
                                    this.put(" as ");
                                    this.target(alias);
                                }
                                None => this.target(name),
                            }
                        }
                    });
                    self.place(start, &import.expr);
                }
            }
            Stmt::Extends(extends) => {
                if let Some(name) = self.linked(&extends.name, false) {
                    self.tag("extends", |this| this.put(&format!("\"{name}\"")));
                    self.place(start, &extends.name);
                }
            }
            Stmt::Include(include) => {
                if let Some(name) = self.linked(&include.name, include.ignore_missing) {
                    self.tag("include", |this| this.put(&format!("\"{name}\"")));
                    self.place(start, &include.name);
                }
            }
            Stmt::Macro(declared) => {
                let after_keyword = range(declared.span()).start + "macro".len();
                let at = self.find(declared.name, after_keyword);
                self.result.assigned.push(Name { name: declared.name.into(), at });
                self.tag("macro", |this| {
                    this.put(declared.name);
                    this.parameters(declared);
                });
                self.repeated(&declared.body);
                self.end("endmacro");
            }
            Stmt::CallBlock(block) => self.call_block(block),
            Stmt::Do(statement) => {
                self.tag("do", |this| this.call(&statement.call));
            }
        }
    }

    /// Text as it is. Where it can be rendered again and again, each time is paid for: nothing
    /// else bounds what a capture collects.
    fn raw(&mut self, raw: &str) {
        if self.repeats > 0 {
            self.put(&format!("{PRINT_START}{}|{PAY}{PRINT_END}", raw.len()));
        }
        self.put(raw);
    }

    fn for_loop(&mut self, each: &ForLoop<'_>) {
        self.tag("for", |this| {
            this.target(&each.target);
            this.put(" in ");
            this.measured(&each.iter);
            if let Some(filter) = &each.filter_expr {
                this.put(" if ");
                this.expr(filter, Bond::Or, How::Tested);
            }
            this.put(if each.recursive { " recursive" } else { "" });
        });
        self.repeated(&each.body);
        if !each.else_body.is_empty() {
            self.end("else");
            self.statements(&each.else_body);
        }
        self.end("endfor");
    }

    /// An `if` or `elif` with what follows, up to the `endif`.
    fn condition(&mut self, keyword: &str, condition: &IfCond<'_>) {
        self.tag(keyword, |this| this.expr(&condition.expr, Bond::Or, How::Tested));
        self.statements(&condition.true_body);
        match &*condition.false_body {
            [] => {}
            [Stmt::IfCond(next)] => self.condition("elif", next),
            otherwise => {
                self.end("else");
                self.statements(otherwise);
            }
        }
    }

    fn call_block(&mut self, block: &CallBlock<'_>) {
        let start = self.result.made.len();
        let declared = &block.macro_decl;
        self.put(BLOCK_START);
        self.put("call");
        if !declared.args.is_empty() {
            self.parameters(declared);
        }
        self.put(" ");
        self.call(&block.call);
        self.put(BLOCK_END);
        self.repeated(&declared.body);
        self.end("endcall");
        self.place(start, &block.call.expr);
    }

    fn parameters(&mut self, declared: &Macro<'_>) {
        let without_default = declared.args.len().saturating_sub(declared.defaults.len());
        self.put("(");
        for (index, parameter) in declared.args.iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            self.target(parameter);
            let default = index.checked_sub(without_default);
            if let Some(default) = default.and_then(|index| declared.defaults.get(index)) {
                self.put("=");
                self.expr(default, Bond::Choice, How::Read);
            }
        }
        self.put(")");
    }

    fn assignment(&mut self, target: &Expr<'_>, value: &Expr<'_>) {
        self.target(target);
        self.put(" = ");
        self.expr(value, Bond::Choice, How::Read);
    }

    /// What is assigned to: a name, names in brackets, or an attribute of a namespace.
    fn target(&mut self, target: &Expr<'_>) {
        match target {
            Expr::Var(name) => {
                let at = range(name.span());
                self.result.assigned.push(Name { name: name.id.into(), at });
                self.put(name.id);
            }
            Expr::List(names) => {
                self.put("(");
                for name in &names.items {
                    self.target(name);
                    self.put(",");
                }
                self.put(")");
            }
            Expr::GetAttr(attribute) => {
                self.expr(&attribute.expr, Bond::Atom, How::Read);
                self.put(".");
                self.put(attribute.name);
            }
            _ => {}
        }
    }

    /// The name that the engine has for the file that an expression names.
    fn linked(&mut self, name: &Expr<'_>, may_miss: bool) -> Option<String> {
        let at = extent(name);
        let path = match name {
            Expr::Const(constant) => constant.value.as_str(),
            _ => None,
        };
        let Some(path) = path else {
            let Spot { at, line } = self.spot(&at);
            self.out.report(at, IncludeNotPlain { line, at });
            return None;
        };
        (self.link)(path, at, may_miss, self.out).map(template_name)
    }

    /// The first place of a word behind an offset.
    fn find(&self, word: &str, from: usize) -> Range<usize> {
        let rest = self.source.text.get(from..).unwrap_or_default();
        let start = from + rest.find(word).unwrap_or(0);
        start..start + word.len()
    }

    // --- expressions ---

    fn expr(&mut self, expr: &Expr<'_>, within: Bond, how: How) {
        let start = self.result.made.len();
        let brackets = bond(expr) < within;
        self.put(if brackets { "(" } else { "" });
        self.bare(expr, how);
        self.put(if brackets { ")" } else { "" });
        self.place(start, expr);
    }

    /// An operand that is looked at as a whole: its size is paid for.
    fn measured(&mut self, expr: &Expr<'_>) {
        self.expr(expr, Bond::Filter, How::Read);
        if !matches!(expr, Expr::Const(_)) {
            self.put(&format!("|{MEASURE}"));
        }
    }

    fn bare(&mut self, expr: &Expr<'_>, how: How) {
        match expr {
            Expr::Var(name) => {
                let at = range(name.span());
                self.result.mentions.push(Mention { name: name.id.into(), at, how });
                self.put(name.id);
            }
            Expr::Const(constant) => self.constant(constant),
            Expr::IfExpr(choice) => self.choice(choice, how),
            Expr::UnaryOp(unary) => match unary.op {
                UnaryOpKind::Not => {
                    self.put("not ");
                    self.expr(&unary.expr, Bond::Not, How::Tested);
                }
                UnaryOpKind::Neg => {
                    self.put("-");
                    self.expr(&unary.expr, Bond::Atom, How::Read);
                }
            },
            Expr::BinOp(binary) => self.binary(binary, how),
            Expr::Compare(compare) => {
                self.measured(&compare.expr);
                for next in &compare.ops {
                    self.put(comparison(next.op));
                    self.measured(&next.expr);
                }
            }
            Expr::Filter(_) => self.filters(expr),
            Expr::Test(test) => self.test(test),
            Expr::GetAttr(attribute) => {
                self.expr(&attribute.expr, Bond::Atom, How::Read);
                self.put(".");
                self.put(attribute.name);
            }
            Expr::GetItem(item) => {
                self.operator(&item.expr, "[]", &[Some(&item.subscript_expr)]);
            }
            Expr::Slice(slice) => {
                let bounds = [slice.start.as_ref(), slice.stop.as_ref(), slice.step.as_ref()];
                self.operator(&slice.expr, "[:]", &bounds);
            }
            Expr::Call(call) => self.call(call),
            Expr::List(list) => self.sequence("[", &list.items, "", "]"),
            Expr::Tuple(tuple) => self.sequence("(", &tuple.items, ",", ")"),
            Expr::Map(map) => {
                self.put("{");
                for (key, value) in map.keys.iter().zip(&map.values) {
                    self.measured(key);
                    self.put(": ");
                    self.expr(value, Bond::Choice, How::Read);
                    self.put(", ");
                }
                self.put(&format!("}}|{MEASURE}"));
            }
        }
    }

    fn constant(&mut self, constant: &Spanned<Const>) {
        let source = self.source;
        self.put(source.text.get(range(constant.span())).unwrap_or("none"));
    }

    fn choice(&mut self, choice: &IfExpr<'_>, how: How) {
        self.expr(&choice.true_expr, Bond::Or, how);
        self.put(" if ");
        self.expr(&choice.test_expr, Bond::Or, How::Tested);
        if let Some(otherwise) = &choice.false_expr {
            self.put(" else ");
            self.expr(otherwise, Bond::Choice, how);
        }
    }

    fn binary(&mut self, binary: &BinOp<'_>, how: How) {
        let operator = match binary.op {
            BinOpKind::ScOr => {
                let is_printed = matches!(how, How::Printed | How::TestedAndPrinted);
                let left = if is_printed { How::TestedAndPrinted } else { how };
                self.expr(&binary.left, Bond::Or, left);
                self.put(" or ");
                return self.expr(&binary.right, Bond::And, how);
            }
            BinOpKind::ScAnd => {
                let both = if how == How::Tested { how } else { How::Read };
                self.expr(&binary.left, Bond::And, both);
                self.put(" and ");
                return self.expr(&binary.right, Bond::Not, both);
            }
            BinOpKind::Eq => return self.compare(binary, CompareOpKind::Eq),
            BinOpKind::Ne => return self.compare(binary, CompareOpKind::Ne),
            BinOpKind::Lt => return self.compare(binary, CompareOpKind::Lt),
            BinOpKind::Lte => return self.compare(binary, CompareOpKind::Lte),
            BinOpKind::Gt => return self.compare(binary, CompareOpKind::Gt),
            BinOpKind::Gte => return self.compare(binary, CompareOpKind::Gte),
            BinOpKind::In => return self.compare(binary, CompareOpKind::In),
            BinOpKind::Add => "+",
            BinOpKind::Sub => "-",
            BinOpKind::Mul => "*",
            BinOpKind::Div => "/",
            BinOpKind::FloorDiv => "//",
            BinOpKind::Rem => "%",
            BinOpKind::Pow => "**",
            BinOpKind::Concat => "~",
        };
        self.operator(&binary.left, operator, &[Some(&binary.right)]);
    }

    fn compare(&mut self, binary: &BinOp<'_>, operator: CompareOpKind) {
        self.measured(&binary.left);
        self.put(comparison(operator));
        self.measured(&binary.right);
    }

    /// `left|_operate("name", right…)`. A chain of operators stays a chain, which nests nowhere.
    fn operator(&mut self, left: &Expr<'_>, name: &str, right: &[Option<&Expr<'_>>]) {
        self.expr(left, Bond::Filter, How::Read);
        self.put(&format!("|{OPERATE}(\"{name}\""));
        for operand in right {
            self.put(", ");
            match operand {
                Some(operand) => self.expr(operand, Bond::Choice, How::Read),
                None => self.put("none"),
            }
        }
        self.put(")");
    }

    fn sequence(&mut self, open: &str, items: &[Expr<'_>], end: &str, close: &str) {
        self.put(open);
        for (index, item) in items.iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            self.expr(item, Bond::Choice, How::Read);
        }
        self.put(if items.is_empty() { "" } else { end });
        self.put(&format!("{close}|{MEASURE}"));
    }

    /// A filter with what it is applied to; of a block, that is the text of the block, which is
    /// measured first.
    fn filters(&mut self, expr: &Expr<'_>) {
        let Expr::Filter(filter) = expr else { return };
        let start = self.result.made.len();
        match &filter.expr {
            Some(inner @ Expr::Filter(_)) => self.filters(inner),
            Some(inner) => self.expr(inner, Bond::Filter, How::Read),
            None => self.put(MEASURE),
        }
        self.filter(filter);
        self.place(start, expr);
    }

    fn filter(&mut self, filter: &Spanned<Filter<'_>>) {
        let at = range(filter.span()).start;
        let name = Name { name: filter.name.into(), at: at..at + filter.name.len() };
        self.result.filters.push(name);
        self.put("|");
        self.put(filter.name);
        if !filter.args.is_empty() {
            self.arguments(&filter.args);
        }
    }

    fn test(&mut self, test: &Spanned<Test<'_>>) {
        let presence = PRESENCE_TESTS.contains(&test.name) && test.args.is_empty();
        let at = range(test.span()).start;
        self.result.tests.push(Name { name: test.name.into(), at: at..at + test.name.len() });
        let how = if presence { How::Tested } else { How::Read };
        self.expr(&test.expr, Bond::Filter, how);
        self.put(" is ");
        self.put(test.name);
        // Brackets even around nothing: the next word would be taken for an argument.
        self.arguments(&test.args);
    }

    fn call(&mut self, call: &Spanned<Call<'_>>) {
        // `loop.cycle` divides by the number of its arguments.
        let cycles = matches!(&call.expr, Expr::GetAttr(callee) if callee.name == "cycle");
        if cycles && call.args.iter().all(|argument| matches!(argument, CallArg::PosSplat(_))) {
            let Spot { at, line } = self.spot(&extent(&call.expr));
            let detail = "`cycle` needs the values to go through".to_owned();
            self.out.report(at, Syntax { detail, help: Some("write them out"), line, at });
        }
        self.expr(&call.expr, Bond::Atom, How::Read);
        self.arguments(&call.args);
    }

    fn arguments(&mut self, arguments: &[CallArg<'_>]) {
        self.put("(");
        for (index, argument) in arguments.iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            match argument {
                CallArg::Pos(value) => self.expr(value, Bond::Choice, How::Read),
                CallArg::Kwarg(name, value) => {
                    self.put(name);
                    self.put("=");
                    self.expr(value, Bond::Choice, How::Read);
                }
                CallArg::PosSplat(values) => {
                    self.put("*");
                    self.measured(values);
                }
                CallArg::KwargSplat(values) => {
                    self.put("**");
                    self.measured(values);
                }
            }
        }
        self.put(")");
    }
}

/// How tightly the rewriting of an expression holds together.
fn bond(expr: &Expr<'_>) -> Bond {
    match expr {
        Expr::IfExpr(_) => Bond::Choice,
        Expr::BinOp(binary) => match binary.op {
            BinOpKind::ScOr => Bond::Or,
            BinOpKind::ScAnd => Bond::And,
            _ if is_comparison(binary.op) => Bond::Comparison,
            _ => Bond::Filter,
        },
        Expr::UnaryOp(unary) => match unary.op {
            UnaryOpKind::Not => Bond::Not,
            UnaryOpKind::Neg => Bond::Filter,
        },
        Expr::Compare(_) => Bond::Comparison,
        Expr::Filter(_) | Expr::Test(_) | Expr::GetItem(_) | Expr::Slice(_) => Bond::Filter,
        Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => Bond::Filter,
        Expr::Var(_) | Expr::Const(_) | Expr::GetAttr(_) | Expr::Call(_) => Bond::Atom,
    }
}

fn is_comparison(operator: BinOpKind) -> bool {
    matches!(
        operator,
        BinOpKind::Eq
            | BinOpKind::Ne
            | BinOpKind::Lt
            | BinOpKind::Lte
            | BinOpKind::Gt
            | BinOpKind::Gte
            | BinOpKind::In
    )
}

fn comparison(operator: CompareOpKind) -> &'static str {
    match operator {
        CompareOpKind::Eq => " == ",
        CompareOpKind::Ne => " != ",
        CompareOpKind::Lt => " < ",
        CompareOpKind::Lte => " <= ",
        CompareOpKind::Gt => " > ",
        CompareOpKind::Gte => " >= ",
        CompareOpKind::In => " in ",
        CompareOpKind::NotIn => " not in ",
    }
}

fn variable<'a>(expr: &Expr<'a>) -> &'a str {
    if let Expr::Var(name) = expr { name.id } else { "" }
}

fn range(span: minijinja::machinery::Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

/// All of an expression; minijinja's spans of some begin too late or too early.
pub(super) fn extent(expr: &Expr<'_>) -> Range<usize> {
    let first = match expr {
        Expr::BinOp(binary) => extent(&binary.left),
        Expr::Compare(compare) => extent(&compare.expr),
        Expr::IfExpr(choice) => extent(&choice.true_expr),
        Expr::Test(test) => extent(&test.expr),
        Expr::GetAttr(attribute) => extent(&attribute.expr),
        Expr::GetItem(item) => extent(&item.expr),
        Expr::Slice(slice) => extent(&slice.expr),
        Expr::Call(call) => extent(&call.expr),
        Expr::Filter(filter) => match &filter.expr {
            Some(inner) => extent(inner),
            None => range(filter.span()),
        },
        _ => range(expr.span()),
    };
    first.start..range(expr.span()).end
}

/// The part of an expression that a fault of it is about.
fn written(expr: &Expr<'_>) -> Range<usize> {
    match expr {
        Expr::Filter(filter) => range(filter.span()),
        _ => extent(expr),
    }
}
