//! The attributes that keys are made with. Every attribute that lets somebody do more with a key is set,
//! because the defaults of tokens differ: "not sensitive, every usage" on one, "no usage at all" on another.
//! Not every token accepts [`Optional`] attributes. Where one rejects them, its defaults remain; a key that is
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

    /// The attributes of the public half, without its value: it reverses the private half.
    pub(crate) fn public(self, key_type: KeyType) -> Vec<Attribute> {
        let mut attributes = self.object(ObjectClass::PUBLIC_KEY, key_type, false);
        attributes.extend([
            Attribute::Encrypt(self.usages.decrypt),
            Attribute::Verify(self.usages.sign),
            Attribute::Wrap(self.usages.unwrap),
        ]);
        if self.usages.decapsulate {
            attributes.push(Attribute::Encapsulate(true));
        }
        attributes
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
        (_, Family::Rsa) => vec![MechanismType::RSA_PKCS, MechanismType::RSA_PKCS_PSS],
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
const FIXED: Attribute = Attribute::Modifiable(false);

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

    /// Makes a key with as many of these attributes as the token accepts.
    pub(crate) fn make<T, E>(
        self,
        rejects_attribute: impl Fn(&E) -> bool,
        make: impl FnMut(&[Attribute]) -> Result<T, E>,
    ) -> Result<T, E> {
        let Self { no_recovery, bond } = self;
        let optional: Vec<_> = [no_recovery, bond, Some(FIXED)].into_iter().flatten().collect();
        attempt_each(&[], &optional, rejects_attribute, make)
    }

    /// Makes a key that is bound to its mechanisms, even if the token rejects that.
    pub(crate) fn make_bound<T, E>(
        self,
        rejects_attribute: impl Fn(&E) -> bool,
        make: impl FnMut(&[Attribute]) -> Result<T, E>,
    ) -> Result<T, E> {
        let Self { no_recovery, bond } = self;
        let optional: Vec<_> = [no_recovery, Some(FIXED)].into_iter().flatten().collect();
        attempt_each(bond.as_slice(), &optional, rejects_attribute, make)
    }
}

/// Attempts each choice of optional attributes until the token rejects none of them: first all of them, and those
/// with the first attribute before those without it.
fn attempt_each<T, E>(
    required: &[Attribute],
    optional: &[Attribute],
    rejects_attribute: impl Fn(&E) -> bool,
    mut make: impl FnMut(&[Attribute]) -> Result<T, E>,
) -> Result<T, E> {
    for choice in (1_usize..1 << optional.len()).rev() {
        let places = (0..optional.len()).rev();
        let chosen = optional.iter().zip(places).filter(|(_, place)| choice >> place & 1 == 1);
        let chosen = chosen.map(|(attribute, _)| attribute);
        let attributes: Vec<_> = required.iter().chain(chosen).cloned().collect();
        match make(&attributes) {
            Err(error) if rejects_attribute(&error) => {}
            result => return result,
        }
    }
    make(required)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_attribute_costs_no_other_one() {
        let bond = Attribute::AllowedMechanisms(vec![MechanismType::ECDSA]);
        let all = [Attribute::SignRecover(false), bond, FIXED];
        for rejected in &all {
            let optional = Optional::of(KeyClass::Private, &[MechanismType::ECDSA]);
            let made = optional.make(
                |()| true,
                |attributes| match attributes.contains(rejected) {
                    true => Err(()),
                    false => Ok(attributes.to_vec()),
                },
            );
            let expected = all.iter().filter(|attribute| *attribute != rejected);
            assert_eq!(made, Ok(expected.cloned().collect()));
        }
        let optional = Optional::of(KeyClass::Secret, &[]);
        let plain = optional.make(
            |()| true,
            |attributes| match attributes {
                [] => Ok(()),
                _ => Err(()),
            },
        );
        assert_eq!(plain, Ok(()));
    }
}
