//! `relay trust`: lists and edits a trust file. Its deployment is the operator's.

mod list;

use std::path::Path;

use relay_bundle::Digest;
use relay_bundle::envelope::key_id;
use relay_bundle::trust::{PublicKey, Trust};

use crate::args::{
    TrustAddArgs, TrustAllowArgs, TrustArgs, TrustEditArgs, TrustRemoveArgs, TrustRevokeArgs,
    TrustThresholdArgs, TrustVerb,
};
use crate::disk;
use crate::environment;
use crate::exit::Exit;
use crate::expiry;
use crate::failure::Failure;
use crate::keys;
use crate::kind;
use crate::output::Output;
use crate::shell;
use crate::subject;
use crate::text::shown_path;
use crate::trust_file::{NewKey, TrustFile};

pub(crate) use list::TrustListed;

/// A thing that an edit names.
enum Named {
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
        TrustVerb::Threshold(arguments) => threshold(arguments, output),
        TrustVerb::Allow(arguments) => allow(arguments, output),
        TrustVerb::Remove(arguments) => remove(arguments, output),
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
    // A link with a missing target is a mistake, rather than a new file.
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
        Named::Key { id, name } => (format!("{id} `{name}`"), file.revoke_key(&id)),
        Named::Digest(digest) => (digest.to_string(), file.revoke_digest(digest)),
    };
    if !is_new {
        return Ok(unchanged(&format!("{what} is revoked"), path, output));
    }
    finish(file, edit, &format!("revoked {what}"), path, output)
}

fn threshold(arguments: &TrustThresholdArgs, output: &mut Output) -> Result<Exit, Failure> {
    let TrustThresholdArgs { file: path, threshold, edit } = arguments;
    let mut file = TrustFile::open(path)?;
    let before = file.trust().threshold;
    if before == *threshold {
        return Ok(unchanged(&format!("the threshold is {before}"), path, output));
    }
    file.set_threshold(*threshold)?;
    finish(file, edit, &format!("threshold {before} → {threshold}"), path, output)
}

fn allow(arguments: &TrustAllowArgs, output: &mut Output) -> Result<Exit, Failure> {
    let TrustAllowArgs { file: path, bundle, edit } = arguments;
    let mut file = TrustFile::open(path)?;
    let Named::Digest(digest) = find(bundle, file.trust(), path)? else {
        return Err(Failure::error(format!("`{bundle}` is a key, and `allow` takes a bundle"))
            .help("give the file or the digest of the bundle; `relay trust add` adds keys"));
    };
    if file.trust().revoked.digests.contains(&digest) {
        return Err(Failure::error(format!("{digest} is revoked, which counts more than `allow`"))
            .help("remove it from `revoked.digests` by hand if it was revoked by mistake"));
    }
    if Path::new(bundle).exists() {
        let epoch = subject::open_bundle(Path::new(bundle))?.bundle.epoch();
        let lowest = edit.min_epoch.unwrap_or(0).max(file.trust().min_epoch);
        if epoch < lowest {
            let message =
                format!("the bundle has epoch {epoch}, and min-epoch of the file is {lowest}");
            return Err(Failure::error(message).help(
                "servers refuse it all the same; lower `min-epoch` by hand if that is meant",
            ));
        }
    }
    if !file.allow_digest(digest) {
        return Ok(unchanged(&format!("{digest} is allowed"), path, output));
    }
    finish(file, edit, &format!("allowed {digest}, whatever epoch was served"), path, output)
}

fn remove(arguments: &TrustRemoveArgs, output: &mut Output) -> Result<Exit, Failure> {
    let TrustRemoveArgs { file: path, removed, edit } = arguments;
    let mut file = TrustFile::open(path)?;
    let change = match find(removed, file.trust(), path)? {
        Named::Key { id, name } if file.trust().revoked.keys.contains(&id) => {
            return Err(Failure::error(format!("{id} `{name}` is revoked, and a revoked key keeps its entry"))
                .help("its signatures count for nothing; without the entry a typo in `revoked.keys` would not be found"));
        }
        Named::Key { id, name } => {
            file.remove_key(&id);
            format!("removed {id} `{name}`")
        }
        Named::Digest(digest) if file.forbid_digest(digest) => {
            format!("removed {digest} from the bundles that are allowed")
        }
        Named::Digest(digest) => {
            let failure = Failure::error(format!(
                "{digest} is not among the allowed bundles of `{}`",
                shown_path(path)
            ));
            return Err(match file.trust().revoked.digests.contains(&digest) {
                true => failure.help("it is revoked; a revocation is removed by hand"),
                false => failure.help("`relay trust revoke` refuses a bundle from now on"),
            });
        }
    };
    finish(file, edit, &change, path, output)
}

/// Reports that an edit changes nothing.
fn unchanged(state: &str, path: &Path, output: &mut Output) -> Exit {
    output.note(format_args!("{state} already: `{}` stays as it is", shown_path(path)));
    Exit::Yes
}

/// Writes the file and reports the change.
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
            let text = disk::read_text(file, keys::KEY_BYTES_MAX).map_err(|failure| {
                failure.help(
                    "give the file that ends with `.pub`; `relay keygen -o NAME` makes NAME.key and NAME.pub",
                )
            })?;
            if text.contains("PRIVATE KEY") {
                let message = format!("`{}` is a private key", shown_path(file));
                return Err(Failure::error(message).help(format!(
                    "give the file that ends with `.pub`: `--key {}`",
                    shell::word(&file.with_extension("pub").to_string_lossy())
                )));
            }
            (text, Some(keys::name_of(file)))
        }
        (None, public) => (public.clone().unwrap_or_default(), None),
    };
    let (key, written_name) =
        text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let public = PublicKey::parse(key).ok_or_else(|| not_public(arguments))?;
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

/// Returns the error for an argument in the place of a public key: it is a file, or the two were
/// swapped.
fn not_public(arguments: &TrustAddArgs) -> Failure {
    let TrustAddArgs { file, public, key, .. } = arguments;
    let swapped = kind::is_key(file);
    let (trust, key) = match (public, key) {
        (Some(public), _) if swapped => (shell::word(public), shown_path(file)),
        (Some(public), _) if Path::new(public).exists() => {
            (shell::word(&file.to_string_lossy()), public.clone())
        }
        (_, Some(key)) => {
            return Failure::error(format!(
                "`{}` is not a public key of `relay keygen`",
                shown_path(key)
            ))
            .help("give the file that ends with `.pub`");
        }
        _ => {
            return Failure::error("this is not a public key of `relay keygen`")
                .help("a public key is `ed25519:` and 32 bytes in base64");
        }
    };
    Failure::error(format!("`{key}` is a file, and a key in a file is given with --key"))
        .help(format!("write `relay trust add {trust} --key {}`", shell::word(&key)))
}

/// Fails if the file has the key, or another one with its name.
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

/// Finds the thing that a text names: a key of the file, a digest, or a bundle.
fn find(text: &str, trust: &Trust, path: &Path) -> Result<Named, Failure> {
    let keys: Vec<(String, &str)> =
        trust.keys.iter().map(|key| (key_id(&key.public.0), key.name.as_str())).collect();
    if let Some((id, name)) = keys.iter().find(|(id, _)| id == text) {
        return Ok(Named::Key { id: id.clone(), name: (*name).to_owned() });
    }
    let named: Vec<_> = keys.iter().filter(|(_, name)| *name == text).collect();
    match named.as_slice() {
        [] => {}
        [(id, name)] => return Ok(Named::Key { id: id.clone(), name: (*name).to_owned() }),
        several => {
            let ids: Vec<&str> = several.iter().map(|(id, _)| id.as_str()).collect();
            return Err(Failure::error(format!("several keys have the name `{text}`"))
                .help(format!("give the id of one: {}", ids.join(", "))));
        }
    }
    if text.starts_with("sha256:") {
        return Digest::parse(text).map(Named::Digest).ok_or_else(|| {
            Failure::error(format!("`{text}` is not a digest"))
                .help("a digest is `sha256:` and 64 hexadecimal digits in lower case")
        });
    }
    if Path::new(text).exists() {
        return Ok(Named::Digest(subject::open_bundle(Path::new(text))?.bundle.digest()));
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
