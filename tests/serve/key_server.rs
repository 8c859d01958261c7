//! A server of key sets on loopback, which answers as a test says.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// How the server answers.
#[derive(Clone)]
pub(super) enum Reply {
    /// With this key set.
    Set(String),
    /// With these bytes.
    Raw(Vec<u8>),
    /// With these bytes, and then a byte now and then, without end.
    Slow(Vec<u8>),
    /// With these bytes again and again, without end.
    Endless(Vec<u8>),
    /// It closes the connection.
    Down,
}

/// A server of key sets. It ends with the process of the tests.
pub(super) struct KeyServer {
    port: u16,
    state: Arc<State>,
}

struct State {
    reply: Mutex<Reply>,
    requests: AtomicUsize,
    heads: Mutex<String>,
    tls: Option<Arc<ServerConfig>>,
}

impl KeyServer {
    pub(super) fn plain(reply: Reply) -> Self {
        Self::start(reply, None)
    }

    /// With a certificate for `localhost` and 127.0.0.1 of `tls/authority.pem`.
    pub(super) fn encrypted(reply: Reply) -> Self {
        let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/issuer-cert.pem"));
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/issuer-key.pem"));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.expect("a certificate")], key.expect("a key"))
            .expect("a certificate with its key");
        Self::start(reply, Some(Arc::new(config)))
    }

    fn start(reply: Reply, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State {
            reply: Mutex::new(reply),
            requests: AtomicUsize::new(0),
            heads: Mutex::default(),
            tls,
        });
        let answering = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = answering.clone();
                thread::spawn(move || state.serve(stream));
            }
        });
        Self { port, state }
    }

    pub(super) fn url(&self, host: &str) -> String {
        let scheme = if self.state.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{host}:{}/keys?of=relay", self.port)
    }

    pub(super) fn reply(&self, reply: Reply) {
        *self.state.reply.lock().expect("no panic") = reply;
    }

    /// The connections that it got.
    pub(super) fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// The heads of the requests.
    pub(super) fn heads(&self) -> String {
        self.state.heads.lock().expect("no panic").clone()
    }
}

impl State {
    fn serve(&self, stream: TcpStream) {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let reply = self.reply.lock().expect("no panic").clone();
        if matches!(reply, Reply::Down) {
            return;
        }
        match &self.tls {
            None => self.answer(stream, reply),
            Some(config) => {
                let connection = ServerConnection::new(config.clone()).expect("a connection");
                self.answer(StreamOwned::new(connection, stream), reply);
            }
        }
    }

    /// Answers; a client may have left.
    fn answer(&self, stream: impl Read + Write, reply: Reply) {
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while stream.read_line(&mut head).is_ok_and(|length| length > 2) {}
        self.heads.lock().expect("no panic").push_str(&head);
        let stream = stream.get_mut();
        match reply {
            Reply::Set(set) => {
                let length = set.len();
                _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{set}");
            }
            Reply::Raw(bytes) => _ = stream.write_all(&bytes),
            Reply::Slow(bytes) => {
                _ = stream.write_all(&bytes);
                while stream.write_all(b" ").and_then(|()| stream.flush()).is_ok() {
                    thread::sleep(Duration::from_millis(100));
                }
            }
            Reply::Endless(bytes) => while stream.write_all(&bytes).is_ok() {},
            Reply::Down => {}
        }
        _ = stream.flush();
    }
}
