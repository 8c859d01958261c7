//! Who and what a bundle is, its prebuilt pages, and where things were declared.

use std::fmt;

use crate::contents::Manifest;

/// Who and what a bundle is; the fields are those of [`Manifest`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `Manifest`")]
pub struct ManifestView<'b> {
    pub project: &'b str,
    pub version: Option<&'b str>,
    pub title: Option<&'b str>,
    pub owner: Option<&'b str>,
    pub environment: Option<&'b str>,
    pub compiler: &'b str,
    pub instructions: &'b str,
    pub index: Vec<&'b str>,
    pub epoch: u64,
}

impl ManifestView<'_> {
    /// Returns the manifest as an owned value.
    #[must_use]
    pub fn to_owned(self) -> Manifest {
        let Self {
            project,
            version,
            title,
            owner,
            environment,
            compiler,
            instructions,
            index,
            epoch,
        } = self;
        Manifest {
            project: project.into(),
            version: version.map(Into::into),
            title: title.map(Into::into),
            owner: owner.map(Into::into),
            environment: environment.map(Into::into),
            compiler: compiler.into(),
            instructions: instructions.into(),
            index: index.into_iter().map(Into::into).collect(),
            epoch,
        }
    }
}

/// A prebuilt page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageView<'b> {
    /// The index of its first entry.
    pub first: u32,
    /// How many entries it has.
    pub count: u32,
    /// The entries as the JSON array that MCP sends.
    pub json: &'b str,
}

/// A place in the project's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceView<'b> {
    /// The file, relative to the project's folder.
    pub file: &'b str,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for PlaceView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
