//! The bundle's file -> a bundle that may be served, at the start and on each reload.

use std::path::Path;
use std::sync::Arc;

use relay_engine::tool::Group;
use relay_machine::load::{self, Sources};
use relay_machine::map::READ_BYTES_MAX;
use relay_machine::state::StateError;
use tokio::sync::Notify;

pub(crate) use relay_machine::load::LoadError;

use super::loaded::Loaded;
#[cfg(feature = "ssh")]
use crate::hosts::HostFiles;
use crate::settings::Settings;
use crate::settings::args::Transport;

/// The groups of tools that this build cannot run, and the feature of each.
const LACKS: &[(Group, &str)] = if cfg!(feature = "ssh") { &[] } else { &[(Group::Ssh, "ssh")] };

/// Loads the bundle of one path, and hears of damage to its private copy.
#[derive(Debug)]
pub(crate) struct Loader {
    loader: load::Loader,
    /// Notified when damage is found in the private copy of a loaded bundle.
    found_damage: Arc<Notify>,
    /// The files of the server that describe hosts.
    #[cfg(feature = "ssh")]
    host_files: Arc<HostFiles>,
}

impl Loader {
    pub(crate) fn new(
        settings: &Settings,
        #[cfg(feature = "ssh")] host_files: HostFiles,
    ) -> Result<Self, StateError> {
        let loader = load::Loader::new(Sources {
            bundle: settings.bundle.clone(),
            trust: settings.trust.clone(),
            bytes_max: settings.limits.bundle_bytes_max.get(),
            dev_key: settings.dev_key.clone().filter(|_| settings.is_local()),
            state: settings.state.clone(),
            cache: settings.cache.clone(),
            read_bytes_max: READ_BYTES_MAX,
            // A server whose clock was wrong once would refuse all bundles from then on.
            remembers_time: false,
            lacks: LACKS,
        })?;
        Ok(Self {
            loader,
            found_damage: Arc::default(),
            #[cfg(feature = "ssh")]
            host_files: Arc::new(host_files),
        })
    }

    /// Waits until damage was found in the private copy of a loaded bundle. The copy was removed.
    pub(crate) async fn found_damage(&self) {
        self.found_damage.notified().await;
    }

    /// Returns the path of the bundle.
    pub(crate) fn path(&self) -> &Path {
        self.loader.path()
    }

    /// Returns the file with the trusted keys.
    pub(crate) fn trust_path(&self) -> Option<&Path> {
        self.loader.trust_path()
    }

    /// Logs the state that a restart forgets.
    pub(crate) fn log_what_is_forgotten(&self, transport: Transport) {
        if !self.loader.forgets_epochs() {
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
        let loaded = Loaded::new(self.loader.load()?, self.found_damage.clone());
        #[cfg(feature = "ssh")]
        let loaded = loaded.with_hosts(&self.host_files);
        Ok(loaded)
    }

    /// Returns the files of the server that describe hosts.
    #[cfg(feature = "ssh")]
    pub(crate) fn host_files(&self) -> &HostFiles {
        &self.host_files
    }

    /// Judges a bundle in force again, by the trust file as it is now. If the file is missing or
    /// invalid, the standing stays.
    pub(crate) fn judge_again(&self, loaded: &Loaded) -> Result<(), LoadError> {
        loaded.judge_again(&self.loader)
    }
}
