//! The record of a call of tier 2 or 3 before it runs: if the server dies meanwhile, the file says
//! that the call may have run.

use std::collections::BTreeMap;

use relay_bundle::Tier;
use relay_engine::audit_record::{Action, OutputHash};

use super::call::Call;
use super::decide::Permit;
use super::error::CallError;
use crate::record::audit::{Entry, Judged};

/// The lowest tier of calls that are recorded before they run.
const TIER_MIN: Tier = Tier::Stateful;

/// Records that the call is about to run, if its tier asks for it; otherwise it may not run.
pub(super) async fn begin<'a>(
    call: &Call,
    permit: &Permit,
    args: impl FnOnce() -> BTreeMap<&'a str, String>,
    decided: Option<&(Tier, Judged)>,
) -> Result<(), CallError> {
    let Some((tier, judged)) = decided.filter(|(tier, _)| *tier >= TIER_MIN) else {
        return Ok(());
    };
    let (output, rule) = (OutputHash::default(), permit.at().to_owned());
    let mut entry = Entry::served(permit.spec().name.to_owned(), args(), output, rule);
    (entry.tier, entry.judged, entry.action) = (*tier, judged.clone(), Action::Begun);
    let bundle = call.placed.loaded.digest();
    call.server.audit.begin(&call.caller, bundle, entry).await.map_err(CallError::Failed)
}
