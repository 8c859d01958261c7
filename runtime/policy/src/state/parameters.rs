//! The positional parameters.

use std::rc::Rc;

use crate::value::{HOLE, MADE, Text, may_be_option};

/// The positional parameters.
#[derive(Debug, Clone, Default)]
pub(crate) enum Parameters {
    /// What the caller of the text gives it.
    #[default]
    Outside,
    /// These.
    Known(Rc<[Text<'static>]>),
    /// Some that the text makes.
    Made,
}

impl Parameters {
    /// Returns the mark for one of which nothing is known.
    pub(crate) fn mark(&self) -> u8 {
        match self {
            Self::Outside => HOLE,
            Self::Known(all) if !all.iter().any(|text| may_be_option(&text.bytes)) => HOLE,
            Self::Known(_) | Self::Made => MADE,
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

    /// Returns parameters of which only is known what these are made of.
    pub(crate) fn lost(&self) -> Self {
        if self.mark() == MADE { Self::Made } else { Self::Outside }
    }
}
