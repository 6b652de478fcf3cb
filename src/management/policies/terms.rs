//! What administrators decide about a policy, from proposal to decision.

use sqlx::PgConnection;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Policy;
use crate::envelope::{Alg, Enc};
use crate::ids::ServiceId;
use crate::management::{Draft, Error, Member, Proposal, Reader, check, services};
use crate::operation::{Operation, Operations};
use crate::policy::{FailureMode, KeyOwnership, PolicyNumber, Status};
use crate::problem::{Code, Problem, Problems};

/// What is done under policies.
const PERMITTABLE: [Operation; 2] = [Operation::Protect, Operation::Unprotect];
const DESTINATION: &str = "destinationServiceId";

/// The members of a policy that clients may set.
#[derive(Clone, Debug, Default, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Policy)]
pub struct PolicyDraft {
    /// 1 to 64 characters of `A-Z a-z 0-9 . _ -`, unique; generated when left out.
    #[schema(value_type = PolicyNumber, required = false)]
    pub policy_number: Member<String>,
    /// 1 to 100 characters.
    #[schema(value_type = String, min_length = 1, max_length = 100)]
    pub name: Member<String>,
    /// Up to 1,000 characters.
    #[schema(value_type = Option<String>, max_length = 1000)]
    pub description: Member<Option<String>>,
    /// A service's id.
    #[schema(value_type = ServiceId)]
    pub destination_service_id: Member<String>,
    /// `service_managed` or `destination_managed`.
    #[schema(value_type = KeyOwnership, required = false)]
    pub key_ownership: Member<String>,
    /// A JOSE `alg`.
    #[schema(value_type = Alg, required = false)]
    pub alg: Member<String>,
    /// A JOSE `enc`.
    #[schema(value_type = Enc, required = false)]
    pub enc: Member<String>,
    /// `active` or `inactive`.
    #[schema(value_type = Status, required = false)]
    pub status: Member<String>,
    /// `error`, `passthrough` or `drop`.
    #[schema(value_type = FailureMode, required = false)]
    pub failure_mode: Member<String>,
    /// Ids of services; null for all.
    #[schema(value_type = Option<Vec<ServiceId>>, min_items = 1, max_items = 1000)]
    pub allowed_service_ids: Member<Option<Vec<String>>>,
    /// Of `protect` and `unprotect`.
    #[schema(value_type = Operations, required = false)]
    pub allowed_operations: Member<Vec<String>>,
}

impl Draft for PolicyDraft {
    const MEMBERS: &'static [&'static str] = &[
        "policyNumber",
        "name",
        "description",
        "destinationServiceId",
        "keyOwnership",
        "alg",
        "enc",
        "status",
        "failureMode",
        "allowedServiceIds",
        "allowedOperations",
    ];
    const READ_ONLY: &'static [&'static str] = &["id", "createdAt", "updatedAt"];
    const VOLATILE: &'static [&'static str] = &["updatedAt"];

    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            policy_number: reader.string("policyNumber"),
            name: reader.string("name"),
            description: reader.nullable_string("description"),
            destination_service_id: reader.string("destinationServiceId"),
            key_ownership: reader.string("keyOwnership"),
            alg: reader.string("alg"),
            enc: reader.string("enc"),
            status: reader.string("status"),
            failure_mode: reader.string("failureMode"),
            allowed_service_ids: reader.nullable_strings("allowedServiceIds"),
            allowed_operations: reader.strings("allowedOperations"),
        }
    }
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// None where it is to be generated.
    pub(super) number: Option<PolicyNumber>,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) destination_service_id: ServiceId,
    pub(super) key_ownership: KeyOwnership,
    pub(super) alg: Alg,
    pub(super) enc: Enc,
    pub(super) status: Status,
    pub(super) failure_mode: FailureMode,
    pub(super) allowed_service_ids: Option<Vec<ServiceId>>,
    pub(super) allowed_operations: Operations,
}

impl Terms {
    /// Those of a policy of which nothing is decided. Its name and destination have to be.
    fn blank() -> Self {
        Self {
            number: None,
            name: String::new(),
            description: None,
            destination_service_id: ServiceId::from_uuid(Uuid::nil()),
            key_ownership: KeyOwnership::default(),
            alg: Alg::default(),
            enc: Enc::default(),
            status: Status::default(),
            failure_mode: FailureMode::default(),
            allowed_service_ids: None,
            allowed_operations: PERMITTABLE.into_iter().collect(),
        }
    }
}

/// Decides on a new policy, or on a change of `before`. The services it refers to go on living until
/// the transaction on `connection` ends.
pub(super) async fn decide(
    connection: &mut PgConnection,
    before: Option<&Policy>,
    mut proposal: Proposal<PolicyDraft>,
) -> Result<Terms, Error> {
    let living = services::lock_living(connection, &services_named_in(&proposal.draft)).await?;
    let mut terms = before.map_or_else(Terms::blank, Policy::terms);
    if let Some(before) = before {
        proposal.check_read_only(before);
    }
    let (mut problems, draft) = (proposal.problems, proposal.draft);
    let found = &mut problems;
    if before.is_none() {
        check::require(
            found,
            [
                ("name", draft.name.is_absent()),
                (DESTINATION, draft.destination_service_id.is_absent()),
            ],
        );
    }
    check::choose(
        found,
        &mut terms.key_ownership,
        "keyOwnership",
        draft.key_ownership,
        &KeyOwnership::ALL.map(KeyOwnership::name),
    );
    check::choose(
        found,
        &mut terms.alg,
        "alg",
        draft.alg,
        &Alg::ALL.map(Alg::name),
    );
    check::choose(
        found,
        &mut terms.enc,
        "enc",
        draft.enc,
        &Enc::ALL.map(Enc::name),
    );
    check::choose(
        found,
        &mut terms.status,
        "status",
        draft.status,
        &Status::ALL.map(Status::name),
    );
    check::choose(
        found,
        &mut terms.failure_mode,
        "failureMode",
        draft.failure_mode,
        &FailureMode::ALL.map(FailureMode::name),
    );
    check::set(
        found,
        &mut terms.number,
        draft.policy_number,
        |found, text| number(found, &text),
    );
    check::set(found, &mut terms.name, draft.name, check::name);
    check::set(
        found,
        &mut terms.description,
        draft.description,
        check::description,
    );
    check::set(
        found,
        &mut terms.destination_service_id,
        draft.destination_service_id,
        |found, id| living_service(found, &living, DESTINATION, &id),
    );
    check::set(
        found,
        &mut terms.allowed_service_ids,
        draft.allowed_service_ids,
        |found, ids| allowed_services(found, &living, ids),
    );
    check::set(
        found,
        &mut terms.allowed_operations,
        draft.allowed_operations,
        |found, names| allowed_operations(found, &names),
    );
    if problems.is_empty() {
        Ok(terms)
    } else {
        Err(problems.into())
    }
}

fn number(problems: &mut Problems, text: &str) -> Option<Option<PolicyNumber>> {
    match text.parse() {
        Ok(number) => Some(Some(number)),
        Err(_) => {
            problems.note(Problem::new(
                "policyNumber",
                Code::Format,
                "this must be 1 to 64 characters of A-Z a-z 0-9 . _ -",
            ));
            None
        }
    }
}

fn services_named_in(draft: &PolicyDraft) -> Vec<ServiceId> {
    let mut named = Vec::new();
    if let Member::Given(id) = &draft.destination_service_id {
        named.extend(id.parse::<ServiceId>().ok());
    }
    if let Member::Given(Some(ids)) = &draft.allowed_service_ids {
        named.extend(ids.iter().filter_map(|id| id.parse::<ServiceId>().ok()));
    }
    named
}

fn living_service(
    problems: &mut Problems,
    living: &[ServiceId],
    field: &str,
    id: &str,
) -> Option<ServiceId> {
    let living = id.parse().ok().filter(|id| living.contains(id));
    if living.is_none() {
        problems.note(Problem::new(
            field,
            Code::Unknown,
            "there is no such service",
        ));
    }
    living
}

fn allowed_services(
    problems: &mut Problems,
    living: &[ServiceId],
    ids: Option<Vec<String>>,
) -> Option<Option<Vec<ServiceId>>> {
    let Some(ids) = ids else {
        return Some(None);
    };
    let mut ids = check::each(
        problems,
        "allowedServiceIds",
        &ids,
        |problems, field, id| living_service(problems, living, field, id),
    )?;
    ids.sort_unstable();
    ids.dedup();
    Some(Some(ids))
}

fn allowed_operations(problems: &mut Problems, names: &[String]) -> Option<Operations> {
    let names_of_all = PERMITTABLE.map(Operation::name);
    check::each(
        problems,
        "allowedOperations",
        names,
        |problems, field, name| {
            let operation: Operation = check::one_of(problems, field, name, &names_of_all)?;
            if !PERMITTABLE.contains(&operation) {
                problems.note(Problem::new(
                    field,
                    Code::Unsupported,
                    "a policy allows protect and unprotect",
                ));
                return None;
            }
            Some(operation)
        },
    )
    .map(Operations::from)
}
