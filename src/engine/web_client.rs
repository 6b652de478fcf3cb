//! The HTTP client for the trace collector, `sealward key import`, `sealward change` and `sealward health`.
//!
//! TLS trust is configured in one place.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsConfigBuilder};
use ureq::{Agent, Proxy};

/// A client that trusts these CAs, or those of the system, with a timeout. It follows no redirects,
/// and returns error statuses as responses. It uses the proxy of the environment: use it with TLS only.
pub fn client(authorities: Option<&[CertificateDer<'_>]>, patience: Duration) -> Agent {
    let roots = authorities.map_or(RootCerts::PlatformVerifier, |authorities| {
        let authorities = authorities.iter().map(|der| Certificate::from_der(der).to_owned());
        RootCerts::Specific(Arc::new(authorities.collect()))
    });
    let tls = TlsConfig::builder().root_certs(roots);
    agent(tls, patience, Proxy::try_from_env())
}

/// A client for a listener on this machine, without verification: its certificate has the name of the
/// service. Send no secrets with it.
pub fn client_of_this_machine(patience: Duration) -> Agent {
    let tls = TlsConfig::builder().disable_verification(true);
    agent(tls, patience, None)
}

/// A client for requests without TLS to this machine, which no proxy reads.
pub fn plain_client_of_this_machine(patience: Duration) -> Agent {
    agent(TlsConfig::builder(), patience, None)
}

fn agent(tls: TlsConfigBuilder, patience: Duration, proxy: Option<Proxy>) -> Agent {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    Agent::config_builder()
        .tls_config(tls.unversioned_rustls_crypto_provider(provider).build())
        .proxy(proxy)
        .timeout_global(Some(patience))
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .new_agent()
}
