//! The attributes that keys are made with. Every attribute that lets somebody do more with a key is set,
//! because the defaults of tokens differ: "not sensitive, every usage" on one, "no usage at all" on another.
//! Not every token accepts [`Optional`] attributes ([`Attempts`](super::attempts::Attempts)). Where one rejects them, its defaults remain; a key that is
//! then weaker is refused when it is read back, except that a key may stay modifiable.

use cryptoki::mechanism::MechanismType;
use cryptoki::object::{Attribute, KeyType, ObjectClass};

use super::usages::Usages;
use crate::{HsmError, KeyClass, NewKey, Purpose};
use formats::algorithms::{Algorithm, Family};

/// DER of 1.3.101.112, the name of the curve in PKCS#11 3.0.
pub(crate) const ED25519_OID: &[u8] = &[0x06, 0x03, 0x2b, 0x65, 0x70];
/// DER of the printable string "edwards25519", the name of the curve in older tokens.
pub(crate) const ED25519_NAME: &[u8] = b"\x13\x0cedwards25519";

/// The attributes that all objects of a key share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Template<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) label: &'a str,
    pub(crate) usages: Usages,
    /// Whether the objects stay in the token or end with the session.
    pub(crate) permanent: bool,
}

impl<'a> Template<'a> {
    pub(crate) fn of(key: &'a NewKey, usages: Usages, permanent: bool) -> Self {
        Self { id: &key.id, label: &key.label, usages, permanent }
    }

    /// The attributes of a private or secret key, without its value.
    pub(crate) fn guarded(self, class: KeyClass, key_type: KeyType) -> Vec<Attribute> {
        let usages = self.usages;
        let mut attributes = self.object(class.object_class(), key_type, true);
        attributes.extend([
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Decrypt(usages.decrypt),
            Attribute::Sign(usages.sign),
            Attribute::Unwrap(usages.unwrap),
            Attribute::Derive(usages.derive),
        ]);
        // Older tokens do not know this attribute.
        if usages.decapsulate {
            attributes.push(Attribute::Decapsulate(true));
        }
        if class == KeyClass::Secret {
            attributes.extend([
                Attribute::Encrypt(usages.encrypt),
                Attribute::Wrap(usages.wrap),
                Attribute::Verify(false),
            ]);
        }
        attributes
    }

    /// The attributes of the public half, without its value. It gets no usages: this process has its value, and
    /// a TPM has one switch for the usages of both halves.
    pub(crate) fn public(self, key_type: KeyType) -> Vec<Attribute> {
        self.object(ObjectClass::PUBLIC_KEY, key_type, false)
    }

    fn object(self, class: ObjectClass, key_type: KeyType, private: bool) -> Vec<Attribute> {
        vec![
            Attribute::Class(class),
            Attribute::KeyType(key_type),
            Attribute::Token(self.permanent),
            Attribute::Private(private),
            Attribute::Id(self.id.to_vec()),
            Attribute::Label(self.label.as_bytes().to_vec()),
        ]
    }
}

/// The mechanisms that a key is bound to. Empty for import keys, which unwrap and do nothing else,
/// by a mechanism that cryptoki cannot name, and for hybrid keys, whose parts are bound.
pub(crate) fn allowed_mechanisms(
    algorithm: Algorithm,
    purpose: Purpose,
    allow_raw_rsa: bool,
) -> Vec<MechanismType> {
    match (purpose, algorithm.family()) {
        (Purpose::Import, _) => vec![],
        (Purpose::Envelope, Family::Rsa) if allow_raw_rsa => {
            vec![MechanismType::RSA_PKCS_OAEP, MechanismType::RSA_X_509]
        }
        (Purpose::Envelope, Family::Rsa) => vec![MechanismType::RSA_PKCS_OAEP],
        (_, Family::MlKem768 | Family::MlKem1024) => vec![MechanismType::ML_KEM],
        (_, Family::P256MlKem768) => vec![],
        (Purpose::Envelope, _) => vec![MechanismType::ECDH1_DERIVE],
        (_, Family::Rsa) => vec![
            MechanismType::RSA_PKCS,
            MechanismType::RSA_PKCS_PSS,
            MechanismType::SHA256_RSA_PKCS,
            MechanismType::SHA384_RSA_PKCS,
            MechanismType::SHA512_RSA_PKCS,
        ],
        (_, Family::Ec) => vec![MechanismType::ECDSA],
        (_, Family::Ed25519) => vec![MechanismType::EDDSA],
        (_, Family::MlDsa) => vec![MechanismType::ML_DSA],
        (_, Family::Aes) => vec![MechanismType::AES_GCM],
        (_, Family::Hmac) => vec![MechanismType::SHA256_HMAC],
    }
}

/// The attributes that not every token accepts, or not in every call.
#[derive(Debug)]
pub(crate) struct Optional {
    /// No recovery of messages from signatures, which is raw RSA. None for secret keys, which lack it.
    no_recovery: Option<Attribute>,
    /// The mechanisms that the key is bound to. None for a key that is not bound.
    bond: Option<Attribute>,
}

/// No later change of attributes.
pub(crate) const FIXED: Attribute = Attribute::Modifiable(false);

impl Optional {
    pub(crate) fn of(class: KeyClass, allowed: &[MechanismType]) -> Self {
        let no_recovery = (class != KeyClass::Secret).then_some(Attribute::SignRecover(false));
        let bond = (!allowed.is_empty()).then(|| Attribute::AllowedMechanisms(allowed.to_vec()));
        Self { no_recovery, bond }
    }

    /// Whether a token may reject this attribute of a key.
    pub(crate) fn includes(attribute: &Attribute) -> bool {
        matches!(
            attribute,
            Attribute::Modifiable(_) | Attribute::SignRecover(_) | Attribute::AllowedMechanisms(_)
        )
    }

    /// The attributes of a copy that stays in the token. Some tokens fix the attributes only of a copy.
    pub(crate) fn of_copy() -> [Attribute; 2] {
        [Attribute::Token(true), FIXED]
    }

    /// All of them, the most valuable first.
    pub(crate) fn all(self) -> Vec<Attribute> {
        let Self { no_recovery, bond } = self;
        [no_recovery, bond, Some(FIXED)].into_iter().flatten().collect()
    }
}

/// Tries a first form of something, then the second, unless the failure may be the token's. The
/// first error is returned.
pub(crate) fn either<A, T>(
    forms: [A; 2],
    mut attempt: impl FnMut(A) -> Result<T, HsmError>,
) -> Result<T, HsmError> {
    let [first, second] = forms;
    attempt(first).or_else(|error| match error.is_ambiguous() {
        true => Err(error),
        false => attempt(second).map_err(|_| error),
    })
}
