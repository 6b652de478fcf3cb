//! From a session object to a permanent key: a key is proven before it becomes permanent, and a
//! failed step leaves nothing behind.

use cryptoki::object::{Attribute, AttributeType};

use super::error::ImportError;
use super::prove;
use super::request::Imported;
use crate::attribute_values;
use crate::keys::attempts::Attempts;
use crate::keys::attributes::{Optional, Template, allowed_mechanisms, either};
use crate::keys::{destroy_same_id, inspect, public, same_id};
use crate::pkcs11::ObjectHandle;
use crate::session::{Circumstances, LastSearch, Origin, Session, Temporary};
use crate::{KeyClass, KeyKind, NewKey, Purpose, Usages, Weakness};
use formats::algorithms::{Family, PublicParts};

/// The key to be imported, whatever the source of its material.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    key: &'a NewKey,
    /// The public key, if it is known without the token.
    public: Option<&'a PublicParts>,
    usages: Usages,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        key: &'a NewKey,
        public: Option<&'a PublicParts>,
    ) -> Result<Self, ImportError> {
        if key.id.is_empty() {
            return Err(ImportError::Malformed("the id of a key must not be empty"));
        }
        if key.purpose == Purpose::Import {
            return Err(ImportError::Malformed("import keys are generated in the token"));
        }
        if !key.algorithm.is_importable() {
            return Err(ImportError::Malformed(
                "keys of this algorithm are generated in the token",
            ));
        }
        let usages = Usages::of(key.algorithm, key.purpose)
            .ok_or(ImportError::Malformed("keys of this algorithm cannot serve the purpose"))?;
        Ok(Self { key, public, usages })
    }

    /// Makes the key with the optional attributes that the token accepts.
    fn make(
        &self,
        session: &Session,
        permanent: bool,
        make: impl Fn(&[Attribute]) -> Result<ObjectHandle, ImportError>,
    ) -> Result<ObjectHandle, ImportError> {
        let NewKey { algorithm, purpose, .. } = *self.key;
        let template = Template::of(self.key, self.usages, permanent);
        let attributes =
            template.guarded(KeyClass::of(algorithm), attribute_values::key_type(algorithm));
        let connection = session.connection();
        let allowed = allowed_mechanisms(algorithm, purpose, connection.limits.allow_raw_rsa);
        let circumstances =
            Circumstances { origin: Origin::Imported, algorithm, purpose, permanent };
        Attempts::new(&connection.refused, circumstances).make(
            Optional::of(KeyClass::of(algorithm), &allowed),
            ImportError::failure,
            || Ok(destroy_same_id(session, &self.key.id, &[])?),
            |more| make(&[attributes.as_slice(), more].concat()),
        )
    }
}

/// Installs a key: `make` makes an object of the material from a template.
pub(super) fn install(
    session: &Session,
    plan: &Plan<'_>,
    begun: &mut bool,
    make: impl Fn(&[Attribute]) -> Result<ObjectHandle, ImportError>,
) -> Result<Imported, ImportError> {
    let existing = same_id(session, &plan.key.id)?;
    if !existing.is_empty() && !*begun {
        return Err(ImportError::Malformed("the token holds an object with this id"));
    }
    destroy_same_id(session, &plan.key.id, &[])?;
    *begun = true;
    let (candidate, public) = try_out(session, plan, &make)?;

    // A copy is the proven key. Where the token makes no copy, the key is made and proven again.
    let copy = |attributes: &[_]| session.raw().copy_object(candidate.handle(), attributes);
    let copied = copy(&Optional::of_copy()).or_else(|_| copy(&[Attribute::Token(true)]));
    let permanent = match copied {
        Ok(copy) => copy,
        Err(error) => {
            tracing::debug!(?error, "the token does not copy session objects");
            plan.make(session, true, &make)?
        }
    };
    let permanent = Temporary::new(session, permanent);
    if examine(session, permanent.handle(), plan)? != public {
        return Err(ImportError::Mismatch);
    }
    if let Some(half) = &public {
        // The curve is named as the token names it.
        let params = inspect::read(session, permanent.handle(), AttributeType::EcParams)?;
        either([octet_string as Encode, bare], |encode| {
            session.create(&public_object(plan, half, params.clone(), encode))
        })?;
    }
    let handle = permanent.keep();

    let key = plan.key.key_ref();
    session.connection().handles.forget(&key);
    session.cache(&key, LastSearch::Held(handle));
    Ok(Imported { key, public, token: session.connection().label().to_owned() })
}

/// Makes the key as a session object and proves it.
fn try_out<'a>(
    session: &'a Session,
    plan: &Plan<'_>,
    make: impl Fn(&[Attribute]) -> Result<ObjectHandle, ImportError>,
) -> Result<(Temporary<'a>, Option<PublicParts>), ImportError> {
    let candidate = Temporary::new(session, plan.make(session, false, make)?);
    let public = examine(session, candidate.handle(), plan)?;
    Ok((candidate, public))
}

/// Reads the key back and proves it. Returns its public half.
fn examine(
    session: &Session,
    key: ObjectHandle,
    plan: &Plan<'_>,
) -> Result<Option<PublicParts>, ImportError> {
    let algorithm = plan.key.algorithm;
    let facts = inspect::facts(session, key)?;
    let has_kind = match facts.kind {
        KeyKind::Known(found) => found == algorithm,
        // The length was checked on the wrapped key.
        KeyKind::AesOfUnknownLength => algorithm.family() == Family::Aes,
        KeyKind::Other => false,
    };
    if !has_kind {
        return Err(ImportError::NotUnwrapped);
    }
    // Every imported key has been outside a token.
    let is_weaker = |weakness: &Weakness| *weakness != Weakness::WasExtractable;
    if let Some(weakness) = facts.weaknesses(plan.usages).into_iter().find(is_weaker) {
        return Err(ImportError::Weaker(weakness.to_string()));
    }
    if inspect::is_short_hmac(session, key, algorithm)? {
        return Err(ImportError::Malformed("an HMAC key must not be shorter than its hash"));
    }
    if !facts.usages.covers(plan.usages) {
        let weaker = format!("its usages are only {:?}", facts.usages);
        return Err(ImportError::Weaker(weaker));
    }
    if KeyClass::of(algorithm) == KeyClass::Secret {
        prove::secret_key(session, key, algorithm)?;
        return Ok(None);
    }
    let public = match (plan.public, public::of_rsa(session, key)?) {
        (Some(given), Some(kept)) if *given != kept => return Err(ImportError::Mismatch),
        (_, Some(kept)) => kept,
        (Some(given), None) => given.clone(),
        (None, None) => {
            return Err(ImportError::Malformed("the public half is required for such a key"));
        }
    };
    prove::private_key(session, key, &public, plan.key.purpose)?;
    Ok(Some(public))
}

/// The attributes of the public object of a private key.
fn public_object(
    plan: &Plan<'_>,
    public: &PublicParts,
    ec_params: Option<Attribute>,
    encode: Encode,
) -> Vec<Attribute> {
    let template = Template::of(plan.key, plan.usages, true);
    let mut attributes = template.public(attribute_values::key_type(plan.key.algorithm));
    match public {
        PublicParts::Rsa { modulus, exponent } => attributes.extend([
            Attribute::Modulus(modulus.clone()),
            Attribute::PublicExponent(exponent.clone()),
        ]),
        PublicParts::Ec { point, .. } | PublicParts::Ed25519 { point } => {
            attributes.extend(ec_params);
            attributes.push(Attribute::EcPoint(encode(point)));
        }
        PublicParts::Kem { kem, key } => attributes.extend([
            Attribute::ParameterSet(attribute_values::ml_kem_parameters(kem.ml_kem())),
            Attribute::Value(key.clone()),
        ]),
        PublicParts::MlDsa { set, key } => attributes.extend([
            Attribute::ParameterSet(attribute_values::ml_dsa_parameters(*set)),
            Attribute::Value(key.clone()),
        ]),
    }
    attributes
}

/// How `CKA_EC_POINT` is encoded.
type Encode = fn(&[u8]) -> Vec<u8>;

/// Some tokens take the point itself.
fn bare(point: &[u8]) -> Vec<u8> {
    point.to_vec()
}

/// `CKA_EC_POINT` is a DER octet string. Points have at most 133 bytes.
fn octet_string(point: &[u8]) -> Vec<u8> {
    let length = u8::try_from(point.len()).unwrap_or(u8::MAX);
    let head: &[u8] = if length < 0x80 { &[4] } else { &[4, 0x81] };
    [head, &[length], point].concat()
}
