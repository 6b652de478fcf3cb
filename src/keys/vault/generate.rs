//! Generates keys in the token.

use hsm::{ImportMechanism, NewKey, Purpose};

use super::{Destiny, Made, NotMade, Vault, no_public_half, store};
use crate::ids::ImportKeyId;
use crate::material::{Algorithm, PublicKey};
use crate::problem::{Code, Problem};

impl Vault {
    /// Generates a key in the token.
    ///
    /// # Errors
    /// A token cannot open envelopes for the key, or the token or the database fails.
    pub async fn generate(&self, destiny: Destiny, algorithm: Algorithm) -> Result<Made, NotMade> {
        self.must_open(destiny.usage, algorithm)?;
        let id = self.intend(destiny.service_id).await?;
        let made = self.token.generate(NewKey {
            id: id.uuid().as_bytes().to_vec(),
            label: id.to_string(),
            algorithm,
            purpose: destiny.usage.purpose(),
        });
        let made = self.or_forget(id.uuid(), made.await).await?;
        self.made(id, algorithm, made.key, made.public).await
    }

    /// Generates the wrapping key of an import.
    ///
    /// # Errors
    /// The token lacks the mechanism, or the token or the database fails.
    pub async fn make_import_key(
        &self,
        mechanism: ImportMechanism,
    ) -> Result<(ImportKeyId, PublicKey), NotMade> {
        if !self.token.import_mechanisms().await?.contains(&mechanism) {
            return Err(NotMade::Problem(Problem::new(
                "mechanism",
                Code::Unsupported,
                "the token lacks this mechanism",
            )));
        }
        let id = ImportKeyId::new(&self.clock, &self.entropy);
        let now = self.clock.now();
        store::intend(&self.pool, id.uuid(), store::Purpose::ImportKey, now).await?;
        let made = self.token.generate(NewKey {
            id: id.uuid().as_bytes().to_vec(),
            label: id.to_string(),
            algorithm: Algorithm::Rsa4096,
            purpose: Purpose::Import,
        });
        let made = self.or_forget(id.uuid(), made.await).await?;
        let public = made.public.map(PublicKey::new);
        match public {
            Some(Ok(public)) => Ok((id, public)),
            Some(Err(problem)) => Err(NotMade::Problem(problem)),
            None => Err(NotMade::Problem(no_public_half())),
        }
    }
}
