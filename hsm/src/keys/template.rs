//! The attributes keys are made with. Nothing is left to a token's defaults: one token's are
//! "not sensitive, every usage", another's "no usage at all".

use cryptoki::mechanism::MechanismType;
use cryptoki::object::Attribute;

use super::{Curve, KeyAlgorithm, KeyClass, Purpose, Usages};
use crate::HsmError;

/// DER of 1.3.101.112, as PKCS#11 3.0 names the curve.
pub(crate) const ED25519_OID: &[u8] = &[0x06, 0x03, 0x2b, 0x65, 0x70];
/// DER of the printable string "edwards25519", as tokens before 3.0 name it.
pub(crate) const ED25519_NAME: &[u8] = b"\x13\x0cedwards25519";

impl Usages {
    /// What a key of this algorithm needs for this purpose; none where it cannot serve it.
    pub(crate) fn of(algorithm: KeyAlgorithm, purpose: Purpose) -> Option<Self> {
        use KeyAlgorithm as A;
        let none = Self::default();
        match (purpose, algorithm) {
            (Purpose::Envelope, A::Rsa2048 | A::Rsa3072 | A::Rsa4096) => Some(Self {
                decrypt: true,
                ..none
            }),
            (Purpose::Envelope, A::P256 | A::P384 | A::P521) => Some(Self {
                derive: true,
                ..none
            }),
            (
                Purpose::Sign,
                A::Rsa2048
                | A::Rsa3072
                | A::Rsa4096
                | A::P256
                | A::P384
                | A::P521
                | A::Ed25519
                | A::HmacSha256,
            ) => Some(Self { sign: true, ..none }),
            (Purpose::Data, A::Aes128 | A::Aes256) => Some(Self {
                encrypt: true,
                decrypt: true,
                ..none
            }),
            (Purpose::Import, A::Rsa2048 | A::Rsa3072 | A::Rsa4096) => Some(Self {
                unwrap: true,
                ..none
            }),
            (Purpose::Envelope | Purpose::Sign | Purpose::Data | Purpose::Import, _) => None,
        }
    }

    /// The same, for an order that must be refused where there is none.
    pub(crate) fn needed(algorithm: KeyAlgorithm, purpose: Purpose) -> Result<Self, HsmError> {
        Self::of(algorithm, purpose).ok_or_else(|| {
            HsmError::refused(format!("{algorithm:?} keys cannot serve {purpose:?}"))
        })
    }
}

/// What a private or secret key in the token is made with, beside its kind and value. It stays,
/// or goes with the session.
pub(crate) fn guarded(
    id: &[u8],
    label: &str,
    class: KeyClass,
    usages: Usages,
    stays: bool,
) -> Vec<Attribute> {
    let mut attributes = vec![
        Attribute::Token(stays),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Id(id.to_vec()),
        Attribute::Label(label.as_bytes().to_vec()),
    ];
    attributes.extend(usage_attributes(class, usages));
    attributes
}

/// Every usage a key of this class can have, said outright.
pub(crate) fn usage_attributes(class: KeyClass, usages: Usages) -> Vec<Attribute> {
    let mut attributes = vec![
        Attribute::Decrypt(usages.decrypt),
        Attribute::Sign(usages.sign),
        Attribute::Unwrap(usages.unwrap),
        Attribute::Derive(usages.derive),
    ];
    match class {
        KeyClass::Private => {}
        KeyClass::Secret => attributes.extend([
            Attribute::Encrypt(usages.encrypt),
            Attribute::Wrap(usages.wrap),
            Attribute::Verify(false),
        ]),
    }
    attributes
}

/// What the public half is made with, beside its kind: it does what undoes the private half.
pub(crate) fn open_half(id: &[u8], label: &str, usages: Usages, stays: bool) -> Vec<Attribute> {
    vec![
        Attribute::Token(stays),
        Attribute::Private(false),
        Attribute::Id(id.to_vec()),
        Attribute::Label(label.as_bytes().to_vec()),
        Attribute::Encrypt(usages.decrypt),
        Attribute::Verify(usages.sign),
        Attribute::Wrap(usages.unwrap),
    ]
}

/// The mechanisms a key is bound to, where the token takes such a bond. None for import keys:
/// they unwrap and do nothing else, by a mechanism that cryptoki does not name.
pub(crate) fn allowed_mechanisms(
    algorithm: KeyAlgorithm,
    purpose: Purpose,
    allow_raw_rsa: bool,
) -> Vec<MechanismType> {
    use KeyAlgorithm as A;
    match (purpose, algorithm) {
        (Purpose::Import, _) => vec![],
        (Purpose::Envelope, A::Rsa2048 | A::Rsa3072 | A::Rsa4096) if allow_raw_rsa => {
            vec![MechanismType::RSA_PKCS_OAEP, MechanismType::RSA_X_509]
        }
        (Purpose::Envelope, A::Rsa2048 | A::Rsa3072 | A::Rsa4096) => {
            vec![MechanismType::RSA_PKCS_OAEP]
        }
        (Purpose::Envelope, _) => vec![MechanismType::ECDH1_DERIVE],
        (_, A::Rsa2048 | A::Rsa3072 | A::Rsa4096) => {
            vec![MechanismType::RSA_PKCS, MechanismType::RSA_PKCS_PSS]
        }
        (_, A::P256 | A::P384 | A::P521) => vec![MechanismType::ECDSA],
        (_, A::Ed25519) => vec![MechanismType::EDDSA],
        (_, A::Aes128 | A::Aes256) => vec![MechanismType::AES_GCM],
        (_, A::HmacSha256) => vec![MechanismType::SHA256_HMAC],
    }
}

impl Curve {
    /// DER of the named curve's object identifier: `CKA_EC_PARAMS`.
    pub(crate) fn params(self) -> &'static [u8] {
        match self {
            Self::P256 => &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
            Self::P384 => &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22],
            Self::P521 => &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23],
        }
    }

    pub(crate) fn from_params(params: &[u8]) -> Option<Self> {
        [Self::P256, Self::P384, Self::P521]
            .into_iter()
            .find(|curve| curve.params() == params)
    }

    /// The length of a coordinate in bytes.
    pub(crate) fn coordinate_len(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// The length of an uncompressed point in bytes.
    pub(crate) fn point_len(self) -> usize {
        1 + 2 * self.coordinate_len()
    }
}

impl KeyAlgorithm {
    /// Whether a token keeps it as a private or as a secret key.
    pub fn class(self) -> KeyClass {
        match self {
            Self::Rsa2048
            | Self::Rsa3072
            | Self::Rsa4096
            | Self::P256
            | Self::P384
            | Self::P521
            | Self::Ed25519 => KeyClass::Private,
            Self::Aes128 | Self::Aes256 | Self::HmacSha256 => KeyClass::Secret,
        }
    }
}
