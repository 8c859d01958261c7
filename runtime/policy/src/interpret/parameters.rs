//! Words -> positional parameters.

use crate::state::Parameters;
use crate::value::{Field, may_be_option};

/// Turns words into positional parameters.
pub(super) fn parameters(words: &[Field<'_>]) -> Parameters {
    if !words.iter().any(|field| field.spread) {
        return Parameters::Known(words.iter().map(|field| field.text.clone().owned()).collect());
    }
    let is_option = words.iter().any(|field| may_be_option(&field.text.bytes));
    if is_option { Parameters::Made } else { Parameters::Outside }
}

/// Returns parameters after `shift`.
pub(super) fn shifted(parameters: &Parameters, operands: &[Field<'_>]) -> Parameters {
    let count = match operands {
        [] => Some(1),
        [count] => str::from_utf8(&count.text.bytes).ok().and_then(|count| count.parse().ok()),
        _ => None,
    };
    match (parameters, count) {
        (Parameters::Known(all), Some(count)) => {
            Parameters::Known(all.get(count..).unwrap_or(all).into())
        }
        (parameters, _) => parameters.lost(),
    }
}
