//! Key material: the forms in which a key is handed in and out, read strictly and checked before
//! anything is done with it.
//!
//! A value of these types has been validated: an RSA modulus of an offered length without known
//! weaknesses, a point that lies on its curve, halves that belong together. Whatever is not so is
//! a [`Problem`](crate::problem::Problem) that names the member and the reason, never the value.
//! This room is pure: it knows no token, no database, no clock. Plaintext wipes itself when it is
//! dropped and prints as `[redacted]`.

#![deny(clippy::wildcard_enum_match_arm)]

mod ec;
mod ed25519;
mod jwk;
mod pem;
mod pkcs8;
mod private;
mod private_pem;
mod public;
mod rsa;
mod secret;
mod spki;

pub use self::jwk::Jwk;
pub use self::pkcs8::{EncryptedKey, Unlock};
pub use self::private::{PrivateKey, PrivateParts};
pub use self::private_pem::PrivatePem;
pub use self::public::PublicKey;
pub use self::secret::SecretKey;
pub use crate::algorithms::{Algorithm, Curve, Family, PublicParts, RsaParts};
