//! The certificate of the client of a request.

use std::sync::Arc;

use super::chain::Chain;
use super::trust::{CurrentTrust, VerifiedCertificate};
use formats::clock::Timestamp;

/// Marks a request with the certificate of its connection.
#[derive(Clone, Debug)]
pub struct PeerCertificate {
    /// The certificate, whose key the peer has proven to have.
    pub chain: Arc<Chain>,
    /// The trusted CAs of the listener.
    pub trust: CurrentTrust,
}

/// The certificate of the client of a request: of its connection, or in the header of a proxy.
#[derive(Clone, Debug, Default)]
pub enum ClientCertificate {
    /// There is none.
    #[default]
    Absent,
    /// A trusted proxy sent something else than one certificate of a client.
    Malformed,
    /// It is verified when it is used.
    Presented(PeerCertificate),
}

/// Why a certificate does not count, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CertificateRefused {
    /// There is none.
    #[error("no client certificate")]
    Absent,
    /// The header of a proxy is malformed.
    #[error("malformed Client-Cert header")]
    Malformed,
    /// No trusted CA may vouch for it, or it is expired or revoked.
    #[error("untrusted client certificate")]
    Untrusted,
}

impl ClientCertificate {
    /// The names for which the CA of the certificate may vouch, if it was verified before.
    pub async fn known(
        &self,
        now: Timestamp,
    ) -> Result<Option<Arc<VerifiedCertificate>>, CertificateRefused> {
        match self {
            Self::Absent => Err(CertificateRefused::Absent),
            Self::Malformed => Err(CertificateRefused::Malformed),
            Self::Presented(PeerCertificate { chain, trust }) => {
                Ok(trust.load().known(chain, now).await)
            }
        }
    }

    /// The names for which the CA of the certificate may vouch.
    pub async fn verified(
        &self,
        now: Timestamp,
    ) -> Result<Arc<VerifiedCertificate>, CertificateRefused> {
        match self {
            Self::Absent => Err(CertificateRefused::Absent),
            Self::Malformed => Err(CertificateRefused::Malformed),
            Self::Presented(PeerCertificate { chain, trust }) => {
                let verified = trust.load().verify(chain, now).await;
                verified.ok_or(CertificateRefused::Untrusted)
            }
        }
    }
}
