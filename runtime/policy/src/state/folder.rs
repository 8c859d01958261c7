//! The folder that commands run in.

use std::rc::Rc;

use crate::value::{HOLE, WORK, is_mark, is_root};

/// The folder that relative paths begin at.
#[derive(Debug, Clone, Default)]
pub(crate) enum Folder {
    /// The folder that the text begins in, which is the work tree.
    #[default]
    Work,
    /// This one, absolute, in home or below the work tree.
    Known(Rc<[u8]>),
    /// Another one.
    Unknown,
}

impl Folder {
    /// Returns its path; a mark if it is not known.
    pub(crate) fn path(&self) -> Vec<u8> {
        match self {
            Self::Work => vec![WORK],
            Self::Known(path)
                if path.first().is_some_and(|first| *first == b'/' || is_root(*first)) =>
            {
                path.to_vec()
            }
            Self::Known(path) => [&[WORK, b'/'], &**path].concat(),
            Self::Unknown => vec![HOLE],
        }
    }

    /// Returns the folder that commands may be in after either of two: the outer one, if both are folders of
    /// the work tree in which nothing has a meaning of its own.
    pub(crate) fn either(&self, other: &Self) -> Self {
        if self.is_same(other) {
            return self.clone();
        }
        let depth = |folder: &Self| match folder {
            Self::Work => Some(0),
            Self::Known(path) => {
                let mut parts = path.split(|byte| *byte == b'/');
                let is_plain = |part: &[u8]| {
                    !part.starts_with(b".")
                        && !part.iter().any(|byte| is_mark(*byte))
                        && !part.is_empty()
                };
                let is_own = parts.all(is_plain);
                is_own.then(|| path.split(|byte| *byte == b'/').count())
            }
            Self::Unknown => None,
        };
        match (depth(self), depth(other)) {
            (Some(own), Some(others)) if own <= others => self.clone(),
            (Some(_), Some(_)) => other.clone(),
            _ => Self::Unknown,
        }
    }

    /// Returns whether two folders are the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Work, Self::Work) => true,
            (Self::Known(one), Self::Known(other)) => one == other,
            _ => false,
        }
    }
}
