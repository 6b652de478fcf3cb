//! Adopts keys that the vendor's tools created in the token.

use hsm::{AdoptError, Adopted, ErrorKind, HsmError, KeyClass, KeyKind, KeyName, KeyRef, Weakness};
use uuid::Uuid;

use super::{UnrecordedKey, Vault, VaultError, store, unlike_half};
use crate::ids::{ImportKeyId, KeyId};
use crate::keys::Usage;
use formats::material::{Algorithm, PublicKey};
use formats::problem::{Code, Problem};

/// The description of a key in the token. The token determines missing members.
#[derive(Clone, Debug)]
pub struct DescribedKey {
    /// Its name in the token.
    pub name: KeyName,
    /// Its use.
    pub usage: Option<Usage>,
    pub algorithm: Option<Algorithm>,
    /// Its public key, for tokens that do not store it.
    pub public: Option<PublicKey>,
}

impl Vault {
    /// Adopts a key in the token. Its public key is from the token or from the request. If
    /// both exist, they must match. A test operation proves it.
    ///
    /// # Errors
    /// The token does not have exactly one such key, it does not match the description, or it is
    /// extractable although that is not allowed.
    pub async fn adopt(
        &self,
        described: DescribedKey,
        allow_extractable: bool,
    ) -> Result<(Usage, UnrecordedKey), VaultError> {
        self.check_vendors(&described.name).await?;
        let usage = match (described.usage, described.algorithm) {
            (Some(usage), _) => usage,
            (None, Some(algorithm)) => Usage::likely_of(algorithm),
            (None, None) => self.likely_usage(&described.name).await?,
        };
        let adopted = self
            .token
            .adopt(described.name, usage.purpose(), described.algorithm)
            .await
            .map_err(not_adopted)?;
        // The label of another key can name it.
        self.check_vendors(&adopted.key.name).await?;
        for weakness in &adopted.weaknesses {
            let key = &adopted.key.name;
            tracing::warn!(?key, %weakness, "an adopted key is weaker than a generated key");
        }
        let extractable = is_extractable(&adopted.weaknesses);
        if extractable && !allow_extractable {
            return Err(VaultError::Extractable);
        }
        let algorithm = adopted.algorithm;
        self.must_open(usage, algorithm)?;
        let name = adopted.key.name.clone();
        let public = self.public_half(usage, algorithm, adopted, described.public);
        let unrecorded = UnrecordedKey {
            id: KeyId::new(&self.clock, &self.entropy),
            algorithm,
            name,
            extractable,
            public: public.await?,
        };
        Ok((usage, unrecorded))
    }

    /// Refuses the name of a key that Sealward has made or is making.
    async fn check_vendors(&self, name: &KeyName) -> Result<(), VaultError> {
        let id = match name {
            KeyName::Id(id) => Uuid::from_slice(id).ok(),
            KeyName::Label(label) => labelled(label),
            KeyName::Internal(_) => return Err(of_sealward()),
        };
        match id {
            Some(id) if store::is_ours(&self.pool, id).await? => Err(of_sealward()),
            Some(_) | None => Ok(()),
        }
    }

    async fn likely_usage(&self, name: &KeyName) -> Result<Usage, VaultError> {
        for class in KeyClass::EACH {
            let key = KeyRef { name: name.clone(), class };
            match self.token.find(&key).await {
                Ok(found) => {
                    return match found.kind {
                        KeyKind::Known(algorithm) => Ok(Usage::likely_of(algorithm)),
                        KeyKind::AesOfUnknownLength => Ok(Usage::Data),
                        KeyKind::Other => {
                            Err(refused(Code::Unsupported, "must be a key of a supported kind"))
                        }
                    };
                }
                Err(error) if error.kind() == ErrorKind::KeyMissing => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(missing())
    }

    async fn public_half(
        &self,
        usage: Usage,
        algorithm: Algorithm,
        adopted: Adopted,
        given: Option<PublicKey>,
    ) -> Result<Option<PublicKey>, VaultError> {
        if let Some(found) = adopted.public {
            let found = PublicKey::new(found).map_err(|problem| problem.inside(MEMBER));
            let found = found.map_err(VaultError::Problem)?;
            let same = given.is_none_or(|given| given == found);
            return if same { Ok(Some(found)) } else { Err(unlike_half()) };
        }
        match given {
            None if algorithm.is_secret() => Ok(None),
            None => {
                let message = "is required: the token has no public half of this key";
                let problem = Problem::new("publicKey", Code::Required, message);
                Err(VaultError::Problem(problem))
            }
            Some(given) => {
                let proven = given.algorithm() == algorithm
                    && self
                        .token
                        .is_private_half(&adopted.key, given.parts(), usage.purpose())
                        .await?;
                if proven { Ok(Some(given)) } else { Err(unlike_half()) }
            }
        }
    }
}

/// Whether the token gives the key away, in plaintext or wrapped.
fn is_extractable(weaknesses: &[Weakness]) -> bool {
    weaknesses.iter().any(|weakness| match weakness {
        Weakness::NotSensitive | Weakness::Extractable => true,
        Weakness::WasExtractable
        | Weakness::NotPrivate
        | Weakness::WideUsage
        | Weakness::UnknownLength => false,
    })
}

const MEMBER: &str = "tokenObject";

fn not_adopted(error: AdoptError) -> VaultError {
    match error {
        AdoptError::Token(error) => token_error(error),
        AdoptError::Missing => missing(),
        AdoptError::Ambiguous(_) => {
            refused(Code::Conflict, "must name one key; the token holds several of this name")
        }
        AdoptError::OtherPublicKey => unlike_half(),
        AdoptError::Internal => of_sealward(),
        AdoptError::OtherAlgorithm(actual) => {
            let message = format!("must be {actual}, the algorithm of the key in the token");
            VaultError::Problem(Problem::new("algorithm", Code::Conflict, message))
        }
        AdoptError::UnknownLength => {
            let message = "is required: the token does not report the length of this AES key";
            VaultError::Problem(Problem::new("algorithm", Code::Required, message))
        }
        AdoptError::Unfit(_) => {
            refused(Code::Unsupported, "must name a key whose token attributes allow its use")
        }
    }
}

fn token_error(error: HsmError) -> VaultError {
    if error.kind() == ErrorKind::KeyMissing { missing() } else { error.into() }
}

/// The identifier in the label that Sealward gives to its keys.
fn labelled(label: &str) -> Option<Uuid> {
    let key = label.parse().map(KeyId::uuid);
    let import_key = || label.parse().map(ImportKeyId::uuid);
    key.or_else(|_| import_key()).ok()
}

fn of_sealward() -> VaultError {
    refused(Code::Conflict, "must not name a key of Sealward itself")
}

fn missing() -> VaultError {
    refused(Code::Unknown, "must name a key that the token holds")
}

fn refused(code: Code, message: &'static str) -> VaultError {
    VaultError::Problem(Problem::new(MEMBER, code, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_the_token_reveals_or_wraps_is_extractable() {
        for weakness in [Weakness::NotSensitive, Weakness::Extractable] {
            assert!(is_extractable(&[Weakness::WideUsage, weakness]));
        }
        assert!(!is_extractable(&[
            Weakness::WasExtractable,
            Weakness::NotPrivate,
            Weakness::WideUsage,
            Weakness::UnknownLength,
        ]));
        assert!(!is_extractable(&[]));
    }
}
