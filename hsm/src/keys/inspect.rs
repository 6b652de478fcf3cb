//! Reading the attributes of a key.

use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass};

use super::usages::Usages;
use crate::attribute_values;
use crate::pkcs11::ObjectHandle;
use crate::session::Session;
use crate::{HsmError, KeyClass, KeyRef};
use formats::algorithms::{Algorithm, Curve, Family, MlDsa, MlKem};

/// What kind of key a token reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// A kind that this crate uses.
    Known(Algorithm),
    /// An AES key of unknown length. Some tokens do not report the length of unwrapped keys, and
    /// no operation shows it.
    AesOfUnknownLength,
    /// A kind or size that this crate does not use.
    #[default]
    Other,
}

/// In what an adopted key is weaker than a generated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Weakness {
    /// `CKA_SENSITIVE` is false.
    #[error("the token reveals its value (CKA_SENSITIVE is false)")]
    NotSensitive,
    /// `CKA_EXTRACTABLE` is true.
    #[error("it can be wrapped out of the token (CKA_EXTRACTABLE is true)")]
    Extractable,
    /// `CKA_NEVER_EXTRACTABLE` is false.
    #[error("it has been extractable or outside a token (CKA_NEVER_EXTRACTABLE is false)")]
    WasExtractable,
    /// `CKA_PRIVATE` is false.
    #[error("it is visible without login (CKA_PRIVATE is false)")]
    NotPrivate,
    /// It has usages in addition to those of its purpose.
    #[error("it has more usages than its purpose needs")]
    WideUsage,
    /// It is an AES key without `CKA_VALUE_LEN`.
    #[error("the token does not report its length, so the given length is not verified")]
    UnknownLength,
}

/// The attributes of a private or secret key. Missing attributes count as the weaker value.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) id: Vec<u8>,
    pub(crate) label: String,
    pub(crate) kind: KeyKind,
    pub(crate) usages: Usages,
    sensitive: bool,
    extractable: Option<bool>,
    never_extractable: bool,
    private: bool,
}

impl Facts {
    /// The attributes in which the key is weaker than a generated key with these usages.
    pub(crate) fn weaknesses(&self, needed: Usages) -> Vec<Weakness> {
        let extractable = self.extractable != Some(false);
        let was_extractable = !extractable && !self.never_extractable;
        let all = [
            (!self.sensitive, Weakness::NotSensitive),
            (extractable, Weakness::Extractable),
            (was_extractable, Weakness::WasExtractable),
            (!self.private, Weakness::NotPrivate),
            (self.usages.exceeds(needed), Weakness::WideUsage),
        ];
        let present = all.into_iter().filter(|(is_weak, _)| *is_weak);
        present.map(|(_, weakness)| weakness).collect()
    }
}

/// Reads the attributes of all parts of a key, which the token is searched for. A part of another kind
/// makes the key one of another kind.
pub(crate) fn facts_of_all(session: &Session, key: &KeyRef) -> Result<Facts, HsmError> {
    let KeyClass::Hybrid(kem) = key.class else {
        return facts(session, session.look_up(key)?);
    };
    let mut all = Facts::default();
    let mut kinds = Vec::new();
    for part in key.parts() {
        let facts = facts(session, session.look_up(&part)?)?;
        kinds.push(facts.kind);
        all = Facts { usages: all.usages.or(facts.usages), ..facts };
    }
    let expected = kem.algorithm().parts().into_iter().map(KeyKind::Known);
    all.kind = match expected.eq(kinds) {
        true => KeyKind::Known(kem.algorithm()),
        false => KeyKind::Other,
    };
    Ok(all)
}

/// Reads the attributes of one key in the token.
#[expect(clippy::wildcard_enum_match_arm, reason = "tokens return only the requested attributes")]
pub(crate) fn facts(session: &Session, key: ObjectHandle) -> Result<Facts, HsmError> {
    let mut facts = Facts::default();
    let attributes = session.raw().attributes(
        key,
        &[
            AttributeType::Class,
            AttributeType::Id,
            AttributeType::Label,
            AttributeType::Sensitive,
            AttributeType::Extractable,
            AttributeType::NeverExtractable,
            AttributeType::Private,
            AttributeType::Decrypt,
            AttributeType::Encrypt,
            AttributeType::Sign,
            AttributeType::SignRecover,
            AttributeType::Derive,
            AttributeType::Unwrap,
            AttributeType::Wrap,
        ],
    )?;
    for attribute in &attributes {
        match attribute {
            Attribute::Id(id) => facts.id.clone_from(id),
            Attribute::Label(label) => facts.label = String::from_utf8_lossy(label).into_owned(),
            Attribute::Sensitive(yes) => facts.sensitive = *yes,
            Attribute::Extractable(yes) => facts.extractable = Some(*yes),
            Attribute::NeverExtractable(yes) => facts.never_extractable = *yes,
            Attribute::Private(yes) => facts.private = *yes,
            Attribute::Decrypt(yes) => facts.usages.decrypt = *yes,
            Attribute::Encrypt(yes) => facts.usages.encrypt = *yes,
            Attribute::Sign(yes) => facts.usages.sign = *yes,
            Attribute::SignRecover(yes) => facts.usages.sign_recover = *yes,
            Attribute::Derive(yes) => facts.usages.derive = *yes,
            Attribute::Unwrap(yes) => facts.usages.unwrap = *yes,
            Attribute::Wrap(yes) => facts.usages.wrap = *yes,
            _ => {}
        }
    }
    // PKCS#11 has no such usages of private keys, but some tokens report those of the public half.
    if attributes.contains(&Attribute::Class(ObjectClass::PRIVATE_KEY)) {
        (facts.usages.encrypt, facts.usages.wrap) = (false, false);
    }
    facts.kind = kind(session, key)?;
    // Older tokens do not know this attribute.
    if matches!(facts.kind, KeyKind::Known(algorithm) if algorithm.kem().is_some()) {
        let allowed = read(session, key, AttributeType::Decapsulate)?;
        facts.usages.decapsulate = allowed == Some(Attribute::Decapsulate(true));
    }
    Ok(facts)
}

/// The kind of a private or secret key.
pub(super) fn kind(session: &Session, key: ObjectHandle) -> Result<KeyKind, HsmError> {
    // A failure means a key type that cryptoki does not know.
    let Ok(Some(Attribute::KeyType(key_type))) = read(session, key, AttributeType::KeyType) else {
        return Ok(KeyKind::Other);
    };
    let algorithm = match key_type {
        KeyType::RSA => match read(session, key, AttributeType::Modulus)? {
            Some(Attribute::Modulus(modulus)) => {
                let length = Some(trimmed(&modulus).len());
                let mut all = Algorithm::ALL.into_iter();
                all.find(|algorithm| algorithm.modulus_len() == length)
            }
            _ => None,
        },
        KeyType::EC => match read(session, key, AttributeType::EcParams)? {
            Some(Attribute::EcParams(params)) => {
                attribute_values::curve_of(&params).map(Curve::algorithm)
            }
            _ => None,
        },
        KeyType::EC_EDWARDS => Some(Algorithm::Ed25519),
        KeyType::ML_DSA => ml_dsa(session, key)?.map(MlDsa::algorithm),
        KeyType::ML_KEM => ml_kem(session, key)?.map(MlKem::algorithm),
        KeyType::AES => match value_length(session, key)? {
            Some(16) => Some(Algorithm::Aes128),
            Some(32) => Some(Algorithm::Aes256),
            Some(_) => None,
            None => return Ok(KeyKind::AesOfUnknownLength),
        },
        KeyType::GENERIC_SECRET | KeyType::SHA256_HMAC => Some(Algorithm::HmacSha256),
        _ => None,
    };
    Ok(algorithm.map_or(KeyKind::Other, KeyKind::Known))
}

/// The parameter set of an ML-DSA key.
pub(crate) fn ml_dsa(session: &Session, key: ObjectHandle) -> Result<Option<MlDsa>, HsmError> {
    Ok(match read(session, key, AttributeType::ParameterSet)? {
        Some(Attribute::ParameterSet(parameters)) => attribute_values::ml_dsa_of(parameters),
        _ => None,
    })
}

/// The parameter set of an ML-KEM key.
pub(crate) fn ml_kem(session: &Session, key: ObjectHandle) -> Result<Option<MlKem>, HsmError> {
    Ok(match read(session, key, AttributeType::ParameterSet)? {
        Some(Attribute::ParameterSet(parameters)) => attribute_values::ml_kem_of(parameters),
        _ => None,
    })
}

/// The length of a secret key. Some tokens report none, or zero, for unwrapped keys.
pub(crate) fn value_length(
    session: &Session,
    key: ObjectHandle,
) -> Result<Option<usize>, HsmError> {
    Ok(match read(session, key, AttributeType::ValueLen)? {
        Some(Attribute::ValueLen(length)) => Some(usize::from(length)).filter(|length| *length > 0),
        _ => None,
    })
}

/// Whether the token reports that an HMAC key is shorter than its hash, as no generated key is.
pub(crate) fn is_short_hmac(
    session: &Session,
    key: ObjectHandle,
    algorithm: Algorithm,
) -> Result<bool, HsmError> {
    if algorithm.family() != Family::Hmac {
        return Ok(false);
    }
    let length = value_length(session, key)?;
    Ok(length.is_some_and(|length| Some(length) < algorithm.secret_len()))
}

/// One attribute; none where the object lacks it.
pub(crate) fn read(
    session: &Session,
    object: ObjectHandle,
    attribute: AttributeType,
) -> Result<Option<Attribute>, HsmError> {
    let mut found = session.raw().attributes(object, &[attribute])?;
    Ok(found.pop())
}

/// A big-endian number without its leading zeros.
pub(crate) fn trimmed(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}
