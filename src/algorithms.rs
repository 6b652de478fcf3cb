//! The vocabulary of keys and algorithms, which the token and the API share.

pub use hsm::{Algorithm, Curve, Family, OaepHash, PublicKey as PublicParts, RsaParts};
