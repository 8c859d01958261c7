//! `relay sign`: adds a signature, in the bundle or in a detached file. The digest stays the same.

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
use crate::text::shown_path;

/// An envelope has a few lines for each signature.
const ENVELOPE_BYTES_MAX: u64 = 1024 * 1024;

pub(crate) fn run(arguments: &SignArgs, output: &mut Output) -> Result<Exit, Failure> {
    let path = &arguments.bundle;
    let bundle = subject::open_bundle(path)?.bundle;
    // Only an intact bundle may be signed.
    bundle.check_all()?;
    subject::check_derived(&bundle)?;
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
        output.message(format_args!("signed with {} `{}`\n", key.id(), key.name));
    }
    output.message(format_args!(
        "wrote `{}` ({})\n",
        shown_path(written),
        crate::answer::size::counted(envelope.signatures.len(), "signature"),
    ));
    output.result(format_args!("{}\n", bundle.digest()))?;
    Ok(Exit::Yes)
}

/// Returns the bundle's envelope with the signatures of `keys` added.
pub(crate) fn signed(bundle: &Bundle, keys: &[Key]) -> Result<Envelope, Failure> {
    let mut envelope = match Envelope::of(bundle) {
        Err(EnvelopeError::Missing) => Envelope::unsigned(bundle)?,
        envelope => envelope?,
    };
    // The signed statement must be about this bundle.
    envelope.statement(bundle.digest())?;
    for key in keys {
        envelope.sign(&key.signing)?;
    }
    Ok(envelope)
}

/// Reads a detached envelope.
pub(crate) fn read_envelope(file: &Path) -> Result<Result<Envelope, EnvelopeError>, Failure> {
    Ok(Envelope::parse(disk::read_text(file, ENVELOPE_BYTES_MAX)?.as_bytes()))
}

fn write_detached(file: &Path, envelope: &Envelope) -> Result<(), Failure> {
    // `disk::replace` fails if it exists and is anything else than a file.
    if file.is_file() && read_envelope(file)?.is_err() {
        return Err(Failure::error(format!(
            "`{}` exists and is not a signature envelope",
            shown_path(file)
        ))
        .help("choose another file for --detached"));
    }
    disk::replace(file, &envelope.to_json()?)
}
