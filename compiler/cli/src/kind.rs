//! The kind of a file, by its name and its first bytes: a bundle in place of a project, a key in
//! place of a trust file. Such a mistake is reported before the file is read as something else.

use std::path::Path;

use crate::disk;
use crate::failure::Failure;
use crate::shell;
use crate::text::shown_path;

/// The start of every bundle, up to the bytes that a transfer in text mode would change.
pub(crate) const BEGINNING: &[u8] = b"relay bundle";
/// The start of a public key.
const PUBLIC: &[u8] = b"ed25519:";

/// The kind of file that a command takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A project's document or folder.
    Project,
    /// A bundle.
    Bundle,
    /// A trust file.
    Trust,
    /// A private key.
    Key,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bundle,
    Folder,
    Document,
    Toml,
    Other(&'static str),
    Markdown,
    PrivateKey,
    PublicKey,
    ApiKey,
}

/// Fails if the file at `path` is known to differ from the wanted kind; the help names the command
/// that takes it, or the way to get the wanted one.
pub(crate) fn refuse_others(path: &Path, wanted: Wanted) -> Result<(), Failure> {
    let Some(kind) = Kind::of(path)? else { return Ok(()) };
    if kind.is(wanted) {
        return Ok(());
    }
    let message =
        format!("`{}` is {}, and {} is needed here", shown_path(path), kind.name(), wanted.name());
    Err(Failure::error(message).help(help(kind, wanted, &shell::word(&path.to_string_lossy()))))
}

/// Returns whether the file at `path` is a bundle, by its name or its first bytes.
pub(crate) fn is_bundle(path: &Path) -> Result<bool, Failure> {
    if path.extension().is_some_and(|ending| ending == "relay") {
        return Ok(true);
    }
    if !path.is_file() {
        // Opening it reports the error.
        return Ok(false);
    }
    disk::begins_with(path, BEGINNING)
}

/// Returns whether the file at `path` is a key, by its name or its first bytes.
pub(crate) fn is_key(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("pub" | "key"))
        || disk::begins_with(path, PUBLIC).is_ok_and(|begins| begins)
}

impl Kind {
    /// Returns the kind of a file, if it is known and the file exists.
    fn of(path: &Path) -> Result<Option<Self>, Failure> {
        if path.is_dir() {
            return Ok(Some(Self::Folder));
        }
        // A pipe is read once, by its own reader.
        if !path.is_file() {
            return Ok(None);
        }
        if is_bundle(path)? {
            return Ok(Some(Self::Bundle));
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        Ok(Some(match ending {
            "kdl" => Self::Document,
            "toml" => Self::Toml,
            "json" => Self::Other("a JSON file"),
            "yaml" | "yml" => Self::Other("a YAML file"),
            "md" => Self::Markdown,
            "key" => Self::PrivateKey,
            "api-key" => Self::ApiKey,
            "pub" => Self::PublicKey,
            _ if disk::begins_with(path, PUBLIC)? => Self::PublicKey,
            _ => return Ok(None),
        }))
    }

    /// Returns whether it may be the wanted kind: only its reader knows the contents of other
    /// files.
    fn is(self, wanted: Wanted) -> bool {
        match wanted {
            Wanted::Project => matches!(self, Self::Folder | Self::Document),
            Wanted::Bundle => self == Self::Bundle,
            // A trust file in JSON is refused by its reader.
            Wanted::Trust => matches!(self, Self::Toml | Self::Folder | Self::Other(_)),
            // The reader reports the fault of a key.
            Wanted::Key => !matches!(self, Self::Bundle | Self::Document | Self::Toml),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bundle => "a bundle",
            Self::Folder => "a folder",
            Self::Document => "a project",
            Self::Toml => "a TOML file",
            Self::Other(name) => name,
            Self::Markdown => "a Markdown file",
            Self::PrivateKey => "a private key",
            Self::PublicKey => "a public key",
            Self::ApiKey => "an API key",
        }
    }
}

impl Wanted {
    fn name(self) -> &'static str {
        match self {
            Self::Project => "a project",
            Self::Bundle => "a bundle",
            Self::Trust => "a trust file",
            Self::Key => "a private key",
        }
    }
}

/// Returns the remedy for a file at `path` of an unwanted kind.
fn help(kind: Kind, wanted: Wanted, path: &str) -> String {
    match (wanted, kind) {
        (Wanted::Project, Kind::Bundle) => format!(
            "give the project that it was built from; `relay inspect {path}` and `relay describe {path}` read bundles"
        ),
        (Wanted::Project, Kind::Markdown) => {
            "`prompts { folder \"prompts\" }` in a project makes a prompt of each file in a folder"
                .to_owned()
        }
        (Wanted::Project, Kind::Toml) => format!(
            "`relay trust list {path}` reads a trust file, `relay serve BUNDLE --config {path}` the settings of a server"
        ),
        (Wanted::Project, Kind::PrivateKey) => {
            format!("`relay sign BUNDLE --key {path}` signs with it")
        }
        (Wanted::Project | Wanted::Trust, Kind::PublicKey) => {
            format!(
                "`relay trust add trust.toml --key {path}` adds it to a trust file, or makes one"
            )
        }
        (Wanted::Project, _) => "`relay init` writes a project to begin with".to_owned(),
        (Wanted::Bundle, Kind::Document | Kind::Folder) => {
            format!("write one with `relay build {path}`, and give the file that ends with .relay")
        }
        (Wanted::Bundle, _) => "give a file that `relay build` wrote".to_owned(),
        (Wanted::Trust, _) => {
            "`relay trust add trust.toml --key FILE.pub` makes a trust file".to_owned()
        }
        (Wanted::Key, _) => "give the .key file that `relay keygen` wrote".to_owned(),
    }
}
