//! The diagnostics of templates.
//!
//! `line` ends each message: it is empty where the label shows the exact place.

use std::fmt;

use miette::Diagnostic;
use thiserror::Error;

use super::limit;
use crate::source::Span;

/// The line of a template, where the exact span is unknown; it ends a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line(pub(super) Option<usize>);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(line) => write!(f, " (line {line} of the template)"),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Error, Diagnostic)]
pub(super) enum TemplateError {
    /// The template has a syntax error. The prompt can be rendered once its syntax is that of
    /// Jinja.
    #[error("{detail}{line}")]
    #[diagnostic(code(template::syntax))]
    Syntax {
        detail: String,
        #[help]
        help: Option<&'static str>,
        line: Line,
        #[label(primary, "here")]
        at: Span,
    },
    /// In Jinja an unknown variable prints nothing, so a mistyped name would leave a gap in the
    /// text that agents read.
    #[error("unknown variable `{name}`{line}")]
    #[diagnostic(code(template::unknown_variable))]
    UnknownVariable {
        name: String,
        #[help]
        help: String,
        line: Line,
        #[label(primary, "neither an argument nor set in a template")]
        at: Span,
    },
    /// The filter or test is unknown. Templates have those of Jinja that need neither a clock nor
    /// files.
    #[error("unknown {what} `{name}`{line}")]
    #[diagnostic(code(template::render))]
    UnknownName {
        what: &'static str,
        name: String,
        #[help]
        help: String,
        line: Line,
        #[label(primary, "not a {what} that templates have")]
        at: Span,
    },
    /// A prompt is rendered when it is built, for each combination of known values. Free text is
    /// known at run time only, so it can be printed and cannot decide anything.
    #[error("`{name}` is free text and may only be printed{line}")]
    #[diagnostic(
        code(template::free_text),
        help(
            "its value is known at run time only: write `{{{{ {name} }}}}`, test its presence with \
             `{{% if {name} %}}`, or list its values with `one-of` to steer by it"
        )
    )]
    FreeText {
        name: String,
        line: Line,
        #[label(primary, "used in another way")]
        at: Span,
    },
    /// A captured text with free text in it is free text too: a filter or an operator would need
    /// its value, which is known at run time only.
    #[error("`{excerpt}` holds free text and may only be printed{line}")]
    #[diagnostic(
        code(template::free_text),
        help(
            "the value of a free-text argument is known at run time only, so no filter, test or \
             operator can look at a text that holds it"
        )
    )]
    FreeTextInside {
        excerpt: String,
        line: Line,
        #[label(primary, "used in another way")]
        at: Span,
    },
    /// After it the name has lost the meaning of the argument, so the caller's value would be
    /// ignored.
    #[error("the template sets `{name}`, which is an argument{line}")]
    #[diagnostic(
        code(template::shadowed_argument),
        help("give the template's variable another name")
    )]
    ShadowedArgument {
        name: String,
        line: Line,
        #[label("the argument")]
        argument_at: Span,
        #[label(primary, "set here")]
        at: Span,
    },
    /// The comparison is the same in each combination, so a part of the template appears always or
    /// never. Often the value is mistyped.
    #[error("argument `{name}` is never `{text}`{line}")]
    #[diagnostic(code(template::foreign_choice), severity(Warning))]
    ForeignChoice {
        name: String,
        text: String,
        #[help]
        help: String,
        line: Line,
        #[label("the argument")]
        argument_at: Span,
        #[label(primary, "not one of its values")]
        at: Span,
    },
    /// The argument is optional, so some calls lack a value to print or compare.
    #[error("argument `{name}` may be absent here{line}")]
    #[diagnostic(
        code(template::maybe_absent),
        help(
            "guard it with `{{% if {name} is defined %}}`, or give the argument a default or \
             `required=#true`"
        )
    )]
    MaybeAbsent {
        name: String,
        line: Line,
        #[label("optional and without a default")]
        argument_at: Span,
        #[label(primary, "used without a test")]
        at: Span,
    },
    /// The bundle holds one text for each combination of arguments, and each is reviewed.
    /// Combinations multiply with every argument that a template tests.
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
    TooManyVariants {
        combinations: u64,
        counts: String,
        #[label(primary, "each combination is rendered at build")]
        at: Span,
    },
    /// An operation of the template fails. The template is valid, but fails for some combination of
    /// arguments.
    #[error("{detail}{with}{line}")]
    #[diagnostic(code(template::render))]
    Render {
        detail: String,
        /// ` with` and the combination of arguments, or nothing.
        with: String,
        line: Line,
        #[label(primary, "fails here")]
        at: Span,
    },
    /// A template is rendered when it is built, so each included file must exist.
    #[error("text file `{path}` not found{line}")]
    #[diagnostic(
        code(template::include_not_found),
        help("a path is relative to the file that it is in and stays inside the project")
    )]
    IncludeNotFound {
        path: String,
        line: Line,
        #[label(primary, "not found")]
        at: Span,
    },
    /// The build reads included files before it renders, so their names must be known.
    #[error("the name of an included file must be a plain text{line}")]
    #[diagnostic(
        code(template::include_not_plain),
        help(
            "write the path in quotes; to choose a file, write one `include` in each branch of an \
             `if`"
        )
    )]
    IncludeNotPlain {
        line: Line,
        #[label(primary, "known only when rendered")]
        at: Span,
    },
    /// Texts go to agents as they are. Escapes of HTML would change them.
    #[error("`autoescape` is not supported{line}")]
    #[diagnostic(
        code(template::unsupported),
        help("prompts are plain text; the filter `escape` escapes for HTML")
    )]
    Unsupported {
        line: Line,
        #[label(primary, "remove this block")]
        at: Span,
    },
    /// The build marks free text with these characters. In a template they could make a text pass
    /// for an argument.
    #[error("the character U+{code:04X} is reserved{line}")]
    #[diagnostic(
        code(template::reserved_character),
        help("Unicode keeps U+FDD0 to U+FDEF for programs; remove it")
    )]
    ReservedCharacter {
        code: u32,
        line: Line,
        #[label(primary, "here")]
        at: Span,
    },
    /// The limit bounds the time of a build for any template.
    #[error("the template has {bytes} bytes, over the limit of {}", limit::TEMPLATE_BYTES_MAX)]
    #[diagnostic(code(template::too_large), help("move parts of it to files and `include` them"))]
    TooLarge {
        bytes: usize,
        #[label(primary, "this template")]
        at: Span,
    },
    /// The limit on nesting keeps hostile templates from exhausting the stack of the compiler.
    #[error("{what}, over the limit of {limit}{line}")]
    #[diagnostic(code(template::too_deep), help("split it, with `set` or `include`"))]
    TooDeep {
        what: &'static str,
        limit: usize,
        line: Line,
        #[label(primary, "here")]
        at: Span,
    },
    /// The limit bounds the time of a build for any includes.
    #[error("the templates include more than {} files{line}", limit::SOURCES_MAX)]
    #[diagnostic(code(template::too_many_files), help("join some of the included files"))]
    TooManyFiles {
        line: Line,
        #[label(primary, "one too many")]
        at: Span,
    },
    /// The limit ends a long rendering, such as loops in loops.
    #[error("the template takes more than {} steps{with}{line}", limit::STEPS_MAX)]
    #[diagnostic(code(template::too_many_steps), help("make its loops shorter"))]
    TooManySteps {
        with: String,
        line: Line,
        #[label(primary, "stopped here")]
        at: Span,
    },
    /// The limit ends a rendering that builds large texts again and again.
    #[error("the template moves more than {} bytes around{with}{line}", limit::WORK_MAX)]
    #[diagnostic(code(template::too_much_work), help("build less text in variables and loops"))]
    TooMuchWork {
        with: String,
        line: Line,
        #[label(primary, "stopped here")]
        at: Span,
    },
    /// The limit keeps a short template from making a value that exhausts memory.
    #[error("a value would have more than {} bytes{with}{line}", limit::VALUE_MAX)]
    #[diagnostic(code(template::value_too_large), help("repeat or join less here"))]
    ValueTooLarge {
        with: String,
        line: Line,
        #[label(primary, "made here")]
        at: Span,
    },
    /// A prompt of this size exceeds the context of any model, and the bundle holds one text for
    /// each combination of arguments.
    #[error("the rendered text has more than {} bytes{with}", limit::TEXT_BYTES_MAX)]
    #[diagnostic(code(template::text_too_large), help("a prompt should fit a model's context"))]
    TextTooLarge {
        with: String,
        #[label(primary, "this template")]
        at: Span,
    },
    /// The bundle holds the texts of all combinations, so their total is limited.
    #[error("all combinations together have more than {} bytes", limit::TOTAL_BYTES_MAX)]
    #[diagnostic(
        code(template::total_too_large),
        help("let the texts depend on fewer arguments, or split the prompt")
    )]
    TotalTooLarge {
        #[label(primary, "the texts of this one")]
        at: Span,
    },
    /// The limit bounds the time of a build for each project, so that CI can build the projects of
    /// strangers.
    #[error("the templates of the project take too much work together")]
    #[diagnostic(
        code(template::project_too_large),
        help("make loops shorter, or let the texts of prompts depend on fewer arguments")
    )]
    ProjectTooCostly {
        #[label(primary, "given up at this one")]
        at: Span,
    },
}
