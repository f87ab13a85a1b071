//! TLS, with the certificates that the system trusts.

use std::io;
use std::sync::{Arc, OnceLock};

use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// Reading all certificates takes tens of milliseconds, and a probe makes a connection of its own each time.
static TRUSTED: OnceLock<ClientConfig> = OnceLock::new();

/// What opens connections. Certificates are read only where TLS is spoken: a machine without any can still reach itself.
pub(super) fn connector(tls: bool) -> io::Result<HttpsConnector<HttpConnector>> {
    let config = if tls { trusted()? } else { nobody()? };
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    Ok(HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().wrap_connector(http))
}

fn trusted() -> io::Result<ClientConfig> {
    if let Some(config) = TRUSTED.get() {
        return Ok(config.clone());
    }
    let config = builder()?.with_native_roots()?.with_no_client_auth();
    Ok(TRUSTED.get_or_init(|| config).clone())
}

fn nobody() -> io::Result<ClientConfig> {
    Ok(builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// The provider is named, so that another one in the same program is no matter.
fn builder() -> io::Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)
}
