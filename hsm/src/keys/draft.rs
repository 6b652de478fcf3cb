//! Having a token make a key: one call for each kind, with every attribute said.

use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};

use super::template::{self, ED25519_NAME, ED25519_OID};
use super::{Curve, GenerateKey, KeyAlgorithm, KeyClass, Usages};
use crate::HsmError;
use crate::session::Session;

/// A key to be made.
#[derive(Clone, Copy)]
pub(super) struct Draft<'a> {
    pub(super) order: &'a GenerateKey,
    pub(super) usages: Usages,
    /// Whether it stays in the token or goes with the session.
    pub(super) stays: bool,
}

/// The objects of a new key.
pub(super) struct Made {
    /// The private or secret key.
    pub(super) guarded: ObjectHandle,
    pub(super) public: Option<ObjectHandle>,
}

impl Made {
    pub(super) fn objects(&self) -> impl Iterator<Item = ObjectHandle> {
        [Some(self.guarded), self.public].into_iter().flatten()
    }
}

impl Draft<'_> {
    /// Makes the key, bound to its mechanisms where the token takes such a bond.
    pub(super) fn make_bound(self, session: &Session) -> Result<Made, HsmError> {
        let allow_raw = session.device().bounds.allow_raw_rsa;
        let Self { order, .. } = self;
        let allowed = template::allowed_mechanisms(order.algorithm, order.purpose, allow_raw);
        match self.make(session, &allowed) {
            // Not every token binds keys to mechanisms.
            Err(error) if !allowed.is_empty() && error.dislikes_an_attribute() => {
                self.make(session, &[])
            }
            result => result,
        }
    }

    pub(super) fn make(
        self,
        session: &Session,
        allowed: &[MechanismType],
    ) -> Result<Made, HsmError> {
        use KeyAlgorithm as A;
        match self.order.algorithm {
            A::Rsa2048 => self.rsa(session, allowed, 2048),
            A::Rsa3072 => self.rsa(session, allowed, 3072),
            A::Rsa4096 => self.rsa(session, allowed, 4096),
            A::P256 => self.ec(session, allowed, Curve::P256),
            A::P384 => self.ec(session, allowed, Curve::P384),
            A::P521 => self.ec(session, allowed, Curve::P521),
            A::Ed25519 => {
                let edwards = |params: &[u8]| {
                    let kind = vec![Attribute::EcParams(params.to_vec())];
                    let by = Mechanism::EccEdwardsKeyPairGen;
                    self.pair(session, allowed, &by, KeyType::EC_EDWARDS, kind)
                };
                // Tokens call the curve by one of two names.
                edwards(ED25519_OID).or_else(|error| match error.is_ambiguous() {
                    true => Err(error),
                    false => edwards(ED25519_NAME).map_err(|_| error),
                })
            }
            A::Aes128 => self.secret(session, allowed, KeyType::AES, 16),
            A::Aes256 => self.secret(session, allowed, KeyType::AES, 32),
            A::HmacSha256 => {
                let hmac = |key_type| self.secret(session, allowed, key_type, 32);
                // Most tokens do HMAC with generic secrets; some want them called what they are.
                hmac(KeyType::GENERIC_SECRET).or_else(|error| match error.is_ambiguous() {
                    true => Err(error),
                    false => hmac(KeyType::SHA256_HMAC).map_err(|_| error),
                })
            }
        }
    }

    fn rsa(
        self,
        session: &Session,
        allowed: &[MechanismType],
        bits: u32,
    ) -> Result<Made, HsmError> {
        let kind = vec![
            Attribute::ModulusBits(u64::from(bits).into()),
            Attribute::PublicExponent(vec![1, 0, 1]),
        ];
        let by = Mechanism::RsaPkcsKeyPairGen;
        self.pair(session, allowed, &by, KeyType::RSA, kind)
    }

    fn ec(
        self,
        session: &Session,
        allowed: &[MechanismType],
        curve: Curve,
    ) -> Result<Made, HsmError> {
        let kind = vec![Attribute::EcParams(curve.params().to_vec())];
        let by = Mechanism::EccKeyPairGen;
        self.pair(session, allowed, &by, KeyType::EC, kind)
    }

    fn pair(
        self,
        session: &Session,
        allowed: &[MechanismType],
        by: &Mechanism<'_>,
        key_type: KeyType,
        kind: Vec<Attribute>,
    ) -> Result<Made, HsmError> {
        let Self {
            order,
            usages,
            stays,
        } = self;
        let mut public = template::open_half(&order.id, &order.label, usages, stays);
        public.extend([
            Attribute::Class(ObjectClass::PUBLIC_KEY),
            Attribute::KeyType(key_type),
        ]);
        public.extend(kind);
        let class = KeyClass::Private;
        let mut private = template::guarded(&order.id, &order.label, class, usages, stays);
        private.extend([
            Attribute::Class(ObjectClass::PRIVATE_KEY),
            Attribute::KeyType(key_type),
        ]);
        private.extend(bond(allowed));
        let (public, guarded) = session.raw().generate_key_pair(by, &public, &private)?;
        Ok(Made {
            guarded,
            public: Some(public),
        })
    }

    fn secret(
        self,
        session: &Session,
        allowed: &[MechanismType],
        key_type: KeyType,
        bytes: u64,
    ) -> Result<Made, HsmError> {
        let by = match key_type {
            KeyType::AES => Mechanism::AesKeyGen,
            _ => Mechanism::GenericSecretKeyGen,
        };
        let Self {
            order,
            usages,
            stays,
        } = self;
        let class = KeyClass::Secret;
        let mut template = template::guarded(&order.id, &order.label, class, usages, stays);
        template.extend([
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(key_type),
            Attribute::ValueLen(bytes.into()),
        ]);
        template.extend(bond(allowed));
        let guarded = session.raw().generate_key(&by, &template)?;
        Ok(Made {
            guarded,
            public: None,
        })
    }
}

/// The attribute that binds a key to mechanisms, where there are any to bind it to.
pub(crate) fn bond(allowed: &[MechanismType]) -> Option<Attribute> {
    (!allowed.is_empty()).then(|| Attribute::AllowedMechanisms(allowed.to_vec()))
}
