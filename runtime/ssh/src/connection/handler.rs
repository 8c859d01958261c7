//! The client's answers to what a server asks of it.

use std::sync::{Arc, OnceLock};

use russh::client::{ChannelOpenHandle, Handler, Msg, Session};
use russh::keys::{PublicKey, PublicKeyOrCertificate};
use russh::{Channel, ChannelOpenFailure};

use super::proof::Proof;

/// Checks the host key, and rejects every channel that the server opens.
pub(crate) struct Client {
    pub(super) check: Check,
}

/// The use of the host key.
pub(super) enum Check {
    /// It must prove the host.
    Prove(Arc<Proof>),
    /// It is noted, and the connection ends.
    Note(Arc<OnceLock<PublicKey>>),
}

/// Rejects a channel. The default of russh accepts it.
async fn reject(reply: ChannelOpenHandle) -> Result<(), russh::Error> {
    reply.reject(ChannelOpenFailure::AdministrativelyProhibited).await;
    Ok(())
}

impl Handler for Client {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        match &self.check {
            Check::Prove(proof) => Ok(proof.check(key)),
            Check::Note(found) => {
                found.get_or_init(|| key.public_key());
                Ok(false)
            }
        }
    }

    async fn server_channel_open_forwarded_tcpip(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(reply).await
    }

    async fn server_channel_open_forwarded_streamlocal(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(reply).await
    }

    async fn server_channel_open_agent_forward(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(reply).await
    }

    async fn server_channel_open_unknown(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(reply).await
    }

    async fn server_channel_open_session(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(reply).await
    }

    async fn server_channel_open_direct_tcpip(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(reply).await
    }

    async fn server_channel_open_direct_streamlocal(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(reply).await
    }

    async fn server_channel_open_x11(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(reply).await
    }
}
