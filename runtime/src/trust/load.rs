//! The bundle's file -> a bundle that may be served: copied, opened, checked against the trust.
//!
//! Nothing is parsed or compiled here. If a private copy of the same bundle exists already, the
//! cost does not depend on the bundle's size.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::{ArcSwap, Guard};
use relay_bundle::trust::{self, PublicKey, SignatureState, Trust, TrustError, TrustedKey};
use relay_bundle::{Bundle, Corrupt, Digest, Kind, List, Manifest, OpenError, Who};
use relay_engine::derived::{self, Mismatch};
use relay_engine::tool::{Offered, UnknownTool};
use thiserror::Error;
use tokio::sync::Notify;

use super::map;
use super::standing::Standing;
use super::state::{self, PrivateCopy, State, StateError};
use crate::caller::rejection::Rejection;
use crate::clock;
use crate::file::regular_file;
use crate::file::text_file;
use crate::file::toml_text;
use crate::lock::lock;
use crate::settings::Settings;
use crate::settings::args::Transport;

/// The answer to every request while the bundle in force is revoked.
pub(crate) const REVOKED: &str = "the bundle of this server was revoked: nothing is served until its operator deploys a trusted one";

/// The most altered parts of a bundle that an error names.
const NAMED_MAX: usize = 12;

/// A bundle that may be served. It does not change.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Its contents are answered through a [`View`](relay_engine::view::View) alone: see
    /// `placed.rs`.
    pub(crate) bundle: Bundle,
    /// The names of the keys whose signatures counted when it was loaded.
    signers: Vec<String>,
    /// The tools that it offers.
    pub(crate) tools: Vec<Offered>,
    /// The file that was read.
    pub(crate) stamp: Stamp,
    /// The trust file that was read; `None` if there was none.
    pub(crate) trust_stamp: Option<Stamp>,
    damaged: AtomicBool,
    /// The private copy that it is used from, if it is a file.
    copy: Option<PathBuf>,
    /// Notified when damage is found.
    found_damage: Arc<Notify>,
    standing: ArcSwap<Standing>,
}

impl Loaded {
    /// Returns the digest of the bundle.
    pub(crate) fn digest(&self) -> Digest {
        self.bundle.digest()
    }

    /// Returns the epoch of the bundle.
    pub(crate) fn epoch(&self) -> u64 {
        self.bundle.epoch()
    }

    /// Returns the identity of the bundle.
    pub(crate) fn manifest(&self) -> &Manifest {
        self.bundle.manifest()
    }

    /// Returns what it is for the log: project, version, epoch and signers.
    pub(crate) fn described(&self) -> String {
        let manifest = self.manifest();
        let version = manifest.version.as_ref().map(|version| format!(" {}", version.value));
        let signers: Vec<String> = self.signers.iter().map(|name| format!("`{name}`")).collect();
        format!(
            "{}{}, epoch {}, signed by {}",
            manifest.project.value,
            version.unwrap_or_default(),
            self.epoch(),
            signers.join(", ")
        )
    }

    /// Returns the names of the tenants of the project.
    pub(crate) fn tenant_names(&self) -> Result<Vec<&str>, Corrupt> {
        let tenants = 0..self.bundle.tenants().count();
        tenants.map(|number| self.bundle.tenants().name(number)).collect()
    }

    /// Returns the names of the roles of the project.
    pub(crate) fn role_names(&self) -> Vec<&str> {
        self.bundle.roles().iter().map(|role| role.name.as_str()).collect()
    }

    /// Returns the rows of `users` that name a user or a group for every tenant: the kind, the name,
    /// the role and the place of each.
    pub(crate) fn rows_for_every_tenant(&self) -> Result<Vec<OpenRow>, Corrupt> {
        let rows = self.bundle.users().list()?.into_iter();
        let open = rows.filter(|row| row.tenant.is_none() && row.who != Who::Anyone);
        let roles = self.bundle.roles();
        let role = |number: u32| roles.get(number as usize).map_or("", |role| &role.name);
        Ok(open
            .map(|row| OpenRow {
                role: role(row.role).to_owned(),
                who: row.who,
                id: row.id,
                at: row.at.to_string(),
            })
            .collect())
    }

    /// Returns whether sessions are gated.
    pub(crate) fn has_gate(&self) -> bool {
        self.bundle.gate().is_some()
    }

    /// Returns whether another bundle has the same list for everyone, as far as equal sections prove
    /// it.
    pub(crate) fn has_same_list(&self, other: &Self, list: List) -> bool {
        let digest = |loaded: &Self, kind| {
            let mut sections = loaded.bundle.sections().iter();
            sections.find(|section| section.kind == Some(kind)).map(|section| section.digest)
        };
        let is_one = |loaded: &Self| loaded.bundle.audiences().count() == 0;
        // Pages of all lists share one section, so this proves equality but not difference.
        let mut kinds = [list.section(), Kind::PageBytes].into_iter();
        is_one(self) && is_one(other) && kinds.all(|kind| digest(self, kind) == digest(other, kind))
    }

    /// Returns whether it is still trusted.
    pub(crate) fn standing(&self) -> Guard<Arc<Standing>> {
        self.standing.load()
    }

    /// Rejects every request while it is revoked.
    pub(crate) fn in_force(&self) -> Result<(), Rejection> {
        match self.standing().revocation() {
            None => Ok(()),
            // The reason is for the operator.
            Some(_) => Err(Rejection::Internal(REVOKED)),
        }
    }

    /// Records that a page is not what was signed. The server is then no longer ready, until it has
    /// loaded the bundle again, from a new copy.
    pub(crate) fn note_damage(&self, damage: &Corrupt) {
        if self.damaged.swap(true, Ordering::Relaxed) {
            return;
        }
        tracing::error!("{damage}");
        if let Some(copy) = &self.copy {
            state::remove_copy(copy);
            self.found_damage.notify_one();
        }
    }

    /// Returns whether a page was found that is not what was signed.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }
}

/// A row of `users` that names a user or a group for every tenant.
#[derive(Debug)]
pub(crate) struct OpenRow {
    pub(crate) who: Who,
    pub(crate) id: String,
    pub(crate) role: String,
    pub(crate) at: String,
}

/// The state of a file, compared without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// Returns the state of the file that `path` leads to now, through links; `None` if it does not
    /// exist.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::from(&metadata))
    }

    /// Returns whether this is the same file as `other`, though perhaps with other contents.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Why a bundle is not served.
#[derive(Debug, Error)]
pub(crate) enum LoadError {
    #[error(
        "`{}` is {what}, and a bundle is served: write one with `relay build {}`, then serve the file that ends with .relay",
        path.display(),
        path.display()
    )]
    NotBuilt { path: PathBuf, what: &'static str },
    #[error("cannot read the bundle `{}`: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot read the trust file `{}`: {source}", path.display())]
    ReadTrust { path: PathBuf, source: io::Error },
    #[error("the trust file `{}` is not valid: {reason}", path.display())]
    ParseTrust { path: PathBuf, reason: String },
    #[error(
        "the trust file has version {given}, but version {seen} was in force before: put the newer trust file back, or restart the server"
    )]
    TrustVersion { given: u64, seen: u64 },
    #[error(transparent)]
    State(#[from] StateError),
    #[error("`{}` has {bytes} bytes, over the limit of {bytes_max}: split the project, or raise limits.bundle-bytes-max", path.display())]
    TooLarge { path: PathBuf, bytes: u64, bytes_max: u64 },
    #[error("refused `{}`: {reason}", path.display())]
    Open { path: PathBuf, reason: OpenError },
    #[error("refused `{}`: {reason}", path.display())]
    Corrupt { path: PathBuf, reason: Corrupt },
    #[error(
        "refused `{}`: {} not follow from its contents: {}; relay {} would write something else, so it was altered before it was signed, or another version of relay built it: build it again with this version, or, if you know why, name `{digest}` in the trust file's allow-digests",
        path.display(),
        if parts.len() == 1 { "a part of it does" } else { "parts of it do" },
        named(parts),
        env!("CARGO_PKG_VERSION")
    )]
    Altered { path: PathBuf, digest: Digest, parts: Vec<Mismatch> },
    #[error("refused `{}`: {reason}", path.display())]
    Offer { path: PathBuf, reason: UnknownTool },
    #[error("refused `{}`: {reason}{}", path.display(), dev_key_hint(*dev_key))]
    NotTrusted { path: PathBuf, reason: Box<TrustError>, dev_key: bool },
    #[error(
        "refused `{}`: no trust file says whose signatures count; name one with --trust (`relay keygen` prints the lines for it)",
        path.display()
    )]
    NoTrust { path: PathBuf },
    #[error(
        "refused `{}`: without a trust file only this user's dev key counts, and `{}` does not hold one: create it with `relay build` without a key, or name a trust file with --trust",
        path.display(),
        key.display()
    )]
    NoDevKey { path: PathBuf, key: PathBuf },
}

impl LoadError {
    /// Returns whether the bundle was checked and refused, rather than not read at all.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::NotBuilt { .. }
            | Self::Read { .. }
            | Self::ReadTrust { .. }
            | Self::ParseTrust { .. } => false,
            Self::State(StateError::Bundle(_) | StateError::TrustVersion { .. }) => true,
            Self::State(_) => false,
            Self::TrustVersion { .. } => true,
            Self::TooLarge { .. }
            | Self::Open { .. }
            | Self::Corrupt { .. }
            | Self::Altered { .. }
            | Self::Offer { .. }
            | Self::NotTrusted { .. }
            | Self::NoTrust { .. }
            | Self::NoDevKey { .. } => true,
        }
    }
}

/// Returns parts of a bundle in words.
fn named(parts: &[Mismatch]) -> String {
    let first: Vec<_> = parts.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    match parts.len().saturating_sub(NAMED_MAX) {
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
}

fn dev_key_hint(dev_key: bool) -> &'static str {
    if dev_key { "; no trust file is given, so only this user's dev key counts" } else { "" }
}

/// Loads the bundle of one path, at the start and on each reload, and remembers the highest epoch.
#[derive(Debug)]
pub(crate) struct Loader {
    path: PathBuf,
    trust: Option<PathBuf>,
    bytes_max: u64,
    /// The dev key, if it may be used instead of a trust file.
    dev_key: Option<PathBuf>,
    state: Option<State>,
    /// The highest epoch of each project under a version of the trust file. Without a state folder,
    /// it is remembered only here, until the process ends.
    epochs: Mutex<BTreeMap<(String, u64), u64>>,
    /// Notified when damage is found in the private copy of a loaded bundle.
    found_damage: Arc<Notify>,
}

impl Loader {
    pub(crate) fn new(settings: &Settings) -> Result<Self, StateError> {
        Ok(Self {
            path: settings.bundle.clone(),
            trust: settings.trust.clone(),
            bytes_max: settings.limits.bundle_bytes_max.get(),
            dev_key: settings.dev_key.clone().filter(|_| settings.is_local()),
            state: settings.state.as_deref().map(State::open).transpose()?,
            epochs: Mutex::default(),
            found_damage: Arc::default(),
        })
    }

    /// Waits until damage was found in the private copy of a loaded bundle. The copy was removed.
    pub(crate) async fn found_damage(&self) {
        self.found_damage.notified().await;
    }

    /// Returns the path that is loaded.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file that says whose signatures count.
    pub(crate) fn trust_path(&self) -> Option<&Path> {
        self.trust.as_deref().or(self.dev_key.as_deref())
    }

    /// Logs what a restart forgets.
    pub(crate) fn log_what_is_forgotten(&self, transport: Transport) {
        if self.trust.is_none() || self.state.is_some() {
            return;
        }
        let text = "no state folder is configured (--state): after a restart, a bundle older than the newest one served, and an older trust file, are accepted";
        match transport {
            Transport::Stdio => tracing::info!("{text}"),
            Transport::Http(_) => tracing::warn!("{text}"),
        }
    }

    /// Loads the bundle that the path leads to now.
    pub(crate) fn load(&self) -> Result<Loaded, LoadError> {
        let path = || self.path.clone();
        let read = |source| LoadError::Read { path: self.path.clone(), source };
        self.refuse_project()?;
        let trust_stamp = self.trust_path().and_then(Stamp::of);
        let policy = self.policy()?;
        let source = regular_file::open(&self.path).map_err(read)?;
        let metadata = source.metadata().map_err(read)?;
        if metadata.len() > self.bytes_max {
            let (bytes, bytes_max) = (metadata.len(), self.bytes_max);
            return Err(LoadError::TooLarge { path: path(), bytes, bytes_max });
        }
        let (mapped, copy) = self.map(&source)?;
        let bundle = Bundle::open(Box::new(mapped))
            .map_err(|reason| LoadError::Open { path: path(), reason })?;
        let signers = self.judge(&bundle, &policy)?;
        let corrupt = |reason| LoadError::Corrupt { path: self.path.clone(), reason };
        let tools =
            Offered::all(&bundle).map_err(|reason| LoadError::Offer { path: path(), reason })?;
        // A new copy is checked whole, since copying has read all bytes. A kept copy was checked
        // when it was made, and each of its pages is checked again when it is first used.
        let is_allowed = policy.trust.allow_digests.contains(&bundle.digest());
        let mut copy = copy;
        if is_allowed || copy.as_ref().is_none_or(PrivateCopy::is_new) {
            bundle.check_all().map_err(corrupt)?;
            let parts = derived::mismatches(&bundle).map_err(corrupt)?;
            match (parts.is_empty(), is_allowed) {
                (true, _) => {}
                (false, true) => {
                    tracing::warn!(
                        "parts of the bundle do not follow from its contents: {}; it is served since the trust file names it in allow-digests",
                        named(&parts)
                    );
                    // A copy that is kept is served again without this check.
                    copy = None;
                }
                (false, false) => {
                    let digest = bundle.digest();
                    return Err(LoadError::Altered { path: path(), digest, parts });
                }
            }
        }
        let standing = Standing::trusted(&bundle, &policy.trust, clock::unix_seconds());
        let copy_path = copy.as_ref().map(|copy| copy.path.clone());
        if let (Some(state), Some(copy)) = (&self.state, copy) {
            state.keep(copy)?;
        }
        self.remember(&bundle, &policy)?;
        let stamp = Stamp::from(&metadata);
        Ok(Loaded {
            bundle,
            signers,
            tools,
            stamp,
            trust_stamp,
            damaged: AtomicBool::new(false),
            copy: copy_path,
            found_damage: self.found_damage.clone(),
            standing: ArcSwap::from_pointee(standing),
        })
    }

    /// Fails for what `relay build` takes: whose signatures count is not yet the question.
    fn refuse_project(&self) -> Result<(), LoadError> {
        let what = match self.path.extension().and_then(|ending| ending.to_str()) {
            _ if self.path.is_dir() => "a folder",
            Some("kdl") if self.path.is_file() => "a project",
            _ => return Ok(()),
        };
        Err(LoadError::NotBuilt { path: self.path.clone(), what })
    }

    /// Judges a bundle in force again, by the trust file as it is now. If the file cannot be used,
    /// the standing does not change.
    pub(crate) fn judge_again(&self, loaded: &Loaded) -> Result<(), LoadError> {
        let policy = self.policy()?;
        let project = self.project(&loaded.bundle);
        self.check_trust_version(&project, policy.trust.version)?;
        if let Some(state) = &self.state {
            state.highest_epoch(&project, policy.trust.version)?;
        }
        let standing = Standing::of(&loaded.bundle, &policy.trust, clock::unix_seconds());
        let is_revoked = standing.revocation().is_some();
        loaded.standing.store(Arc::new(standing));
        // An earlier trust file may lack what this one revokes.
        self.remember_version(&loaded.bundle, &policy, is_revoked)
    }

    fn map(&self, source: &File) -> Result<(map::Mapped, Option<PrivateCopy>), LoadError> {
        let read = |source| LoadError::Read { path: self.path.clone(), source };
        let refused = |error| match error {
            StateError::Bundle(reason) => LoadError::Open { path: self.path.clone(), reason },
            error => error.into(),
        };
        let Some(state) = &self.state else {
            state::check_outline(source).map_err(refused)?;
            return map::map_sealed_copy(source, self.bytes_max)
                .map(|mapped| (mapped, None))
                .map_err(read);
        };
        let copy = state.private_copy(source, self.bytes_max).map_err(refused)?;
        let mapped = map::map_private(&copy.file).map_err(|source| StateError::Copy { source })?;
        Ok((mapped, Some(copy)))
    }

    /// Returns the names of the keys whose signatures count.
    fn judge(&self, bundle: &Bundle, policy: &Policy) -> Result<Vec<String>, LoadError> {
        let Policy { trust, dev_key } = policy;
        let refused = |reason| LoadError::NotTrusted {
            path: self.path.clone(),
            reason: Box::new(reason),
            dev_key: *dev_key,
        };
        let accepted = trust::verify(bundle, trust, clock::unix_seconds()).map_err(refused)?;
        let good = accepted.signatures.into_iter().filter(|it| it.state == SignatureState::Good);
        let signers = good.map(|it| it.name.unwrap_or(it.keyid)).collect();
        // With the dev key, a developer switches between versions, so downgrades are allowed.
        if *dev_key {
            return Ok(signers);
        }
        let key = (self.project(bundle), trust.version);
        self.check_trust_version(&key.0, key.1)?;
        let known = lock(&self.epochs).get(&key).copied();
        let stored = match &self.state {
            Some(state) => state.highest_epoch(&key.0, trust.version)?,
            None => 0,
        };
        let seen = stored.max(known.unwrap_or(0));
        trust::check_downgrade(bundle, trust, seen).map_err(refused)?;
        Ok(signers)
    }

    fn remember(&self, bundle: &Bundle, policy: &Policy) -> Result<(), LoadError> {
        self.remember_epoch(bundle, policy, bundle.epoch())
    }

    /// Remembers that this version of the trust file was in force. The epoch of a revoked bundle
    /// does not count under it.
    fn remember_version(
        &self,
        bundle: &Bundle,
        policy: &Policy,
        is_revoked: bool,
    ) -> Result<(), LoadError> {
        let key = (self.project(bundle), policy.trust.version);
        if lock(&self.epochs).contains_key(&key) {
            return Ok(());
        }
        self.remember_epoch(bundle, policy, if is_revoked { 0 } else { bundle.epoch() })
    }

    fn remember_epoch(
        &self,
        bundle: &Bundle,
        policy: &Policy,
        epoch: u64,
    ) -> Result<(), LoadError> {
        if policy.dev_key {
            return Ok(());
        }
        let project = self.project(bundle);
        if let Some(state) = &self.state {
            state.remember_epoch(&project, policy.trust.version, epoch)?;
        }
        let mut epochs = lock(&self.epochs);
        let highest = epochs.entry((project, policy.trust.version)).or_default();
        *highest = (*highest).max(epoch);
        Ok(())
    }

    /// Refuses a trust file that is older than one that was in force before, with or without a state
    /// folder: it may lack a revocation.
    fn check_trust_version(&self, project: &str, given: u64) -> Result<(), LoadError> {
        let epochs = lock(&self.epochs);
        let mut seen = epochs.keys().filter(|(known, _)| known == project);
        match seen.find(|(_, version)| *version > given) {
            Some((_, seen)) => Err(LoadError::TrustVersion { given, seen: *seen }),
            None => Ok(()),
        }
    }

    fn project(&self, bundle: &Bundle) -> String {
        bundle.manifest().project.value.clone()
    }

    fn policy(&self) -> Result<Policy, LoadError> {
        let Some(path) = &self.trust else { return self.dev_key_policy() };
        let text = text_file::read(path)
            .map_err(|source| LoadError::ReadTrust { path: path.clone(), source })?;
        let invalid = |reason| LoadError::ParseTrust { path: path.clone(), reason };
        let trust: Trust = toml_text::parse(&text).map_err(invalid)?;
        trust.check().map_err(|error| invalid(error.to_string()))?;
        Ok(Policy { trust, dev_key: false })
    }

    fn dev_key_policy(&self) -> Result<Policy, LoadError> {
        let path = || self.path.clone();
        let Some(key) = &self.dev_key else {
            return Err(LoadError::NoTrust { path: path() });
        };
        let public = text_file::read(key)
            .ok()
            .and_then(|text| PublicKey::parse(text.split_whitespace().next()?))
            .ok_or_else(|| LoadError::NoDevKey { path: path(), key: key.clone() })?;
        let trusted = TrustedKey {
            name: "dev key".to_owned(),
            id: None,
            public,
            roles: Default::default(),
            not_before: None,
            not_after: None,
        };
        let trust = Trust {
            version: 0,
            project: None,
            threshold: 1,
            require: Default::default(),
            min_epoch: 0,
            keys: vec![trusted],
            revoked: Default::default(),
            allow_digests: Default::default(),
        };
        Ok(Policy { trust, dev_key: true })
    }
}

/// The trust policy of one load.
struct Policy {
    trust: Trust,
    /// Whether the dev key is used instead of a trust file.
    dev_key: bool,
}
