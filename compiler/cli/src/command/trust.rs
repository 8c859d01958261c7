//! `relay trust`: lists and edits a trust file. The deployment of the file is the operator's.

mod list;

use std::path::Path;

use relay_bundle::Digest;
use relay_bundle::envelope::key_id;
use relay_bundle::trust::{PublicKey, Trust};

use crate::args::{TrustAddArgs, TrustArgs, TrustEditArgs, TrustRevokeArgs, TrustVerb};
use crate::disk;
use crate::environment;
use crate::exit::Exit;
use crate::expiry;
use crate::failure::Failure;
use crate::keys;
use crate::output::Output;
use crate::subject;
use crate::text::shown_path;
use crate::trust_file::{NewKey, TrustFile};

pub(crate) use list::TrustListed;

/// The thing that is revoked.
enum Revoked {
    /// A key of the file, by its id.
    Key { id: String, name: String },
    /// A bundle.
    Digest(Digest),
}

pub(crate) fn run(arguments: &TrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.verb {
        TrustVerb::List(arguments) => list::run(arguments, output),
        TrustVerb::Add(arguments) => add(arguments, output),
        TrustVerb::Revoke(arguments) => revoke(arguments, output),
    }
}

fn add(arguments: &TrustAddArgs, output: &mut Output) -> Result<Exit, Failure> {
    let TrustAddArgs { file: path, public: _, key: _, name: _, role, not_after, edit } = arguments;
    let (public, name) = public_key(arguments)?;
    let not_after = not_after
        .as_deref()
        .map(|text| expiry::parse(text, "signatures by this key would never count"))
        .transpose()?;
    let key = NewKey { name, public, roles: role.iter().cloned().collect(), not_after };
    let added = format!("added {} `{}`", key.id(), key.name);
    // A link whose target is missing is a mistake, and not a new file.
    if !path.exists() && !path.is_symlink() {
        return finish(TrustFile::new(path, &key)?, edit, &added, path, output);
    }
    let mut file = TrustFile::open(path)?;
    refuse_known(&key, file.trust(), path)?;
    file.add_key(&key);
    finish(file, edit, &added, path, output)
}

fn revoke(arguments: &TrustRevokeArgs, output: &mut Output) -> Result<Exit, Failure> {
    let TrustRevokeArgs { file: path, revoked, edit } = arguments;
    let mut file = TrustFile::open(path)?;
    let (what, is_new) = match find(revoked, file.trust(), path)? {
        Revoked::Key { id, name } => (format!("{id} `{name}`"), file.revoke_key(&id)),
        Revoked::Digest(digest) => (digest.to_string(), file.revoke_digest(digest)),
    };
    if !is_new {
        output
            .note(format_args!("{what} is revoked already: `{}` stays as it is", shown_path(path)));
        return Ok(Exit::Yes);
    }
    finish(file, edit, &format!("revoked {what}"), path, output)
}

/// Writes the file and says what changed.
fn finish(
    mut file: TrustFile,
    edit: &TrustEditArgs,
    change: &str,
    path: &Path,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let before = file.trust().min_epoch;
    if let Some(epoch) = edit.min_epoch {
        if epoch < before {
            return Err(Failure::error(format!(
                "--min-epoch {epoch} is below the file's min-epoch {before}"
            ))
            .help("servers would accept bundles that they refuse now; edit the file by hand if that is meant"));
        }
        file.set_min_epoch(epoch)?;
    }
    let is_new = file.is_new();
    let trust = file.write()?;
    output.result(format_args!(
        "{change}\nwrote `{}`, version {}\n",
        shown_path(path),
        trust.version
    ))?;
    if edit.min_epoch.is_none() && !is_new {
        output.note(
            "with a new version servers forget the highest epoch that they served; --min-epoch N \
             keeps out older bundles",
        );
    }
    list::warn_of_unmet(&trust, environment::now(), output);
    Ok(Exit::Yes)
}

/// Returns the key that the arguments name, and its name.
fn public_key(arguments: &TrustAddArgs) -> Result<(PublicKey, String), Failure> {
    let (text, file_name) = match (&arguments.key, &arguments.public) {
        (Some(file), _) => {
            let text = disk::read_text(file, keys::KEY_BYTES_MAX)?;
            if text.contains("PRIVATE KEY") {
                let message = format!("`{}` is a private key", shown_path(file));
                return Err(Failure::error(message).help("give the file that ends with `.pub`"));
            }
            (text, Some(keys::name_of(file)))
        }
        (None, public) => (public.clone().unwrap_or_default(), None),
    };
    let (key, written_name) =
        text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let public = PublicKey::parse(key).ok_or_else(|| {
        let failure = Failure::error("this is not a public key of `relay keygen`");
        match &arguments.public {
            Some(path) if Path::new(path).exists() => failure.help(format!("write --key {path}")),
            _ => failure.help("a public key is `ed25519:` and 32 bytes in base64"),
        }
    })?;
    let written_name = Some(written_name.trim().to_owned()).filter(|name| !name.is_empty());
    let name = arguments
        .name
        .clone()
        .or(written_name)
        .or(file_name)
        .filter(|name| !name.trim().is_empty());
    let name = name.ok_or_else(|| {
        Failure::error("the key has no name").help("write --name NAME, which reports print")
    })?;
    Ok((public, name))
}

/// Fails if the file has the key, or another one of its name.
fn refuse_known(key: &NewKey, trust: &Trust, path: &Path) -> Result<(), Failure> {
    let (id, path) = (key.id(), shown_path(path));
    if let Some(known) = trust.keys.iter().find(|known| known.public == key.public) {
        let failure =
            Failure::error(format!("`{path}` has this key already: {id} `{}`", known.name));
        return Err(match trust.revoked.keys.contains(&id) {
            true => failure.help("it is revoked; make a new key with `relay keygen`"),
            false => failure.help("to change its roles or dates, edit its entry"),
        });
    }
    if trust.keys.iter().any(|known| known.name == key.name) {
        return Err(Failure::error(format!(
            "`{path}` has another key with the name `{}`",
            key.name
        ))
        .help("choose another with --name, so that reports and `relay trust revoke` are clear"));
    }
    Ok(())
}

/// Finds what a text names: a key of the file, a digest, or a bundle.
fn find(text: &str, trust: &Trust, path: &Path) -> Result<Revoked, Failure> {
    let keys: Vec<(String, &str)> =
        trust.keys.iter().map(|key| (key_id(&key.public.0), key.name.as_str())).collect();
    if let Some((id, name)) = keys.iter().find(|(id, _)| id == text) {
        return Ok(Revoked::Key { id: id.clone(), name: (*name).to_owned() });
    }
    let named: Vec<_> = keys.iter().filter(|(_, name)| *name == text).collect();
    match named.as_slice() {
        [] => {}
        [(id, name)] => return Ok(Revoked::Key { id: id.clone(), name: (*name).to_owned() }),
        several => {
            let ids: Vec<&str> = several.iter().map(|(id, _)| id.as_str()).collect();
            return Err(Failure::error(format!("several keys have the name `{text}`"))
                .help(format!("give the id of one: {}", ids.join(", "))));
        }
    }
    if text.starts_with("sha256:") {
        return Digest::parse(text).map(Revoked::Digest).ok_or_else(|| {
            Failure::error(format!("`{text}` is not a digest"))
                .help("a digest is `sha256:` and 64 hexadecimal digits in lower case")
        });
    }
    if Path::new(text).exists() {
        return Ok(Revoked::Digest(subject::open_bundle(Path::new(text))?.bundle.digest()));
    }
    let known = keys.iter().flat_map(|(id, name)| [id.as_str(), name]);
    let help = match relay_compiler::nearest(text, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("`relay trust list {}` lists the keys", shown_path(path)),
    };
    let message =
        format!("`{text}` is neither a key of `{}`, a digest nor a file", shown_path(path));
    Err(Failure::error(message).help(help))
}
