//! How many processes run at once: a limit for each caller, and one for all.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::caller::principal::CallerKey;
use crate::caller::slots::{Slot, Slots};
use crate::settings::config::Processes as Settings;

/// The longest wait for a place.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// The places of processes.
#[derive(Debug)]
pub(super) struct Places {
    of_callers: Slots<CallerKey>,
    of_all: Arc<Semaphore>,
}

/// The place of one process, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _of_caller: Slot<CallerKey>,
    _of_all: OwnedSemaphorePermit,
}

/// No place became free in time. The texts are for the caller.
#[derive(Debug, Error)]
pub(crate) enum Busy {
    #[error("busy: {max} of your commands run already; wait for one to end, then call again")]
    Caller { max: usize },
    #[error("busy: this server runs as many commands as it may; call again later")]
    All,
}

impl Places {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            of_callers: Slots::new(settings.principal_running_max.get()),
            of_all: Arc::new(Semaphore::new(settings.running_max.get())),
        }
    }

    pub(super) async fn take(&self, caller: CallerKey) -> Result<Place, Busy> {
        let until = Instant::now() + WAIT_MAX;
        let of_caller = self.of_callers.take_until(caller, until).await;
        let of_caller = of_caller.ok_or(Busy::Caller { max: self.of_callers.each_max() })?;
        // The semaphore serves in the order of arrival, so one caller has at most its own places in it.
        match timeout_at(until, self.of_all.clone().acquire_owned()).await {
            Ok(Ok(of_all)) => Ok(Place { _of_caller: of_caller, _of_all: of_all }),
            Ok(Err(_)) | Err(_) => Err(Busy::All),
        }
    }
}
