//! What can be wrong with a template, in words.
//!
//! `line` ends each message: it is empty where the label shows the exact place.

use miette::Diagnostic;
use thiserror::Error;

use super::limit;
use super::source::Line;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("{detail}{line}")]
#[diagnostic(code(template::syntax))]
pub(super) struct Syntax {
    pub(super) detail: String,
    #[help]
    pub(super) help: Option<&'static str>,
    pub(super) line: Line,
    #[label(primary, "here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("unknown variable `{name}`{line}")]
#[diagnostic(code(template::unknown_variable))]
pub(super) struct UnknownVariable {
    pub(super) name: String,
    #[help]
    pub(super) help: String,
    pub(super) line: Line,
    #[label(primary, "neither an argument nor set in a template")]
    pub(super) at: Span,
}

/// A filter or a test that does not exist.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown {what} `{name}`{line}")]
#[diagnostic(code(template::render))]
pub(super) struct UnknownName {
    pub(super) what: &'static str,
    pub(super) name: String,
    #[help]
    pub(super) help: String,
    pub(super) line: Line,
    #[label(primary, "not a {what} that templates have")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is free text and may only be printed{line}")]
#[diagnostic(
    code(template::free_text),
    help(
        "its value is known at run time only: write `{{{{ {name} }}}}`, test its presence with \
         `{{% if {name} %}}`, or list its values with `one-of` to steer by it"
    )
)]
pub(super) struct FreeText {
    pub(super) name: String,
    pub(super) line: Line,
    #[label(primary, "used in another way")]
    pub(super) at: Span,
}

/// A captured text with a slot inside meets a filter or an operator.
#[derive(Debug, Error, Diagnostic)]
#[error("`{excerpt}` holds free text and may only be printed{line}")]
#[diagnostic(
    code(template::free_text),
    help(
        "the value of a free-text argument is known at run time only, so no filter, test or \
         operator can look at a text that holds it"
    )
)]
pub(super) struct FreeTextInside {
    pub(super) excerpt: String,
    pub(super) line: Line,
    #[label(primary, "used in another way")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the template sets `{name}`, which is an argument{line}")]
#[diagnostic(code(template::shadowed_argument), help("give the template's variable another name"))]
pub(super) struct ShadowedArgument {
    pub(super) name: String,
    pub(super) line: Line,
    #[label("the argument")]
    pub(super) argument_at: Span,
    #[label(primary, "set here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("argument `{name}` may be absent here{line}")]
#[diagnostic(
    code(template::maybe_absent),
    help(
        "guard it with `{{% if {name} is defined %}}`, or give the argument a default or \
         `required=#true`"
    )
)]
pub(super) struct MaybeAbsent {
    pub(super) name: String,
    pub(super) line: Line,
    #[label("optional and without a default")]
    pub(super) argument_at: Span,
    #[label(primary, "used without a test")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error(
    "the arguments have {combinations} combinations, over the limit of {}",
    limit::VARIANTS_MAX
)]
#[diagnostic(
    code(template::too_many_variants),
    help(
        "the templates depend on {counts}; drop a choice, make one free text, or split the \
         prompt"
    )
)]
pub(super) struct TooManyVariants {
    pub(super) combinations: u64,
    pub(super) counts: String,
    #[label(primary, "each combination is rendered at build")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{detail}{with}{line}")]
#[diagnostic(code(template::render))]
pub(super) struct Render {
    pub(super) detail: String,
    /// ` with` and the combination of arguments, or nothing.
    pub(super) with: String,
    pub(super) line: Line,
    #[label(primary, "fails here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("there is no text file `{path}`{line}")]
#[diagnostic(
    code(template::include_not_found),
    help("a path is relative to the file it stands in and stays inside the project")
)]
pub(super) struct IncludeNotFound {
    pub(super) path: String,
    pub(super) line: Line,
    #[label(primary, "not found")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the name of an included file must be a plain text{line}")]
#[diagnostic(
    code(template::include_not_plain),
    help(
        "write the path in quotes; to choose a file, write one `include` in each branch of an \
         `if`"
    )
)]
pub(super) struct IncludeNotPlain {
    pub(super) line: Line,
    #[label(primary, "known only when rendered")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`autoescape` is not supported{line}")]
#[diagnostic(
    code(template::unsupported),
    help("prompts are plain text; the filter `escape` escapes for HTML")
)]
pub(super) struct Unsupported {
    pub(super) line: Line,
    #[label(primary, "remove this block")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the character U+{code:04X} is reserved{line}")]
#[diagnostic(
    code(template::reserved_character),
    help("Unicode keeps U+FDD0 to U+FDEF for programs; remove it")
)]
pub(super) struct ReservedCharacter {
    pub(super) code: u32,
    pub(super) line: Line,
    #[label(primary, "here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the template has {bytes} bytes, over the limit of {}", limit::TEMPLATE_BYTES_MAX)]
#[diagnostic(code(template::too_large), help("move parts of it to files and `include` them"))]
pub(super) struct TooLarge {
    pub(super) bytes: usize,
    #[label(primary, "this template")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{what}, over the limit of {limit}{line}")]
#[diagnostic(code(template::too_deep), help("split it, with `set` or `include`"))]
pub(super) struct TooDeep {
    pub(super) what: &'static str,
    pub(super) limit: usize,
    pub(super) line: Line,
    #[label(primary, "here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the templates include more than {} files{line}", limit::SOURCES_MAX)]
#[diagnostic(code(template::too_many_files), help("join some of the included files"))]
pub(super) struct TooManyFiles {
    pub(super) line: Line,
    #[label(primary, "one too many")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the template takes more than {} steps{with}{line}", limit::STEPS_MAX)]
#[diagnostic(code(template::too_many_steps), help("make its loops shorter"))]
pub(super) struct TooManySteps {
    pub(super) with: String,
    pub(super) line: Line,
    #[label(primary, "stopped here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the template moves more than {} bytes around{with}{line}", limit::WORK_MAX)]
#[diagnostic(code(template::too_much_work), help("build less text in variables and loops"))]
pub(super) struct TooMuchWork {
    pub(super) with: String,
    pub(super) line: Line,
    #[label(primary, "stopped here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("a value would have more than {} bytes{with}{line}", limit::VALUE_MAX)]
#[diagnostic(code(template::value_too_large), help("repeat or join less here"))]
pub(super) struct ValueTooLarge {
    pub(super) with: String,
    pub(super) line: Line,
    #[label(primary, "made here")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the rendered text has more than {} bytes{with}", limit::TEXT_BYTES_MAX)]
#[diagnostic(code(template::text_too_large), help("a prompt should fit a model's context"))]
pub(super) struct TextTooLarge {
    pub(super) with: String,
    #[label(primary, "this template")]
    pub(super) at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("all combinations together have more than {} bytes", limit::TOTAL_BYTES_MAX)]
#[diagnostic(
    code(template::total_too_large),
    help("let the texts depend on fewer arguments, or split the prompt")
)]
pub(super) struct TotalTooLarge {
    #[label(primary, "the texts of this one")]
    pub(super) at: Span,
}
