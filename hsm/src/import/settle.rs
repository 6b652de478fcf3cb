//! From a session object to a key that stays: nothing becomes permanent before it is proven, and
//! nothing is left behind when a step fails.

use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};

use super::unwrap::{key_type, kind};
use super::{ImportError, Imported, prove};
use crate::handles::Known;
use crate::keys::{self, inspect, public, template};
use crate::session::{Session, Temporary};
use crate::{
    KeyAlgorithm, KeyClass, KeyKind, KeyName, KeyRef, PublicKey, Purpose, Usages, Weakness,
};

/// What an imported key is to be, wherever its material comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) id: &'a [u8],
    pub(super) label: &'a str,
    pub(super) algorithm: KeyAlgorithm,
    pub(super) purpose: Purpose,
    /// The public half as far as it is known without the token.
    pub(super) public: Option<&'a PublicKey>,
    usages: Usages,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        id: &'a [u8],
        label: &'a str,
        algorithm: KeyAlgorithm,
        purpose: Purpose,
        public: Option<&'a PublicKey>,
    ) -> Result<Self, ImportError> {
        if id.is_empty() {
            return Err(ImportError::Malformed(
                "a key without an id would not be found again",
            ));
        }
        if purpose == Purpose::Import {
            return Err(ImportError::Malformed("import keys are made in the token"));
        }
        let usages = Usages::of(algorithm, purpose).ok_or(ImportError::Malformed(
            "such keys cannot serve this purpose",
        ))?;
        Ok(Self {
            id,
            label,
            algorithm,
            purpose,
            public,
            usages,
        })
    }

    fn key(&self) -> KeyRef {
        KeyRef {
            name: KeyName::Id(self.id.to_vec()),
            class: self.algorithm.class(),
        }
    }

    /// Has the key made, to stay or to go with the session; bound to its mechanisms, where the
    /// token takes such a bond.
    fn make(
        &self,
        session: &Session,
        stays: bool,
        make: impl Fn(&[Attribute]) -> Result<ObjectHandle, ImportError>,
    ) -> Result<ObjectHandle, ImportError> {
        let class = self.algorithm.class();
        let mut attributes = template::guarded(self.id, self.label, class, self.usages, stays);
        attributes.extend(kind(self.algorithm));
        let allow_raw = session.device().bounds.allow_raw_rsa;
        let allowed = template::allowed_mechanisms(self.algorithm, self.purpose, allow_raw);
        attributes.extend(keys::bond(&allowed));
        match make(&attributes) {
            Err(ImportError::Token(error)) if error.dislikes_an_attribute() => {
                attributes.retain(|attribute| !is_bond(attribute));
                make(&attributes)
            }
            made => made,
        }
    }
}

/// Whether an attribute binds a key to mechanisms.
pub(super) fn is_bond(attribute: &Attribute) -> bool {
    matches!(attribute, Attribute::AllowedMechanisms(_))
}

/// Brings a key in: `make` is called with the template of an object to be made of the material.
pub(super) fn settle(
    session: &Session,
    plan: &Plan<'_>,
    begun: &mut bool,
    make: impl Fn(&[Attribute]) -> Result<ObjectHandle, ImportError>,
) -> Result<Imported, ImportError> {
    let there = keys::same_id(session, plan.id)?;
    if !there.is_empty() && !*begun {
        return Err(ImportError::Malformed(
            "the token holds an object of this id already",
        ));
    }
    for left in there {
        session.raw().destroy_object(left)?;
    }
    *begun = true;
    let (candidate, public) = try_out(session, plan, &make)?;

    // A copy is what was proven. Where the token makes none, the key is made again, and proven
    // again; its guard is lifted only then.
    let copied = session
        .raw()
        .copy_object(candidate.handle(), &[Attribute::Token(true)]);
    let staying = match copied {
        Ok(copy) => session.temporary(copy),
        Err(error) => {
            tracing::debug!(?error, "the token does not copy a session object to stay");
            session.temporary(plan.make(session, true, &make)?)
        }
    };
    if examine(session, staying.handle(), plan)? != public {
        return Err(ImportError::Mismatch);
    }
    if let Some(half) = &public {
        let params = match inspect::read(session, staying.handle(), AttributeType::EcParams)? {
            Some(Attribute::EcParams(params)) => params,
            _ => vec![],
        };
        let template = public_template(plan, half, params);
        session.create(&template)?;
    }
    let handle = staying.keep();

    let key = plan.key();
    let device = session.device();
    device.handles.forget(&key);
    device
        .handles
        .keep(session.generation(), &key, Known::Held(handle));
    Ok(Imported {
        key,
        public,
        token: device.label().to_owned(),
    })
}

/// Makes the key as a session object and proves it.
pub(super) fn try_out<'a>(
    session: &'a Session,
    plan: &Plan<'_>,
    make: impl Fn(&[Attribute]) -> Result<ObjectHandle, ImportError>,
) -> Result<(Temporary<'a>, Option<PublicKey>), ImportError> {
    let candidate = session.temporary(plan.make(session, false, make)?);
    let public = examine(session, candidate.handle(), plan)?;
    Ok((candidate, public))
}

/// Reads back what the token made of the key and proves it; answers its public half.
fn examine(
    session: &Session,
    key: ObjectHandle,
    plan: &Plan<'_>,
) -> Result<Option<PublicKey>, ImportError> {
    let facts = inspect::facts(session, key)?;
    let is_meant = match facts.kind {
        KeyKind::Known(algorithm) => algorithm == plan.algorithm,
        // It was measured while it was wrapped.
        KeyKind::AesOfUntoldLength => {
            matches!(plan.algorithm, KeyAlgorithm::Aes128 | KeyAlgorithm::Aes256)
        }
        KeyKind::Other => false,
    };
    if !is_meant {
        return Err(ImportError::NotUnwrapped);
    }
    // That it has been outside is what import means.
    let weaker = |weakness: &Weakness| *weakness != Weakness::WasExtractable;
    if let Some(weakness) = facts.weaknesses(plan.usages).into_iter().find(weaker) {
        return Err(ImportError::Weaker(weakness.to_string()));
    }
    if !facts.usages.covers(plan.usages) {
        return Err(ImportError::Weaker(format!(
            "its usages are only {:?}",
            facts.usages
        )));
    }
    if plan.algorithm.class() == KeyClass::Secret {
        prove::secret_key(session, key, plan.algorithm)?;
        return Ok(None);
    }
    let public = match (plan.public, public::of_rsa(session, key)?) {
        (Some(given), Some(kept)) if *given != kept => return Err(ImportError::Mismatch),
        (_, Some(kept)) => kept,
        (Some(given), None) => given.clone(),
        (None, None) => {
            return Err(ImportError::Malformed(
                "the public half is required for such a key",
            ));
        }
    };
    prove::private_key(session, key, &public, plan.purpose)?;
    Ok(Some(public))
}

/// The public half as it is kept beside the private one, the curve named as it is there.
fn public_template(plan: &Plan<'_>, public: &PublicKey, ec_params: Vec<u8>) -> Vec<Attribute> {
    let mut attributes = template::open_half(plan.id, plan.label, plan.usages, true);
    attributes.extend([
        Attribute::Class(ObjectClass::PUBLIC_KEY),
        Attribute::KeyType(key_type(plan.algorithm)),
    ]);
    attributes.extend(match public {
        PublicKey::Rsa { modulus, exponent } => [
            Attribute::Modulus(modulus.clone()),
            Attribute::PublicExponent(exponent.clone()),
        ],
        PublicKey::Ec { point, .. } | PublicKey::Ed25519 { point } => [
            Attribute::EcParams(ec_params),
            Attribute::EcPoint(octet_string(point)),
        ],
    });
    attributes
}

/// `CKA_EC_POINT` is a DER octet string. Points are at most 133 bytes long.
fn octet_string(point: &[u8]) -> Vec<u8> {
    let length = u8::try_from(point.len()).unwrap_or(u8::MAX);
    let head: &[u8] = if length < 0x80 { &[4] } else { &[4, 0x81] };
    [head, &[length], point].concat()
}
