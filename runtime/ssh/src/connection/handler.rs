//! The client's answers to the requests of a server.

use std::sync::{Arc, OnceLock};

use russh::client::{ChannelOpenHandle, Handler, Msg, Session};
use russh::keys::{PublicKey, PublicKeyOrCertificate};
use russh::{Channel, ChannelOpenFailure};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;

use super::proof::Proof;

/// Checks the host key, and rejects every channel that the server opens, except those of a port that
/// was asked for.
pub(crate) struct Client {
    pub(super) check: Check,
    pub(super) forwarded: Forwarded,
    /// Ends with the task of the connection, which owns this value.
    pub(super) _gone: Option<DropGuard>,
}

/// The port at the host whose connections are accepted, and the way that they go.
#[derive(Clone, Default)]
pub(super) struct Forwarded(Arc<OnceLock<(u32, mpsc::Sender<Channel<Msg>>)>>);

impl Forwarded {
    /// Accepts connections to a port of the host from now on. False: another port is set.
    pub(super) fn accept(&self, port: u32, sender: mpsc::Sender<Channel<Msg>>) -> bool {
        self.0.set((port, sender)).is_ok()
    }
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
        channel: Channel<Msg>,
        _: &str,
        port: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        let Some((_, sender)) = self.forwarded.0.get().filter(|(asked, _)| *asked == port) else {
            return reject(reply).await;
        };
        match sender.try_reserve() {
            Ok(place) => {
                reply.accept().await;
                place.send(channel);
            }
            Err(_) => reply.reject(ChannelOpenFailure::ResourceShortage).await,
        }
        Ok(())
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
