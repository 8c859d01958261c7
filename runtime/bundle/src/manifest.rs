//! The identity of a bundle.

use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// The identity of a bundle: project, version, owner and compiler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The project's name.
    pub project: Setting<String>,
    /// The project's version, as its author wrote it.
    pub version: Option<Setting<String>>,
    /// The project's title for people.
    pub title: Option<Setting<String>>,
    /// The owner of the project.
    pub owner: Option<Setting<String>>,
    /// The environment that `--env` chose.
    pub environment: Option<String>,
    /// The compiler that wrote the bundle, and its version.
    pub compiler: String,
}

impl Manifest {
    /// Returns the parts that answers depend on: all except the version of the compiler.
    pub(crate) fn decided(&self) -> impl Serialize + '_ {
        let Self { project, version, title, owner, environment, compiler: _ } = self;
        (project, version, title, owner, environment)
    }
}
