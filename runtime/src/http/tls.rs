//! Encryption of connections, by rustls with `ring`.

use std::sync::Arc;

use arc_swap::ArcSwap;
use relay_engine::system_error::reason;
use relay_machine::file::text_file;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;
use zeroize::Zeroizing;

use super::error::HttpError;
use crate::settings::config;

/// Accepts connections with the certificate in force.
#[derive(Clone)]
pub(super) struct Acceptor {
    config: Arc<ArcSwap<ServerConfig>>,
}

impl Acceptor {
    /// Reads certificate and key.
    pub(super) fn read(files: &config::Tls) -> Result<Self, HttpError> {
        Ok(Self { config: Arc::new(ArcSwap::from_pointee(read(files)?)) })
    }

    /// Reads certificate and key again. If they are missing or invalid, the old ones stay in force.
    pub(super) fn reload(&self, files: &config::Tls) {
        match read(files) {
            Ok(config) => self.config.store(Arc::new(config)),
            Err(error) => tracing::error!("{error}; the certificate read before stays in force"),
        }
    }

    /// Encrypts `stream`.
    pub(super) async fn accept(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        TlsAcceptor::from(self.config.load_full()).accept(stream).await
    }
}

fn read(files: &config::Tls) -> Result<ServerConfig, HttpError> {
    let config::Tls { cert, key } = files;
    let pem = text_of(cert, "certificate")?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|_| unusable(cert, "certificate", "is not a whole PEM file: copy it again"))?;
    if certificates.is_empty() {
        let reason = match pem.contains("PRIVATE KEY-----") {
            true => {
                "holds a private key and no certificate: name the certificate here, and the key in `key`"
            }
            false => "holds no certificate: it begins with `-----BEGIN CERTIFICATE-----`",
        };
        return Err(unusable(cert, "file", reason));
    }
    let pem = text_of(key, "key").map(Zeroizing::new)?;
    let private = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| {
        let reason = match pem.contains("-----BEGIN CERTIFICATE-----") {
            true => "holds a certificate and no private key: name the key here, and the certificate in `cert`",
            false => "holds no private key in PEM: it begins with `-----BEGIN PRIVATE KEY-----`",
        };
        unusable(key, "file", reason)
    })?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, private))
        .map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                let cert = cert.path.display();
                let reason = format!(
                    "does not belong to the certificate `{cert}`: name the key that the certificate was made with"
                );
                unusable(key, "key", &reason)
            }
            rustls::Error::InvalidCertificate(_) => {
                unusable(cert, "certificate", "cannot be read: make it again, or copy it again")
            }
            error => unusable(cert, "certificate", &format!("cannot be used: {error}")),
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Reads the text of a file of the configuration; `what` names it.
fn text_of(named: &config::PlacedPath, what: &str) -> Result<String, HttpError> {
    text_file::read(&named.path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let file = named.file();
            let reason = format!(
                "does not exist: put it there, or write its path relative to the folder of {file}; where a proxy encrypts, remove [tls]"
            );
            unusable(named, what, &reason)
        }
        _ => unusable(named, what, &format!("cannot be used: {}", reason(&error))),
    })
}

fn unusable(named: &config::PlacedPath, what: &str, reason: &str) -> HttpError {
    let path = std::path::absolute(&named.path).unwrap_or_else(|_| named.path.clone());
    let path = path.display();
    HttpError::Tls { reason: format!("{}: the {what} `{path}` {reason}", named.place) }
}
