//! A template as its author wrote it -> the template that the engine renders.
//!
//! Both mean the same. In the result, operators are filters of the [`engine`](super::engine), which
//! bound them; text that loops and captures repeat is paid for; included files go by number; and
//! delimiters are characters that are forbidden to authors. The rewriter also notes the names that
//! are mentioned and set, and the place of each expression.

mod expression;
mod extent;
mod rewriter;
mod statement;

use minijinja::machinery::ast::Stmt;

use self::rewriter::Rewriter;
pub(super) use self::rewriter::{
    Comparison, How, Link, Mention, Name, Place, Rewritten, template_name,
};
use super::source::Source;
use crate::diagnostic::Diagnostics;

/// Rewrites a parsed template. `repeated` is whether it may be rendered more than once, as an
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
