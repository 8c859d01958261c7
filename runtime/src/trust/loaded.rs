//! A bundle that may be served: the parts that the server itself uses, and its trust and integrity.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::{ArcSwap, Guard};
use relay_bundle::{
    Bundle, CallerRole, Corrupt, Digest, Kind, List, Manifest, SessionSettings, ShellSettings,
    ToolEffects, Who,
};
use relay_engine::authority::Authority;
use relay_engine::tool::{Limits, Offered};
use relay_machine::clock;
use relay_machine::file::stamp::Stamp;
use relay_machine::load::{LoadError, Loader, Opened};
use relay_machine::state;
use tokio::sync::Notify;

use super::standing::Standing;
use crate::caller::rejection::Rejection;
#[cfg(feature = "ssh")]
use crate::hosts::{Fleet, HostFiles};

/// The answer to every request while the bundle in force is revoked.
pub(crate) const REVOKED: &str = "the bundle of this server was revoked: nothing is served until its operator deploys a trusted one";

/// A bundle that may be served, unchanged from here on.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Its contents are answered only through a [`View`](relay_engine::view::View): see
    /// `placed.rs`.
    pub(crate) bundle: Bundle,
    /// The names of the keys whose signatures counted when it was loaded.
    signers: Vec<String>,
    /// The tools of the bundle.
    pub(crate) tools: Vec<Offered>,
    /// The policy of the bundle.
    pub(crate) authority: Authority,
    /// The hosts that calls name.
    #[cfg(feature = "ssh")]
    fleet: Fleet,
    /// The file that was read.
    pub(crate) stamp: Stamp,
    /// The trust file that was read, if any.
    pub(crate) trust_stamp: Option<Stamp>,
    damaged: AtomicBool,
    /// The private copy in use, if it is a file.
    copy: Option<PathBuf>,
    /// Notified when damage is found.
    found_damage: Arc<Notify>,
    standing: ArcSwap<Standing>,
}

impl Loaded {
    /// Returns a bundle that was opened, which notifies `found_damage` of damage to its copy.
    pub(super) fn new(opened: Opened, found_damage: Arc<Notify>) -> Self {
        let Opened { bundle, signers, tools, authority, trust, stamp, trust_stamp, copy } = opened;
        let standing = Standing::trusted(&bundle, &trust, clock::unix_seconds());
        Self {
            bundle,
            signers,
            tools,
            authority,
            #[cfg(feature = "ssh")]
            fleet: Fleet::default(),
            stamp,
            trust_stamp,
            damaged: AtomicBool::new(false),
            copy,
            found_damage,
            standing: ArcSwap::from_pointee(standing),
        }
    }

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

    /// Returns its description for the log: project, version, epoch and signers.
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

    /// Returns the limits of calls.
    pub(crate) fn limits(&self) -> Limits {
        Limits::of(self.bundle.tool_settings())
    }

    /// Returns the folders and variables of processes.
    pub(crate) fn shell(&self) -> ShellSettings {
        self.bundle.tool_settings().map(|settings| settings.shell.clone()).unwrap_or_default()
    }

    /// Returns it with the hosts of the server's files beside those of the project.
    #[cfg(feature = "ssh")]
    pub(super) fn with_hosts(mut self, files: &Arc<HostFiles>) -> Self {
        self.fleet = Fleet::of(self.bundle.hosts(), files);
        if self.fleet.has_added() {
            self.authority.know_hosts(self.fleet.hosts());
        }
        self
    }

    /// Returns the hosts that calls name.
    #[cfg(feature = "ssh")]
    pub(crate) fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// Returns when sessions end; `None` if the project offers none.
    pub(crate) fn sessions(&self) -> Option<&SessionSettings> {
        self.bundle.tool_settings()?.sessions.as_ref()
    }

    /// Returns the role of this name.
    fn role(&self, name: &str) -> Option<&CallerRole> {
        self.bundle.roles().iter().find(|role| role.name == name)
    }

    /// Returns whether callers with a role may ask for decisions on others.
    pub(crate) fn may_ask(&self, role: Option<&str>) -> bool {
        role.and_then(|role| self.role(role)).is_some_and(CallerRole::may_ask)
    }

    /// Returns whether callers with any role may ask for decisions on others.
    pub(crate) fn has_port(&self) -> bool {
        self.bundle.roles().iter().any(CallerRole::may_ask)
    }

    /// Returns the tools of other servers that the policy declares.
    pub(crate) fn tools_of_others(&self) -> &[ToolEffects] {
        self.bundle.policy().map_or(&[], |policy| &policy.tools)
    }

    /// Returns the rows of `users` that name a user or a group for every tenant.
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

    /// Returns whether another bundle has the same list for everyone, as far as equal sections
    /// prove it.
    pub(crate) fn has_same_list(&self, other: &Self, list: List) -> bool {
        let digest = |loaded: &Self, kind| {
            let mut sections = loaded.bundle.sections().iter();
            sections.find(|section| section.kind == Some(kind)).map(|section| section.digest)
        };
        let is_one = |loaded: &Self| loaded.bundle.audiences().count() == 0;
        // Pages of all lists share one section, so this proves only equality.
        let mut kinds = [list.section(), Kind::PageBytes].into_iter();
        is_one(self) && is_one(other) && kinds.all(|kind| digest(self, kind) == digest(other, kind))
    }

    /// Returns whether it is still trusted.
    pub(crate) fn standing(&self) -> Guard<Arc<Standing>> {
        self.standing.load()
    }

    /// Judges it again, by the trust file of `loader` as it is now.
    pub(super) fn judge_again(&self, loader: &Loader) -> Result<(), LoadError> {
        loader.judge_again(&self.bundle, |trust| {
            let standing = Standing::of(&self.bundle, trust, clock::unix_seconds());
            self.standing.store(Arc::new(standing));
            self.standing().revocation().is_some()
        })
    }

    /// Rejects every request while it is revoked.
    pub(crate) fn in_force(&self) -> Result<(), Rejection> {
        match self.standing().revocation() {
            None => Ok(()),
            // The reason is for the operator.
            Some(_) => Err(Rejection::Internal(REVOKED)),
        }
    }

    /// Records that a page differs from the signed one. The server is unready until it has loaded
    /// the bundle again, from a new copy.
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

    /// Returns whether a page was found that differs from the signed one.
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
