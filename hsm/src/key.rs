//! How a key in a token is named.

use std::fmt;

use crate::Purpose;
use formats::algorithms::{Algorithm, Family, Kem, PublicParts};

/// The start of the labels of keys that only the service uses.
pub(crate) const INTERNAL: &str = "sealward-internal";

/// A private or secret key, or a hybrid key. It is searched only among private objects (`CKA_PRIVATE`), whose
/// creation requires the PIN. The tokens of one [`Token`](crate::Token) hold it under the same name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyRef {
    /// The attribute that identifies the key.
    pub name: KeyName,
    /// The class of the object, because several objects may share a name.
    pub class: KeyClass,
}

/// The attribute that identifies a key.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum KeyName {
    /// `CKA_ID`, which every key made by this crate has.
    Id(Vec<u8>),
    /// `CKA_LABEL`, for an adopted key without an id.
    Label(String),
    /// `CKA_ID` of a key that only the service uses. No record of a key has such a name.
    Internal(Vec<u8>),
}

/// Whether a key is the private half of a pair, a secret key, or several private keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyClass {
    /// The private half of a pair.
    Private,
    /// A secret key.
    Secret,
    /// The private keys of a key encapsulation, which share a name.
    Hybrid(Kem),
    /// The private key of this algorithm among those that share a name.
    Part(Algorithm),
}

impl KeyClass {
    /// The classes of keys whose algorithm is not known. A hybrid key is also found as two private keys, so
    /// it comes first.
    pub const EACH: [Self; 3] = [Self::Hybrid(Kem::P256MlKem768), Self::Private, Self::Secret];
}

impl KeyClass {
    /// The class of keys of this algorithm.
    pub const fn of(algorithm: Algorithm) -> Self {
        match algorithm.family() {
            Family::Rsa
            | Family::Ec
            | Family::Ed25519
            | Family::MlDsa
            | Family::MlKem768
            | Family::MlKem1024 => Self::Private,
            Family::P256MlKem768 => Self::Hybrid(Kem::P256MlKem768),
            Family::Aes | Family::Hmac => Self::Secret,
        }
    }
}

/// A key to be made. Both name attributes are set; the id is how the key is found.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// `CKA_ID`: not empty, and new in the token.
    pub id: Vec<u8>,
    /// `CKA_LABEL`, for people who inspect the token with other tools.
    pub label: String,
    /// The kind of key.
    pub algorithm: Algorithm,
    /// What the key may be used for.
    pub purpose: Purpose,
}

/// What is recorded of a key apart from its name, which its vendor's tools can give to another key.
#[derive(Debug, Clone)]
pub struct RecordedKey {
    /// The kind of key.
    pub algorithm: Algorithm,
    /// What the key is used for.
    pub purpose: Purpose,
    /// Its public half; none for secret keys.
    pub public: Option<PublicParts>,
}

impl NewKey {
    /// A key that only the service uses: it cannot be adopted or destroyed, and is no orphan.
    pub fn internal(id: Vec<u8>, label: &str, algorithm: Algorithm, purpose: Purpose) -> Self {
        Self { id, label: format!("{INTERNAL} {label}"), algorithm, purpose }
    }

    pub(crate) fn key_ref(&self) -> KeyRef {
        let name = match self.label.starts_with(INTERNAL) {
            true => KeyName::Internal(self.id.clone()),
            false => KeyName::Id(self.id.clone()),
        };
        KeyRef { name, class: KeyClass::of(self.algorithm) }
    }
}

impl KeyRef {
    /// The private key with this `CKA_ID`.
    pub fn private(id: impl Into<Vec<u8>>) -> Self {
        Self::with_id(KeyClass::Private, id)
    }

    /// The private key with this `CKA_ID` that only the service uses.
    pub fn internal(id: impl Into<Vec<u8>>) -> Self {
        Self { name: KeyName::Internal(id.into()), class: KeyClass::Private }
    }

    /// The secret key with this `CKA_ID`.
    pub fn secret(id: impl Into<Vec<u8>>) -> Self {
        Self::with_id(KeyClass::Secret, id)
    }

    pub(crate) fn with_id(class: KeyClass, id: impl Into<Vec<u8>>) -> Self {
        Self { name: KeyName::Id(id.into()), class }
    }
}

impl fmt::Debug for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) | Self::Internal(id) => {
                f.write_str("id ")?;
                id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Label(label) => write!(f, "label {label:?}"),
        }
    }
}
