//! The `ssh_` tools: commands on other hosts, one or many, and files.

mod answer;
mod exec;
mod fitted;
mod fleet;
mod order;
mod transfer;

pub(super) use self::exec::SshExec;
pub(super) use self::fleet::{SshCheck, SshFanout, SshHosts, SshKeyscan};
pub(super) use self::transfer::{SshDownload, SshUpload};
