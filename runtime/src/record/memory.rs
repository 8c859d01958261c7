//! The memory of a legacy client's session, so that clients that drop the handle still work.

use std::sync::Mutex;

use relay_bundle::Digest;
use relay_engine::sent::Sent;
use relay_machine::lock::lock;

use super::sent_texts::SentTexts;
use crate::trust::loaded::Loaded;

/// The memory of one session.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    briefing: Mutex<Option<Remembered>>,
    sent_texts: SentTexts,
}

/// The prompts that were sent, and their bundle: another bundle gives the same prompts other
/// indexes.
#[derive(Debug)]
struct Remembered {
    bundle: Digest,
    sent: Sent,
}

/// The briefing that a session remembers.
#[derive(Debug)]
pub(crate) enum Recalled {
    /// It had a briefing, with these prompts.
    Briefed(Sent),
    /// It had a briefing from another bundle.
    Outdated,
    /// It has still to be briefed.
    Nothing,
}

impl Memory {
    /// Returns the texts of skills that the session was sent.
    pub(crate) fn sent_texts(&self) -> &SentTexts {
        &self.sent_texts
    }

    /// Returns whether the session had a briefing from this bundle.
    pub(crate) fn is_briefed(&self, loaded: &Loaded) -> bool {
        matches!(self.recall(loaded), Recalled::Briefed(_))
    }

    pub(crate) fn recall(&self, loaded: &Loaded) -> Recalled {
        match &*lock(&self.briefing) {
            None => Recalled::Nothing,
            Some(briefed) if briefed.bundle == loaded.digest() => {
                Recalled::Briefed(briefed.sent.clone())
            }
            Some(_) => Recalled::Outdated,
        }
    }

    pub(crate) fn remember(&self, loaded: &Loaded, sent: Sent) {
        *lock(&self.briefing) = Some(Remembered { bundle: loaded.digest(), sent });
    }
}
