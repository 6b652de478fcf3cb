//! What a token says of a key it holds.

use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectHandle};

use super::{Curve, KeyAlgorithm, KeyKind, Usages, Weakness};
use crate::HsmError;
use crate::session::Session;

/// The attributes of a private or secret key. What the token does not tell is taken for the worse.
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

impl Usages {
    /// Whether everything that is needed is there.
    pub(crate) fn covers(self, needed: Self) -> bool {
        needed.excess_over(self) == 0
    }

    fn each(self) -> [bool; 6] {
        [
            self.decrypt,
            self.encrypt,
            self.sign,
            self.derive,
            self.unwrap,
            self.wrap,
        ]
    }

    fn excess_over(self, needed: Self) -> usize {
        self.each()
            .iter()
            .zip(needed.each())
            .filter(|(has, needs)| **has && !needs)
            .count()
    }
}

impl Facts {
    /// In what the key is weaker than one that is made here for these usages.
    pub(crate) fn weaknesses(&self, needed: Usages) -> Vec<Weakness> {
        let extractable = self.extractable != Some(false);
        [
            (!self.sensitive, Weakness::NotSensitive),
            (extractable, Weakness::Extractable),
            (
                !extractable && !self.never_extractable,
                Weakness::WasExtractable,
            ),
            (!self.private, Weakness::NotPrivate),
            (self.usages.excess_over(needed) > 0, Weakness::WideUsage),
        ]
        .into_iter()
        .filter_map(|(weak, weakness)| weak.then_some(weakness))
        .collect()
    }
}

/// Reads the attributes of a key.
pub(crate) fn facts(session: &Session, key: ObjectHandle) -> Result<Facts, HsmError> {
    let mut facts = Facts::default();
    let told = session.raw().get_attributes(
        key,
        &[
            AttributeType::Id,
            AttributeType::Label,
            AttributeType::Sensitive,
            AttributeType::Extractable,
            AttributeType::NeverExtractable,
            AttributeType::Private,
            AttributeType::Decrypt,
            AttributeType::Encrypt,
            AttributeType::Sign,
            AttributeType::Derive,
            AttributeType::Unwrap,
            AttributeType::Wrap,
        ],
    )?;
    for attribute in told {
        match attribute {
            Attribute::Id(id) => facts.id = id,
            Attribute::Label(label) => facts.label = String::from_utf8_lossy(&label).into_owned(),
            Attribute::Sensitive(yes) => facts.sensitive = yes,
            Attribute::Extractable(yes) => facts.extractable = Some(yes),
            Attribute::NeverExtractable(yes) => facts.never_extractable = yes,
            Attribute::Private(yes) => facts.private = yes,
            Attribute::Decrypt(yes) => facts.usages.decrypt = yes,
            Attribute::Encrypt(yes) => facts.usages.encrypt = yes,
            Attribute::Sign(yes) => facts.usages.sign = yes,
            Attribute::Derive(yes) => facts.usages.derive = yes,
            Attribute::Unwrap(yes) => facts.usages.unwrap = yes,
            Attribute::Wrap(yes) => facts.usages.wrap = yes,
            _ => {}
        }
    }
    facts.kind = kind(session, key)?;
    Ok(facts)
}

/// What kind of key it is.
fn kind(session: &Session, key: ObjectHandle) -> Result<KeyKind, HsmError> {
    // A key type that cryptoki does not know is one that this crate does not use.
    let Ok(told) = session.raw().get_attributes(key, &[AttributeType::KeyType]) else {
        return Ok(KeyKind::Other);
    };
    let Some(Attribute::KeyType(key_type)) = told.first() else {
        return Ok(KeyKind::Other);
    };
    let algorithm = match *key_type {
        KeyType::RSA => match read(session, key, AttributeType::Modulus)? {
            Some(Attribute::Modulus(modulus)) => match trimmed(&modulus).len() {
                256 => Some(KeyAlgorithm::Rsa2048),
                384 => Some(KeyAlgorithm::Rsa3072),
                512 => Some(KeyAlgorithm::Rsa4096),
                _ => None,
            },
            _ => None,
        },
        KeyType::EC => match read(session, key, AttributeType::EcParams)? {
            Some(Attribute::EcParams(params)) => {
                Curve::from_params(&params).map(|curve| match curve {
                    Curve::P256 => KeyAlgorithm::P256,
                    Curve::P384 => KeyAlgorithm::P384,
                    Curve::P521 => KeyAlgorithm::P521,
                })
            }
            _ => None,
        },
        KeyType::EC_EDWARDS => Some(KeyAlgorithm::Ed25519),
        KeyType::AES => match told_length(session, key)? {
            Some(16) => Some(KeyAlgorithm::Aes128),
            Some(32) => Some(KeyAlgorithm::Aes256),
            Some(_) => None,
            None => return Ok(KeyKind::AesOfUntoldLength),
        },
        KeyType::GENERIC_SECRET | KeyType::SHA256_HMAC => Some(KeyAlgorithm::HmacSha256),
        _ => None,
    };
    Ok(algorithm.map_or(KeyKind::Other, KeyKind::Known))
}

/// The length a token tells of a secret key. Some tell none, or zero, of one they unwrapped.
pub(crate) fn told_length(session: &Session, key: ObjectHandle) -> Result<Option<usize>, HsmError> {
    Ok(match read(session, key, AttributeType::ValueLen)? {
        Some(Attribute::ValueLen(length)) => Some(usize::from(length)).filter(|length| *length > 0),
        _ => None,
    })
}

/// One attribute, where the token has it.
pub(crate) fn read(
    session: &Session,
    object: ObjectHandle,
    attribute: AttributeType,
) -> Result<Option<Attribute>, HsmError> {
    Ok(session
        .raw()
        .get_attributes(object, &[attribute])?
        .into_iter()
        .next())
}

/// A big-endian number without its leading zeros.
pub(crate) fn trimmed(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}
