//! Carries out an approved change: the same use case as for a request, in the name of the proposer.

use std::sync::Arc;

use super::authority::{Authority, LastApproval};
use super::call::{StoredRequest, Verb};
use crate::auth::{Person, Roles};
use crate::ids::{ApiKeyId, IdentityId, KeyId, PersonId, PolicyId, ServiceId};
use crate::keys::Vault;
use crate::management::keys::KeyRules;
use crate::management::{
    Actor, Authorized, Context, Error, Expected, ResourceType, Right, api_keys, emergency,
    identities, keys, people, policies, services,
};
use crate::resource::{RequestBody, ResourceRequest, SentBody};

/// The access to tokens that changes of keys need.
#[derive(Clone)]
pub struct TokenAccess {
    /// Makes keys in the tokens.
    pub vault: Vault,
    /// The settings that decide about keys.
    pub rules: KeyRules,
}

/// Carries out the use case of a change with its last approval.
///
/// # Errors
/// Those of the use case: the proposer lost the right, the resource changed, or the token or the
/// database fails.
pub(super) async fn apply(
    context: &Context,
    token: &TokenAccess,
    last: Arc<LastApproval>,
    call: &StoredRequest,
) -> Result<(), Error> {
    let target = last.proposal.target;
    let expected = match target {
        Some(target) => Expected::OneOf(vec![target.revision]),
        None => Expected::Any,
    };
    let by = Proposer {
        context: in_the_name_of_the_proposer(context, &last).await?,
        authority: Authority::Approved(last),
    };
    match (call.resource_type, call.verb, target.map(|target| target.id)) {
        (ResourceType::Key, Verb::Create, None) => {
            let (vault, rules) = (&token.vault, token.rules);
            let request = request(call)?;
            keys::create(&by.authorized(), vault, rules, request).await?;
        }
        (ResourceType::Key, Verb::Update, Some(id)) => {
            let (vault, rules, id) = (&token.vault, token.rules, KeyId::from_uuid(id));
            let request = request(call)?;
            keys::update(&by.authorized(), vault, rules, id, &expected, request).await?;
        }
        (ResourceType::Key, Verb::Delete, Some(id)) => {
            let id = KeyId::from_uuid(id);
            keys::delete(&by.authorized(), token.rules, id, &expected).await?;
        }
        (ResourceType::Service, Verb::Update, Some(id)) => {
            let id = ServiceId::from_uuid(id);
            services::update(&by.authorized(), id, &expected, request(call)?).await?;
        }
        (ResourceType::Emergency, Verb::Update, Some(_)) => {
            emergency::unfreeze(&by.authorized(), &expected, request(call)?).await?;
        }
        (ResourceType::Policy, Verb::Create, None) => {
            policies::create(&by.authorized(), request(call)?).await?;
        }
        (ResourceType::Policy, Verb::Update, Some(id)) => {
            let name = policies::PolicyName::Id(PolicyId::from_uuid(id));
            policies::update(&by.authorized(), &name, &expected, request(call)?).await?;
        }
        (ResourceType::Policy, Verb::Restore, Some(id)) => {
            let name = policies::PolicyName::Id(PolicyId::from_uuid(id));
            policies::restore(&by.authorized(), &name, &expected, request(call)?).await?;
        }
        (ResourceType::ApiKey, Verb::Create, None) => {
            let credential = call.credential.clone().ok_or(Error::BrokenOff)?;
            api_keys::record(&by.authorized(), request(call)?, credential).await?;
        }
        (ResourceType::ApiKey, Verb::Update, Some(id)) => {
            let id = ApiKeyId::from_uuid(id);
            api_keys::update(&by.authorized(), id, &expected, request(call)?).await?;
        }
        (ResourceType::Identity, Verb::Create, None) => {
            identities::create(&by.authorized(), request(call)?).await?;
        }
        (ResourceType::Identity, Verb::Update, Some(id)) => {
            let id = IdentityId::from_uuid(id);
            identities::update(&by.authorized(), id, &expected, request(call)?).await?;
        }
        (ResourceType::Identity, Verb::Delete, Some(id)) => {
            let id = IdentityId::from_uuid(id);
            identities::delete(&by.authorized(), id, &expected).await?;
        }
        (ResourceType::Person, Verb::Unlock, Some(id)) => {
            people::unlock(&by.authorized(), PersonId::from_uuid(id), &expected).await?;
        }
        _ => return Err(Error::BrokenOff),
    }
    Ok(())
}

/// The proposer of an approved change.
struct Proposer {
    context: Context,
    authority: Authority,
}

impl Proposer {
    /// Use cases check the roles that the proposer has now.
    fn authorized<R: Right>(&self) -> Authorized<R> {
        Authorized::of_proposer(self.context.clone(), self.authority.clone())
    }
}

async fn in_the_name_of_the_proposer(
    context: &Context,
    last: &LastApproval,
) -> Result<Context, Error> {
    let proposer = &last.proposal.proposed_by;
    let person = match proposer.person_id {
        Some(id) => Person::read(&context.pool, id).await?,
        None => None,
    };
    // An author without a credential would be the service itself.
    if proposer.api_key_id.is_none() && person.is_none() {
        return Err(Error::BrokenOff);
    }
    Ok(Context {
        actor: Actor {
            api_key_id: proposer.api_key_id,
            person,
            name: proposer.name.clone(),
            roles: Roles::default(),
            // The event of the approval names its client.
            client_address: None,
            request_id: context.actor.request_id.clone(),
        },
        ..context.clone()
    })
}

fn request<B: RequestBody>(call: &StoredRequest) -> Result<ResourceRequest<B>, Error> {
    let sent: &SentBody = call.body.as_ref().ok_or(Error::BrokenOff)?;
    Ok(ResourceRequest::of_sent(sent)?)
}
