//! The algorithms that keys in a token are used with.

/// The hash of RSA-OAEP, in the padding and in MGF1 alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OaepHash {
    /// JOSE's `RSA-OAEP`.
    Sha1,
    /// JOSE's `RSA-OAEP-256`.
    Sha256,
}

/// How a token opens RSA-OAEP with one hash. A trial tells, when the token is reached: mechanism
/// lists do not, and some tokens refuse only once they have seen a ciphertext.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OaepWay {
    /// No RSA key could be made to try it with: whether it works shows when it is used.
    #[default]
    Untried,
    /// The token does all of it.
    InToken,
    /// The token does raw RSA, and the padding is taken off in this process.
    RawRsa,
    /// Not at all: such envelopes cannot be opened with keys in this token.
    Lacking,
}

/// How a token opens RSA-OAEP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OaepWays {
    /// With SHA-1.
    pub sha1: OaepWay,
    /// With SHA-256.
    pub sha256: OaepWay,
}

impl OaepHash {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Sha1, Self::Sha256];
}

impl OaepWay {
    /// Whether it has been shown to work, in whatever way.
    pub fn opens(self) -> bool {
        match self {
            Self::InToken | Self::RawRsa => true,
            Self::Untried | Self::Lacking => false,
        }
    }
}

impl OaepWays {
    /// The way with this hash.
    pub fn of(self, hash: OaepHash) -> OaepWay {
        match hash {
            OaepHash::Sha1 => self.sha1,
            OaepHash::Sha256 => self.sha256,
        }
    }
}

/// How a message is signed. Messages are hashed in this process, except for Ed25519 and HMAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignatureScheme {
    /// PKCS#1 v1.5 with SHA-256.
    RsaPkcs1Sha256,
    /// PKCS#1 v1.5 with SHA-384.
    RsaPkcs1Sha384,
    /// PKCS#1 v1.5 with SHA-512.
    RsaPkcs1Sha512,
    /// PSS with SHA-256, the salt as long as the hash.
    RsaPssSha256,
    /// PSS with SHA-384.
    RsaPssSha384,
    /// PSS with SHA-512.
    RsaPssSha512,
    /// P-256; the signature is r and s, concatenated.
    EcdsaSha256,
    /// P-384.
    EcdsaSha384,
    /// P-521.
    EcdsaSha512,
    /// Ed25519 as in RFC 8032, over the message itself.
    Ed25519,
    /// HMAC with SHA-256.
    HmacSha256,
}

/// What AES-GCM made in a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcmSealed {
    /// As the token used it: some tokens make their own.
    pub iv: [u8; 12],
    /// As long as the plaintext.
    pub ciphertext: Vec<u8>,
    /// The authentication tag.
    pub tag: [u8; 16],
}
