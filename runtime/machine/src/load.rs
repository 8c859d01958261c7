//! The bundle's file -> a bundle that may be served: copied, opened, checked against the trust.
//!
//! Nothing is parsed or compiled here. With a private copy of the same bundle, the cost is
//! independent of the bundle's size.

mod error;
mod whole;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use relay_bundle::Bundle;
use relay_bundle::trust::{self, PublicKey, SignatureState, Trust, TrustedKey};
use relay_engine::authority::Authority;
use relay_engine::tool::{Group, Offered};

pub use self::error::LoadError;

use self::error::named;
use crate::clock;
use crate::file::regular_file;
use crate::file::stamp::Stamp;
use crate::file::text_file;
use crate::file::toml_text;
use crate::lock::lock;
use crate::map;
use crate::state::{self, Copies, PrivateCopy, State, StateError};

/// The files that a bundle is loaded from.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The bundle.
    pub bundle: PathBuf,
    /// The trust file.
    pub trust: Option<PathBuf>,
    /// The most bytes of the bundle.
    pub bytes_max: u64,
    /// The dev key, if it may be used instead of a trust file.
    pub dev_key: Option<PathBuf>,
    /// The state folder.
    pub state: Option<PathBuf>,
    /// A folder for copies of bundles, used without a state folder. If it cannot be used, the copy is in
    /// memory.
    pub cache: Option<PathBuf>,
    /// The most bytes of a kept copy that is read rather than mapped.
    pub read_bytes_max: u64,
    /// Whether the time of the machine is remembered in the state folder: a clock that was set back
    /// then makes no expired key good again.
    pub remembers_time: bool,
    /// The groups of tools that this program was built without, and the feature of each.
    pub lacks: &'static [(Group, &'static str)],
}

impl Sources {
    /// Returns the name of an offered tool that this program was built without, and its feature.
    fn lacking(&self, tools: &[Offered]) -> Option<(&'static str, &'static str)> {
        let feature = |group| self.lacks.iter().find(|(lacked, _)| *lacked == group);
        tools.iter().find_map(|tool| Some((tool.spec.name, feature(tool.spec.group)?.1)))
    }
}

/// Opens the folder of a cache; `None` if it cannot be used.
fn cache(folder: &Path) -> Option<Copies> {
    Copies::open_cache(folder).map_err(|error| not_kept(&error)).ok()
}

fn not_kept(error: &StateError) {
    tracing::info!(
        "the next start reads the whole bundle again, as its checked copy is not kept: {error}"
    );
}

/// Loads the bundle of one path, at the start and on each reload, and remembers the highest epoch.
#[derive(Debug)]
pub struct Loader {
    sources: Sources,
    state: Option<State>,
    /// The private copies, in the state folder or in the cache.
    copies: Option<Copies>,
    /// The highest epoch of each project under a version of the trust file. If there is no state
    /// folder, it is remembered only here, until the process ends.
    epochs: Mutex<BTreeMap<(String, u64), u64>>,
}

/// A bundle that may be used: copied, checked and trusted.
#[derive(Debug)]
pub struct Opened {
    /// The bundle.
    pub bundle: Bundle,
    /// The names of the keys whose signatures counted.
    pub signers: Vec<String>,
    /// The tools that it offers.
    pub tools: Vec<Offered>,
    /// Its policy.
    pub authority: Authority,
    /// The trust that accepted it.
    pub trust: Trust,
    /// The state of its file.
    pub stamp: Stamp,
    /// The state of the trust file, if there is one.
    pub trust_stamp: Option<Stamp>,
    /// The private copy in use, if it is a file.
    pub copy: Option<PathBuf>,
}

impl Loader {
    /// Prepares loading.
    ///
    /// # Errors
    ///
    /// The state folder is unusable.
    pub fn new(sources: Sources) -> Result<Self, StateError> {
        let (state, copies) = sources.state.as_deref().map(State::open).transpose()?.unzip();
        let copies = copies.or_else(|| cache(sources.cache.as_deref()?));
        Ok(Self { sources, state, copies, epochs: Mutex::default() })
    }

    /// Returns the path of the bundle.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.sources.bundle
    }

    /// Returns the file with the trusted keys.
    #[must_use]
    pub fn trust_path(&self) -> Option<&Path> {
        self.sources.trust.as_deref().or(self.sources.dev_key.as_deref())
    }

    /// Returns whether a restart forgets the highest epoch that was served.
    #[must_use]
    pub fn forgets_epochs(&self) -> bool {
        self.sources.trust.is_some() && self.state.is_none()
    }

    /// Loads the bundle that the path leads to now.
    ///
    /// # Errors
    ///
    /// A file is unreadable, or the bundle is refused; see [`LoadError`].
    pub fn load(&self) -> Result<Opened, LoadError> {
        let path = || self.sources.bundle.clone();
        let read = |source| LoadError::Read { path: self.sources.bundle.clone(), source };
        self.refuse_project()?;
        // Before the trust file is read, so that a replacement meanwhile is seen by the next check.
        let trust_stamp = self.trust_path().and_then(Stamp::of);
        let policy = self.policy()?;
        let source = regular_file::open(&self.sources.bundle).map_err(read)?;
        let metadata = source.metadata().map_err(read)?;
        if metadata.len() > self.sources.bytes_max {
            let (bytes, bytes_max) = (metadata.len(), self.sources.bytes_max);
            return Err(LoadError::TooLarge { path: path(), bytes, bytes_max });
        }
        let (mapped, copy) = self.map(&source)?;
        let bundle = Bundle::open(Box::new(mapped))
            .map_err(|reason| LoadError::Open { path: path(), reason })?;
        let signers = self.judge(&bundle, &policy)?;
        let corrupt = |reason| LoadError::Corrupt { path: self.sources.bundle.clone(), reason };
        let tools =
            Offered::all(&bundle).map_err(|reason| LoadError::Offer { path: path(), reason })?;
        if let Some((tool, feature)) = self.sources.lacking(&tools) {
            return Err(LoadError::Feature { path: path(), tool, feature });
        }
        let authority =
            Authority::of(&bundle).map_err(|reason| LoadError::Policy { path: path(), reason })?;
        // A new copy is checked whole, since copying has read all bytes. A kept copy was checked
        // when it was made, and each of its pages is checked again when it is first used.
        let is_allowed = policy.trust.allow_digests.contains(&bundle.digest());
        let mut copy = copy;
        if is_allowed || copy.as_ref().is_none_or(PrivateCopy::is_new) {
            let parts = whole::mismatches(&bundle).map_err(corrupt)?;
            match (parts.is_empty(), is_allowed) {
                (true, _) => {}
                (false, true) => {
                    tracing::warn!(
                        "parts of the bundle do not follow from its contents: {}; it is served since the trust file names it in allow-digests",
                        named(&parts)
                    );
                    // A copy that is kept would be served again unchecked.
                    copy = None;
                }
                (false, false) => {
                    let digest = bundle.digest();
                    return Err(LoadError::Altered { path: path(), digest, parts });
                }
            }
            authority.check_facts(&bundle).map_err(corrupt)?;
        } else {
            authority.facts_were_checked();
        }
        let copy_path = copy.as_ref().map(|copy| copy.path.clone());
        // Kept only now: a copy under its final name passed every check.
        if let (Some(copies), Some(copy)) = (&self.copies, copy) {
            match copies.keep(copy) {
                Err(error) if copies.is_cache() => not_kept(&error),
                kept => kept?,
            }
        }
        self.remember_epoch(project(&bundle), &policy, bundle.epoch())?;
        Ok(Opened {
            bundle,
            signers,
            tools,
            authority,
            trust: policy.trust,
            stamp: Stamp::from(&metadata),
            trust_stamp,
            copy: copy_path,
        })
    }

    /// Fails for an input of `relay build`, before any check of trust.
    fn refuse_project(&self) -> Result<(), LoadError> {
        let what = match self.sources.bundle.extension().and_then(|ending| ending.to_str()) {
            _ if self.sources.bundle.is_dir() => "a folder",
            Some("kdl") if self.sources.bundle.is_file() => "a project",
            _ => return Ok(()),
        };
        Err(LoadError::NotBuilt { path: self.sources.bundle.clone(), what })
    }

    /// Judges a bundle in force again, by the trust file as it is now: `judge` returns whether it is
    /// revoked. If the file is missing or invalid, it is not called.
    ///
    /// # Errors
    ///
    /// The trust file is unreadable, or older than one that was in force.
    pub fn judge_again(
        &self,
        bundle: &Bundle,
        judge: impl FnOnce(&Trust) -> bool,
    ) -> Result<(), LoadError> {
        let policy = self.policy()?;
        let project = project(bundle);
        self.check_trust_version(project, policy.trust.version)?;
        if let Some(state) = &self.state {
            state.highest_epoch(project, policy.trust.version)?;
        }
        let is_revoked = judge(&policy.trust);
        // An earlier trust file may lack a revocation of this one, so its version is remembered. The
        // epoch of a revoked bundle is ignored under it.
        if lock(&self.epochs).contains_key(&(project.to_owned(), policy.trust.version)) {
            return Ok(());
        }
        self.remember_epoch(project, &policy, if is_revoked { 0 } else { bundle.epoch() })
    }

    fn map(&self, source: &File) -> Result<(map::Mapped, Option<PrivateCopy>), LoadError> {
        let read = |source| LoadError::Read { path: self.sources.bundle.clone(), source };
        let refused = |error| match error {
            StateError::Bundle(reason) => {
                LoadError::Open { path: self.sources.bundle.clone(), reason }
            }
            error => error.into(),
        };
        if let Some(copies) = &self.copies {
            match self.copied(copies, source) {
                Ok((mapped, copy)) => return Ok((mapped, Some(copy))),
                Err(error @ StateError::Copy { .. }) if copies.is_cache() => not_kept(&error),
                Err(error) => return Err(refused(error)),
            }
        }
        state::check_outline(source).map_err(refused)?;
        map::map_sealed_copy(source, self.sources.bytes_max)
            .map(|mapped| (mapped, None))
            .map_err(read)
    }

    fn copied(
        &self,
        copies: &Copies,
        source: &File,
    ) -> Result<(map::Mapped, PrivateCopy), StateError> {
        let copy = copies.private_copy(source, self.sources.bytes_max)?;
        let mapped = map::map_private(&copy.file, self.sources.read_bytes_max)
            .map_err(|source| StateError::Copy { source })?;
        Ok((mapped, copy))
    }

    /// Returns the time at which signatures are judged, in seconds since 1970.
    fn now(&self) -> Result<u64, StateError> {
        let now = clock::unix_seconds();
        match &self.state {
            Some(state) if self.sources.remembers_time => state.latest_time(now),
            _ => Ok(now),
        }
    }

    /// Returns the names of the keys whose signatures count.
    fn judge(&self, bundle: &Bundle, policy: &Policy) -> Result<Vec<String>, LoadError> {
        let Policy { trust, dev_key } = policy;
        let refused = |reason| {
            let (path, reason) = (self.sources.bundle.clone(), Box::new(reason));
            match &self.sources.trust {
                Some(trust) => LoadError::NotTrusted { path, reason, trust: trust.clone() },
                None => LoadError::NotByDevKey { path, reason },
            }
        };
        let accepted = match trust::verify(bundle, trust, self.now()?) {
            Ok(accepted) => accepted,
            Err(error) => {
                // An earlier trust file lacks this revocation.
                if error.is_revocation() {
                    self.remember_epoch(project(bundle), policy, 0)?;
                }
                return Err(refused(error));
            }
        };
        let good = accepted.signatures.into_iter().filter(|it| it.state == SignatureState::Good);
        let signers = good.map(|it| it.name.unwrap_or(it.keyid)).collect();
        // With the dev key, a developer switches between versions, so downgrades are allowed.
        if *dev_key {
            return Ok(signers);
        }
        let key = (project(bundle).to_owned(), trust.version);
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

    fn remember_epoch(&self, project: &str, policy: &Policy, epoch: u64) -> Result<(), LoadError> {
        if policy.dev_key {
            return Ok(());
        }
        if let Some(state) = &self.state {
            state.remember_epoch(project, policy.trust.version, epoch)?;
        }
        let mut epochs = lock(&self.epochs);
        let highest = epochs.entry((project.to_owned(), policy.trust.version)).or_default();
        *highest = (*highest).max(epoch);
        Ok(())
    }

    /// Refuses a trust file older than one that was in force before, even if there is no state
    /// folder: it may lack a revocation.
    fn check_trust_version(&self, project: &str, given: u64) -> Result<(), LoadError> {
        let epochs = lock(&self.epochs);
        let mut seen = epochs.keys().filter(|(known, _)| known == project);
        match seen.find(|(_, version)| *version > given) {
            Some((_, seen)) => Err(LoadError::TrustVersion { given, seen: *seen }),
            None => Ok(()),
        }
    }

    fn policy(&self) -> Result<Policy, LoadError> {
        let Some(path) = &self.sources.trust else { return self.dev_key_policy() };
        let text = text_file::read(path)
            .map_err(|source| LoadError::ReadTrust { path: path.clone(), source })?;
        let is_private = path.extension().is_some_and(|ending| ending == "key");
        if is_private || text.starts_with("ed25519:") {
            return Err(LoadError::KeyForTrust { path: path.clone(), is_private });
        }
        let invalid = |reason| LoadError::ParseTrust { path: path.clone(), reason };
        let trust: Trust = toml_text::parse(&text, &[])
            .map_err(|fault| LoadError::TrustSyntax { path: path.clone(), fault })?;
        trust.check().map_err(|error| invalid(error.to_string()))?;
        Ok(Policy { trust, dev_key: false })
    }

    fn dev_key_policy(&self) -> Result<Policy, LoadError> {
        let path = || self.sources.bundle.clone();
        let Some(key) = &self.sources.dev_key else {
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

fn project(bundle: &Bundle) -> &str {
    &bundle.manifest().project.value
}

/// The trust policy of one load.
struct Policy {
    trust: Trust,
    /// Whether the dev key is used instead of a trust file.
    dev_key: bool,
}
