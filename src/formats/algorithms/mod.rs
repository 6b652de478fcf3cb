//! The vocabulary of keys and algorithms, which tokens, envelopes and the API share.

mod curve;
mod jws;
mod kem;
mod key;
mod ml_dsa;
mod public_parts;
mod rsa_parts;
mod signature_scheme;

pub use self::curve::Curve;
pub use self::jws::JwsAlgorithm;
pub use self::kem::{Kem, MlKem};
pub use self::key::{Algorithm, Family, ImportMechanism, OaepHash};
pub use self::ml_dsa::MlDsa;
pub use self::public_parts::PublicParts;
pub use self::rsa_parts::RsaParts;
pub use self::signature_scheme::SignatureScheme;
