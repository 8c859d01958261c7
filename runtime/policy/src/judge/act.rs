//! The tier of each named action.

use crate::effect::Act;
use crate::tier::Tier;

pub(super) const fn tier(act: Act) -> Tier {
    match act {
        Act::OpensConnection | Act::RunsPinned => Tier::Reversible,
        Act::NamesOption
        | Act::DropsFileChanges
        | Act::CallsActing
        | Act::WritesSelected
        | Act::SetsDatabase
        | Act::AddsOrChangesRows
        | Act::ChangesSchema
        | Act::ChangesRows
        | Act::RunsServerProgram
        | Act::AddsRows
        | Act::WritesServerFile
        | Act::RunsCommand
        | Act::SetsServer
        | Act::EndsTransaction
        | Act::EmptiesDatabase
        | Act::WritesUnknownFile
        | Act::RemovesFile
        | Act::ChangesPeer => Tier::Stateful,
        Act::StartsItself
        | Act::GivesShell
        | Act::RewritesHistory
        | Act::DeletesRemote
        | Act::DropsChanges
        | Act::EndsEveryProcess
        | Act::EndsFirstProcess
        | Act::EndsHiddenProcesses
        | Act::HidesMode
        | Act::GivesRights
        | Act::DropsData
        | Act::ChangesAllRows
        | Act::RunsHiddenServerProgram
        | Act::ReplacesDatabase
        | Act::DeletesForGood
        | Act::IsAboutAll
        | Act::RemovesFiles
        | Act::DeletesAtPeer => Tier::Irreversible,
    }
}
