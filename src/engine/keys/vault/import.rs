//! Imports keys, in plaintext or wrapped.

use formats::algorithms::ImportMechanism;
use hsm::{ImportError, ImportKey, ImportWrapped, KeyMaterial, KeyRef, NewKey};
use sqlx::PgConnection;
use zeroize::Zeroizing;

use super::{Assignment, UnrecordedKey, Vault, VaultError, unlike_half};
use crate::ids::ImportKeyId;
use crate::keys::ImportKeyRecord;
use crate::resource::Rows;
use formats::clock::Timestamp;
use formats::material::{Algorithm, PrivateKey, PrivateParts, PublicKey, PublicParts, SecretKey};
use formats::problem::{Code, Problem};

/// A wrapped key of a request.
#[derive(Debug)]
pub struct Wrapped {
    /// Its wrapping key.
    pub import_key: ImportKeyId,
    /// The wrapping mechanism.
    pub mechanism: ImportMechanism,
    /// The wrapped key.
    pub ciphertext: Vec<u8>,
    pub algorithm: Algorithm,
    /// Its public key, if given.
    pub public: Option<PublicKey>,
}

impl Vault {
    /// Imports a private key in plaintext into the token.
    pub(crate) async fn import_private(
        &self,
        assignment: Assignment,
        key: &PrivateKey,
    ) -> Result<UnrecordedKey, VaultError> {
        self.import(assignment, key.algorithm(), material(key)).await
    }

    /// Imports a secret key in plaintext into the token.
    pub(crate) async fn import_secret(
        &self,
        assignment: Assignment,
        algorithm: Algorithm,
        key: &SecretKey,
    ) -> Result<UnrecordedKey, VaultError> {
        let bytes = Zeroizing::new(key.bytes().to_vec());
        self.import(assignment, algorithm, KeyMaterial::Secret(bytes)).await
    }

    async fn import(
        &self,
        assignment: Assignment,
        algorithm: Algorithm,
        material: KeyMaterial,
    ) -> Result<UnrecordedKey, VaultError> {
        self.must_open(assignment.usage, algorithm)?;
        let id = self.intend(assignment).await?;
        let unrecorded = self.token.import(ImportKey {
            key: NewKey {
                id: id.uuid().as_bytes().to_vec(),
                label: id.to_string(),
                algorithm,
                purpose: assignment.usage.purpose(),
            },
            material,
        });
        let unrecorded = unrecorded.await.map_err(|error| not_imported("", error));
        let unrecorded = self.or_forget(id.uuid(), unrecorded).await?;
        self.unrecorded(id, algorithm, unrecorded.key, unrecorded.public).await
    }

    /// The time at which the import key of a wrapped key expires. Uses no attempt.
    pub(crate) async fn end_of_import_key(
        &self,
        rows: Rows<&mut PgConnection>,
        wrapped: &Wrapped,
    ) -> Result<Timestamp, VaultError> {
        let now = self.clock.now();
        let usable = ImportKeyRecord::usable(rows, wrapped.import_key, now).await?;
        let usable = usable.ok_or_else(no_import_key)?;
        check_mechanism(usable.mechanism, wrapped)?;
        Ok(usable.expires_at)
    }

    /// Unwraps a key in the token. This uses one attempt of the import key, even on failure.
    ///
    /// # Errors
    /// The import key is no longer valid or the wrapped key is invalid, or the token or the
    /// database fails.
    pub async fn import_wrapped(
        &self,
        assignment: Assignment,
        wrapped: Wrapped,
    ) -> Result<UnrecordedKey, VaultError> {
        self.must_open(assignment.usage, wrapped.algorithm)?;
        let attempted =
            ImportKeyRecord::attempt(&self.pool, wrapped.import_key, self.clock.now()).await?;
        let attempted = attempted.ok_or_else(no_import_key)?;
        check_mechanism(attempted.mechanism, &wrapped)?;
        let id = self.intend(assignment).await?;
        let unrecorded = self.token.import_wrapped(ImportWrapped {
            key: NewKey {
                id: id.uuid().as_bytes().to_vec(),
                label: id.to_string(),
                algorithm: wrapped.algorithm,
                purpose: assignment.usage.purpose(),
            },
            import_key: KeyRef::private(*wrapped.import_key.uuid().as_bytes()),
            mechanism: wrapped.mechanism,
            wrapped: wrapped.ciphertext,
            public: wrapped.public.map(|key| key.parts().clone()),
        });
        let unrecorded = unrecorded.await.map_err(|error| not_imported("wrappedKey", error));
        let unrecorded = self.or_forget(id.uuid(), unrecorded).await?;
        self.unrecorded(id, wrapped.algorithm, unrecorded.key, unrecorded.public).await
    }
}

fn no_import_key() -> VaultError {
    VaultError::Problem(Problem::new(
        "wrappedKey.importKeyId",
        Code::Unknown,
        "must name an import key that is unused, unexpired and has attempts left",
    ))
}

fn check_mechanism(of_import_key: ImportMechanism, wrapped: &Wrapped) -> Result<(), VaultError> {
    if of_import_key == wrapped.mechanism {
        return Ok(());
    }
    Err(VaultError::Problem(Problem::new(
        "wrappedKey.mechanism",
        Code::Conflict,
        "must be the mechanism of the import key",
    )))
}

/// A private key with its public point, as the token imports it.
fn material(key: &PrivateKey) -> KeyMaterial {
    let point = match key.public().parts() {
        PublicParts::Ec { point, .. } | PublicParts::Ed25519 { point } => point.clone(),
        PublicParts::Rsa { .. } | PublicParts::MlDsa { .. } | PublicParts::Kem { .. } => Vec::new(),
    };
    match key.parts().clone() {
        PrivateParts::Rsa(numbers) => KeyMaterial::Rsa(numbers),
        PrivateParts::Ec { scalar, .. } => KeyMaterial::Ec { scalar, point },
        PrivateParts::Ed25519 { seed } => KeyMaterial::Ed25519 { seed, point },
    }
}

fn not_imported(member: &str, error: ImportError) -> VaultError {
    let (code, message) = match error {
        ImportError::Token(error) => return VaultError::Token(error),
        ImportError::Unsupported(_) => {
            (Code::Unsupported, "must be a kind of key that the token imports this way")
        }
        ImportError::Malformed(message) => (Code::Format, message),
        ImportError::NotUnwrapped => {
            (Code::Format, "must be a key of this algorithm, wrapped with this import key")
        }
        ImportError::Mismatch => return unlike_half(),
        ImportError::Weaker(_) => (
            Code::Unsupported,
            "must be a key that the token can keep with the required attributes",
        ),
    };
    VaultError::Problem(Problem::new(member, code, message))
}
