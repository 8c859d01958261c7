//! A key set from its URL: one request, with limits of time and size. A redirect is an error.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONNECTION, CONTENT_ENCODING, HOST, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use relay_machine::file::text_file;
use rustls_native_certs::load_native_certs;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::http::error::HttpError;
use crate::settings::config::KeyUrl;

/// The time within which a key set must arrive completely.
pub(super) const TIME_MAX: Duration = Duration::from_secs(10);
/// The most bytes of a key set.
const BODY_BYTES_MAX: usize = 256 << 10;
/// The most bytes of the head of the answer.
const HEAD_BYTES_MAX: usize = 16 << 10;

const ACCEPTED: &str = "application/jwk-set+json, application/json";
const AGENT: &str = concat!("relay-serve/", env!("CARGO_PKG_VERSION"));

/// The server of a key set, and how to reach it.
pub(super) struct Download {
    url: KeyUrl,
    /// Absent for an unencrypted connection.
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// An error of fetching a key set.
#[derive(Debug, Error)]
pub(super) enum DownloadError {
    #[error("its server cannot be reached: {0}")]
    Connect(io::Error),
    #[error("its host has no loopback address, which a connection without encryption needs")]
    NotLoopback,
    #[error("its server broke the exchange: {0}")]
    Http(#[from] hyper::Error),
    #[error("it did not arrive within {} seconds", TIME_MAX.as_secs())]
    Time,
    #[error("its server redirects it ({}), which is not followed: write the URL where it is", .0.as_u16())]
    Redirect(StatusCode),
    #[error("its server answers with status {}", .0.as_u16())]
    Status(StatusCode),
    #[error("it is compressed, though that was not asked for")]
    Encoded,
    #[error("it has over {BODY_BYTES_MAX} bytes")]
    Size,
    #[error("it is not UTF-8")]
    Text,
}

impl Download {
    /// Reads the certificates of the trusted authorities: those of the file `ca`, or else of the
    /// system.
    pub(super) fn new(url: KeyUrl, ca: Option<&Path>) -> Result<Self, HttpError> {
        if !url.is_encrypted {
            return Ok(Self { url, tls: None });
        }
        let unusable = |reason: String| HttpError::KeyUrl { url: url.uri.to_string(), reason };
        let roots = match ca {
            Some(path) => authorities(path)?,
            None => authorities_of_the_system().map_err(unusable)?,
        };
        let name = ServerName::try_from(url.host.clone())
            .map_err(|error| unusable(format!("its host: {error}")))?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { url, tls: Some((TlsConnector::from(Arc::new(config)), name)) })
    }

    /// Returns the URL.
    pub(super) fn url(&self) -> String {
        self.url.uri.to_string()
    }

    /// Fetches the text.
    pub(super) async fn get(&self) -> Result<String, DownloadError> {
        timeout(TIME_MAX, self.get_in_time()).await.unwrap_or(Err(DownloadError::Time))
    }

    async fn get_in_time(&self) -> Result<String, DownloadError> {
        let stream = self.connect().await?;
        match &self.tls {
            None => self.exchange(stream).await,
            Some((connector, name)) => {
                let encrypted = connector.connect(name.clone(), stream);
                self.exchange(encrypted.await.map_err(DownloadError::Connect)?).await
            }
        }
    }

    /// Connects to the first address of the host that answers.
    async fn connect(&self) -> Result<TcpStream, DownloadError> {
        let KeyUrl { host, port, is_encrypted, .. } = &self.url;
        let found = lookup_host((host.as_str(), *port)).await.map_err(DownloadError::Connect)?;
        let allowed = |address: IpAddr| *is_encrypted || address.is_loopback();
        let addresses: Vec<_> = found.filter(|address| allowed(address.ip())).collect();
        if addresses.is_empty() && !is_encrypted {
            return Err(DownloadError::NotLoopback);
        }
        TcpStream::connect(addresses.as_slice()).await.map_err(DownloadError::Connect)
    }

    async fn exchange<S>(&self, stream: S) -> Result<String, DownloadError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let uri = &self.url.uri;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let headers =
            [(HOST, host), (ACCEPT, ACCEPTED), (USER_AGENT, AGENT), (CONNECTION, "close")];
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Empty::<Bytes>::new());
        let mut client = http1::Builder::new();
        client.max_buf_size(HEAD_BYTES_MAX);
        let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await?;
        let answer = async move {
            // The parts are from a valid URL, so they make a request.
            let request =
                request.map_err(|error| DownloadError::Connect(io::Error::other(error)))?;
            let response = sender.send_request(request).await?;
            match response.status() {
                StatusCode::OK => {}
                status if status.is_redirection() => return Err(DownloadError::Redirect(status)),
                status => return Err(DownloadError::Status(status)),
            }
            let encoding = response.headers().get(CONTENT_ENCODING);
            if encoding
                .is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
            {
                return Err(DownloadError::Encoded);
            }
            text(response.into_body()).await
        };
        let (mut answer, mut connection) = (pin!(answer), pin!(connection));
        // The connection moves the bytes, and may be done before they were all read.
        tokio::select! {
            biased;
            text = &mut answer => text,
            _ = &mut connection => answer.await,
        }
    }
}

async fn text(body: hyper::body::Incoming) -> Result<String, DownloadError> {
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            return DownloadError::Size;
        }
        error.downcast().map_or(DownloadError::Size, |error| DownloadError::Http(*error))
    })?;
    String::from_utf8(body.to_bytes().into()).map_err(|_| DownloadError::Text)
}

/// Reads certificates from a file.
fn authorities(path: &Path) -> Result<RootCertStore, HttpError> {
    let unusable = |reason: String| HttpError::Authorities { path: path.to_owned(), reason };
    let pem = text_file::read(path)
        .map_err(|source| HttpError::Read { path: PathBuf::from(path), source })?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("it has no certificate in PEM".to_owned()));
    }
    Ok(roots)
}

/// Reads the certificates of the system. Some of them may be too old or too new to be read.
fn authorities_of_the_system() -> Result<RootCertStore, String> {
    let mut found = load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if !roots.is_empty() {
        return Ok(roots);
    }
    let why = found.errors.pop().map(|error| format!(" ({error})")).unwrap_or_default();
    Err(format!("this system has no certificates of authorities{why}: add `jwks-ca`"))
}
