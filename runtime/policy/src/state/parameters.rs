//! The positional parameters.

use std::rc::Rc;

use crate::value::{Join, Mark, Text, may_be_option};

/// The positional parameters.
#[derive(Debug, Clone, Default)]
pub(crate) enum Parameters {
    /// Those given by the caller of the text.
    #[default]
    Outside,
    /// These.
    Known(Rc<[Text<'static>]>),
    /// Unknown ones, made by the text.
    Made,
}

impl Parameters {
    /// Returns the mark for an unknown parameter.
    pub(crate) fn mark(&self) -> Mark {
        match self {
            Self::Outside => Mark::Hole,
            Self::Known(all) if !all.iter().any(|text| may_be_option(&text.bytes)) => Mark::Hole,
            Self::Known(_) | Self::Made => Mark::Made,
        }
    }

    /// Returns whether two are certainly the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Outside, Self::Outside) | (Self::Made, Self::Made) => true,
            (Self::Known(own), Self::Known(others)) => {
                Rc::ptr_eq(own, others)
                    || (own.len() == others.len()
                        && own.iter().zip(&**others).all(|(own, other)| own.bytes == other.bytes))
            }
            _ => false,
        }
    }

    /// Returns unknown parameters of the same origin.
    pub(crate) fn lost(&self) -> Self {
        if self.mark() == Mark::Made { Self::Made } else { Self::Outside }
    }
}

impl Join for Parameters {
    fn join(self, other: Self) -> Self {
        if self.is_same(&other) {
            return self;
        }
        let is_made = self.mark() == Mark::Made || other.mark() == Mark::Made;
        if is_made { Self::Made } else { Self::Outside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;
    use crate::value::assert_laws;

    #[test]
    fn parameters_join_by_the_laws() {
        let known = |words: &[&str]| {
            let text = |word: &&str| Text::from_span(word.as_bytes().to_vec(), Span::default());
            Parameters::Known(words.iter().map(text).collect())
        };
        let all = [
            Parameters::Outside,
            Parameters::Made,
            known(&[]),
            known(&["a"]),
            known(&["a", "b"]),
            known(&["-rf"]),
            known(&["a", "-rf"]),
        ];
        let doubt = |parameters: &Parameters| u8::from(parameters.mark() == Mark::Made);
        assert_laws(&all, Parameters::is_same, doubt);
    }
}
