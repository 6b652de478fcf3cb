//! Generating the objects of a key: one call for each kind.

use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, KeyType};

use super::attempts::Attempts;
use super::attributes::{
    ED25519_NAME, ED25519_OID, Optional, Template, allowed_mechanisms, either,
};
use super::usages::Usages;
use crate::attribute_values;
use crate::pkcs11::ObjectHandle;
use crate::session::{Circumstances, Origin, Session};
use crate::{HsmError, KeyClass, NewKey};
use formats::algorithms::Family;

/// A key to be generated.
pub(super) struct Draft<'a> {
    key: &'a NewKey,
    template: Template<'a>,
}

/// The objects of a new key.
pub(super) struct Objects {
    /// The private or secret key.
    pub(super) guarded: ObjectHandle,
    pub(super) public: Option<ObjectHandle>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(key: &'a NewKey, permanent: bool) -> Result<Self, HsmError> {
        let usages = Usages::needed(key.algorithm, key.purpose)?;
        Ok(Self::with_usages(key, usages, permanent))
    }

    /// A key with these usages instead of those of its purpose.
    pub(super) fn with_usages(key: &'a NewKey, usages: Usages, permanent: bool) -> Self {
        let template = Template::of(key, usages, permanent);
        Self { key, template }
    }

    /// Generates the key, bound to the mechanisms of its purpose where the token supports that. Objects with
    /// its id that a failed attempt left are destroyed, except `kept` ones.
    pub(super) fn generate_bound(
        &self,
        session: &Session,
        kept: &[ObjectHandle],
    ) -> Result<Objects, HsmError> {
        let allow_raw = session.connection().limits.allow_raw_rsa;
        let allowed = allowed_mechanisms(self.key.algorithm, self.key.purpose, allow_raw);
        self.generate_bound_to(session, &allowed, kept)
    }

    /// The same with these mechanisms.
    pub(super) fn generate_bound_to(
        &self,
        session: &Session,
        allowed: &[MechanismType],
        kept: &[ObjectHandle],
    ) -> Result<Objects, HsmError> {
        let circumstances = Circumstances {
            origin: Origin::Generated,
            algorithm: self.key.algorithm,
            purpose: self.key.purpose,
            permanent: self.template.permanent,
        };
        Attempts::new(&session.connection().refused, circumstances).make(
            Optional::of(self.class(), allowed),
            |error| Some(error),
            || destroy_same_id(session, &self.key.id, kept),
            |more| self.generate(session, more),
        )
    }

    fn class(&self) -> KeyClass {
        KeyClass::of(self.key.algorithm)
    }

    /// Generates the key with exactly these optional attributes.
    pub(super) fn generate(
        &self,
        session: &Session,
        more: &[Attribute],
    ) -> Result<Objects, HsmError> {
        let algorithm = self.key.algorithm;
        let pair = |by: &Mechanism<'_>, kind| self.pair(session, by, kind, more);
        match algorithm.family() {
            Family::Rsa => {
                let bits = algorithm.modulus_len().unwrap_or_default() * 8;
                let kind = vec![
                    Attribute::ModulusBits(bits.try_into()?),
                    Attribute::PublicExponent(vec![1, 0, 1]),
                ];
                pair(&Mechanism::RsaPkcsKeyPairGen, kind)
            }
            Family::Ec => {
                let params =
                    algorithm.curve().map(|curve| attribute_values::ec_params(curve).to_vec());
                let kind = vec![Attribute::EcParams(params.unwrap_or_default())];
                pair(&Mechanism::EccKeyPairGen, kind)
            }
            Family::Ed25519 => either([ED25519_OID, ED25519_NAME], |params| {
                let kind = vec![Attribute::EcParams(params.to_vec())];
                pair(&Mechanism::EccEdwardsKeyPairGen, kind)
            }),
            Family::MlDsa => {
                let set = algorithm.ml_dsa().map(attribute_values::ml_dsa_parameters);
                let kind = set.map(Attribute::ParameterSet).into_iter().collect();
                pair(&Mechanism::MlDsaKeyPairGen, kind)
            }
            Family::MlKem768 | Family::MlKem1024 => {
                let set =
                    algorithm.kem().map(|kem| attribute_values::ml_kem_parameters(kem.ml_kem()));
                let kind = set.map(Attribute::ParameterSet).into_iter().collect();
                pair(&Mechanism::MlKemKeyPairGen, kind)
            }
            Family::P256MlKem768 => Err(HsmError::refused("a hybrid key is generated in parts")),
            Family::Aes => self.secret(session, &Mechanism::AesKeyGen, KeyType::AES, more),
            // Most tokens take generic secrets for HMAC; some want the specific type.
            Family::Hmac => either([KeyType::GENERIC_SECRET, KeyType::SHA256_HMAC], |kind| {
                self.secret(session, &Mechanism::GenericSecretKeyGen, kind, more)
            }),
        }
    }

    fn pair(
        &self,
        session: &Session,
        by: &Mechanism<'_>,
        kind: Vec<Attribute>,
        more: &[Attribute],
    ) -> Result<Objects, HsmError> {
        let key_type = attribute_values::key_type(self.key.algorithm);
        let mut public = self.template.public(key_type);
        public.extend(kind);
        let mut private = self.template.guarded(KeyClass::Private, key_type);
        private.extend_from_slice(more);
        let (public, guarded) = session.raw().generate_key_pair(by, &public, &private)?;
        let public = Some(public);
        Ok(Objects { guarded, public })
    }

    fn secret(
        &self,
        session: &Session,
        by: &Mechanism<'_>,
        key_type: KeyType,
        more: &[Attribute],
    ) -> Result<Objects, HsmError> {
        let bytes = self.key.algorithm.secret_len().unwrap_or_default();
        let mut template = self.template.guarded(KeyClass::Secret, key_type);
        template.push(Attribute::ValueLen(bytes.try_into()?));
        template.extend_from_slice(more);
        let guarded = session.raw().generate_key(by, &template)?;
        let public = None;
        Ok(Objects { guarded, public })
    }
}

impl Objects {
    pub(super) fn each(&self) -> impl Iterator<Item = ObjectHandle> {
        [Some(self.guarded), self.public].into_iter().flatten()
    }
}

/// Destroys the objects with this id, of any class, except `kept` ones.
pub(crate) fn destroy_same_id(
    session: &Session,
    id: &[u8],
    kept: &[ObjectHandle],
) -> Result<(), HsmError> {
    for object in same_id(session, id)?.into_iter().filter(|object| !kept.contains(object)) {
        session.raw().destroy_object(object)?;
    }
    Ok(())
}

/// Every object with this id, of any class.
pub(crate) fn same_id(session: &Session, id: &[u8]) -> Result<Vec<ObjectHandle>, HsmError> {
    let found = session.find(&[Attribute::Token(true), Attribute::Id(id.to_vec())])?;
    // Without a login private objects are not found.
    session.check_login()?;
    Ok(found)
}
