//! The tools of clients: which argument of a tool has which effect.

use relay_bundle::Selector;

/// A tool of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// Its name, as the client spells it.
    pub name: &'static str,
    /// The effects of a call of it.
    pub does: Does,
}

/// The effects of a call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It runs a text in a shell: the argument with the text, and the one with the folder.
    Runs(&'static str, Option<&'static str>),
    /// It types a text into a program that runs.
    Types(&'static str),
    /// It has effects on paths: the arguments with a path, a list of paths, or a list of objects with
    /// paths. Without any it may be any path.
    Touches(Selector, &'static [&'static str]),
    /// It reads files below a folder, which is that of the call unless an argument names another.
    Searches(&'static [&'static str]),
    /// It applies a patch.
    Patches(&'static str),
    /// It fetches the address in an argument.
    Fetches(&'static str),
    /// It fetches each address in a text.
    FetchesAll(&'static str),
    /// It acts inside the client: lists, plans, questions; or it begins calls that have events of
    /// their own.
    Nothing,
}

/// Returns the effects in words, for documentation.
#[must_use]
pub fn described(does: Does) -> String {
    let code = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    match does {
        Does::Runs(text, None) => format!("runs `{text}` in a shell"),
        Does::Runs(text, Some(cwd)) => format!("runs `{text}` in a shell, in `{cwd}`"),
        Does::Types(text) => format!("types `{text}` into a running program"),
        Does::Touches(effect, paths) => format!("{} {}", effect.word(), code(paths)),
        Does::Searches(paths) => format!("reads below {} or the folder", code(paths)),
        Does::Patches(text) => format!("writes, removes and moves the files of the patch `{text}`"),
        Does::Fetches(url) => format!("connects to the host of `{url}`"),
        Does::FetchesAll(text) => format!("connects to each host in `{text}`"),
        Does::Nothing => "acts inside the client".to_owned(),
    }
}
