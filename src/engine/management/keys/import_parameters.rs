//! Import keys, which wrap keys for an import.

use formats::algorithms::ImportMechanism;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::ids::ImportKeyId;
use crate::keys::{ImportKeyRecord, Vault};
use crate::management::changes::Judgement;
use crate::management::check::checked;
use crate::management::{Authorized, Error, Event, ManageKeys, Resource, ResourceType};
use crate::request;
use crate::resource::{Identified, ResourceRequest};
use crate::revision::Revision;
use formats::clock::Timestamp;

request! {
    /// The import key to create.
    pub struct ImportParametersRequest: ImportParameters {
        /// The mechanism that wraps the key.
        "Mechanism" mechanism: ImportMechanism;
    }
}

/// An import key, for a client that wraps a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportParameters {
    /// The import key, as the import names it.
    pub import_key_id: ImportKeyId,
    /// The mechanism that wraps the key.
    pub mechanism: ImportMechanism,
    /// The public key that wraps, as SubjectPublicKeyInfo in PEM.
    pub public_key: String,
    /// SHA-256 of the SubjectPublicKeyInfo in DER, in hex, for verification over a separate channel.
    pub public_key_sha256: String,
    /// The expiry time.
    pub expires_at: Timestamp,
}

impl Resource for ImportParameters {
    const TYPE: ResourceType = ResourceType::ImportKey;

    /// An import key wraps a key, whose import can need approval.
    fn judge(_: Option<&Self>, _: Option<&Self>) -> Judgement {
        Judgement::default()
    }
}

impl Identified for ImportParameters {
    fn uuid(&self) -> Uuid {
        self.import_key_id.uuid()
    }

    /// It never changes.
    fn revision(&self) -> Revision {
        Revision::FIRST
    }
}

/// Generates an import key in the token, for one import.
pub async fn create(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    request: ResourceRequest<ImportParametersRequest>,
) -> Result<ImportParameters, Error> {
    let mut problems = request.problems;
    let mechanism = request.body.mechanism;
    let mechanism = mechanism.or_default("mechanism", None, &mut problems);
    let mechanism = checked(problems, mechanism)?;
    let (context, vault) = (context.clone(), vault.clone());
    // A separate task: if the client disconnects, the import key is still recorded.
    tokio::spawn(async move {
        let (id, public) = vault.make_import_key(mechanism).await?;
        let mut change = context.begin().await?;
        let record = ImportKeyRecord::new(id, mechanism, public, change.now());
        record.insert(change.rows()).await?;
        let parameters = ImportParameters::of(&record);
        change.commit(Event::created(&parameters)).await?;
        Ok(parameters)
    })
    .await
    .map_err(|_| Error::BrokenOff)?
}

impl ImportParameters {
    fn of(record: &ImportKeyRecord) -> Self {
        let digest = Sha256::digest(record.public_key.to_spki());
        Self {
            import_key_id: record.id,
            mechanism: record.mechanism,
            public_key: record.public_key.to_pem(),
            public_key_sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            expires_at: record.expires_at,
        }
    }
}
