//! Client certificates: the trusted CAs, and the verification of what a client presents.
//!
//! A handshake accepts a certificate of any trusted CA. A certificate identifies a caller only by the CA
//! that may vouch for it: a fingerprint by `http.tls.client_ca`, a SPIFFE ID by the CAs of its own trust
//! domain. This module knows neither callers nor identities.

#![deny(clippy::wildcard_enum_match_arm)]

mod chain;
mod examined;
mod forwarded;
mod handshake;
mod presented;
mod trust;

pub use self::chain::{Chain, moment};
pub use self::examined::expiry;
pub use self::forwarded::{NotACertificate, forwarded};
pub use self::presented::{CertificateRefused, ClientCertificate, PeerCertificate};
pub use self::trust::{Authority, CurrentTrust, Trust, VerifiedCertificate};
