//! An SSH server in the test process, on a port of the loopback interface.
//!
//! Commands run in `sh`, except those that begin with `fault:`: they show a fault of a server.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Certificate, PrivateKey};
use russh::server::{
    Auth, ChannelOpenHandle, Config, Handle, Handler, Msg, Session, VerifiedPublicKey, run_stream,
};
use russh::{Channel, ChannelId, ChannelOpenFailure, Pty, Sig};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::files::Files;

/// The user that may log in.
pub(crate) const USER: &str = "tester";

/// The settings of a server.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) host_keys: Vec<PrivateKey>,
    pub(crate) host_certificates: Vec<Certificate>,
    pub(crate) authorized: Vec<KeyData>,
    /// The authority for user certificates.
    pub(crate) authority: Option<KeyData>,
    /// The most sessions on a connection; zero: none.
    pub(crate) sessions_max: Option<usize>,
    /// The connections that are closed before a word, at the beginning.
    pub(crate) turned_away: usize,
    pub(crate) no_sftp: bool,
    /// Names that SFTP adds to each folder, as regular files.
    pub(crate) listed: Vec<String>,
    /// Whether SFTP has no way to replace a file.
    pub(crate) plain_rename: bool,
    /// The bytes that a client may send on a channel before they are taken.
    pub(crate) window: Option<u32>,
    /// The amounts after which the server exchanges keys anew.
    pub(crate) limits: russh::Limits,
    /// The text before a connection is closed.
    pub(crate) excuse: &'static str,
    pub(crate) no_terminals: bool,
    /// Whether signals are ignored, as OpenSSH does for root.
    pub(crate) deaf: bool,
}

/// A running server. It ends with its last connection after it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) counts: Arc<Counts>,
    accepting: JoinHandle<()>,
}

/// Events at a server.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) connections: AtomicUsize,
    pub(crate) open_connections: AtomicUsize,
    pub(crate) logins: AtomicUsize,
    /// The most connections at once that had not logged in.
    pub(crate) strangers_max: AtomicUsize,
    pub(crate) commands: Mutex<Vec<String>>,
    /// Channels that the client closed first.
    pub(crate) closed_channels: AtomicUsize,
    pub(crate) ended_commands: AtomicUsize,
    /// The answers to channels that the server opened.
    pub(crate) opened_unasked: Mutex<Vec<String>>,
}

impl Server {
    pub(crate) async fn start(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let config = Arc::new(Config {
            keys: settings.host_keys.clone(),
            certificates: settings.host_certificates.clone(),
            auth_rejection_time: Duration::ZERO,
            nodelay: true,
            limits: settings.limits.clone(),
            window_size: settings.window.unwrap_or(Config::default().window_size),
            ..Config::default()
        });
        let settings = Arc::new(settings);
        let counted = Arc::clone(&counts);
        let accepting = tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let seen = counted.connections.fetch_add(1, Ordering::SeqCst);
                if seen < settings.turned_away {
                    let _ = socket.write_all(settings.excuse.as_bytes()).await;
                    continue;
                }
                let peer = Peer {
                    settings: Arc::clone(&settings),
                    counts: Arc::clone(&counted),
                    channels: BTreeMap::new(),
                };
                let strangers = seen + 1 - counted.logins.load(Ordering::SeqCst);
                counted.strangers_max.fetch_max(strangers, Ordering::SeqCst);
                let (config, counts) = (Arc::clone(&config), Arc::clone(&counted));
                let (socket, watched) = twice(socket);
                tokio::spawn(async move {
                    counts.open_connections.fetch_add(1, Ordering::SeqCst);
                    let served = async {
                        if let Ok(running) = run_stream(config, socket, peer).await {
                            let _ = running.await;
                        }
                    };
                    tokio::select! {
                        () = served => {}
                        () = closed(&watched) => {}
                    }
                    counts.open_connections.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, counts, accepting }
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.counts.commands.lock().unwrap().clone()
    }

    pub(crate) fn logins(&self) -> usize {
        self.counts.logins.load(Ordering::SeqCst)
    }

    pub(crate) fn open_connections(&self) -> usize {
        self.counts.open_connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Returns a socket, and a second handle of it.
fn twice(socket: TcpStream) -> (TcpStream, TcpStream) {
    let socket = socket.into_std().unwrap();
    let second = socket.try_clone().unwrap();
    (TcpStream::from_std(socket).unwrap(), TcpStream::from_std(second).unwrap())
}

/// Waits until the peer has closed its end. The library notices this after it has handed on all that
/// was sent, which an echo that its client does not read holds up for good.
async fn closed(socket: &TcpStream) {
    while !socket.ready(Interest::READABLE).await.unwrap().is_read_closed() {
        sleep(Duration::from_millis(5)).await;
    }
}

/// One connection.
struct Peer {
    settings: Arc<Settings>,
    counts: Arc<Counts>,
    channels: BTreeMap<ChannelId, Job>,
}

#[derive(Default)]
struct Job {
    /// Held until the use of the channel is known.
    channel: Option<Channel<Msg>>,
    input: Option<mpsc::UnboundedSender<Vec<u8>>>,
    group: Arc<Mutex<Option<i32>>>,
}

impl Handler for Peer {
    type Error = russh::Error;

    async fn auth_publickey(
        &mut self,
        user: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        let known = self.settings.authorized.iter().any(|held| held == key.public_key.key_data());
        Ok(self.admit(user == USER && known))
    }

    async fn auth_openssh_certificate(
        &mut self,
        user: &str,
        certificate: &Certificate,
    ) -> Result<Auth, Self::Error> {
        let issued = self.settings.authority.as_ref() == Some(certificate.signature_key());
        let named = certificate.valid_principals().iter().any(|name| name == user);
        Ok(self.admit(issued && named))
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        if self.settings.sessions_max.is_some_and(|most| self.channels.len() >= most) {
            reply.reject(ChannelOpenFailure::ConnectFailed).await;
            return Ok(());
        }
        let id = channel.id();
        self.channels.insert(id, Job { channel: Some(channel), ..Job::default() });
        reply.accept().await;
        Ok(())
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        host: &str,
        port: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        let to = (host.to_owned(), u16::try_from(port).unwrap());
        tokio::spawn(async move {
            let Ok(mut socket) = TcpStream::connect(to).await else {
                reply.reject(ChannelOpenFailure::ConnectFailed).await;
                return;
            };
            reply.accept().await;
            let _ = tokio::io::copy_bidirectional(&mut channel.into_stream(), &mut socket).await;
        });
        Ok(())
    }

    async fn tcpip_forward(
        &mut self,
        address: &str,
        port: &mut u32,
        session: &mut Session,
    ) -> Result<bool, Self::Error> {
        let asked = u16::try_from(*port).unwrap();
        let Ok(listener) = TcpListener::bind(("127.0.0.1", asked)).await else { return Ok(false) };
        let given = u32::from(listener.local_addr().unwrap().port());
        *port = given;
        let (handle, address) = (session.handle(), address.to_owned());
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (handle, address) = (handle.clone(), address.clone());
                tokio::spawn(async move {
                    let opened =
                        handle.channel_open_forwarded_tcpip(address, given, "127.0.0.1", 1).await;
                    if let Ok(channel) = opened {
                        let mut stream = channel.into_stream();
                        let _ = tokio::io::copy_bidirectional(&mut stream, &mut socket).await;
                    }
                });
            }
        });
        Ok(true)
    }

    async fn pty_request(
        &mut self,
        id: ChannelId,
        _: &str,
        columns: u32,
        rows: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        if self.settings.no_terminals {
            return session.channel_failure(id);
        }
        session.channel_success(id)?;
        session.data(id, format!("size {columns}x{rows}\r\n").into_bytes())
    }

    async fn window_change_request(
        &mut self,
        id: ChannelId,
        columns: u32,
        rows: u32,
        _: u32,
        _: u32,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.data(id, format!("size {columns}x{rows}\r\n").into_bytes())
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.exec_request(id, b"sh", session).await
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let text = String::from_utf8_lossy(command).into_owned();
        self.counts.commands.lock().unwrap().push(text.clone());
        match text.as_str() {
            "fault:refuse" => return session.channel_failure(id),
            "fault:disconnect" => return Err(russh::Error::Disconnect),
            _ => session.channel_success(id)?,
        }
        let (sender, input) = mpsc::unbounded_channel();
        let job = self.channels.entry(id).or_default();
        job.channel = None;
        job.input = Some(sender);
        let (handle, group) = (session.handle(), Arc::clone(&job.group));
        let counts = Arc::clone(&self.counts);
        // Inside the handler it would block the connection.
        tokio::spawn(async move {
            match text.as_str() {
                text if text.starts_with("fault:") => fault(text, &handle, id, &counts).await,
                text => run(text, &handle, id, input, group).await,
            }
            counts.ended_commands.fetch_add(1, Ordering::SeqCst);
        });
        Ok(())
    }

    async fn subsystem_request(
        &mut self,
        id: ChannelId,
        name: &str,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let channel = self.channels.get_mut(&id).and_then(|job| job.channel.take());
        let Some(channel) = channel.filter(|_| name == "sftp" && !self.settings.no_sftp) else {
            return session.channel_failure(id);
        };
        session.channel_success(id)?;
        let files = Files::new(self.settings.listed.clone(), self.settings.plain_rename);
        tokio::spawn(russh_sftp::server::run(channel.into_stream(), files));
        Ok(())
    }

    async fn data(
        &mut self,
        id: ChannelId,
        data: &[u8],
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        if let Some(sender) = self.channels.get(&id).and_then(|job| job.input.as_ref()) {
            let _ = sender.send(data.to_vec());
        }
        Ok(())
    }

    async fn channel_eof(&mut self, id: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        if let Some(job) = self.channels.get_mut(&id) {
            job.input = None;
        }
        Ok(())
    }

    async fn channel_close(&mut self, id: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        self.counts.closed_channels.fetch_add(1, Ordering::SeqCst);
        if let Some(job) = self.channels.remove(&id) {
            send(&job, Signal::KILL);
        }
        Ok(())
    }

    async fn signal(
        &mut self,
        id: ChannelId,
        signal: Sig,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        let known = match signal {
            Sig::TERM => Signal::TERM,
            Sig::KILL => Signal::KILL,
            _ => Signal::INT,
        };
        if let Some(job) = self.channels.get(&id)
            && !self.settings.deaf
        {
            send(job, known);
        }
        Ok(())
    }
}

impl Peer {
    fn admit(&self, yes: bool) -> Auth {
        if yes {
            self.counts.logins.fetch_add(1, Ordering::SeqCst);
            Auth::Accept
        } else {
            Auth::reject()
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // No test leaves a process.
        self.channels.values().for_each(|job| send(job, Signal::KILL));
    }
}

fn send(job: &Job, signal: Signal) {
    let group = job.group.lock().unwrap().and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, signal);
    }
}

async fn fault(text: &str, handle: &Handle, id: ChannelId, counts: &Counts) {
    match text {
        "fault:stall" => {
            let _ = handle.data(id, "half").await;
            std::future::pending::<()>().await;
        }
        "fault:flood" => while handle.data(id, vec![b'x'; 32 * 1024]).await.is_ok() {},
        "fault:no-status" => {
            let _ = handle.data(id, "out").await;
        }
        "fault:status-after-eof" => {
            let _ = handle.data(id, "out").await;
            let _ = handle.eof(id).await;
            let _ = handle.exit_status_request(id, 5).await;
        }
        "fault:held-open" => {
            let _ = handle.exit_status_request(id, 3).await;
            let _ = handle.data(id, "late").await;
            std::future::pending::<()>().await;
        }
        "fault:open-channels" => {
            let opened = [
                ("agent", handle.channel_open_agent().await.is_ok()),
                ("session", handle.channel_open_session().await.is_ok()),
                ("direct", handle.channel_open_direct_tcpip("127.0.0.1", 1, "", 0).await.is_ok()),
                (
                    "forwarded",
                    handle.channel_open_forwarded_tcpip("localhost", 1, "", 0).await.is_ok(),
                ),
                ("x11", handle.channel_open_x11("", 0).await.is_ok()),
            ];
            let said = opened.iter().map(|(name, open)| format!("{name} {open}"));
            *counts.opened_unasked.lock().unwrap() = said.collect();
            let _ = handle.exit_status_request(id, 0).await;
        }
        other => panic!("{other}"),
    }
    let _ = handle.close(id).await;
}

async fn run(
    text: &str,
    handle: &Handle,
    id: ChannelId,
    mut input: mpsc::UnboundedReceiver<Vec<u8>>,
    group: Arc<Mutex<Option<i32>>>,
) {
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", text]).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    *group.lock().unwrap() = child.id().map(|pid| i32::try_from(pid).unwrap());
    let mut stdin = child.stdin.take().unwrap();
    tokio::spawn(async move {
        while let Some(bytes) = input.recv().await {
            if stdin.write_all(&bytes).await.is_err() {
                break;
            }
        }
    });
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let outputs = async {
        tokio::join!(copy(&mut out, handle, id, false), copy(&mut err, handle, id, true));
    };
    let (status, ()) = tokio::join!(child.wait(), outputs);
    *group.lock().unwrap() = None;
    let status = status.unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    let _ = match signal {
        Some(15) => {
            handle.exit_signal_request(id, Sig::TERM, false, String::new(), String::new()).await
        }
        Some(9) => {
            handle.exit_signal_request(id, Sig::KILL, false, String::new(), String::new()).await
        }
        Some(_) => {
            handle.exit_signal_request(id, Sig::INT, false, String::new(), String::new()).await
        }
        None => handle.exit_status_request(id, status.code().unwrap().unsigned_abs()).await,
    };
    let _ = handle.eof(id).await;
    let _ = handle.close(id).await;
}

async fn copy(from: &mut (impl AsyncReadExt + Unpin), handle: &Handle, id: ChannelId, error: bool) {
    let mut buffer = vec![0; 32 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let bytes = buffer[..read].to_vec();
        let sent = if error {
            handle.extended_data(id, 1, bytes).await
        } else {
            handle.data(id, bytes).await
        };
        if sent.is_err() {
            break;
        }
    }
}

/// A TCP relay that can stop copying without closing anything, as a network does that drops packets.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    frozen: tokio::sync::watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Relay {
    pub(crate) async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (frozen, state) = tokio::sync::watch::channel(false);
        let accepting = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(to).await.unwrap();
                let (near_read, near_write) = near.into_split();
                let (far_read, far_write) = far.into_split();
                tokio::spawn(pump(near_read, far_write, state.clone()));
                tokio::spawn(pump(far_read, near_write, state.clone()));
            }
        });
        Self { address, frozen, accepting }
    }

    pub(crate) fn freeze(&self) {
        self.frozen.send_replace(true);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn pump(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut frozen: tokio::sync::watch::Receiver<bool>,
) -> io::Result<()> {
    let mut buffer = vec![0; 32 * 1024];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => Some(read?),
            _ = frozen.wait_for(|frozen| *frozen) => None,
        };
        // Frozen: nothing is read, nothing is closed.
        let Some(read) = read else { return std::future::pending().await };
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..read]).await?;
    }
}
