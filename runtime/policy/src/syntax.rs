//! The syntax tree of a shell text.
//!
//! Spans are places in the parsed text. The tree keeps the parts that a classifier needs: commands
//! with their words and redirections. It drops syntax that only orders events (`&&` or `;`), since
//! every command counts, reached or not.

use std::ops::Range;

use smallvec::SmallVec;

use crate::span::Span;

/// A parsed text.
#[derive(Debug, Default)]
pub struct Script {
    /// The commands that it runs.
    pub body: List,
    /// The bodies of its here-documents, those of nested substitutions included.
    pub here_documents: Vec<HereDocument>,
}

/// Commands one after the other.
pub type List = Vec<Item>;

/// Pipelines joined by `&&` or `||`, up to `;`, `&` or the end of a line.
#[derive(Debug)]
pub struct Item {
    /// At least one; the first always runs.
    pub pipelines: SmallVec<[Pipeline; 1]>,
    /// Whether it runs in the background.
    pub background: bool,
}

/// Commands joined by `|`.
#[derive(Debug)]
pub struct Pipeline {
    /// Empty only for a bare `time` or `!`.
    pub commands: SmallVec<[Command; 1]>,
}

/// A command with its redirections.
#[derive(Debug)]
pub struct Command {
    /// The kind of the command.
    pub kind: Kind,
    /// Its redirections, in order.
    pub redirects: Vec<Redirect>,
    /// Its place, redirections included.
    pub span: Span,
}

/// The kinds of command.
#[derive(Debug)]
pub enum Kind {
    /// `NAME=value program words`.
    Simple(Simple),
    /// `{ … }`.
    Group(List),
    /// `( … )`.
    Subshell(List),
    /// `if`: conditions and branches, in order.
    If(Vec<List>),
    /// `while` and `until`: the condition and the body.
    While {
        /// The commands before each turn.
        condition: List,
        /// The commands of each turn.
        body: List,
    },
    /// `for` and `select` with a variable.
    For {
        /// The variable.
        variable: Span,
        /// The words after `in`; `None` means the positional parameters.
        words: Option<Vec<Word>>,
        /// The commands of each turn.
        body: List,
    },
    /// `for (( … ))`.
    ForArithmetic {
        /// The three expressions.
        header: Word,
        /// The commands of each turn.
        body: List,
    },
    /// `case`.
    Case {
        /// The word that is compared with the patterns.
        word: Box<Word>,
        /// The patterns of all arms.
        patterns: Vec<Word>,
        /// The bodies of all arms.
        bodies: Vec<List>,
    },
    /// `[[ … ]]`: operands and operators, in order.
    Condition(Vec<Word>),
    /// `(( … ))`.
    Arithmetic(Word),
    /// The definition of a function.
    Function {
        /// Its name.
        name: Span,
        /// The command that a call runs.
        body: Box<Command>,
        /// The range of the body's here-documents in the script.
        documents: Range<usize>,
    },
    /// `coproc`.
    Coprocess(Box<Command>),
}

/// A simple command.
#[derive(Debug, Default)]
pub struct Simple {
    /// Assignments before the first word.
    pub assignments: Vec<Assignment>,
    /// The words; the first is the program.
    pub words: Vec<Word>,
}

/// `NAME=value`, `NAME+=value`, `NAME[subscript]=value` or `NAME=(values)`.
#[derive(Debug)]
pub struct Assignment {
    /// The variable.
    pub name: Span,
    /// The subscript.
    pub subscript: Option<Word>,
    /// Whether the value is appended.
    pub append: bool,
    /// The assigned value.
    pub value: Value,
    /// The whole assignment.
    pub span: Span,
}

/// The value of an assignment.
#[derive(Debug)]
pub enum Value {
    /// One word, which may be empty.
    Word(Word),
    /// The elements of an array. `[k]=v` is one word.
    Array(Vec<Word>),
}

/// A redirection.
#[derive(Debug)]
pub struct Redirect {
    /// The kind of the redirection.
    pub kind: RedirectKind,
    /// The word after the operator: a file, a descriptor, a delimiter or a text.
    pub target: Word,
    /// The descriptor that is written before the operator.
    pub descriptor: Option<u32>,
    /// Operator and target.
    pub span: Span,
}

/// The kinds of redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `<>`.
    ReadWrite,
    /// `<&`, `>&`.
    Duplicate,
    /// `<<`, `<<-`: the index of the here-document.
    HereDocument(usize),
    /// `<<<`.
    HereString,
}

/// The body of a here-document.
#[derive(Debug, Default)]
pub struct HereDocument {
    /// The parts of the text. It is literal if all of them are.
    pub parts: Vec<Part>,
    /// The place of the body.
    pub span: Span,
}

/// A word: parts without white space between them.
#[derive(Debug, Default)]
pub struct Word {
    /// The parts of the word, in order. Most have one.
    pub parts: SmallVec<[Part; 1]>,
    /// Its place.
    pub span: Span,
}

/// A part of a word.
#[derive(Debug)]
pub enum Part {
    /// Text without quotes. `{`, `}` and `,` in it may be a brace expansion.
    Bare(Span),
    /// Text in quotes or after a backslash, unchanged.
    Quoted(Span),
    /// The text of `$'…'`, decoded.
    Decoded(Box<[u8]>, Span),
    /// An unquoted `*`, `?` or `[`, which may match other text.
    Glob(Span),
    /// `@(…)`, `!(…)` and the like, with the expansions inside.
    ExtendedGlob(Vec<Part>, Span),
    /// `~` and the name of a user, empty for the current user.
    Tilde(Span),
    /// `"…"`.
    Double(Vec<Part>, Span),
    /// `$name` or `${…}`.
    Parameter(Box<Parameter>),
    /// `$( … )`.
    Substitution(List, Span),
    /// `` `…` ``: a separate text, since backslashes were removed.
    Backtick(Box<Nested>),
    /// `$(( … ))` or `$[ … ]`.
    Arithmetic(Vec<Part>, Span),
    /// `<( … )` or `>( … )`.
    Process(List, Span),
    /// The elements of an array in the words of `declare` and similar builtins: `( … )`.
    Array(Vec<Word>, Span),
}

/// A parameter expansion.
#[derive(Debug)]
pub struct Parameter {
    /// The name, a digit, or a sign such as `@`.
    pub name: Span,
    /// Whether it begins with `!`: the value is the name of another variable.
    pub indirect: bool,
    /// Whether it begins with `#`: the result is a length.
    pub length: bool,
    /// The subscript in `[ ]`.
    pub subscript: Option<Vec<Part>>,
    /// The operator and its word.
    pub operation: Option<Operation>,
    /// The whole expansion.
    pub span: Span,
}

/// The operation of `${name…}` on the value.
#[derive(Debug)]
pub struct Operation {
    /// The first character of the operator, without a `:` before it.
    pub operator: u8,
    /// The word after the operator.
    pub parts: Vec<Part>,
}

/// Code with a separate text.
#[derive(Debug)]
pub struct Nested {
    /// Its text, backslashes removed.
    pub text: String,
    /// The place of each byte of `text` in the text around it, as runs: the first byte, and its
    /// place.
    pub runs: Vec<(u32, u32)>,
    /// The script that it runs.
    pub script: Script,
    /// Its place in the text around it.
    pub span: Span,
}
