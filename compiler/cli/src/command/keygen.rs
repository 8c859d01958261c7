//! `relay keygen`: a new signing key, and the trust file that accepts it; or a new API key, and the
//! entry of server.toml that accepts it.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use relay_bundle::Digest;
use zeroize::Zeroizing;

use crate::args::KeygenArgs;
use crate::disk::{self, Access};
use crate::exit::Exit;
use crate::expiry;
use crate::failure::Failure;
use crate::keys::{self, Key, KeyFiles};
use crate::output::Output;
use crate::text::shown_path;
use crate::trust_file::{self, NewKey};

pub(crate) fn run(arguments: &KeygenArgs, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(id) = &arguments.api_key {
        return api_key(id, arguments.not_after.as_deref(), output);
    }
    let name = &arguments.output;
    let files = KeyFiles::named(name);
    let there = [&files.private, &files.public].into_iter().find(|file| file.exists());
    if let Some(file) = there {
        return Err(exists(&shown_path(file)));
    }
    // The name keeps its dots: `-o release.v2` makes `release.v2.key`.
    let key = Key::generate(&keys::name_of(&files.private))?;
    if !key.write(&files)? {
        return Err(exists(&format!("{}.key` or `{}.pub", shown_path(name), shown_path(name))));
    }
    output.message(format_args!(
        "wrote `{}` (keep it secret) and `{}`\n\n\
         trust.toml of a server that trusts this key (`relay trust add` adds it to one):\n\n",
        shown_path(&files.private),
        shown_path(&files.public),
    ));
    output.result(trust_file::new_text(&NewKey::of(key.name.clone(), key.public())))?;
    Ok(Exit::Yes)
}

/// Makes an API key. It is written to a file that only its owner may read, and kept out of all
/// output.
fn api_key(id: &str, not_after: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || id.len() > 64 || !id.chars().all(known) {
        return Err(Failure::error(format!("`{id}` cannot be the id of an API key"))
            .help("write 1 to 64 of a-z, 0-9 and `-`"));
    }
    let not_after = not_after
        .map(|text| expiry::parse(text, "no server would accept this key"))
        .transpose()?
        .map_or(String::new(), |(written, _)| format!("not-after = {written}\n"));
    let file = PathBuf::from(format!("{id}.api-key"));
    let mut random = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *random)
        .map_err(|error| Failure::error(format!("the system provides no randomness: {error}")))?;
    let secret = Zeroizing::new(BASE64_URL_SAFE_NO_PAD.encode(*random));
    let line = Zeroizing::new(format!("rk_{id}_{}\n", *secret));
    if !disk::create(&file, line.as_bytes(), Access::Owner)? {
        return Err(exists(&shown_path(&file)));
    }
    output.message(format_args!(
        "wrote `{}`: the key, for its client alone\n\nserver.toml of a server that takes this key:\n\n",
        shown_path(&file),
    ));
    let sha256 = Digest::of(secret.as_bytes()).to_string();
    output.result(format_args!(
        "[[auth.api-keys]]\nid = \"{id}\"\nsha256 = \"{}\"\nprincipal = \"{id}\"\n{not_after}",
        sha256.trim_start_matches("sha256:"),
    ))?;
    Ok(Exit::Yes)
}

fn exists(file: &str) -> Failure {
    Failure::error(format!("`{file}` already exists, and keys are never replaced"))
        .help("choose another name")
}
