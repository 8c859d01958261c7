//! The `ssh_` tools: commands and terminals on other hosts, one or many, files and forwards.

mod answer;
mod exec;
mod fitted;
mod fleet;
mod forward;
pub(crate) mod inventory;
mod many;
mod order;
mod spawn;
mod transfer;

pub(super) use self::exec::SshExec;
pub(super) use self::fleet::{SshCheck, SshFanout, SshHosts, SshKeyscan};
pub(super) use self::forward::{SshForward, SshForwardClose, SshForwardList};
pub(super) use self::spawn::SshSpawn;
pub(super) use self::transfer::{SshDownload, SshUpload};
