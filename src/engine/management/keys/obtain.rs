//! Obtaining a key from its source, before it has a record.

use super::request::KeySource;
use crate::ids::{ImportKeyId, KeyId, ServiceId};
use crate::keys::{Assignment, KeyOrigin, UnrecordedKey, Usage, Vault, VaultError};
use crate::management::{Authorized, Claim, Error, ManageKeys};
use formats::material::{Algorithm, PublicKey};
use formats::problem::{Code, Problem};

/// A key that was obtained from its source.
pub(super) struct Obtained {
    pub(super) id: KeyId,
    pub(super) usage: Usage,
    pub(super) algorithm: Algorithm,
    pub(super) origin: KeyOrigin,
    pub(super) public: Option<PublicKey>,
    pub(super) unrecorded: Option<UnrecordedKey>,
    /// The import key that wrapped it.
    pub(super) import_key: Option<ImportKeyId>,
}

/// Generates, imports or adopts the key of a source. A public key needs no token.
pub(super) async fn obtain(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    service_id: ServiceId,
    source: KeySource,
    allow_extractable: bool,
) -> Result<Obtained, Error> {
    let change = context.authority().change();
    let attempt = context.claim.as_ref().map(Claim::attempt);
    let assignment = |usage| Assignment { service_id, usage, change, attempt };
    let (usage, origin, unrecorded, import_key) = match source {
        KeySource::Public { usage, key } => {
            return Ok(Obtained {
                id: KeyId::new(&context.clock, &context.entropy),
                usage,
                algorithm: key.algorithm(),
                origin: KeyOrigin::Imported,
                public: Some(key),
                unrecorded: None,
                import_key: None,
            });
        }
        KeySource::Generated { usage, algorithm } => {
            let unrecorded = vault.generate(assignment(usage), algorithm).await?;
            (usage, KeyOrigin::Generated, unrecorded, None)
        }
        KeySource::Private { usage, key } => {
            let unrecorded = vault.import_private(assignment(usage), &key).await;
            (usage, KeyOrigin::Imported, inside("privateKey", unrecorded)?, None)
        }
        KeySource::Secret { usage, algorithm, key } => {
            let unrecorded = vault.import_secret(assignment(usage), algorithm, &key).await;
            (usage, KeyOrigin::Imported, inside("secretKey", unrecorded)?, None)
        }
        KeySource::Wrapped { usage, wrapped } => {
            let import_key = wrapped.import_key;
            let unrecorded = vault.import_wrapped(assignment(usage), wrapped).await?;
            (usage, KeyOrigin::Imported, unrecorded, Some(import_key))
        }
        KeySource::TokenObject(described) => {
            let (usage, unrecorded) = vault.adopt(described, allow_extractable).await?;
            context.floor.check(unrecorded.algorithm)?;
            if !context.post_quantum && unrecorded.algorithm.kem().is_some() {
                let message =
                    "must be a key of a supported kind: the setting envelopes.post_quantum is off";
                return Err(Problem::new("tokenObject", Code::Unsupported, message).into());
            }
            (usage, KeyOrigin::Adopted, unrecorded, None)
        }
    };
    if let (KeyOrigin::Imported | KeyOrigin::Adopted, Some(public)) =
        (origin, unrecorded.public.clone())
    {
        let check = move || public.check_strength();
        let checked = vault.check(context.actor.share_owner(), check).await;
        if let Err(problem) = checked.ok_or(Error::BrokenOff)? {
            vault.discard(unrecorded).await;
            let member = if origin == KeyOrigin::Adopted { "tokenObject" } else { "wrappedKey" };
            return Err(Problem::new(member, problem.code, problem.message).into());
        }
    }
    Ok(Obtained {
        id: unrecorded.id,
        usage,
        algorithm: unrecorded.algorithm,
        origin,
        public: unrecorded.public.clone(),
        unrecorded: Some(unrecorded),
        import_key,
    })
}

/// A problem with a key as a whole is a problem with its member.
fn inside<T>(member: &str, unrecorded: Result<T, VaultError>) -> Result<T, Error> {
    unrecorded.map_err(|reason| match reason {
        VaultError::Problem(problem) if problem.field.is_empty() => problem.inside(member).into(),
        VaultError::Problem(_)
        | VaultError::Extractable
        | VaultError::Token(_)
        | VaultError::Database(_) => reason.into(),
    })
}
