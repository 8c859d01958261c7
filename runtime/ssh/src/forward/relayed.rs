//! The bytes between a client of a forward and a channel.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::time::Duration;

use russh::ChannelStream;
use russh::client::Msg;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The longest time that a client takes nothing. The other clients of the forward wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest time that a client goes on sending after the target has ended. A target that is gone and
/// one that only listens look the same.
const LISTENING_MAX: Duration = Duration::from_secs(600);

const BLOCK_BYTES: usize = 32 * 1024;

/// Copies in both directions until both have ended. The end of one direction passes on alone.
pub(super) async fn relay(
    mut socket: TcpStream,
    stream: ChannelStream<Msg>,
    gone: impl Future<Output = ()>,
) -> io::Result<()> {
    let (mut from_here, mut to_here) = socket.split();
    let (mut from_there, mut to_there) = tokio::io::split(stream);
    let going = async {
        copy(&mut from_here, &mut to_there).await?;
        to_there.shutdown().await
    };
    let coming = async {
        let mut block = vec![0; BLOCK_BYTES];
        loop {
            let read = from_there.read(&mut block).await?;
            let Some(bytes) = block.get(..read).filter(|bytes| !bytes.is_empty()) else {
                return to_here.shutdown().await;
            };
            timeout(PATIENCE, to_here.write_all(bytes))
                .await
                .map_err(|_| io::ErrorKind::TimedOut)??;
        }
    };
    let both = async {
        let (mut going, mut coming) = (pin!(going), pin!(coming));
        tokio::select! {
            sent = &mut going => {
                sent?;
                coming.await
            }
            received = &mut coming => {
                received?;
                timeout(LISTENING_MAX, going).await.map_err(|_| io::ErrorKind::TimedOut)?
            }
        }
    };
    tokio::select! {
        both = both => both,
        // Input for a lost host would wait forever.
        () = gone => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}
