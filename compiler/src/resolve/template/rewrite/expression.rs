//! Expressions: the same value, with every operator bounded and its operands paid for.

use minijinja::machinery::ast::{
    BinOp, BinOpKind, Call, CallArg, CompareOpKind, Const, Expr, Filter, IfExpr, Spanned, Test,
    UnaryOpKind,
};

use super::extent::{extent, range};
use super::rewriter::{Comparison, How, Mention, Name, Rewriter};
use crate::resolve::template::engine::{ARGUMENT, MEASURE, OPERATE, PRESENCE_TESTS, TRUTH};
use crate::resolve::template::error::TemplateError;
use crate::resolve::template::slot::find_reserved;

/// The binding strength of an expression, loosest first: an expression in a tighter one needs
/// brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bond {
    Choice,
    Or,
    And,
    Not,
    Comparison,
    Filter,
    Atom,
}

impl Rewriter<'_, '_> {
    pub(super) fn expr(&mut self, expr: &Expr<'_>, within: Bond, how: How) {
        let start = self.result.made.len();
        let brackets = bond(expr) < within;
        self.put(if brackets { "(" } else { "" });
        self.bare(expr, how);
        self.put(if brackets { ")" } else { "" });
        self.place(start, expr);
    }

    /// Writes an operand that is read as a whole: its size is paid for.
    pub(super) fn measured(&mut self, expr: &Expr<'_>) {
        self.expr(expr, Bond::Filter, How::Read);
        if !matches!(expr, Expr::Const(_)) {
            self.put(&format!("|{MEASURE}"));
        }
    }

    /// Writes an operand whose truth alone matters. The truth of a captured text may depend on a
    /// caller's value.
    pub(super) fn truth(&mut self, expr: &Expr<'_>, within: Bond, how: How) {
        let start = self.result.made.len();
        if may_hold_free_text(expr) {
            self.expr(expr, Bond::Filter, how);
            self.put(&format!("|{TRUTH}"));
            self.place(start, expr);
        } else {
            self.expr(expr, within, how);
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
                    self.truth(&unary.expr, Bond::Not, How::Tested);
                }
                UnaryOpKind::Neg => {
                    self.put("-");
                    self.expr(&unary.expr, Bond::Atom, How::Read);
                }
            },
            Expr::BinOp(binary) => self.binary(binary, how),
            Expr::Compare(compare) => {
                self.measured(&compare.expr);
                let mut left = &compare.expr;
                for next in &compare.ops {
                    self.compared(left, next.op, &next.expr);
                    left = &next.expr;
                    self.put(spelled(next.op));
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
        let at = range(constant.span());
        self.put(source.text.get(at.clone()).unwrap_or("none"));
        // An escape can write a character that is reserved in the text of a template.
        if let Some((_, character)) = constant.value.as_str().and_then(find_reserved) {
            let code = character.into();
            let error = |at, line| TemplateError::ReservedCharacter { code, line, at };
            source.report(&at, self.out, error);
        }
    }

    fn choice(&mut self, choice: &IfExpr<'_>, how: How) {
        self.expr(&choice.true_expr, Bond::Or, how);
        self.put(" if ");
        self.truth(&choice.test_expr, Bond::Or, How::Tested);
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
                self.truth(&binary.left, Bond::Or, left);
                self.put(" or ");
                return self.expr(&binary.right, Bond::And, how);
            }
            BinOpKind::ScAnd => {
                let both = if how == How::Tested { how } else { How::Read };
                self.truth(&binary.left, Bond::And, both);
                self.put(" and ");
                return self.expr(&binary.right, Bond::Not, both);
            }
            BinOpKind::Add => "+",
            BinOpKind::Sub => "-",
            BinOpKind::Mul => "*",
            BinOpKind::Div => "/",
            BinOpKind::FloorDiv => "//",
            BinOpKind::Rem => "%",
            BinOpKind::Pow => "**",
            BinOpKind::Concat => "~",
            _ => {
                if let Some(operator) = comparison(binary.op) {
                    self.compared(&binary.left, operator, &binary.right);
                }
                self.measured(&binary.left);
                self.put(comparison(binary.op).map_or("", spelled));
                return self.measured(&binary.right);
            }
        };
        self.operator(&binary.left, operator, &[Some(&binary.right)]);
    }

    /// Notes the texts with which a variable is compared.
    fn compared(&mut self, left: &Expr<'_>, operator: CompareOpKind, right: &Expr<'_>) {
        use CompareOpKind::{Eq, In, Ne, NotIn};
        match (left, operator, right) {
            (Expr::Var(name), Eq | Ne, text) | (text, Eq | Ne, Expr::Var(name)) => {
                self.compared_with(name.id, text);
            }
            (Expr::Var(name), In | NotIn, Expr::List(list)) => {
                list.items.iter().for_each(|text| self.compared_with(name.id, text));
            }
            (Expr::Var(name), In | NotIn, Expr::Tuple(tuple)) => {
                tuple.items.iter().for_each(|text| self.compared_with(name.id, text));
            }
            _ => {}
        }
    }

    fn compared_with(&mut self, name: &str, text: &Expr<'_>) {
        let Expr::Const(constant) = text else { return };
        if let Some(text) = constant.value.as_str() {
            let (name, text, at) = (name.to_owned(), text.to_owned(), range(constant.span()));
            self.result.comparisons.push(Comparison { name, text, at });
        }
    }

    /// Writes `left|_operate("name", right…)`. A chain of operators stays a flat chain.
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

    /// Writes a filter with its input; the input of a block's filter is the text of the block,
    /// which is measured first.
    pub(super) fn filters(&mut self, expr: &Expr<'_>) {
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
            self.arguments(&filter.args, None);
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
        // Even an empty list gets brackets: otherwise the next word would be read as an argument.
        self.arguments(&test.args, None);
    }

    pub(super) fn call(&mut self, call: &Spanned<Call<'_>>) {
        // `loop.cycle` divides by the number of its arguments.
        let cycles = matches!(&call.expr, Expr::GetAttr(callee) if callee.name == "cycle");
        if cycles && call.args.iter().all(|argument| matches!(argument, CallArg::PosSplat(_))) {
            let detail = "`cycle` needs the values to go through".to_owned();
            let help = Some("write them out");
            let error = |at, line| TemplateError::Syntax { detail, help, line, at };
            self.source.report(&extent(&call.expr), self.out, error);
        }
        self.expr(&call.expr, Bond::Atom, How::Read);
        let guard = match path(&call.expr) {
            Some(callee) => format!("|{ARGUMENT}({callee})"),
            None => format!("|{MEASURE}"),
        };
        self.arguments(&call.args, Some(&guard));
    }

    /// Writes the arguments of a filter or test, which measures them itself, or those of a call,
    /// each with the filter `guard`.
    fn arguments(&mut self, arguments: &[CallArg<'_>], guard: Option<&str>) {
        self.put("(");
        for (index, argument) in arguments.iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            match argument {
                CallArg::Pos(value) => self.argument(value, guard),
                CallArg::Kwarg(name, value) => {
                    self.put(name);
                    self.put("=");
                    self.argument(value, guard);
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

    fn argument(&mut self, value: &Expr<'_>, guard: Option<&str>) {
        let Some(guard) = guard.filter(|_| !matches!(value, Expr::Const(_))) else {
            return self.expr(value, Bond::Choice, How::Read);
        };
        let start = self.result.made.len();
        self.expr(value, Bond::Filter, How::Read);
        self.put(guard);
        self.place(start, value);
    }
}

/// Returns whether the value of an expression may be a captured text: all others are results of
/// operations, which are free of free text.
fn may_hold_free_text(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Var(_) | Expr::GetAttr(_) | Expr::Call(_) => true,
        Expr::IfExpr(choice) => {
            may_hold_free_text(&choice.true_expr)
                || choice.false_expr.as_ref().is_some_and(may_hold_free_text)
        }
        Expr::BinOp(binary) if matches!(binary.op, BinOpKind::ScOr | BinOpKind::ScAnd) => {
            may_hold_free_text(&binary.left) || may_hold_free_text(&binary.right)
        }
        _ => false,
    }
}

/// Returns a name, or attributes of it; reading them twice is harmless.
fn path(expr: &Expr<'_>) -> Option<String> {
    match expr {
        Expr::Var(name) => Some(name.id.to_owned()),
        Expr::GetAttr(attribute) => Some(format!("{}.{}", path(&attribute.expr)?, attribute.name)),
        _ => None,
    }
}

/// Returns the binding strength of a rewritten expression.
fn bond(expr: &Expr<'_>) -> Bond {
    match expr {
        Expr::IfExpr(_) => Bond::Choice,
        Expr::BinOp(binary) => match binary.op {
            BinOpKind::ScOr => Bond::Or,
            BinOpKind::ScAnd => Bond::And,
            _ if comparison(binary.op).is_some() => Bond::Comparison,
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

fn comparison(operator: BinOpKind) -> Option<CompareOpKind> {
    Some(match operator {
        BinOpKind::Eq => CompareOpKind::Eq,
        BinOpKind::Ne => CompareOpKind::Ne,
        BinOpKind::Lt => CompareOpKind::Lt,
        BinOpKind::Lte => CompareOpKind::Lte,
        BinOpKind::Gt => CompareOpKind::Gt,
        BinOpKind::Gte => CompareOpKind::Gte,
        BinOpKind::In => CompareOpKind::In,
        _ => return None,
    })
}

fn spelled(operator: CompareOpKind) -> &'static str {
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
