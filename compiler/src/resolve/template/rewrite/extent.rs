//! The place of an expression in the author's template.

use std::ops::Range;

use minijinja::machinery::{Span, ast::Expr};

/// Returns the range of an expression; minijinja's spans of some begin too late or too early.
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

/// Returns the part of an expression that its errors are about.
pub(super) fn written(expr: &Expr<'_>) -> Range<usize> {
    match expr {
        Expr::Filter(filter) => range(filter.span()),
        _ => extent(expr),
    }
}

pub(super) fn range(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}
