//! `relay keygen`: a new signing key, and the trust file that accepts it.

use crate::args::KeygenArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::keys::{self, Key, KeyFiles};
use crate::output::Output;

pub(crate) fn run(arguments: &KeygenArgs, output: &mut Output) -> Result<Exit, Failure> {
    let name = &arguments.output;
    let files = KeyFiles::named(name);
    let there = [&files.private, &files.public].into_iter().find(|file| file.exists());
    if let Some(file) = there {
        return Err(exists(&file.display().to_string()));
    }
    // The name keeps its dots: `-o release.v2` makes `release.v2.key`.
    let key = Key::generate(&keys::name_of(&files.private))?;
    if !key.write(&files)? {
        return Err(exists(&format!("{}.key` or `{}.pub", name.display(), name.display())));
    }
    output.message(format_args!(
        "wrote `{}` (keep it secret) and `{}`\n\ntrust.toml of a server that trusts this key:\n\n",
        files.private.display(),
        files.public.display(),
    ));
    output.result(trust_file(&key))?;
    Ok(Exit::Yes)
}

fn trust_file(key: &Key) -> String {
    // A JSON string is also a TOML string.
    format!(
        "version = 1      # increase it with each change of this file\n\
         threshold = 1    # the number of keys that must have signed\n\
         # project = \"NAME\"    # accept only bundles of this project\n\
         \n\
         [[keys]]\n\
         name = {}\n\
         id = \"{}\"\n\
         public = \"{}\"\n",
        serde_json::Value::from(key.name.as_str()),
        key.id(),
        key.public(),
    )
}

fn exists(file: &str) -> Failure {
    Failure::error(format!("`{file}` already exists, and keys are never replaced"))
        .help("choose another name with -o NAME")
}
