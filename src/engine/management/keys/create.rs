//! Creating a key: first in the token, then its record.

use serde_json::json;

use super::obtain::obtain;
use super::plan::{algorithm_of, known, planned};
use super::request::{KeyRequest, KeySource, RequestedKey};
use super::rules::KeyRules;
use super::{store, take_place, version};
use crate::ids::{ImportKeyId, ServiceId};
use crate::keys::{
    ImportKeyRecord, Key, KeyOrigin, KeyStatus, KeyVersion, Made, UnrecordedKey, Usage, Vault,
    VaultError,
};
use crate::management::changes::StoredRequest;
use crate::management::{Authorized, Change, Error, Event, ManageKeys, ResourceType};
use crate::resource::{Name, ResourceRequest};
use formats::material::Algorithm;
use formats::problem::{Code, Problem};

/// Generates, imports or adopts a key.
///
/// # Errors
/// The request is wrong or not allowed, or the token or the database refuses it. Then no usable key
/// is left.
pub async fn create(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    rules: KeyRules,
    request: ResourceRequest<KeyRequest>,
) -> Result<Key, Error> {
    create_as(context, vault, rules, request, None).await
}

/// The same for this version of the name. It is a conflict if the name had the version or a higher one.
pub async fn create_version(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    rules: KeyRules,
    request: ResourceRequest<KeyRequest>,
    version: KeyVersion,
) -> Result<Key, Error> {
    create_as(context, vault, rules, request, Some(version)).await
}

async fn create_as(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    rules: KeyRules,
    request: ResourceRequest<KeyRequest>,
    version: Option<KeyVersion>,
) -> Result<Key, Error> {
    let now = context.clock.now();
    let is_storable = !request.body.is_in_plaintext();
    let call = is_storable.then(|| StoredRequest::create(ResourceType::Key, &request));
    let post_quantum = context.post_quantum;
    let check = move || RequestedKey::check(request, rules, post_quantum, now);
    let checked = vault.check(context.actor.share_owner(), check).await;
    let mut requested = checked.ok_or(Error::BrokenOff)??;
    requested.version = version.or(requested.version);
    let (context, vault) = (context.clone(), vault.clone());
    // A separate task: if the client disconnects, the key in the token is still recorded.
    tokio::spawn(async move { carry_out(&context, &vault, requested, call).await })
        .await
        .map_err(|_| Error::BrokenOff)?
}

async fn carry_out(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    requested: RequestedKey,
    call: Option<StoredRequest>,
) -> Result<Key, Error> {
    // Checked before the token does anything, and again when the key is recorded.
    let mut change = begin(context, &requested).await?;
    if change.is_proposed(&planned(&requested, call.as_ref())).await? {
        drop(change);
        return Err(propose(context, vault, requested, call).await?);
    }
    drop(change);

    let RequestedKey {
        allow_extractable,
        service_id,
        partner_kid,
        source,
        name,
        version,
        activate,
        expires_at,
        rotation_days,
    } = requested;
    let obtained = obtain(context, vault, service_id, source, allow_extractable).await?;
    let made = Made {
        id: obtained.id,
        usage: obtained.usage,
        algorithm: obtained.algorithm,
        origin: obtained.origin,
        private_half: obtained.unrecorded.as_ref().map(UnrecordedKey::private_half),
        public_key: obtained.public,
    };
    let name = name.unwrap_or_else(|| default_name(made.usage, made.algorithm));
    let key = Key::new(made, service_id, name, context.clock.now());
    let mut key = Key { partner_kid, expires_at, rotation_days, ..key };
    // The token is asked before the transaction begins, so that a slow token holds no lock.
    match vault.make_canary(&key).await {
        Ok(canary) => key.canary = canary,
        Err(error) => {
            if let Some(unrecorded) = obtained.unrecorded {
                vault.discard(unrecorded).await;
            }
            return Err(error.into());
        }
    }
    let mut change = context.begin().await?;
    let now = change.now();
    (key.created_at, key.updated_at) = (now, now);
    if activate {
        key.status = KeyStatus::Active;
        key.activated_at = Some(now);
    }
    let error = match record(&mut change, &mut key, version, obtained.import_key).await {
        Ok(retired) => {
            let events = retired.into_iter().chain([Event::created(&key)]);
            match change.commit_all(events).await {
                Ok(()) => return Ok(key),
                // The commit may have succeeded without an answer. The key then stays in the token, and
                // the reconciler compares it with the records.
                Err(error @ Error::Database(_)) => return Err(error),
                Err(error) => error,
            }
        }
        Err(error) => {
            drop(change);
            error
        }
    };
    if let Some(unrecorded) = obtained.unrecorded {
        vault.discard(unrecorded).await;
    }
    Err(error)
}

async fn begin<'c>(
    context: &'c Authorized<ManageKeys>,
    requested: &RequestedKey,
) -> Result<Change<'c>, Error> {
    if let Some(algorithm) = algorithm_of(&requested.source) {
        context.floor.check(algorithm)?;
    }
    let mut change = context.begin().await?;
    check_service(&mut change, requested.service_id).await?;
    if let Some(kid) = &requested.partner_kid
        && store::has_partner_kid(change.connection(), requested.service_id, kid).await?
    {
        return Err(partner_kid_taken());
    }
    // The use and algorithm of an adopted key can be known only later.
    if let (Some(usage), Some(algorithm), _) = known(&requested.source) {
        let name = requested.name.clone().unwrap_or_else(|| default_name(usage, algorithm));
        let named = (requested.service_id, &*name);
        version::check(&mut change, named, (usage, algorithm), requested.version).await?;
    }
    Ok(change)
}

fn default_name(usage: Usage, algorithm: Algorithm) -> Name {
    Name::of(format!("{algorithm} {usage}"))
}

/// Proposes the creation. Approvers decide about the key that the token holds now: the approval of an
/// adoption fails if its name belongs to another key then. A key that the token does not hold yet is
/// proposed by its name alone.
async fn propose(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    mut requested: RequestedKey,
    mut call: Option<StoredRequest>,
) -> Result<Error, Error> {
    if let KeySource::TokenObject(described) = &mut requested.source {
        let adopted = vault.adopt(described.clone(), requested.allow_extractable);
        match adopted.await {
            Ok((usage, found)) => {
                context.floor.check(found.algorithm)?;
                if let (None, Some(public)) = (&described.public, &found.public) {
                    call = call.map(|call| call.with_member("publicKey", json!(public.to_jwk())));
                }
                described.usage = Some(usage);
                described.algorithm = Some(found.algorithm);
                described.public = found.public;
            }
            // The vendor's tools can create the key before the approval.
            Err(VaultError::Problem(problem)) if problem.code == Code::Unknown => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut change = begin(context, &requested).await?;
    let mut end = None;
    if let KeySource::Wrapped { wrapped, .. } = &requested.source {
        end = Some(vault.end_of_import_key(change.rows(), wrapped).await?);
    }
    let plan = planned(&requested, call.as_ref());
    if let Some(call) = call {
        change.propose_as(call.usable_until(end));
    }
    Ok(change.propose_early(&plan).await)
}

pub(super) async fn record(
    change: &mut Change<'_>,
    key: &mut Key,
    version: Option<KeyVersion>,
    import_key: Option<ImportKeyId>,
) -> Result<Option<Event>, Error> {
    check_service(change, key.service_id).await?;
    version::give(change, key, version).await?;
    if let Some(import_key) = import_key {
        let now = change.now();
        if !ImportKeyRecord::spend(change.rows(), import_key, now).await? {
            return Err(Error::Conflict(
                "the import key was used for another key in the meantime".to_owned(),
            ));
        }
    }
    if let Some(name) = &key.private_half.token_name
        && store::is_claimed(change.rows(), name).await?
    {
        return Err(object_taken());
    }
    let retired = take_place(change, key).await?;
    let inserted = store::insert(change.rows(), key).await;
    let had_intent = inserted.map_err(|error| {
        let error = Error::from(error);
        let recorded = ["keys_token_id_is_unique", "keys_token_label_is_unique"];
        if recorded.iter().any(|index| error.is_duplicate_of(index)) {
            object_taken()
        } else if error.is_duplicate_of("keys_partner_kid_is_unique") {
            partner_kid_taken()
        } else {
            error
        }
    })?;
    let was_made = key.private_half.token_name.is_some() && key.origin != KeyOrigin::Adopted;
    if was_made && !had_intent {
        let message = "the key took too long to make, so its object was removed";
        return Err(Error::Conflict(message.to_owned()));
    }
    Ok(retired)
}

fn object_taken() -> Error {
    Error::Conflict("the key of the token is recorded already".to_owned())
}

fn partner_kid_taken() -> Error {
    Error::Conflict("another key of the service has this partnerKid".to_owned())
}

async fn check_service(change: &mut Change<'_>, service: ServiceId) -> Result<(), Error> {
    if store::lock_service(change.connection(), service).await? {
        Ok(())
    } else {
        let message = "must be the id of an existing service";
        Err(Problem::new("serviceId", Code::Unknown, message).into())
    }
}
