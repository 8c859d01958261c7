//! The request for a build, and the version of the compiler.

/// The compiler's version, which a bundle names.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The request for a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The environment whose `when` nodes count.
    pub environment: Option<String>,
    /// The epoch, which overrides the project's.
    pub epoch: Option<u64>,
    /// Whether a warning prevents a bundle as an error does.
    pub strict: bool,
    /// The commit that is built, for the provenance.
    pub git: Option<Git>,
    /// Whether each mutant of the policy's rules is tried on the texts and decisions that the project
    /// expects.
    pub mutants: bool,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Git {
    /// Its hash.
    pub commit: String,
    /// Whether the work tree differs from it.
    pub dirty: bool,
}
