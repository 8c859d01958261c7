//! Actions with names of their own.

/// An action of a program, or of code in another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// A shell function starts itself in the background or in a pipeline.
    StartsItself,
    /// A connection gets a shell.
    GivesShell,
    /// A file gets a name that patterns pass to programs as an option.
    NamesOption,
    /// The shell itself opens a connection.
    OpensConnection,
    /// A push replaces commits.
    RewritesHistory,
    /// A push deletes a branch or tag.
    DeletesRemote,
    /// A checkout drops changes of many files.
    DropsChanges,
    /// A checkout drops the changes of one file.
    DropsFileChanges,
    /// A signal goes to every process.
    EndsEveryProcess,
    /// A signal goes to the first process.
    EndsFirstProcess,
    /// A signal goes to processes that the text does not show.
    EndsHiddenProcesses,
    /// A file gets a mode that the text does not show.
    HidesMode,
    /// A file runs with its owner's rights from now on.
    GivesRights,
    /// Data is dropped.
    DropsData,
    /// A query calls a function that acts.
    CallsActing,
    /// The result of a query is written.
    WritesSelected,
    /// A setting of a database changes.
    SetsDatabase,
    /// Rows are added or changed.
    AddsOrChangesRows,
    /// A schema or server changes.
    ChangesSchema,
    /// Some rows are changed or deleted.
    ChangesRows,
    /// All rows are changed or deleted.
    ChangesAllRows,
    /// A program runs on the server of a database.
    RunsServerProgram,
    /// The same, and the text does not show which.
    RunsHiddenServerProgram,
    /// Rows are added.
    AddsRows,
    /// A file is written on the server of a database.
    WritesServerFile,
    /// A command runs; its code is an effect of its own.
    RunsCommand,
    /// A setting of a server changes.
    SetsServer,
    /// A transaction of another session ends.
    EndsTransaction,
    /// A database is emptied.
    EmptiesDatabase,
    /// A database is replaced.
    ReplacesDatabase,
    /// A file that the text does not show is written.
    WritesUnknownFile,
    /// Something is deleted for good.
    DeletesForGood,
    /// Every item is affected.
    IsAboutAll,
    /// A file is removed.
    RemovesFile,
    /// Files are removed, one after the other.
    RemovesFiles,
    /// Text written to a connection changes something at the other end.
    ChangesPeer,
    /// Text written to a connection deletes something at the other end.
    DeletesAtPeer,
    /// A program pinned by the project runs.
    RunsPinned,
}

impl Act {
    /// Returns the action as a sentence for people.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::StartsItself => "starts itself again and again",
            Self::GivesShell => "gives a shell to a remote party",
            Self::NamesOption => "a pattern takes a file of this name for an option",
            Self::OpensConnection => "opens a connection",
            Self::RewritesHistory => "rewrites the history of a remote branch",
            Self::DeletesRemote => "deletes a remote branch or tag",
            Self::DropsChanges => "drops changes that are nowhere else",
            Self::DropsFileChanges => "drops the changes of this file",
            Self::EndsEveryProcess => "ends every process",
            Self::EndsFirstProcess => "ends the first process of the host",
            Self::EndsHiddenProcesses => "ends processes that are not shown",
            Self::HidesMode => "gives a mode that is not shown",
            Self::GivesRights => "lets others run it with its owner's rights",
            Self::DropsData => "drops what cannot be restored",
            Self::CallsActing => "calls a function that acts",
            Self::WritesSelected => "writes what it selects",
            Self::SetsDatabase => "changes a setting of the database",
            Self::AddsOrChangesRows => "adds or changes rows",
            Self::ChangesSchema => "changes the schema or the server",
            Self::ChangesRows => "changes or deletes rows",
            Self::ChangesAllRows => "changes or deletes all rows",
            Self::RunsServerProgram | Self::RunsHiddenServerProgram => {
                "runs a program on the server"
            }
            Self::AddsRows => "adds rows",
            Self::WritesServerFile => "writes a file on the server",
            Self::RunsCommand => "runs a command",
            Self::SetsServer => "changes a setting of the server",
            Self::EndsTransaction => "ends the transaction of another session",
            Self::EmptiesDatabase => "empties the database",
            Self::ReplacesDatabase => "replaces the database",
            Self::WritesUnknownFile => "writes a file that is not known",
            Self::DeletesForGood => "deletes for good",
            Self::IsAboutAll => "is about all that there is",
            Self::RemovesFile => "removes a file",
            Self::RemovesFiles => "removes files, one after the other",
            Self::ChangesPeer => "asks the other end to change something",
            Self::DeletesAtPeer => "asks the other end to delete something",
            Self::RunsPinned => "runs a program that the project pins",
        }
    }
}
