//! Kinds of roles.

use super::model::Role;

impl Role {
    /// Returns whether it is code or a program to run.
    #[must_use]
    pub fn is_code(self) -> bool {
        self.takes_rest()
            || self.is_language()
            || matches!(self, Self::Script | Self::Shell | Self::RemoteShell | Self::EndedCommand)
    }

    /// Returns whether it takes all the words after it.
    pub const fn takes_rest(self) -> bool {
        matches!(
            self,
            Self::Command
                | Self::EnvironmentCommand
                | Self::EachCommand
                | Self::ParallelCommand
                | Self::ShellWords
        )
    }

    /// Returns whether it is code of another language.
    pub(crate) const fn is_language(self) -> bool {
        matches!(
            self,
            Self::Sql
                | Self::Sed
                | Self::Awk
                | Self::Crontab
                | Self::Python
                | Self::Perl
                | Self::Ruby
                | Self::Javascript
                | Self::Php
                | Self::Code
        )
    }

    /// Returns whether it is a path whose class decides the tier.
    pub(crate) const fn is_path(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Write
                | Self::Append
                | Self::Remove
                | Self::Empty
                | Self::Change
                | Self::ChangeTree
                | Self::Take
                | Self::RemoteRead
                | Self::RemoteWrite
        )
    }

    /// Returns whether it is code that can run any program.
    pub(crate) const fn is_shell_code(self) -> bool {
        matches!(
            self,
            Self::Shell
                | Self::Crontab
                | Self::Python
                | Self::Perl
                | Self::Ruby
                | Self::Javascript
                | Self::Php
                | Self::Code
        )
    }
}
