//! The certificate of a client in the headers of a proxy (RFC 9440).

use axum::http::{HeaderMap, HeaderName};
use rustls::pki_types::CertificateDer;
use spki::der::Decode as _;
use x509_cert::Certificate;

use super::chain::Chain;
use formats::binary;

/// The certificate.
const OWN: HeaderName = HeaderName::from_static("client-cert");

/// Its intermediate certificates.
const INTERMEDIATES: HeaderName = HeaderName::from_static("client-cert-chain");

/// The most intermediate certificates.
const MOST: usize = 8;

/// The headers are not one certificate with its intermediate certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Client-Cert must be one certificate in DER as a byte sequence (RFC 9440)")]
pub struct NotACertificate;

/// The certificate in `Client-Cert`, with the intermediate certificates in `Client-Cert-Chain`; none
/// without `Client-Cert`.
pub fn forwarded(headers: &HeaderMap) -> Result<Option<Chain>, NotACertificate> {
    let mut given = headers.get_all(OWN).iter();
    let Some(own) = given.next() else {
        // Without a certificate there is nothing to complete.
        let has_chain = headers.contains_key(INTERMEDIATES);
        return if has_chain { Err(NotACertificate) } else { Ok(None) };
    };
    if given.next().is_some() {
        return Err(NotACertificate);
    }
    let own = certificate(own.as_bytes())?;
    let lines = headers.get_all(INTERMEDIATES).iter();
    let items = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    let intermediates = items.take(MOST + 1).map(certificate);
    let intermediates = intermediates.collect::<Result<Vec<_>, _>>()?;
    if intermediates.len() > MOST {
        return Err(NotACertificate);
    }
    Ok(Some(Chain::new(own, intermediates)))
}

/// A byte sequence (RFC 9651, section 3.3.5) without parameters.
fn certificate(item: &[u8]) -> Result<CertificateDer<'static>, NotACertificate> {
    let item = std::str::from_utf8(item).map_err(|_| NotACertificate)?;
    let item = item.trim_matches([' ', '\t']);
    let inner = item.strip_prefix(':').and_then(|it| it.strip_suffix(':'));
    let inner = inner.filter(|text| !text.contains(['-', '_']));
    let der = binary::from_base64(inner.ok_or(NotACertificate)?).map_err(|_| NotACertificate)?;
    Certificate::from_der(&der).map_err(|_| NotACertificate)?;
    Ok(der.into())
}
