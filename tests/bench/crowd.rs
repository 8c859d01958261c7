//! One address that floods a server, and how the others fare.

use std::io::{BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use crate::figures::number::quantile;
use crate::figures::{Figure, Report, of};
use crate::{Result, Setting, cost, http};

pub(crate) const FIGURES: &[Figure] = &[FLOOD];

const FLOOD: Figure = Figure {
    id: "crowd/flood",
    work: "`prompts/get` while 1,200 connections of another address send and never read",
    parts: &[
        of("p50", "ms").at_most(100.0),
        of("p99", "ms").at_most(100.0),
        of("longest", "ms").at_most(100.0),
        of("memory before", "MB"),
        of("at most in the first half", "MB"),
        of("second half / first half", "×").at_most(1.1),
    ],
    note: "memory that grows without end makes the second half larger.",
};

/// Connections of the address that floods: more than a server takes from one, and in all.
const FLOODING: usize = 1_200;
/// The buffer of each for answers that it never reads.
const FLOOD_BUFFER: usize = 4096;
const REQUESTS: usize = 1_000;
/// A pause between the requests of the others, so that they last longer than the write limit.
const PAUSE: Duration = Duration::from_millis(35);

/// Connections that send requests for ever and leave the answers unread, while another caller asks
/// from another address: latency of the latter, and memory of the server.
pub(crate) fn flood(setting: &Setting, report: &mut Report) -> Result<()> {
    let address = "127.0.0.1:39419";
    let server = http::start(setting, address)?;
    let (before, _) = cost::resident_mb(&server)?;
    let ended = Arc::new(AtomicBool::new(false));
    let flood = {
        let ended = Arc::clone(&ended);
        thread::spawn(move || send_without_end(address, &ended).map_err(|error| error.to_string()))
    };
    let stream = connect(address, [127, 0, 0, 2], None)?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    let mut latencies = Vec::new();
    // Of each half: endless growth makes the second larger.
    let (mut first, mut second) = (before, before);
    for number in 0..REQUESTS {
        let start = Instant::now();
        to.write_all(&http::request(address, "other", number))?;
        http::expect_prompt(&mut from)?;
        latencies.push(start.elapsed().as_secs_f64() * 1e3);
        let peak = if number < REQUESTS / 2 { &mut first } else { &mut second };
        *peak = peak.max(cost::resident_mb(&server)?.0);
        thread::sleep(PAUSE);
    }
    ended.store(true, Ordering::Relaxed);
    let refilled = flood.join().map_err(|_| "the flood panicked")??;
    let [p50, p99, longest] = [0.5, 0.99, 1.0].map(|part| quantile(&mut latencies, part));
    report.put_all(&FLOOD, &[p50, p99, longest, before, first, second / first])?;
    report.detail(&FLOOD, format!("{refilled} connections opened in all"));
    Ok(())
}

/// Connects, with this buffer for answers. An answer that is larger than the buffer of a client that reads
/// waits for the timers of TCP now and then, 0.4 s at a time: that would measure the kernel.
fn connect(to: &str, from: [u8; 4], buffer: Option<usize>) -> Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    if let Some(bytes) = buffer {
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.set_tcp_nodelay(true)?;
    socket.connect(&to.parse::<SocketAddr>()?.into())?;
    Ok(socket.into())
}

/// Keeps so many connections full of requests, until the measurement has ended; returns how many
/// were opened, since the server closes them.
fn send_without_end(address: &str, ended: &AtomicBool) -> Result<usize> {
    let requests = http::request(address, "bench", 7).repeat(20);
    let mut open: Vec<Option<TcpStream>> = (0..FLOODING).map(|_| None).collect();
    let mut opened = 0;
    while !ended.load(Ordering::Relaxed) {
        for slot in &mut open {
            let stream = match slot {
                Some(stream) => stream,
                None => {
                    let stream = connect(address, [127, 0, 0, 1], Some(FLOOD_BUFFER))?;
                    stream.set_nonblocking(true)?;
                    opened += 1;
                    slot.insert(stream)
                }
            };
            // A request that is sent in part is malformed, which is as good for a flood.
            match stream.write(&requests) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => *slot = None,
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(opened)
}
