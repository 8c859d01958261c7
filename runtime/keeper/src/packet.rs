//! Packets on the socket between server and keeper: bytes, and the descriptors that come with them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
    sendmsg, socketpair,
};

/// The most bytes of a packet.
pub(crate) const PACKET_BYTES_MAX: usize = 64 << 10;

/// The most descriptors of a packet: three streams and a body.
pub(crate) const DESCRIPTORS_MAX: usize = 4;

/// A received packet. Descriptors that exceed the process's own limit are missing.
#[derive(Debug)]
pub(crate) struct Packet<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) descriptors: Vec<OwnedFd>,
}

/// Returns two ends of a socket that keeps the borders of packets. Both ends are non-blocking.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Sends one packet; `WouldBlock` if the socket is full.
pub(crate) fn send(
    socket: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !attached.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(socket, &[IoSlice::new(bytes)], &mut attached, flags)?;
    Ok(())
}

/// Receives one packet into `buffer`; `None` when the other side is gone, `WouldBlock` if nothing is
/// there.
pub(crate) fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Option<Packet<'_>>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = match recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut attached, flags) {
        // The other side was gone before it read everything.
        Err(Errno::CONNRESET) => return Ok(None),
        received => received?,
    };
    let rights = attached.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let descriptors = rights.flatten().collect();
    if received.flags.contains(ReturnFlags::TRUNC) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let bytes = buffer.get(..received.bytes).unwrap_or_default();
    // Every message has at least one byte.
    Ok((!bytes.is_empty()).then_some(Packet { bytes, descriptors }))
}
