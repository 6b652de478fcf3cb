//! How a client is made.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::data_keys::CacheLimits;
use crate::error::{CredentialError, Error};
use crate::transport::{Attempts, Transport};
use crate::{Client, Credential};

/// Makes a [`Client`].
#[derive(Clone, Debug)]
pub struct Builder {
    url: String,
    credential: Option<Credential>,
    authorities: Option<PathBuf>,
    certificate: Option<(PathBuf, PathBuf)>,
    plaintext: bool,
    attempts: Attempts,
    cache: Option<CacheLimits>,
}

impl Builder {
    /// For the service at this address, for example `https://sealward.example.com`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            credential: None,
            authorities: None,
            certificate: None,
            plaintext: false,
            attempts: Attempts::default(),
            cache: None,
        }
    }

    /// From the environment: `SEALWARD_URL`, one of `SEALWARD_API_KEY`, `SEALWARD_API_KEY_FILE` and
    /// `SEALWARD_TOKEN_FILE`, and optionally `SEALWARD_CA_FILE`.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The same with the variables that this function returns.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let url = variable("SEALWARD_URL")
            .ok_or_else(|| Error::Configuration("SEALWARD_URL is not set".to_owned()))?;
        Ok(Self {
            authorities: variable("SEALWARD_CA_FILE").map(PathBuf::from),
            credential: Credential::from_variables(variable)?,
            ..Self::new(url)
        })
    }

    /// The same, if the environment names a credential.
    pub(crate) fn with_credential_of_environment(self) -> Result<Self, Error> {
        match self.credential {
            Some(_) => Ok(self),
            None => Err(Error::Configuration(
                "set one of SEALWARD_API_KEY, SEALWARD_API_KEY_FILE and SEALWARD_TOKEN_FILE"
                    .to_owned(),
            )),
        }
    }

    /// With this credential. It is required, except for public keys and with a client certificate.
    pub fn credential(mut self, credential: Credential) -> Self {
        self.credential = Some(credential);
        self
    }

    /// Trusts the CA certificates in this PEM file instead of those of the operating system.
    pub fn authorities(mut self, file: impl Into<PathBuf>) -> Self {
        self.authorities = Some(file.into());
        self
    }

    /// Presents the client certificate in the first PEM file, with the private key in the second.
    pub fn certificate(mut self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.certificate = Some((chain.into(), key.into()));
        self
    }

    /// Allows `http://` also to other machines, for example to a proxy in the same pod network.
    ///
    /// Whoever reads the network then reads the credential and the payloads.
    pub fn allow_plaintext(mut self) -> Self {
        self.plaintext = true;
        self
    }

    /// The time for a call with all its attempts. The default is 30 s.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.attempts.deadline = deadline;
        self
    }

    /// The most attempts of a call. The default is 3.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.attempts.most = attempts.max(1);
        self
    }

    /// The longest time between two attempts that `Retry-After` can ask for. The default is 10 s.
    pub fn max_retry_after(mut self, time: Duration) -> Self {
        self.attempts.longest_pause = time;
        self
    }

    /// Caches data keys within these limits. By default, each call returns a new key.
    pub fn cache_data_keys(mut self, limits: CacheLimits) -> Self {
        self.cache = Some(limits);
        self
    }

    /// Makes the client. It does not connect yet.
    pub fn build(self) -> Result<Client, Error> {
        let address = address(&self.url, self.plaintext)?;
        let base = self.url.trim_end_matches('/').to_owned();
        let tls = self.tls()?;
        let credential = self.credential.unwrap_or_else(|| match self.certificate {
            Some(_) => Credential::certificate_only(),
            None => Credential::missing(),
        });
        let transport = Transport::new(base, address, credential, tls, self.attempts);
        Ok(Client::over(transport, self.cache))
    }

    fn tls(&self) -> Result<ClientConfig, Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let configuration = |error: rustls::Error| Error::Configuration(error.to_string());
        let versions = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(configuration)?;
        let verified = match &self.authorities {
            Some(file) => {
                let mut roots = RootCertStore::empty();
                let pem = fs::read(file).map_err(|error| {
                    Error::Configuration(format!("cannot read {}: {error}", file.display()))
                })?;
                for certificate in certificates(file, &pem)? {
                    roots.add(certificate).map_err(configuration)?;
                }
                versions.with_root_certificates(roots)
            }
            None => versions.with_platform_verifier().map_err(configuration)?,
        };
        match &self.certificate {
            Some((chain, key)) => {
                let key = PrivateKeyDer::from_pem_slice(&read(key)?)
                    .map_err(|error| Error::Configuration(format!("{}: {error}", key.display())))?;
                let chain = certificates(chain, &read(chain)?)?;
                verified.with_client_auth_cert(chain, key).map_err(configuration)
            }
            None => Ok(verified.with_no_client_auth()),
        }
    }
}

fn certificates(file: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(Error::Configuration(format!("{} contains no certificate", file.display()))),
        Err(error) => Err(Error::Configuration(format!("{}: {error}", file.display()))),
    }
}

fn read(file: &Path) -> Result<zeroize::Zeroizing<Vec<u8>>, Error> {
    let unreadable = |source| CredentialError::File { path: file.to_owned(), source };
    Ok(fs::read(file).map(zeroize::Zeroizing::new).map_err(unreadable)?)
}

/// The scheme, the host and the port of a base address.
fn address(url: &str, plaintext: bool) -> Result<String, Error> {
    let refused = |message: &str| Err(Error::Configuration(message.to_owned()));
    let uri = url.parse::<Uri>().unwrap_or_default();
    let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority())
    else {
        return refused("the address of the service is not an http or https address");
    };
    if authority.as_str().contains('@') || uri.query().is_some() || url.contains('#') {
        return refused("the address of the service has credentials, a query or a fragment");
    }
    let address = format!("{scheme}://{authority}");
    if scheme == "http" && !plaintext && !is_this_machine(authority.host()) {
        return refused(&format!("{address} must begin with https://, except for this machine"));
    }
    Ok(address)
}

/// Whether nobody else can read requests to this host.
fn is_this_machine(host: &str) -> bool {
    matches!(host, "localhost" | "[::1]")
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plaintext_is_only_allowed_to_this_machine() {
        for url in
            ["https://example.com", "http://localhost:8080", "http://127.0.0.1", "http://[::1]:1/x"]
        {
            assert!(Builder::new(url).build().is_ok(), "{url}");
        }
        for url in ["http://example.com", "http://127.0.0.1.example.com"] {
            assert!(matches!(Builder::new(url).build(), Err(Error::Configuration(_))), "{url}");
        }
        assert!(Builder::new("http://example.com").allow_plaintext().build().is_ok());
    }

    #[test]
    fn what_is_no_address_of_a_service_is_refused() {
        for url in [
            "",
            "example.com",
            "ftp://example.com",
            "https://",
            "https://user:s3cret@example.com",
            "https://example.com?s3cret",
            "https://example.com#s3cret",
        ] {
            let refused = Builder::new(url).allow_plaintext().build().unwrap_err();
            assert!(matches!(refused, Error::Configuration(_)), "{url}");
            assert!(!format!("{refused} {refused:?}").contains("s3cret"), "{refused}");
        }
    }

    #[test]
    fn two_credentials_in_the_environment_are_refused() {
        let refused = Builder::from_variables(|name| match name {
            "SEALWARD_CA_FILE" => None,
            _ => Some("https://example.com".to_owned()),
        });
        assert!(matches!(refused, Err(Error::Configuration(_))));
    }
}
