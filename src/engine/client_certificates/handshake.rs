//! The verification of client certificates in a TLS handshake.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use super::trust::Trust;

/// Accepts a certificate of any trusted CA.
impl ClientCertVerifier for Trust {
    fn offer_client_auth(&self) -> bool {
        self.authorities().next().is_some()
    }

    /// Workloads of a trust domain share the listener with clients that have no certificate.
    fn client_auth_mandatory(&self) -> bool {
        self.client_ca.is_some()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.subjects
    }

    fn verify_client_cert(
        &self,
        own: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let mut refused = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        for authority in self.authorities() {
            match authority.verify_client_cert(own, intermediates, now) {
                Ok(verified) => return Ok(verified),
                // Another reason than an unknown issuer comes from the CA of the certificate.
                Err(error) if error != CertificateError::UnknownIssuer.into() => refused = error,
                Err(_) => {}
            }
        }
        Err(refused)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
