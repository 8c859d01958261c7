//! The current folder of commands.

use std::rc::Rc;

use crate::value::{Join, Mark, is_mark, is_root};

/// The folder that relative paths start at.
#[derive(Debug, Clone, Default)]
pub(crate) enum Folder {
    /// The folder in which the text begins, the work tree.
    #[default]
    Work,
    /// This one, absolute, in home or below the work tree.
    Known(Rc<[u8]>),
    /// Another one.
    Unknown,
}

impl Folder {
    /// Returns its path; a mark if it is unknown.
    pub(crate) fn path(&self) -> Vec<u8> {
        match self {
            Self::Work => Mark::Work.text().to_vec(),
            Self::Known(path)
                if path.first().is_some_and(|first| *first == b'/' || is_root(*first)) =>
            {
                path.to_vec()
            }
            Self::Known(path) => [Mark::Work.text(), b"/", &**path].concat(),
            Self::Unknown => Mark::Hole.text().to_vec(),
        }
    }

    /// Returns the depth and path of a folder of the work tree without special parts.
    fn plain(&self) -> Option<(usize, &[u8])> {
        match self {
            Self::Work => Some((0, &[])),
            Self::Known(path) => {
                let is_plain = |part: &[u8]| {
                    !part.starts_with(b".")
                        && !part.iter().any(|byte| is_mark(*byte))
                        && !part.is_empty()
                };
                let depth = path.split(|byte| *byte == b'/').count();
                path.split(|byte| *byte == b'/').all(is_plain).then_some((depth, path))
            }
            Self::Unknown => None,
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

/// The folder of commands after either of two: the outer one, if both are folders of the work tree
/// without special parts.
impl Join for Folder {
    fn join(self, other: Self) -> Self {
        if self.is_same(&other) {
            return self;
        }
        match (self.plain(), other.plain()) {
            // Of two at the same depth, either represents both; the choice is independent of the
            // order.
            (Some(own), Some(others)) if own <= others => self,
            (Some(_), Some(_)) => other,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Mark, assert_laws};

    #[test]
    fn folders_join_by_the_laws() {
        let mut paths: Vec<Vec<u8>> =
            vec![b"/".to_vec(), b"/etc".to_vec(), Mark::Home.text().to_vec()];
        // Every path of up to three of these parts.
        let mut last: Vec<Vec<u8>> = vec![Vec::new()];
        for _ in 0..3 {
            let parts: [&[u8]; 4] = [b"a", b"b", b".git", b".."];
            let longer = |path: &Vec<u8>, part: &[u8]| match path.is_empty() {
                true => part.to_vec(),
                false => [path, b"/".as_slice(), part].concat(),
            };
            last = last.iter().flat_map(|path| parts.map(|part| longer(path, part))).collect();
            paths.extend(last.iter().cloned());
        }
        let mut folders = vec![Folder::Work, Folder::Unknown];
        folders.extend(paths.iter().map(|path| Folder::Known(path.as_slice().into())));
        let is_same = |one: &Folder, other: &Folder| {
            one.is_same(other) || matches!((one, other), (Folder::Unknown, Folder::Unknown))
        };
        // A special folder is lost, or stays the same.
        let doubt = |folder: &Folder| u8::from(matches!(folder, Folder::Unknown));
        assert_laws(&folders, is_same, doubt);
    }
}
