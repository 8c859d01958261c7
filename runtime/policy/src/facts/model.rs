//! Knowledge, as the compiler hands it over.

use crate::tier::Tier;

/// Declares an enumeration; each value has a word in fact files and a number in the table.
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
        /// Data, which leaves a tier as it is.
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
        /// A tree whose mode, owner or attributes change.
        ChangeTree = "change-tree",
        /// A file that is moved away.
        Take = "take",
        /// The folder that relative paths start at.
        Folder = "folder",
        /// A file with code to run.
        Script = "script",
        /// A file or address of a configuration to load.
        Config = "config",
        /// Code of a shell.
        Shell = "shell",
        /// Words that are joined with blanks to code of a shell.
        ShellWords = "shell-words",
        /// The words of a remote shell; a host and a command follow.
        RemoteShell = "remote-shell",
        /// A program with its arguments.
        Command = "command",
        /// `NAME=value` words, then a program with its arguments.
        EnvironmentCommand = "environment-command",
        /// A program that runs once for each of many items, whose names are added.
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
        /// Code of an unsupported language.
        Code = "code",
        /// An arithmetic expression of the shell.
        Arithmetic = "arithmetic",
        /// The name of a shell variable, perhaps with a subscript.
        Name = "name",
        /// `NAME=value` for the environment of the command.
        Environment = "environment",
        /// A host, perhaps with a user and a port.
        Host = "host",
        /// A URL.
        Url = "url",
        /// A local path, or `HOST:PATH`, to read.
        RemoteRead = "remote-read",
        /// A local path, or `HOST:PATH`, to write.
        RemoteWrite = "remote-write",
        /// Data to send: `@FILE` is a file, other text is itself.
        Send = "send",
        /// A file to send.
        SendFile = "send-file",
        /// The name of a secret, which the program prints.
        Secret = "secret",
        /// The refs that `git push` pushes.
        Refspec = "refspec",
        /// A revision or a path for a checkout.
        Revision = "revision",
        /// A process or a group of them.
        Process = "process",
        /// A folder of the host that a container gets.
        Mount = "mount",
        /// A mode of a file.
        Mode = "mode",
        /// A user whose rights the program takes.
        User = "user",
        /// The placeholder for each of many items.
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
        /// `-abc` of declared letters; any other word is an operand.
        Letters = "letters",
    }
}

words! {
    /// The standard output of a program, as far as it matters to its reader.
    Output {
        /// Unknown text.
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
        /// A word that is surely free of paths: a number, a name, a time.
        Word = "word",
        /// The name of a new temporary file.
        Scratch = "scratch",
        /// The current folder of the program.
        Here = "here",
        /// Secrets.
        Secret = "secret",
        /// Parts of standard input or of files, as selected by its words.
        Filter = "filter",
        /// Text made from its words.
        Words = "words",
        /// The name of a file from its words; the folder is elsewhere.
        Name = "name",
    }
}

words! {
    /// The effect of a builtin or program on the classified shell.
    Special {
        /// Nothing.
        Nothing = "nothing",
        /// `cd`.
        ChangeFolder = "cd",
        /// `pushd`.
        PushFolder = "pushd",
        /// `popd`.
        PopFolder = "popd",
        /// `command`, `builtin`: a program, even if a function has its name.
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
        /// A shell: a script and its arguments follow its options, or `-c` code and its arguments.
        Shell = "shell",
    }
}

/// The prefix of the names of shipped fact files. It is reserved.
pub const SHIPPED: &str = "<relay>/";

/// All facts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Knowledge {
    /// The programs.
    pub programs: Vec<Node>,
    /// Harmless environment variables, with which the same code runs: names, or prefixes that end
    /// with `*`.
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
    /// Its tier before options; `None` for unreviewed facts.
    pub tier: Option<Tier>,
    /// Its action, as the end of a sentence about the command: `restarts a service`.
    pub says: String,
    /// How it reads its words.
    pub style: Style,
    /// The operand after which all words are operands; 0 for none.
    pub stop: u8,
    /// The position of the sub-command among the operands, from 1.
    pub sub_at: u8,
    /// Whether `-5` is an option.
    pub numbers: bool,
    /// Whether its first word may be options without a dash.
    pub bundle_first: bool,
    /// Whether names of sub-commands may be in any case.
    pub ignore_case: bool,
    /// Whether its input is sent over a network.
    pub sends: bool,
    /// Whether it opens a port to others even without options.
    pub listens: bool,
    /// Whether it is a builtin of the shell.
    pub builtin: bool,
    /// The user whose rights it takes if no option names one; empty if its user stays the same.
    pub user: String,
    /// A path that it writes by default.
    pub writes: String,
    /// The language of code on standard input, used when operands are absent; `Text` for plain
    /// data.
    pub stdin: Role,
    /// The kind of its output.
    pub output: Output,
    /// Its effect on this shell.
    pub special: Special,
    /// Its options.
    pub flags: Vec<Flag>,
    /// Its operands.
    pub operands: Vec<Operand>,
    /// Its forms under conditions. The first form with all conditions met counts.
    pub forms: Vec<Form>,
    /// Its sub-commands.
    pub subs: Vec<Self>,
    /// The source that its facts were checked against, such as a manual page; empty if unchecked.
    pub checked: String,
    /// The place in a fact file.
    pub place: Place,
}

/// Options with the same meaning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Flag {
    /// Their names, dashes included. A name that ends with `*` is a prefix.
    pub names: Vec<String>,
    /// The lowest tier of the command with them.
    pub tier: Tier,
    /// The highest tier of the command with them.
    pub cap: Option<Tier>,
    /// Whether they take a value.
    pub arity: Arity,
    /// The role of the value. For options without a value: `Listen` if they open a port to others,
    /// `Text` otherwise.
    pub role: Role,
    /// The action of the options, as in `rewrites remote history`.
    pub says: String,
    /// Whether sub-commands take them too.
    pub everywhere: bool,
    /// Special values.
    pub values: Vec<Value>,
    /// The place in a fact file.
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

/// A special value of an option or operand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Value {
    /// The value; with one `*` at the end or the beginning, or alone, a pattern.
    pub pattern: String,
    /// The lowest tier of the command with it.
    pub tier: Tier,
    /// The highest tier of the command with it.
    pub cap: Option<Tier>,
    /// The role of the part matched by `*`, or of the whole value.
    pub role: Role,
    /// The action of the value.
    pub says: String,
    /// The place in a fact file.
    pub place: Place,
}

words! {
    /// The operands that a row describes.
    Position {
        /// The next one.
        Next = "operand",
        /// All remaining ones.
        Rest = "rest",
        /// The last one, if there is more than one.
        Last = "last",
    }
}

/// An operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// Its position.
    pub position: Position,
    /// The first operand that the row describes, from 1; 0 for any remaining one. A lost earlier
    /// row then becomes a doubt.
    pub from: u8,
    /// Whether the row excludes the last of several operands.
    pub not_last: bool,
    /// The role of the operand.
    pub role: Role,
    /// Special words.
    pub values: Vec<Value>,
    /// The place in a fact file.
    pub place: Place,
}

/// A command under conditions. A form only lowers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Its tier in this form.
    pub tier: Tier,
    /// The action of the command in this form.
    pub says: String,
    /// Required options: one of them must be given, unless the list is empty.
    pub has: Vec<String>,
    /// Forbidden options.
    pub without: Vec<String>,
    /// The fewest operands.
    pub least: u8,
    /// The most operands.
    pub most: u8,
    /// Patterns of operands: each operand must match one, unless the list is empty.
    pub matching: Vec<String>,
    /// Its operands in this form; those of the command if the list is empty.
    pub operands: Vec<Operand>,
    /// The roles of the values of options in this form.
    pub roles: Vec<(String, Role)>,
    /// The kind of its output in this form.
    pub output: Option<Output>,
    /// The language of code on its standard input in this form.
    pub stdin: Option<Role>,
    /// A path that it writes in this form.
    pub writes: String,
    /// The place in a fact file.
    pub place: Place,
}

words! {
    /// The meaning of a word of a language.
    WordKind {
        /// It only computes, reads or prints.
        Harmless = "harmless",
        /// It runs text as commands of a shell.
        Runs = "runs",
        /// It deletes several files, or deletes permanently.
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
    /// The place in a fact file.
    pub place: Place,
}

/// A place in a fact file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// The number of the fact file.
    pub file: u8,
    /// The line, from 1.
    pub line: u16,
}

impl Knowledge {
    /// Returns the same without places and checks: equal for knowledge with the same facts.
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
    /// Returns the same without places and checks.
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
