//! `relay sign`: one more signature, in the bundle or apart. The digest stays as it is.

use std::path::Path;

use relay_bundle::Bundle;
use relay_bundle::envelope::{self, Envelope, EnvelopeError};

use crate::args::SignArgs;
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::keys::Key;
use crate::output::Output;
use crate::subject;

pub(crate) fn run(arguments: &SignArgs, output: &mut Output) -> Result<Exit, Failure> {
    let path = &arguments.bundle;
    let bundle = subject::open_bundle(path)?.bundle;
    // Nobody shall sign what was altered.
    bundle.check_all()?;
    let mut keys = Vec::with_capacity(arguments.key.len());
    for file in &arguments.key {
        keys.push(Key::read(file, output)?);
    }
    let envelope = signed(&bundle, &keys)?;
    let written = arguments.detached.as_ref().unwrap_or(path);
    match &arguments.detached {
        Some(file) => write_detached(file, &envelope)?,
        None => disk::replace(path, &envelope::attach(&bundle, &envelope)?)?,
    }
    for key in &keys {
        output.tell(format_args!("signed with {} `{}`\n", key.id(), key.name));
    }
    output.tell(format_args!(
        "wrote `{}` ({})\n",
        written.display(),
        crate::answer::size::counted(envelope.signatures.len(), "signature"),
    ));
    output.result(format_args!("{}\n", bundle.digest()))?;
    Ok(Exit::Yes)
}

/// Returns the bundle's envelope with the signatures of `keys` in it.
pub(crate) fn signed(bundle: &Bundle, keys: &[Key]) -> Result<Envelope, Failure> {
    let mut envelope = match Envelope::of(bundle) {
        Err(EnvelopeError::Missing) => Envelope::unsigned(bundle)?,
        envelope => envelope?,
    };
    // A signature must not be put under a statement about something else.
    envelope.statement(bundle.digest())?;
    for key in keys {
        envelope.sign(&key.signing)?;
    }
    Ok(envelope)
}

fn write_detached(file: &Path, envelope: &Envelope) -> Result<(), Failure> {
    if file.exists() && Envelope::parse(&disk::read(file)?).is_err() {
        return Err(Failure::unknown(format!(
            "`{}` exists and is not a signature envelope",
            file.display()
        ))
        .help("choose another file for --detached"));
    }
    disk::replace(file, &envelope.to_json()?)
}
