//! Generates keys in the token.

use formats::algorithms::ImportMechanism;
use hsm::{HsmError, NewKey, Purpose};

use super::intent::{IntendedObject, Intent};
use super::{Assignment, UnrecordedKey, Vault, VaultError, no_public_half, store};
use crate::ids::ImportKeyId;
use formats::material::{Algorithm, PublicKey};
use formats::problem::{Code, Problem};

impl Vault {
    /// Generates a key in the token.
    pub async fn generate(
        &self,
        assignment: Assignment,
        algorithm: Algorithm,
    ) -> Result<UnrecordedKey, VaultError> {
        self.must_open(assignment.usage, algorithm)?;
        let id = self.intend(assignment).await?;
        let unrecorded = self.token.generate(NewKey {
            id: id.uuid().as_bytes().to_vec(),
            label: id.to_string(),
            algorithm,
            purpose: assignment.usage.purpose(),
        });
        let unrecorded = unrecorded.await.map_err(not_generated);
        let unrecorded = self.or_forget(id.uuid(), unrecorded).await?;
        self.unrecorded(id, algorithm, unrecorded.key, unrecorded.public).await
    }

    /// Generates the wrapping key of an import.
    pub(crate) async fn make_import_key(
        &self,
        mechanism: ImportMechanism,
    ) -> Result<(ImportKeyId, PublicKey), VaultError> {
        if !self.token.import_mechanisms().await?.contains(&mechanism) {
            return Err(VaultError::Problem(Problem::new(
                "mechanism",
                Code::Unsupported,
                "the token lacks this mechanism",
            )));
        }
        let id = ImportKeyId::new(&self.clock, &self.entropy);
        let intent = Intent::of(id.uuid(), IntendedObject::ImportKey, self.clock.now());
        store::intend(self.pool.rows(), &intent).await?;
        let unrecorded = self.token.generate(NewKey {
            id: id.uuid().as_bytes().to_vec(),
            label: id.to_string(),
            algorithm: Algorithm::Rsa4096,
            purpose: Purpose::Import,
        });
        let unrecorded = unrecorded.await.map_err(not_generated);
        let unrecorded = self.or_forget(id.uuid(), unrecorded).await?;
        let public = unrecorded.public.map(PublicKey::new);
        match public {
            Some(Ok(public)) => Ok((id, public)),
            Some(Err(problem)) => Err(VaultError::Problem(problem)),
            None => Err(VaultError::Problem(no_public_half())),
        }
    }
}

/// A token without the ability has generated nothing.
fn not_generated(error: HsmError) -> VaultError {
    if error.lacks_ability() {
        let message =
            "must be an algorithm whose keys the token generates; `sealward doctor` lists them";
        return VaultError::Problem(Problem::new("algorithm", Code::Unsupported, message));
    }
    error.into()
}
