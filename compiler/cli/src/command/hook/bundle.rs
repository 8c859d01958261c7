//! The bundle of a machine file: whether it decides anything for the caller.

use relay_bundle::Bundle;
use relay_bundle::trust;
use relay_engine::place::{self, Identity};
use relay_hook::{MachineFile, OsUser};

use crate::environment;
use crate::failure::Failure;
use crate::subject;
use crate::trust_file;

/// The bundle of a machine file.
pub(super) struct Checked {
    /// The digest.
    pub(super) digest: String,
    /// The epoch.
    pub(super) epoch: u64,
    /// The name of the project.
    pub(super) project: String,
    /// The reason for which its signatures fall short.
    pub(super) untrusted: Option<String>,
    /// Whether it has a policy.
    pub(super) has_policy: bool,
    /// The reason for which its users leave the caller out.
    pub(super) no_place: Option<String>,
}

/// Checks the bundle of a machine file.
pub(super) fn check(file: &MachineFile, user: &OsUser) -> Result<Checked, Failure> {
    let bundle = subject::open_bundle(&file.bundle)?.bundle;
    let trust = trust_file::read(&file.trust)?;
    let verified = trust::verify(&bundle, &trust, environment::now());
    Ok(Checked {
        digest: bundle.digest().to_string(),
        epoch: bundle.epoch(),
        project: bundle.manifest().project.value.clone(),
        untrusted: verified.err().map(|error| error.to_string()),
        has_policy: bundle.policy().is_some(),
        no_place: no_place(&bundle, file, user)?,
    })
}

fn no_place(bundle: &Bundle, file: &MachineFile, user: &OsUser) -> Result<Option<String>, Failure> {
    let id = match file.principal.as_str() {
        "os-user" => match &user.name {
            Some(name) => name.as_str(),
            None => return Ok(Some("the password database has no name for this user".to_owned())),
        },
        id => id,
    };
    let identity = Identity {
        id,
        tenant: file.tenant.as_deref(),
        groups: &file.groups,
        role: file.role.as_deref(),
    };
    Ok(place::place(bundle, &identity)?.err().map(|reason| reason.to_string()))
}
