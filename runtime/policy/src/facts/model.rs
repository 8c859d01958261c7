//! Knowledge, as the compiler hands it over.

use crate::tier::Tier;

/// Declares an enumeration whose values have a word in fact files and a number in the table.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(u8)]
        pub enum $name {
            #[default]
            $($(#[$each])* $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The words of fact files, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the value with this word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                let at = Self::WORDS.iter().position(|each| *each == word)?;
                Self::ALL.get(at).copied()
            }

            /// Returns its word.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Returns the value with this number.
            #[must_use]
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.get(usize::from(number)).copied()
            }
        }
    };
}

words! {
    /// The meaning of an operand, or of the value of an option.
    Role {
        /// Data that means nothing to a tier.
        Text = "text",
        /// A file or folder that is read.
        Read = "read",
        /// A file that is made or overwritten.
        Write = "write",
        /// A file that is added to.
        Append = "append",
        /// A file or folder that is removed.
        Remove = "remove",
        /// A file that is emptied.
        Empty = "empty",
        /// A file whose mode, owner or attributes change.
        Change = "change",
        /// The same, with all below it.
        ChangeTree = "change-tree",
        /// A file that is moved away.
        Take = "take",
        /// The folder that relative paths begin at.
        Folder = "folder",
        /// A file with code that is run.
        Script = "script",
        /// A file or address of a configuration that is loaded.
        Config = "config",
        /// Code of a shell.
        Shell = "shell",
        /// Words that are joined by blanks to code of a shell.
        ShellWords = "shell-words",
        /// The words of a remote shell, which gets a host and a command after them.
        RemoteShell = "remote-shell",
        /// A program with its arguments.
        Command = "command",
        /// `NAME=value` words, then a program with its arguments.
        EnvironmentCommand = "environment-command",
        /// A program that is run for each of many things, with their names added.
        EachCommand = "each-command",
        /// The same, up to a word `;` or `+`.
        EndedCommand = "ended-command",
        /// The words of `parallel`.
        ParallelCommand = "parallel-command",
        /// SQL.
        Sql = "sql",
        /// A script of sed.
        Sed = "sed",
        /// A program of awk.
        Awk = "awk",
        /// A table of scheduled jobs.
        Crontab = "crontab",
        /// Code of Python.
        Python = "python",
        /// Code of Perl.
        Perl = "perl",
        /// Code of Ruby.
        Ruby = "ruby",
        /// Code of JavaScript.
        Javascript = "javascript",
        /// Code of PHP.
        Php = "php",
        /// Code of another language, which is not read.
        Code = "code",
        /// An arithmetic expression of the shell.
        Arithmetic = "arithmetic",
        /// The name of a shell variable, perhaps with a subscript.
        Name = "name",
        /// `NAME=value` for the environment of what runs.
        Environment = "environment",
        /// A host, perhaps with a user and a port.
        Host = "host",
        /// A URL.
        Url = "url",
        /// A local path, or `HOST:PATH`, that is read.
        RemoteRead = "remote-read",
        /// A local path, or `HOST:PATH`, that is written.
        RemoteWrite = "remote-write",
        /// Data that is sent: `@FILE` is a file, other text is itself.
        Send = "send",
        /// A file that is sent.
        SendFile = "send-file",
        /// The name of a secret, which the program prints.
        Secret = "secret",
        /// The refs that `git push` pushes.
        Refspec = "refspec",
        /// A revision or a path that a checkout takes.
        Revision = "revision",
        /// A process or a group of them.
        Process = "process",
        /// A folder of the host that a container is given.
        Mount = "mount",
        /// A mode of a file.
        Mode = "mode",
        /// A user whose rights the program takes.
        User = "user",
        /// The word that stands for each of many things.
        Placeholder = "placeholder",
        /// An address or port that the program opens to others.
        Listen = "listen",
    }
}

words! {
    /// How a program reads its words.
    Style {
        /// `-abc`, `--long=value`, shortened `--lo`; options may follow operands.
        Gnu = "gnu",
        /// The same without shortened options.
        Go = "go",
        /// One dash and a word is one option: `-name value`, `-name=value`.
        Single = "single",
        /// No word is an option.
        None = "none",
        /// Words are `key=value`; each key is declared as an option.
        Key = "key",
        /// `-abc` of letters that are declared; any other word is an operand.
        Letters = "letters",
    }
}

words! {
    /// The output that a program writes to standard output, as far as it matters to its reader.
    Output {
        /// Text that is not known.
        Opaque = "opaque",
        /// Nothing.
        Nothing = "nothing",
        /// Its operands.
        Operands = "operands",
        /// Its first operand, filled with the others.
        Format = "format",
        /// Standard input, or the files that it names.
        Input = "input",
        /// Standard input, decoded from base64.
        Base64 = "base64",
        /// Standard input, decoded from hexadecimal.
        Hex = "hex",
        /// Standard input, each line backwards.
        Reversed = "reversed",
        /// Data from a network.
        Network = "network",
        /// A word that cannot hold a path: a number, a name, a time.
        Word = "word",
        /// The name of a new file in scratch.
        Scratch = "scratch",
        /// The folder that it runs in.
        Here = "here",
        /// Secrets.
        Secret = "secret",
        /// Parts of standard input or of files, as its words say.
        Filter = "filter",
        /// Text that its words make.
        Words = "words",
        /// The name of a file that its words give, without a folder.
        Name = "name",
    }
}

words! {
    /// The effect of a builtin or program on the shell that is classified.
    Special {
        /// Nothing.
        Nothing = "nothing",
        /// `cd`.
        ChangeFolder = "cd",
        /// `pushd`.
        PushFolder = "pushd",
        /// `popd`.
        PopFolder = "popd",
        /// `command`, `builtin`: a program, whatever functions have its name.
        Direct = "direct",
        /// `trap`: code that this shell runs later.
        Trap = "trap",
        /// `export`, `readonly`: variables that programs see.
        Export = "export",
        /// `.`, `source`: code that runs in this shell.
        Source = "source",
        /// `eval`: code that runs in this shell.
        Eval = "eval",
        /// `set`: positional parameters.
        Set = "set",
        /// `export`, `declare`, `local`, `readonly`, `typeset`.
        Declare = "declare",
        /// `alias`.
        Alias = "alias",
        /// `shift`.
        Shift = "shift",
        /// `read`: variables that get words of standard input.
        Read = "read",
        /// `mapfile`: an array of lines of standard input.
        ReadLines = "read-lines",
        /// A shell: what follows its options is a script and its arguments, or `-c` code and its.
        Shell = "shell",
    }
}

/// The prefix of the names of shipped fact files. No file of a project has it.
pub const SHIPPED: &str = "<relay>/";

/// Everything that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Knowledge {
    /// The programs.
    pub programs: Vec<Node>,
    /// Variables of the environment that change no code: names, or beginnings that end with `*`.
    pub environment: Vec<String>,
    /// Words of other languages.
    pub words: Vec<LanguageWords>,
    /// The fact files, by number.
    pub files: Vec<String>,
}

/// A program or a sub-command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its names. Those of sub-commands may be patterns with one `*` at the end or the beginning.
    pub names: Vec<String>,
    /// Its tier, whatever its options; `None` if no one has read the facts yet.
    pub tier: Option<Tier>,
    /// The action, as the end of a sentence about the command: `restarts a service`.
    pub says: String,
    /// How it reads its words.
    pub style: Style,
    /// From which operand on no word is an option; 0 for never.
    pub stop: u8,
    /// Which operand is the sub-command, from 1.
    pub sub_at: u8,
    /// Whether `-5` is an option.
    pub numbers: bool,
    /// Whether its first word may be options without a dash.
    pub bundle_first: bool,
    /// Whether names of sub-commands may be in any case.
    pub ignore_case: bool,
    /// Whether what it is given is sent over a network.
    pub sends: bool,
    /// Whether it opens a port to others, whatever its options.
    pub listens: bool,
    /// Whether it is a builtin of the shell.
    pub builtin: bool,
    /// The user whose rights it takes if no option names one; empty if it stays who it is.
    pub user: String,
    /// A path that it writes by default.
    pub writes: String,
    /// The language of the code that it reads from standard input without an operand; `Text` if it runs none.
    pub stdin: Role,
    /// The kind of its output.
    pub output: Output,
    /// Its effect on this shell.
    pub special: Special,
    /// Its options.
    pub flags: Vec<Flag>,
    /// Its operands.
    pub operands: Vec<Operand>,
    /// Its forms under conditions; the first whose conditions hold counts.
    pub forms: Vec<Form>,
    /// Its sub-commands.
    pub subs: Vec<Self>,
    /// Of a program: against what its facts were checked; empty if they were not.
    pub checked: String,
    /// Where it was written.
    pub place: Place,
}

/// Options that mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// How they are written, dashes included. One that ends with `*` is a beginning.
    pub names: Vec<String>,
    /// The tier that they raise the command to.
    pub tier: Tier,
    /// The most that the command is with them.
    pub cap: Option<Tier>,
    /// Whether they take a value.
    pub arity: Arity,
    /// The role of the value. Without a value: `Listen` if the options open a port to others, or else `Text`.
    pub role: Role,
    /// The action of the options, as in `rewrites remote history`.
    pub says: String,
    /// Whether sub-commands take them too.
    pub everywhere: bool,
    /// Values with a meaning of their own.
    pub values: Vec<Value>,
    /// Where they were written.
    pub place: Place,
}

words! {
    /// Whether an option takes a value.
    Arity {
        /// It takes none.
        None = "none",
        /// It takes one, attached or as the next word.
        Required = "required",
        /// It takes one only if it is attached.
        Attached = "attached",
    }
}

/// A value of an option, or an operand, with a meaning of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The value; with one `*` at the end or the beginning, or alone, a pattern.
    pub pattern: String,
    /// The tier that it raises the command to.
    pub tier: Tier,
    /// The most that the command is with it.
    pub cap: Option<Tier>,
    /// The role of the part that `*` stands for, or of the whole value.
    pub role: Role,
    /// The action of the value.
    pub says: String,
    /// Where it was written.
    pub place: Place,
}

words! {
    /// Which operands a row is about.
    Position {
        /// The next one.
        Next = "operand",
        /// All that remain.
        Rest = "rest",
        /// The last one, if there is more than one.
        Last = "last",
    }
}

/// An operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// Which it is.
    pub position: Position,
    /// Which operand is the first that the row is about, from 1; 0 for whichever is left. So the loss of an
    /// earlier row is a doubt.
    pub from: u8,
    /// Whether the row is not about the last of several operands.
    pub not_last: bool,
    /// The role of the operand.
    pub role: Role,
    /// Words with a meaning of their own.
    pub values: Vec<Value>,
    /// Where it was written.
    pub place: Place,
}

/// A command under conditions. A form may only lower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Its tier then.
    pub tier: Tier,
    /// The action of the command in this form.
    pub says: String,
    /// Options of which one must be there, if any are named.
    pub has: Vec<String>,
    /// Options of which none may be there.
    pub without: Vec<String>,
    /// The fewest operands.
    pub least: u8,
    /// The most operands.
    pub most: u8,
    /// Patterns of which each operand must match one, if any are named.
    pub matching: Vec<String>,
    /// Its operands in this form; those of the command if none are named.
    pub operands: Vec<Operand>,
    /// The roles of the values of options in this form.
    pub roles: Vec<(String, Role)>,
    /// The kind of its output in this form.
    pub output: Option<Output>,
    /// The language of code on its standard input in this form.
    pub stdin: Option<Role>,
    /// A path that it writes then.
    pub writes: String,
    /// Where it was written.
    pub place: Place,
}

words! {
    /// The meaning of a word of a language.
    WordKind {
        /// It only computes, reads or prints.
        Harmless = "harmless",
        /// It runs commands of a shell that it is given as text.
        Runs = "runs",
        /// It deletes more than one file, or for good.
        Deletes = "deletes",
        /// It removes one file.
        Removes = "removes",
        /// It writes files.
        Writes = "writes",
    }
}

/// Words of a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageWords {
    /// The language, as the role of its code.
    pub language: Role,
    /// The meaning of the words.
    pub kind: WordKind,
    /// The words.
    pub words: Vec<String>,
    /// Where they were written.
    pub place: Place,
}

/// Where a fact was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// The number of the fact file.
    pub file: u8,
    /// The line, from 1.
    pub line: u16,
}

impl Knowledge {
    /// Returns the same without places and checks: equal for knowledge that says the same of every program.
    #[must_use]
    pub fn without_places(mut self) -> Self {
        self.programs = self.programs.into_iter().map(Node::without_places).collect();
        for words in &mut self.words {
            words.place = Place::default();
        }
        Self { files: vec![String::new()], ..self }
    }
}

impl Node {
    /// Returns the same without places, and without what it was checked against.
    #[must_use]
    pub fn without_places(mut self) -> Self {
        self.each_place(&mut |place| *place = Place::default());
        self.checked.clear();
        self
    }

    /// Returns the same as facts of another file.
    #[must_use]
    pub fn in_file(mut self, file: u8) -> Self {
        self.each_place(&mut |place| place.file = file);
        self
    }

    fn each_place(&mut self, change: &mut impl FnMut(&mut Place)) {
        let of_values = |values: &mut Vec<Value>, change: &mut dyn FnMut(&mut Place)| {
            values.iter_mut().for_each(|value| change(&mut value.place));
        };
        change(&mut self.place);
        for flag in &mut self.flags {
            change(&mut flag.place);
            of_values(&mut flag.values, change);
        }
        let in_forms = self.forms.iter_mut().flat_map(|form| &mut form.operands);
        for operand in self.operands.iter_mut().chain(in_forms) {
            change(&mut operand.place);
            of_values(&mut operand.values, change);
        }
        for form in &mut self.forms {
            change(&mut form.place);
        }
        for sub in &mut self.subs {
            sub.each_place(change);
        }
    }
}
