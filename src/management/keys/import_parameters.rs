//! Wrapping keys for imports, and what a client needs to wrap with one.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::catalog::Topic;
use crate::clock::Timestamp;
use crate::ids::ImportKeyId;
use crate::keys::{ImportKeyRecord, Mechanism, Vault};
use crate::management::{
    Context, Draft, Error, Event, Member, Proposal, Reader, Resource, Revision, check,
};

/// What is asked of a wrapping key.
#[derive(Clone, Debug, Default, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportParameters)]
pub struct ImportParametersDraft {
    /// How keys will be wrapped with it.
    #[schema(value_type = Mechanism)]
    pub mechanism: Member<String>,
}

/// What a client wraps a key with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportParameters {
    /// Names the wrapping key in the import.
    pub import_key_id: ImportKeyId,
    /// How to wrap.
    pub mechanism: Mechanism,
    /// What to wrap with, as SubjectPublicKeyInfo in PEM.
    pub public_key: String,
    /// SHA-256 over the SubjectPublicKeyInfo in DER, in hex: for checking out of band.
    pub public_key_sha256: String,
    /// Until when it may be used.
    pub expires_at: Timestamp,
}

impl Draft for ImportParametersDraft {
    const MEMBERS: &'static [&'static str] = &["mechanism"];
    const READ_ONLY: &'static [&'static str] = &[];
    const VOLATILE: &'static [&'static str] = &[];

    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            mechanism: reader.string("mechanism"),
        }
    }
}

impl Resource for ImportParameters {
    const TYPE: &'static str = "import_key";
    const TOPIC: Topic = Topic::Keys;

    fn uuid(&self) -> Uuid {
        self.import_key_id.uuid()
    }

    /// It never changes.
    fn revision(&self) -> Revision {
        Revision::FIRST
    }
}

/// Has the token make a wrapping key, good for one import.
///
/// # Errors
/// When the proposal is wrong, when the token lacks the mechanism or does not do it, or when the
/// database does not take it.
pub async fn create(
    context: &Context,
    vault: &Vault,
    proposal: Proposal<ImportParametersDraft>,
) -> Result<ImportParameters, Error> {
    let mechanism = decide(proposal)?;
    let (context, vault) = (context.clone(), vault.clone());
    // A client that goes away must not leave the token with what nobody records.
    tokio::spawn(async move {
        let (id, public) = vault.make_import_key(mechanism).await?;
        let mut change = context.begin().await?;
        let record = ImportKeyRecord {
            id,
            mechanism,
            expires_at: change.now().plus(ImportKeyRecord::LIFETIME),
            created_at: change.now(),
            public,
        };
        record.insert(change.connection()).await?;
        let parameters = ImportParameters::of(&record);
        change.commit(Event::created(&parameters)).await?;
        Ok(parameters)
    })
    .await
    .map_err(|_| Error::BrokenOff)?
}

fn decide(proposal: Proposal<ImportParametersDraft>) -> Result<Mechanism, Error> {
    let (mut problems, draft) = (proposal.problems, proposal.draft);
    check::require(&mut problems, [("mechanism", draft.mechanism.is_absent())]);
    let mechanism = match draft.mechanism {
        Member::Given(name) => check::one_of(
            &mut problems,
            "mechanism",
            &name,
            &Mechanism::ALL.map(Mechanism::name),
        ),
        Member::Absent | Member::Wrong => None,
    };
    mechanism.ok_or_else(|| problems.into())
}

impl ImportParameters {
    fn of(record: &ImportKeyRecord) -> Self {
        let digest = Sha256::digest(record.public.to_spki());
        Self {
            import_key_id: record.id,
            mechanism: record.mechanism,
            public_key: record.public.to_pem(),
            public_key_sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            expires_at: record.expires_at,
        }
    }
}
