//! `relay verify`: checks that the bundle is intact and signed by keys of the trust file.

use std::path::Path;

use relay_bundle::envelope::{self, Envelope, EnvelopeError};
use relay_bundle::trust::{self, Accepted, SignatureReport, SignatureState, Trust, TrustError};
use relay_bundle::{Bundle, Corrupt, OpenError};
use relay_diff::{Signers, named};
use relay_engine::derived;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::size::counted;
use crate::args::{AnswerFormat, VerifyArgs};
use crate::command::sign;
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, bold, good};
use crate::shell;
use crate::shipped;
use crate::subject;
use crate::text::{printable, shown_path};
use crate::trust_file;

/// The output of `relay verify --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Verified {
    /// The version of this JSON format.
    format_version: u32,
    /// Whether a server with this trust file would serve the bundle.
    trusted: bool,
    /// Why it would not.
    reason: Option<String>,
    /// The bundle's digest, if it could be opened.
    digest: Option<String>,
    /// The bundle's epoch.
    epoch: Option<u64>,
    /// The project's name.
    project: Option<String>,
    /// The project's version.
    version: Option<String>,
    /// The number of keys that must have signed.
    threshold: u32,
    /// The signatures and whether they count.
    signatures: Vec<Signature>,
}

/// A signature and whether it counts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Signature {
    /// The id of the key that it names.
    pub(crate) keyid: String,
    /// The name of the key in the trust file.
    pub(crate) name: Option<String>,
    /// `good`, or the reason for ignoring it; `not checked` if there is no trust file.
    pub(crate) state: String,
}

/// The reason for distrusting a bundle.
enum Distrust {
    Open(OpenError),
    Untrusted(TrustError),
    Corrupt(Corrupt, Accepted),
    /// Some parts contradict the contents; in words.
    Altered(String, Accepted),
}

pub(crate) fn run(arguments: &VerifyArgs, output: &mut Output) -> Result<Exit, Failure> {
    let trust = trust_file::read(&arguments.trust)?;
    let path = &arguments.bundle;
    let answer = match subject::open_to_verify(path)? {
        Err(error) => answer(None, &trust, Err(Distrust::Open(error)), arguments),
        Ok(subject) => {
            let bundle = with_detached(subject.bundle, &arguments.signature)?;
            let checked = check(&bundle, &trust, arguments.deep, output);
            answer(Some(&bundle), &trust, checked, arguments)
        }
    };
    if arguments.format.chosen() == AnswerFormat::Json {
        output.json(&answer)?;
    } else {
        output.result(render(&answer, path))?;
    }
    Ok(if answer.trusted { Exit::Yes } else { Exit::No })
}

/// Returns the signatures of a bundle and whether they count under `trust`.
pub(crate) fn signatures(bundle: &Bundle, trust: &Trust) -> Vec<Signature> {
    reported(bundle, &trust::verify(bundle, trust, environment::now()))
}

/// Returns the signatures that count under `trust`, and whether they suffice.
pub(crate) fn signers(bundle: &Bundle, trust: &Trust) -> Signers {
    let verified = trust::verify(bundle, trust, environment::now());
    let good = SignatureState::Good.to_string();
    let counted = reported(bundle, &verified).into_iter().filter(|one| one.state == good);
    let good = counted.map(|one| one.name.unwrap_or(one.keyid)).collect();
    Signers { good, trusted: verified.is_ok() }
}

/// Returns the signatures of a bundle, unchecked.
pub(crate) fn unchecked_signatures(bundle: &Bundle) -> Vec<Signature> {
    let envelope = Envelope::of(bundle).map(|envelope| envelope.signatures).unwrap_or_default();
    let unchecked = |signature: envelope::Signature| Signature {
        keyid: signature.keyid,
        name: None,
        state: "not checked".into(),
    };
    envelope.into_iter().map(unchecked).collect()
}

/// Makes the checks of a server; `deep` also generates texts and facts again.
fn check(
    bundle: &Bundle,
    trust: &Trust,
    deep: bool,
    output: &mut Output,
) -> Result<Accepted, Distrust> {
    let accepted = trust::verify(bundle, trust, environment::now()).map_err(Distrust::Untrusted)?;
    let made_again = || match deep {
        true => relay_compiler::mismatches(bundle, shipped::facts()),
        false => derived::mismatches(bundle),
    };
    let parts = bundle.check_all().and_then(|()| made_again());
    match parts.map(|parts| named(&parts)) {
        Ok(Some(parts)) if trust.allow_digests.contains(&bundle.digest()) => {
            let parts = printable(&parts);
            output.warn(
                &format!("parts of the bundle do not follow from its contents: {parts}"),
                "it counts as trusted since the trust file names its digest in `allow-digests`",
            );
            Ok(accepted)
        }
        Ok(None) => Ok(accepted),
        Ok(Some(parts)) => Err(Distrust::Altered(parts, accepted)),
        Err(error) => Err(Distrust::Corrupt(error, accepted)),
    }
}

/// Returns the bundle with the signatures of detached envelopes added to its own.
fn with_detached(bundle: Bundle, files: &[impl AsRef<Path>]) -> Result<Bundle, Failure> {
    if files.is_empty() {
        return Ok(bundle);
    }
    let mut envelope = match Envelope::of(&bundle) {
        Err(EnvelopeError::Missing) => Envelope::unsigned(&bundle)?,
        envelope => envelope?,
    };
    for file in files {
        let file = file.as_ref();
        let uncountable = |reason: String| {
            Failure::no(format!("cannot count the signatures in `{}`: {reason}", shown_path(file)))
        };
        let detached =
            sign::read_envelope(file)?.map_err(|error| uncountable(error.to_string()))?;
        detached.statement(bundle.digest()).map_err(|error| uncountable(error.to_string()))?;
        if detached.payload != envelope.payload {
            return Err(uncountable("they sign another statement about this bundle".into())
                .help("sign this bundle again with `relay sign --detached`"));
        }
        let new = detached.signatures.into_iter();
        let new: Vec<_> = new.filter(|one| !envelope.signatures.contains(one)).collect();
        envelope.signatures.extend(new);
    }
    Ok(subject::in_memory(envelope::attach(&bundle, &envelope)?)?.bundle)
}

fn answer(
    bundle: Option<&Bundle>,
    trust: &Trust,
    checked: Result<Accepted, Distrust>,
    arguments: &VerifyArgs,
) -> Verified {
    let manifest = bundle.map(Bundle::manifest);
    let reason = match &checked {
        Ok(_) => None,
        Err(Distrust::Open(error)) => Some(error.to_string()),
        Err(Distrust::Untrusted(error)) => Some(short_reason(error, arguments)),
        Err(Distrust::Corrupt(error, _)) => Some(error.to_string()),
        Err(Distrust::Altered(parts, _)) => Some(format!(
            "parts of it do not follow from its contents: {parts}; it was altered before it was \
             signed, or another version of relay built it"
        )),
    };
    let signatures = match (bundle, checked) {
        (None, _) => Vec::new(),
        (
            Some(bundle),
            Ok(accepted) | Err(Distrust::Corrupt(_, accepted) | Distrust::Altered(_, accepted)),
        ) => reported(bundle, &Ok(accepted)),
        (Some(bundle), Err(Distrust::Untrusted(error))) => reported(bundle, &Err(error)),
        (Some(bundle), Err(Distrust::Open(_))) => unchecked_signatures(bundle),
    };
    Verified {
        format_version: FORMAT_VERSION,
        trusted: reason.is_none(),
        reason,
        digest: bundle.map(|bundle| bundle.digest().to_string()),
        epoch: bundle.map(Bundle::epoch),
        version: manifest.and_then(|it| it.version.as_ref()).map(|version| version.value.clone()),
        project: manifest.map(|manifest| manifest.project.value.clone()),
        threshold: trust.threshold,
        signatures,
    }
}

/// Returns the reason alone; the list of signatures is printed separately.
fn short_reason(error: &TrustError, arguments: &VerifyArgs) -> String {
    let [bundle, file] = [&arguments.bundle, &arguments.trust]
        .map(|path| printable(&shell::word(&path.to_string_lossy())));
    match error {
        TrustError::BelowThreshold { good, needed, signatures: _ } => format!(
            "{good} of {needed} signatures that the trust file requires: {}",
            trust::sign_or_trust(&bundle, &file)
        ),
        TrustError::MissingRole { role, good, needed, signatures: _ } => format!(
            "{good} of {needed} signatures with role `{role}` that the trust file requires: sign \
             the bundle with one more such key"
        ),
        other => other.to_string(),
    }
}

fn reported(bundle: &Bundle, checked: &Result<Accepted, TrustError>) -> Vec<Signature> {
    let signatures = match checked {
        Ok(Accepted { signatures })
        | Err(
            TrustError::BelowThreshold { signatures, .. }
            | TrustError::MissingRole { signatures, .. },
        ) => signatures,
        Err(_) => return unchecked_signatures(bundle),
    };
    let one = |report: &SignatureReport| Signature {
        keyid: report.keyid.clone(),
        name: report.name.clone(),
        state: report.state.to_string(),
    };
    signatures.iter().map(one).collect()
}

fn render(answer: &Verified, path: &Path) -> String {
    let mut text = match &answer.reason {
        None => format!("{} {}\n", good("trusted"), bold(shown_path(path))),
        Some(reason) => {
            format!("{} {}\n  {}\n", bad("not trusted"), bold(shown_path(path)), printable(reason))
        }
    };
    let Some(digest) = &answer.digest else { return text };
    let project = answer.project.as_deref().unwrap_or("cannot be read");
    let version = answer.version.as_deref().unwrap_or_default();
    text.push_str(&format!("  project   {}\n", printable(format!("{project} {version}").trim())));
    text.push_str(&format!("  digest    {digest}\n"));
    text.push_str(&format!("  epoch     {}\n", answer.epoch.unwrap_or(0)));
    let required = format!("{} required", answer.threshold);
    text.push_str(&format!(
        "  signed by {} ({required})\n",
        counted(answer.signatures.len(), "signature")
    ));
    let is_good = SignatureState::Good.to_string();
    for Signature { keyid, name, state } in &answer.signatures {
        let name = name.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
        let state =
            if *state == is_good { good(state).to_string() } else { bad(state).to_string() };
        text.push_str(&format!("    {}: {state}\n", printable(&format!("{keyid}{name}"))));
    }
    text
}
