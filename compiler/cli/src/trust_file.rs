//! `trust.toml`: reading it, the text of a new one, and edits that keep its comments and layout.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use relay_bundle::Digest;
use relay_bundle::envelope::key_id;
use relay_bundle::trust::{PublicKey, Time, Trust, TrustedKey};
use toml_edit::{Array, ArrayOfTables, Datetime, DocumentMut, Item, RawString, Table, Value};

use crate::disk::{self, Access};
use crate::failure::Failure;
use crate::kind::{self, Wanted};
use crate::text::shown_path;
use crate::toml_text;

const TRUST_BYTES_MAX: u64 = 1024 * 1024;

const ALLOW_DIGESTS: &str = "allow-digests";

/// A new file, up to its key.
const HEAD: &str = "\
version = 1      # raise it with each change of this file; `relay trust` does
threshold = 1    # the number of keys that must have signed
# project = \"NAME\"    # accept only bundles of this project
";

/// A key to add.
pub(crate) struct NewKey {
    /// Its name in reports.
    pub(crate) name: String,
    /// The key.
    pub(crate) public: PublicKey,
    /// The roles that its signatures count for.
    pub(crate) roles: BTreeSet<String>,
    /// The time at which their validity ends, as written.
    pub(crate) not_after: Option<(Datetime, Time)>,
}

/// A trust file with unwritten edits.
pub(crate) struct TrustFile {
    path: PathBuf,
    document: DocumentMut,
    /// The trust that the edited file must express.
    trust: Trust,
    is_new: bool,
}

/// Reads a trust file.
pub(crate) fn read(path: &Path) -> Result<Trust, Failure> {
    Ok(read_with_text(path)?.1)
}

fn read_with_text(path: &Path) -> Result<(String, Trust), Failure> {
    kind::refuse_others(path, Wanted::Trust)?;
    let text = disk::read_text(path, TRUST_BYTES_MAX)
        .map_err(|failure| failure.help("`relay keygen` prints a trust file to start with"))?;
    let trust = of_text(&text, &shown_path(path))?;
    Ok((text, trust))
}

/// Reads the text of a trust file, called `label` in errors.
pub(crate) fn of_text(text: &str, label: &str) -> Result<Trust, Failure> {
    parse(text, label).map_err(|reason| {
        Failure::error(format!("`{label}` is not a valid trust file: {reason}")).help(
            "`relay trust add NEW.toml --key FILE.pub` writes a trust file; `relay-serve --reference` has every key of one",
        )
    })
}

/// Returns the text of a trust file with this key.
pub(crate) fn new_text(key: &NewKey) -> String {
    let mut document = DocumentMut::new();
    push_key(&mut document, key);
    format!("{HEAD}\n{}", document.to_string().trim_start())
}

/// Reads a trust file whose name is `label`, or returns why a server would refuse it.
fn parse(text: &str, label: &str) -> Result<Trust, String> {
    let trust: Trust = toml_text::parse(text).map_err(|fault| format!("{label}:{fault}"))?;
    trust.check().map_err(|error| error.to_string())?;
    Ok(trust)
}

impl NewKey {
    /// Returns a key without roles and without an end.
    pub(crate) fn of(name: String, public: PublicKey) -> Self {
        Self { name, public, roles: BTreeSet::new(), not_after: None }
    }

    /// Returns its id.
    pub(crate) fn id(&self) -> String {
        key_id(&self.public.0)
    }
}

impl TrustFile {
    /// Makes a trust file with this key.
    pub(crate) fn new(path: &Path, key: &NewKey) -> Result<Self, Failure> {
        let text = new_text(key);
        let trust = parse(&text, &shown_path(path)).map_err(|reason| invalid(path, &reason))?;
        Self::of(&text, trust, path, true)
    }

    /// Reads a trust file to edit it; its version is raised by one.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let (text, trust) = read_with_text(path)?;
        let mut file = Self::of(&text, trust, path, false)?;
        let raised = file.trust.version.checked_add(1);
        file.trust.version = file.set("version", raised)?;
        Ok(file)
    }

    fn of(text: &str, trust: Trust, path: &Path, is_new: bool) -> Result<Self, Failure> {
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            let fault = toml_text::fault_of_edit(text, &error);
            let path = shown_path(path);
            Failure::error(format!("`{path}` is not TOML: {path}:{fault}"))
        })?;
        Ok(Self { path: path.to_owned(), document, trust, is_new })
    }

    /// Returns whether this edit makes the file.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Returns the trust of the edited file.
    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Sets the lowest epoch that servers accept.
    pub(crate) fn set_min_epoch(&mut self, epoch: u64) -> Result<(), Failure> {
        self.trust.min_epoch = self.set("min-epoch", Some(epoch))?;
        Ok(())
    }

    /// Adds a key.
    pub(crate) fn add_key(&mut self, key: &NewKey) {
        push_key(&mut self.document, key);
        self.trust.keys.push(TrustedKey {
            name: key.name.clone(),
            id: Some(key.id()),
            public: key.public.clone(),
            roles: key.roles.clone(),
            not_before: None,
            not_after: key.not_after.map(|(_, time)| time),
        });
    }

    /// Revokes a key by its id. Returns false if it is revoked already.
    pub(crate) fn revoke_key(&mut self, id: &str) -> bool {
        let is_new = self.trust.revoked.keys.insert(id.to_owned());
        if is_new {
            push_revoked(&mut self.document, "keys", id);
        }
        is_new
    }

    /// Revokes a bundle by its digest. Returns false if it is revoked already.
    pub(crate) fn revoke_digest(&mut self, digest: Digest) -> bool {
        let is_new = self.trust.revoked.digests.insert(digest);
        if is_new {
            push_revoked(&mut self.document, "digests", &digest.to_string());
        }
        is_new
    }

    /// Sets the number of keys that must have signed.
    pub(crate) fn set_threshold(&mut self, threshold: u32) -> Result<(), Failure> {
        self.set("threshold", Some(threshold.into()))?;
        self.trust.threshold = threshold;
        Ok(())
    }

    /// Removes a key by its id. Its revocation stays.
    pub(crate) fn remove_key(&mut self, id: &str) {
        let is_it = |key: &TrustedKey| key_id(&key.public.0) == id;
        // INVARIANT: the keys of the document are those of `trust`, in their order.
        let Some(index) = self.trust.keys.iter().position(is_it) else { return };
        self.trust.keys.remove(index);
        let keys = self.document.get_mut("keys");
        if let Some(keys) = keys {
            if let Some(list) = keys.as_array_mut() {
                list.remove(index);
            } else if let Some(tables) = keys.as_array_of_tables_mut() {
                tables.remove(index);
            }
        }
    }

    /// Allows a bundle of any epoch, even a lower one. Returns false if it is allowed already.
    pub(crate) fn allow_digest(&mut self, digest: Digest) -> bool {
        let is_new = self.trust.allow_digests.insert(digest);
        if is_new {
            let list = self.document.entry(ALLOW_DIGESTS).or_insert(toml_edit::value(Array::new()));
            if let Some(list) = list.as_array_mut() {
                push_as_others(list, digest.to_string().into());
            }
        }
        is_new
    }

    /// Reverses [`Self::allow_digest`]. Returns whether the bundle was allowed.
    pub(crate) fn forbid_digest(&mut self, digest: Digest) -> bool {
        let is_there = self.trust.allow_digests.remove(&digest);
        if is_there
            && let Some(list) = self.document.get_mut(ALLOW_DIGESTS).and_then(Item::as_array_mut)
        {
            list.retain(|value| value.as_str().and_then(Digest::parse) != Some(digest));
        }
        is_there
    }

    /// Writes the file, unless a server would refuse it or read another meaning.
    pub(crate) fn write(self) -> Result<Trust, Failure> {
        let path = shown_path(&self.path);
        let text = self.document.to_string();
        if text.len() as u64 > TRUST_BYTES_MAX {
            let message = format!("`{path}` would be larger than {TRUST_BYTES_MAX} bytes");
            return Err(Failure::error(message).help("remove keys that have expired"));
        }
        if parse(&text, &path).map_err(|reason| invalid(&self.path, &reason))? != self.trust {
            return Err(Failure::error(format!("`{path}` cannot be edited in its layout"))
                .help("this is a bug in relay: report it with the file, and edit it by hand"));
        }
        if !self.is_new {
            disk::replace(&self.path, text.as_bytes())?;
        } else if !disk::create(&self.path, text.as_bytes(), Access::AllUsers)? {
            return Err(Failure::error(format!("`{path}` was made by another program"))
                .help("run the command again"));
        }
        Ok(self.trust)
    }

    /// Sets a number at the top of the file, and returns it.
    fn set(&mut self, key: &str, number: Option<u64>) -> Result<u64, Failure> {
        let fits = number.and_then(|number| Some((number, i64::try_from(number).ok()?)));
        let Some((number, written)) = fits else {
            let message = format!("`{key}` would be larger than TOML can write");
            return Err(Failure::error(message).help(format!("the maximum is {}", i64::MAX)));
        };
        match self.document.get_mut(key).and_then(Item::as_value_mut) {
            Some(value) => {
                let decor = value.decor().clone();
                *value = written.into();
                *value.decor_mut() = decor;
            }
            None => drop(self.document.insert(key, toml_edit::value(written))),
        }
        Ok(number)
    }
}

fn invalid(path: &Path, reason: &str) -> Failure {
    let message = format!("`{}` would not be a valid trust file: {reason}", shown_path(path));
    Failure::error(message).help("nothing was written")
}

fn push_key(document: &mut DocumentMut, key: &NewKey) {
    let mut table = Table::new();
    table.insert("name", toml_edit::value(key.name.as_str()));
    table.insert("id", toml_edit::value(key.id()));
    table.insert("public", toml_edit::value(key.public.to_string()));
    if !key.roles.is_empty() {
        table.insert("roles", toml_edit::value(key.roles.iter().collect::<Array>()));
    }
    if let Some((written, _)) = key.not_after {
        table.insert("not-after", toml_edit::value(written));
    }
    let keys = document.entry("keys").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    if let Some(list) = keys.as_array_mut() {
        push_as_others(list, table.into_inline_table().into());
    } else if let Some(tables) = keys.as_array_of_tables_mut() {
        tables.push(table);
    }
}

fn push_revoked(document: &mut DocumentMut, kind: &str, text: &str) {
    let revoked = document.entry("revoked").or_insert(toml_edit::table());
    let list = revoked
        .as_table_like_mut()
        .map(|revoked| revoked.entry(kind).or_insert(toml_edit::value(Array::new())))
        .and_then(Item::as_array_mut);
    if let Some(list) = list {
        push_as_others(list, text.into());
    }
}

/// Adds a value to a list: on a line of its own if the last one is.
fn push_as_others(list: &mut Array, mut value: Value) {
    let text = |text: Option<&RawString>| text.and_then(RawString::as_str).map(str::to_owned);
    let last = list.len().checked_sub(1).and_then(|last| list.get(last));
    let prefix = last.and_then(|last| text(last.decor().prefix())).unwrap_or_default();
    let Some((_, indent)) = prefix.rsplit_once('\n') else { return list.push(value) };
    // The text between the last value and the bracket: the rest of its line stays on its line.
    let after = match list.trailing_comma() {
        true => text(Some(list.trailing())),
        false => last.and_then(|last| text(last.decor().suffix())),
    };
    let after = after.unwrap_or_default();
    let (line, rest) = after.split_once('\n').unwrap_or((&after, ""));
    *value.decor_mut() = toml_edit::Decor::new(format!("{line}\n{indent}"), "");
    let trailing = format!("\n{rest}");
    if let Some(last) = list.len().checked_sub(1).and_then(|last| list.get_mut(last)) {
        last.decor_mut().set_suffix("");
    }
    list.push_formatted(value);
    list.set_trailing(trailing);
    list.set_trailing_comma(true);
}
