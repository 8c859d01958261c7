//! Ends of children, as the kernel reports them to their parent.

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};

use crate::job::Ended;

/// Returns how a child ended; `None` while it runs. It stays a zombie.
pub(super) fn ended(leader: Pid) -> Option<Ended> {
    let status = wait(WaitId::Pid(leader), WaitIdOptions::NOWAIT).ok()??;
    let code = status.exit_status().map(Ended::Code);
    code.or_else(|| status.terminating_signal().map(Ended::Signal))
}

/// Takes a zombie away; leaves a running child as it is.
pub(super) fn reap(child: Pid) {
    let _ = wait(WaitId::Pid(child), WaitIdOptions::empty());
}

/// Takes all zombies away; returns whether any child is left.
pub(super) fn reap_all() -> bool {
    loop {
        match wait(WaitId::All, WaitIdOptions::empty()) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

fn wait(id: WaitId<'_>, options: WaitIdOptions) -> Result<Option<WaitIdStatus>, Errno> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | options;
    rustix::io::retry_on_intr(|| waitid(id.clone(), options))
}
