//! The hosts that calls name: those of a project, and aliases that files of the server add.

mod account;
mod files;
mod fleet;

pub(crate) use self::account::Account;
pub(crate) use self::files::{HostFiles, HostFilesError, Login};
pub(crate) use self::fleet::{Fleet, HostSource};
