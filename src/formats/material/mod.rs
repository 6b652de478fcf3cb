//! Key material: the formats of keys in requests and responses, parsed strictly and checked before
//! use.
//!
//! Values of these types are validated: an RSA modulus has a supported length and no known
//! weaknesses, a point is on its curve, private and public keys match. Otherwise a
//! [`Problem`](crate::problem::Problem) names the member and the reason, never the value. This
//! module is pure: it knows no token, no database and no clock. Plaintext is wiped when dropped and
//! prints as `[redacted]`.

#![deny(clippy::wildcard_enum_match_arm)]

mod ec;
mod ed25519;
mod jwk;
#[cfg(feature = "service")]
mod jwk_schema;
mod kem;
mod ml_dsa;
mod pem;
mod pkcs8;
mod private;
mod private_pem;
mod public;
#[cfg(feature = "service")]
mod public_columns;
mod rsa;
mod secret;
mod spki;

pub use self::jwk::Jwk;
#[cfg(feature = "service")]
pub use self::jwk_schema::PrivateJwk;
pub use self::pkcs8::{EncryptedKey, Unlock};
pub use self::private::{PrivateKey, PrivateParts};
pub use self::private_pem::PrivatePem;
pub use self::public::PublicKey;
pub use self::rsa::verify_pss;
pub use self::secret::SecretKey;
pub use crate::algorithms::{Algorithm, Curve, Family, Kem, MlDsa, PublicParts, RsaParts};
