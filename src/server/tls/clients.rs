//! Verification of client certificates.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateRevocationListDer;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use spki::der::Decode as _;
use x509_cert::certificate::Rfc5280;
use x509_cert::crl::CertificateList;

use super::bad::{BadTls, Fault};
use super::identity::moment;
use crate::clock::Timestamp;
use crate::settings::{TlsFiles, certificates, revocation_lists};

const CA: &str = "http.tls.client_ca";
const CRL: &str = "http.tls.client_crl";

/// The accepted CAs.
pub(super) struct Clients {
    pub(super) verifier: Arc<dyn ClientCertVerifier>,
    /// The earliest expiry of the revocation lists.
    pub(super) lists_end: Option<Timestamp>,
}

/// The revocation lists, all valid now.
struct Lists {
    lists: Vec<CertificateRevocationListDer<'static>>,
    end: Option<Timestamp>,
}

impl Clients {
    pub(super) fn read(
        files: &TlsFiles,
        now: Timestamp,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, BadTls> {
        let Some(ca) = &files.client_ca else {
            return Ok(Self {
                verifier: WebPkiClientVerifier::no_client_auth(),
                lists_end: None,
            });
        };
        let roots = Arc::new(authorities(ca)?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone());
        let Some(crl) = &files.client_crl else {
            return Ok(Self {
                verifier: verifier.build().map_err(|error| unusable(CA, ca, &error))?,
                lists_end: None,
            });
        };
        let Lists { lists, end } = Lists::read(crl, now)?;
        // Without a valid revocation list all certificates of a CA are refused.
        let verifier = verifier.with_crls(lists).enforce_revocation_expiration();
        Ok(Self {
            verifier: verifier
                .build()
                .map_err(|error| unusable(CRL, crl, &error))?,
            lists_end: end,
        })
    }
}

impl Lists {
    fn read(path: &Path, now: Timestamp) -> Result<Self, BadTls> {
        let lists = revocation_lists(path).map_err(|fault| bad(CRL, path, fault))?;
        let mut end = None;
        for list in &lists {
            let parsed = CertificateList::<Rfc5280>::from_der(list);
            let parsed = parsed.map_err(|error| unusable(CRL, path, &error))?;
            if let Some(ends) = parsed.tbs_cert_list.next_update.map(moment) {
                if now > ends {
                    return Err(bad(CRL, path, Fault::RunOut(ends)));
                }
                end = Some(end.map_or(ends, |first: Timestamp| first.min(ends)));
            }
        }
        Ok(Self { lists, end })
    }
}

fn authorities(path: &Path) -> Result<RootCertStore, BadTls> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path).map_err(|fault| bad(CA, path, fault))? {
        roots
            .add(certificate)
            .map_err(|error| unusable(CA, path, &error))?;
    }
    Ok(roots)
}

fn bad(setting: &'static str, path: &Path, fault: impl Into<Fault>) -> BadTls {
    BadTls {
        setting,
        path: path.to_owned(),
        fault: fault.into(),
    }
}

fn unusable(setting: &'static str, path: &Path, error: &dyn std::fmt::Display) -> BadTls {
    bad(setting, path, Fault::Unusable(error.to_string()))
}
