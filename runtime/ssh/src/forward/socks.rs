//! SOCKS5 for clients of a dynamic forward (RFC 1928): CONNECT, open to all local clients.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::target::Target;

/// The longest time for the request of a client.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The connection exists.
pub(super) const CONNECTED: u8 = 0;
/// The rules of this machine forbid the target.
pub(super) const NOT_ALLOWED: u8 = 2;
/// The target is out of reach for the host.
pub(super) const REFUSED: u8 = 5;
const COMMAND_UNKNOWN: u8 = 7;
const ADDRESS_UNKNOWN: u8 = 8;

/// Returns the target that a client asks for. `None`: it speaks another protocol or asks for something
/// else, and has its answer.
pub(super) async fn requested(socket: &mut TcpStream) -> io::Result<Option<Target>> {
    timeout(REQUEST_TIME_MAX, read(socket)).await.map_err(|_| io::ErrorKind::TimedOut)?
}

/// Sends the answer to the request.
pub(super) async fn answer(socket: &mut TcpStream, code: u8) -> io::Result<()> {
    // The address of the far end stands at zero; clients ignore it.
    socket.write_all(&[VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]).await
}

async fn read(socket: &mut TcpStream) -> io::Result<Option<Target>> {
    if socket.read_u8().await? != VERSION {
        return Ok(None);
    }
    let mut methods = vec![0; usize::from(socket.read_u8().await?)];
    socket.read_exact(&mut methods).await?;
    if !methods.contains(&NO_LOGIN) {
        socket.write_all(&[VERSION, NO_METHOD]).await?;
        return Ok(None);
    }
    socket.write_all(&[VERSION, NO_LOGIN]).await?;
    let mut head = [0; 4];
    socket.read_exact(&mut head).await?;
    let [version, command, _, kind] = head;
    if version != VERSION {
        return Ok(None);
    }
    let host = match kind {
        IPV4 => Ipv4Addr::from(socket.read_u32().await?).to_string(),
        IPV6 => Ipv6Addr::from(socket.read_u128().await?).to_string(),
        NAME => {
            let mut name = vec![0; usize::from(socket.read_u8().await?)];
            socket.read_exact(&mut name).await?;
            match String::from_utf8(name).ok().filter(|name| is_name(name)) {
                Some(name) => name,
                None => return answer(socket, ADDRESS_UNKNOWN).await.map(|()| None),
            }
        }
        _ => return answer(socket, ADDRESS_UNKNOWN).await.map(|()| None),
    };
    let port = socket.read_u16().await?;
    if command != CONNECT {
        return answer(socket, COMMAND_UNKNOWN).await.map(|()| None);
    }
    Ok(Some(Target { host, port }))
}

/// Returns whether a text may be the name of a host. Others could mean different things to a rule and to
/// the host.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte))
}
