//! A key comes to be: in the token first, recorded after.

use super::order::{Order, Source};
use super::{NewKeyDraft, Rules, make_way, store};
use crate::ids::{ImportKeyId, KeyId, ServiceId};
use crate::keys::{Destiny, ImportKeyRecord, Key, Made, Origin, Status, Usage, Vault};
use crate::management::{Change, Context, Error, Event, Proposal};
use crate::material::{Algorithm, PublicKey};
use crate::problem::{Code, Problem};
use crate::revision::Revision;

/// Makes, imports or adopts a key.
///
/// # Errors
/// When the proposal is wrong, when what it asks for is not allowed, or when the token or the
/// database does not do it. Then nothing is left that could be used.
pub async fn create(
    context: &Context,
    vault: &Vault,
    rules: Rules,
    proposal: Proposal<NewKeyDraft>,
) -> Result<Key, Error> {
    let now = context.clock.now();
    // Checking primes and opening a passphrase's lock take long enough to be in others' way.
    let order = tokio::task::spawn_blocking(move || Order::of(proposal, rules, now))
        .await
        .map_err(|_| Error::BrokenOff)??;
    let (context, vault) = (context.clone(), vault.clone());
    // A client that goes away must not leave the token with what nobody records.
    tokio::spawn(async move { carry_out(&context, &vault, order).await })
        .await
        .map_err(|_| Error::BrokenOff)?
}

/// A key that is there, and how it came.
struct Come {
    id: KeyId,
    usage: Usage,
    algorithm: Algorithm,
    origin: Origin,
    public: Option<PublicKey>,
    made: Option<Made>,
    /// The wrapping key that it came with.
    spent: Option<ImportKeyId>,
}

async fn carry_out(context: &Context, vault: &Vault, order: Order) -> Result<Key, Error> {
    // Asked before the token is, and once more when the key is recorded.
    let mut change = context.begin().await?;
    service_lives(&mut change, order.service_id).await?;
    drop(change);

    let Order {
        service_id,
        source,
        name,
        activate,
        expires_at,
    } = order;
    let come = obtain(context, vault, service_id, source).await?;
    let mut change = context.begin().await?;
    let now = change.now();
    let key = Key {
        id: come.id,
        service_id,
        name: name.unwrap_or_else(|| format!("{} {}", come.algorithm, come.usage.name())),
        usage: come.usage,
        algorithm: come.algorithm,
        origin: come.origin,
        status: if activate {
            Status::Active
        } else {
            Status::Retired
        },
        token_name: come.made.as_ref().map(|made| made.name.clone()),
        public: come.public,
        expires_at,
        activated_at: activate.then_some(now),
        destroy_at: None,
        revision: Revision::FIRST,
        created_at: now,
        updated_at: now,
    };
    match record(&mut change, &key, come.spent).await {
        // Whether a commit without an answer happened nobody knows; then the key stays in the
        // token, and the reconciler finds out.
        Ok(retired) => {
            let events = retired.into_iter().chain([Event::created(&key)]);
            change.commit_all(events).await?;
            Ok(key)
        }
        Err(error) => {
            drop(change);
            if let Some(made) = come.made {
                vault.discard(made).await;
            }
            Err(error)
        }
    }
}

async fn obtain(
    context: &Context,
    vault: &Vault,
    service_id: ServiceId,
    source: Source,
) -> Result<Come, Error> {
    let destiny = |usage| Destiny { service_id, usage };
    let (usage, origin, made, spent) = match source {
        Source::Public { usage, key } => {
            return Ok(Come {
                id: KeyId::new(&context.clock, &context.entropy),
                usage,
                algorithm: key.algorithm(),
                origin: Origin::Imported,
                public: Some(key),
                made: None,
                spent: None,
            });
        }
        Source::Generated { usage, algorithm } => {
            let made = vault.generate(destiny(usage), algorithm).await?;
            (usage, Origin::Generated, made, None)
        }
        Source::Private { usage, key } => {
            let made = vault.import_private(destiny(usage), &key).await;
            (usage, Origin::Imported, inside("privateKey", made)?, None)
        }
        Source::Secret {
            usage,
            algorithm,
            key,
        } => {
            let made = vault.import_secret(destiny(usage), algorithm, &key).await;
            (usage, Origin::Imported, inside("secretKey", made)?, None)
        }
        Source::Wrapped { usage, wrapped } => {
            let spent = wrapped.import_key;
            let made = vault.import_wrapped(destiny(usage), wrapped).await?;
            (usage, Origin::Imported, made, Some(spent))
        }
        Source::TokenObject(described) => {
            let (usage, made) = vault.adopt(described).await?;
            (usage, Origin::Adopted, made, None)
        }
    };
    Ok(Come {
        id: made.id,
        usage,
        algorithm: made.algorithm,
        origin,
        public: made.public.clone(),
        made: Some(made),
        spent,
    })
}

async fn record(
    change: &mut Change<'_>,
    key: &Key,
    spent: Option<ImportKeyId>,
) -> Result<Option<Event>, Error> {
    service_lives(change, key.service_id).await?;
    if let Some(import_key) = spent {
        let now = change.now();
        if !ImportKeyRecord::spend(change.connection(), import_key, now).await? {
            return Err(Error::Conflict(
                "another key came in with this import key meanwhile".to_owned(),
            ));
        }
    }
    let retired = make_way(change, key).await?;
    let inserted = store::insert(change.connection(), key).await;
    inserted.map_err(|error| {
        let recorded = ["keys_token_id_is_unique", "keys_token_label_is_unique"];
        if recorded
            .iter()
            .any(|index| Error::is_duplicate_of(&error, index))
        {
            Error::Conflict("this key of the token is recorded already".to_owned())
        } else {
            error.into()
        }
    })?;
    Ok(retired)
}

async fn service_lives(change: &mut Change<'_>, service: ServiceId) -> Result<(), Error> {
    if store::lock_service(change.connection(), service).await? {
        Ok(())
    } else {
        let message = "there is no such service";
        Err(Problem::new("serviceId", Code::Unknown, message).into())
    }
}

/// What was wrong with a key as a whole is wrong with the member it came in.
fn inside<T>(member: &str, made: Result<T, crate::keys::NotMade>) -> Result<T, Error> {
    use crate::keys::NotMade::Problem;
    made.map_err(|reason| match reason {
        Problem(problem) if problem.field.is_empty() => problem.inside(member).into(),
        other => other.into(),
    })
}
