//! The combinations of finite arguments, by which the variants of a prompt are numbered.
//!
//! A state of an argument is a value that templates can distinguish from its others, or its
//! absence.

use minijinja::Value;

use super::error::TemplateError;
use super::input::{TemplateArgument, TemplateArgumentKind};
use super::limit;
use super::names::Use;
use super::slot::slot;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// The states of all arguments, which the number of a variant encodes.
pub(super) struct States {
    pub(super) of_arguments: Vec<ArgumentStates>,
    pub(super) combinations: u64,
}

pub(super) struct ArgumentStates {
    count: u64,
    pub(super) stride: u32,
}

impl States {
    /// Counts the combinations; `None` if there are too many, which is reported.
    pub(super) fn new(
        arguments: &[TemplateArgument<'_>],
        uses: &[Use],
        prompt_at: Span,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        let mut combinations = 1u64;
        let mut of_arguments = Vec::new();
        let mut counts = Vec::new();
        for (argument, used) in arguments.iter().zip(uses) {
            let count = argument.state_count(*used);
            let stride = if count > 1 { u32::try_from(combinations).unwrap_or(0) } else { 0 };
            if count > 1 {
                counts.push(format!("`{}` with {count} states", argument.name));
            }
            combinations = combinations.saturating_mul(count);
            of_arguments.push(ArgumentStates { count, stride });
        }
        if combinations > limit::VARIANTS_MAX {
            let (counts, at) = (counts.join(", "), prompt_at);
            out.report(at, TemplateError::TooManyVariants { combinations, counts, at });
            return None;
        }
        Some(Self { of_arguments, combinations })
    }

    /// The stride of each argument.
    pub(super) fn strides(&self) -> Vec<u32> {
        self.of_arguments.iter().map(|states| states.stride).collect()
    }

    /// The state of each argument in a variant.
    pub(super) fn of_variant(&self, variant: u64) -> Vec<usize> {
        let state = |states: &ArgumentStates| match u64::from(states.stride) {
            0 => 0,
            stride => usize::try_from(variant / stride % states.count).unwrap_or(0),
        };
        self.of_arguments.iter().map(state).collect()
    }
}

impl TemplateArgument<'_> {
    /// Returns the number of states that the texts can depend on. In the last one the argument is
    /// absent.
    fn state_count(&self, used: Use) -> u64 {
        let present = match self.kind {
            _ if !used.mentioned => return 1,
            TemplateArgumentKind::Choice(choices) => choices.len() as u64,
            TemplateArgumentKind::Boolean => 2,
            TemplateArgumentKind::Text => 1,
        };
        (present + u64::from(self.may_be_absent())).max(1)
    }

    /// Returns its value in a state: `None` if it is absent.
    pub(super) fn value(&self, index: usize, state: usize) -> Option<Value> {
        match self.kind {
            TemplateArgumentKind::Choice(choices) => choices.get(state).map(Value::from),
            TemplateArgumentKind::Boolean => (state < 2).then(|| Value::from(state == 0)),
            TemplateArgumentKind::Text => (state == 0).then(|| slot(index)),
        }
    }
}
