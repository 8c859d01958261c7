//! Encryption of connections, by rustls with `ring`.

use std::sync::Arc;

use arc_swap::ArcSwap;
use relay_engine::system_error::reason;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;
use zeroize::Zeroizing;

use super::error::HttpError;
use crate::file::text_file;
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
    let unusable = |path: &std::path::Path, error: &dyn std::fmt::Display| HttpError::Tls {
        reason: format!("`{}`: {error}", path.display()),
    };
    let unreadable = |path: &std::path::Path, error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let name = if path == cert { "cert" } else { "key" };
            let error = format!(
                "the file does not exist; write `{name} = \"…\"` under [tls] of server.toml, relative to its folder, or remove [tls] where a proxy encrypts"
            );
            unusable(path, &error)
        }
        _ => unusable(path, &reason(error)),
    };
    let pem = text_file::read(cert).map_err(|error| unreadable(cert, &error))?;
    let certificates = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| unusable(cert, &error))?;
    let pem = text_file::read(key).map(Zeroizing::new).map_err(|error| unreadable(key, &error))?;
    let private =
        PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|error| unusable(key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, private))
        .map_err(|error| unusable(cert, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
