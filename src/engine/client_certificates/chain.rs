//! A certificate as a client presents it.

use std::fmt;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, UnixTime};
use sha2::{Digest as _, Sha256};
use x509_cert::time::Time;

use crate::fingerprint::Fingerprint;
use formats::clock::Timestamp;

/// A certificate and its intermediate certificates. Nothing in it is verified.
#[derive(Clone)]
pub struct Chain {
    pub(super) own: CertificateDer<'static>,
    pub(super) intermediates: Vec<CertificateDer<'static>>,
    fingerprint: Fingerprint,
}

impl Chain {
    /// The chain of a certificate.
    pub fn new(own: CertificateDer<'static>, intermediates: Vec<CertificateDer<'static>>) -> Self {
        Self { fingerprint: Fingerprint::of(&own), own, intermediates }
    }

    /// The fingerprint of the certificate.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// A digest of all certificates.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new_with_prefix(self.fingerprint.as_bytes());
        for intermediate in &self.intermediates {
            digest.update(Fingerprint::of(intermediate).as_bytes());
        }
        digest.finalize().into()
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain")
            .field("fingerprint", &self.fingerprint)
            .field("intermediates", &self.intermediates.len())
            .finish()
    }
}

/// A time in an X.509 certificate.
pub fn moment(time: Time) -> Timestamp {
    let millis = time.to_unix_duration().as_millis();
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// The time as rustls has it.
pub(super) fn unix_time(now: Timestamp) -> UnixTime {
    let millis = u64::try_from(now.as_millis()).unwrap_or_default();
    UnixTime::since_unix_epoch(Duration::from_millis(millis))
}
