//! The facts in a certificate that its verification needs.

use rustls::pki_types::CertificateDer;
use spki::der::Decode as _;
use x509_cert::Certificate;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{KeyUsage, SubjectAltName};

use super::chain::moment;
use crate::spiffe::SpiffeId;
use formats::clock::Timestamp;

/// The expiry of a certificate; none if it cannot be read.
pub fn expiry(certificate: &CertificateDer<'_>) -> Option<Timestamp> {
    let certificate = Certificate::from_der(certificate).ok()?;
    Some(moment(certificate.tbs_certificate().validity().not_after))
}

/// The SPIFFE ID of a workload's certificate (X509-SVID): its only URI. The key of such a certificate
/// signs neither certificates nor revocation lists.
pub(super) fn spiffe_id(certificate: &CertificateDer<'_>) -> Option<SpiffeId> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let certificate = certificate.tbs_certificate();
    let usage = certificate.get_extension::<KeyUsage>().ok()?;
    if usage.is_some_and(|(_, usage)| usage.key_cert_sign() || usage.crl_sign()) {
        return None;
    }
    let (_, names) = certificate.get_extension::<SubjectAltName>().ok()??;
    let mut uris = names.0.iter().filter_map(|name| match name {
        GeneralName::UniformResourceIdentifier(uri) => Some(uri.as_str()),
        GeneralName::OtherName(_)
        | GeneralName::Rfc822Name(_)
        | GeneralName::DnsName(_)
        | GeneralName::DirectoryName(_)
        | GeneralName::EdiPartyName(_)
        | GeneralName::IpAddress(_)
        | GeneralName::RegisteredId(_) => None,
    });
    let only = uris.next().filter(|_| uris.next().is_none());
    only?.parse().ok()
}
