//! The vocabulary of keys and algorithms, which tokens, envelopes and the API share.

mod cipher;
mod curve;
mod hash;
mod jws;
mod kem;
mod key;
mod ml_dsa;
mod public_parts;
mod rsa_parts;
mod signature_scheme;
pub mod strength;

pub use self::cipher::Cipher;
pub use self::curve::Curve;
pub use self::hash::Hash;
pub use self::jws::JwsAlgorithm;
pub use self::kem::{Kem, MlKem};
pub use self::key::{Algorithm, Family, ImportMechanism, OaepHash};
pub use self::ml_dsa::MlDsa;
pub use self::public_parts::PublicParts;
pub use self::rsa_parts::RsaParts;
pub use self::signature_scheme::SignatureScheme;
pub use self::strength::QuantumStatus;
