//! The signature algorithms of JSON Web Tokens.

use crate::closed_set;

closed_set! {
    /// A signature algorithm of JSON Web Tokens (RFC 7518, RFC 8037). `none` and HMAC are not among them.
    pub enum JwsAlgorithm: "JwsAlgorithm" {
        /// RSA PKCS#1 v1.5 with SHA-256.
        Rs256 = "RS256",
        /// RSA PKCS#1 v1.5 with SHA-384.
        Rs384 = "RS384",
        /// RSA PKCS#1 v1.5 with SHA-512.
        Rs512 = "RS512",
        /// RSA-PSS with SHA-256.
        Ps256 = "PS256",
        /// RSA-PSS with SHA-384.
        Ps384 = "PS384",
        /// RSA-PSS with SHA-512.
        Ps512 = "PS512",
        /// ECDSA with P-256 and SHA-256.
        Es256 = "ES256",
        /// ECDSA with P-384 and SHA-384.
        Es384 = "ES384",
        /// ECDSA with P-521 and SHA-512.
        Es512 = "ES512",
        /// Ed25519.
        EdDsa = "EdDSA",
    }
}
