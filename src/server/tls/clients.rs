//! The CAs of client certificates.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateRevocationListDer;
use rustls::server::{ClientCertVerifierBuilder, WebPkiClientVerifier};
use spki::der::Decode as _;
use x509_cert::certificate::Rfc5280;
use x509_cert::crl::CertificateList;

use super::bad::{BadTls, Fault};
use engine::client_certificates::{Authority, Trust, moment};
use engine::settings::{TlsFiles, certificates, revocation_lists};
use formats::clock::Timestamp;

const CA: &str = "http.tls.client_ca";
const CRL: &str = "http.tls.client_crl";
const SPIFFE: &str = "auth.spiffe";

/// The revocation lists, all valid now.
#[derive(Default)]
struct Lists {
    lists: Vec<CertificateRevocationListDer<'static>>,
    end: Option<Timestamp>,
}

/// Reads the trusted CAs and their revocation lists.
pub(super) fn trust(
    files: &TlsFiles,
    now: Timestamp,
    provider: &Arc<CryptoProvider>,
) -> Result<Trust, BadTls> {
    let lists = files.client_crl.as_deref();
    let lists = lists.map(|path| Lists::read(path, now)).transpose()?;
    let Lists { lists, end } = lists.unwrap_or_default();
    let verifier = |setting, path: &Path| {
        let roots = Arc::new(authorities(setting, path)?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone());
        let verifier = verifier.with_crls(lists.clone());
        Ok::<ClientCertVerifierBuilder, BadTls>(verifier.enforce_revocation_expiration())
    };
    let built = |setting, path: &Path, verifier: ClientCertVerifierBuilder| {
        let built = verifier.build();
        built.map_err(|error| unusable(setting, path, &error))
    };
    // Without a valid revocation list all certificates of a CA are refused.
    let client_ca = files.client_ca.as_deref();
    let client_ca = client_ca.map(|path| built(CA, path, verifier(CA, path)?));
    let domains = files.spiffe.iter().map(|domain| {
        // Certificates of workloads are valid for hours and seldom have revocation lists.
        let verifier = verifier(SPIFFE, &domain.ca)?.allow_unknown_revocation_status();
        let authority = built(SPIFFE, &domain.ca, verifier)?;
        Ok((domain.trust_domain.clone(), authority as Authority))
    });
    Ok(Trust::new(
        provider.clone(),
        client_ca.transpose()?,
        domains.collect::<Result<BTreeMap<_, _>, BadTls>>()?,
        end,
    ))
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

fn authorities(setting: &'static str, path: &Path) -> Result<RootCertStore, BadTls> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path).map_err(|fault| bad(setting, path, fault))? {
        roots.add(certificate).map_err(|error| unusable(setting, path, &error))?;
    }
    Ok(roots)
}

fn bad(setting: &'static str, path: &Path, fault: impl Into<Fault>) -> BadTls {
    BadTls { setting, path: path.to_owned(), fault: fault.into() }
}

fn unusable(setting: &'static str, path: &Path, error: &dyn std::fmt::Display) -> BadTls {
    bad(setting, path, Fault::Unusable(error.to_string()))
}
