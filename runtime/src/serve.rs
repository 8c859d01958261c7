//! The command line -> a running server: the steps of a start, in order.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use relay_engine::system_error::reason;
use rustix::process::Signal;
use thiserror::Error;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::caller::approvals::{Approvals, NoRandom};
#[cfg(feature = "ssh")]
use crate::hosts::{Account, HostFiles, HostFilesError};
use crate::http::{self, HttpError};
use crate::mcp;
use crate::record::audit::{Audit, OpenError};
use crate::record::log;
use crate::server::Server;
use crate::settings::args::{Args, Transport, UsageError};
use crate::settings::{Settings, SettingsError};
use crate::trust::keyring::{Keyring, KeyringError};
use crate::trust::load::{LoadError, Loader};
use crate::trust::named::{self, NameError};

/// The number of threads that answer over HTTP.
const HTTP_THREADS: usize = 2;

/// The cause of a failed start, or of a stop.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Names(#[from] NameError),
    #[error(transparent)]
    Audit(#[from] OpenError),
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    #[cfg(feature = "ssh")]
    #[error(transparent)]
    Hosts(#[from] HostFilesError),
    #[error(transparent)]
    Approvals(#[from] NoRandom),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("{}", reason(.0))]
    Io(#[from] io::Error),
}

impl Failure {
    /// Returns 1 if the bundle was refused, 2 otherwise.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Load(error) if error.is_refusal() => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }
}

/// Serves until standard input ends, or SIGTERM or SIGINT comes.
pub(crate) fn serve(args: Args) -> Result<(), Failure> {
    let settings = Settings::new(args)?;
    log::start(&settings, mcp::CHATTY_TARGET);
    if settings.auth.is_some() && !settings.authenticates() {
        let id = &settings.principal.id;
        tracing::warn!(
            "`auth` is not used on standard input and output: every request is of `{id}`"
        );
    }
    #[cfg(feature = "ssh")]
    let host_files = HostFiles::read(&settings.ssh, Account::of(&settings.variables))?;
    #[cfg(not(feature = "ssh"))]
    if settings.ssh != Default::default() {
        tracing::warn!("`ssh` of the settings is not used: this server is built without it");
    }
    let loader = Loader::new(
        &settings,
        #[cfg(feature = "ssh")]
        host_files,
    );
    let loader = loader.map_err(LoadError::from)?;
    let loaded = loader.load()?;
    named::check(&settings, &loaded)?;
    named::warn_of_open_rows(&settings, &loaded)?;
    let loaded = Arc::new(loaded);
    named::check_own_caller(&settings, &loaded)?;
    let audit = Audit::open(&settings.audit)?;
    let secrets = (Keyring::new(&settings)?, Approvals::new()?);
    let transport = settings.transport;
    if transport == Transport::Stdio && io::stdin().is_terminal() {
        tracing::warn!(
            "standard input is a terminal: a client writes its messages there (Ctrl+D ends it); --http 127.0.0.1:8700 serves over a network"
        );
    }
    let server = Arc::new(Server::new(settings, audit, secrets, loader, loaded));
    let ending = server.clone();
    let runtime = match transport {
        // One client sends one request after the other: a second thread would only add a hand-over.
        Transport::Stdio => runtime::Builder::new_current_thread().enable_all().build()?,
        Transport::Http(_) => runtime::Builder::new_multi_thread()
            .worker_threads(HTTP_THREADS)
            .enable_all()
            .build()?,
    };
    let done = runtime.block_on(async {
        stop_on_signal(server.clone())?;
        if server.settings.ends_with_stdin && transport != Transport::Stdio {
            stop_with_input(server.clone())?;
        }
        // A limit on the size of files (`ulimit -f`) would end the process at the first write over
        // it. With a handler, the write fails like one to a full disk.
        let _file_size = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
        let served = match transport {
            Transport::Stdio => mcp::serve_stdio(server).await.map_err(Failure::from),
            Transport::Http(address) => http::serve(server, address).await.map_err(Failure::from),
        };
        ending.calls.end(ending.settings.limits.drain_s_max.get()).await;
        ending.processes.end().await;
        ending.record_counted_refusals();
        ending.audit.end();
        served
    });
    // A blocking read of standard input, such as a terminal, may never end.
    runtime.shutdown_background();
    done
}

/// Stops the server when standard input ends: the program that held the other end of the pipe has ended, by
/// any signal. Bytes that arrive are dropped.
fn stop_with_input(server: Arc<Server>) -> io::Result<()> {
    let read = move || {
        let ended = io::copy(&mut io::stdin().lock(), &mut io::sink());
        match ended {
            Ok(_) => tracing::info!("stopping: standard input ended"),
            Err(error) => tracing::info!("stopping: standard input cannot be read: {error}"),
        }
        server.closing.cancel();
    };
    thread::Builder::new().name("input".into()).spawn(read)?;
    Ok(())
}

fn stop_on_signal(server: Arc<Server>) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping after a signal");
        server.closing.cancel();
    });
    Ok(())
}
