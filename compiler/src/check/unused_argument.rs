//! An unused argument.
//!
//! Callers fill it in without effect. Often the file was meant to be a template.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Argument, BodySource, Model};
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("argument `{name}` changes nothing")]
#[diagnostic(code(argument::unused), severity(Warning))]
struct UnusedArgument {
    name: String,
    #[help]
    help: &'static str,
    #[label(primary, "no text uses it")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    for prompt in &model.prompts {
        each(&prompt.arguments, &prompt.bodies, out);
    }
    for template in &model.templates {
        each(&template.arguments, std::slice::from_ref(&template.about.body), out);
    }
}

fn each(arguments: &[Argument], bodies: &[BodySource], out: &mut Diagnostics) {
    let help = if bodies.iter().any(|body| body.template) {
        "use it in the template, or remove it"
    } else {
        "plain text has no arguments: name the file `*.j2` or write `template=#true`"
    };
    for argument in arguments {
        let at = argument.name.at;
        if argument.used {
            out.mark_used(at);
            continue;
        }
        out.report_idle(at, UnusedArgument { name: argument.name.value.clone(), help, at });
    }
}
