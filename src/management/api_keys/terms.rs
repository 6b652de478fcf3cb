//! What administrators decide about an API key, from proposal to decision.

use std::net::IpAddr;

use ipnet::IpNet;
use sqlx::PgConnection;
use utoipa::ToSchema;

use super::ApiKey;
use crate::auth::Kind;
use crate::clock::Timestamp;
use crate::ids::{PolicyId, ServiceId};
use crate::management::{Draft, Error, Member, Proposal, Reader, check, policies, services};
use crate::operation::{Operation, Operations};
use crate::policy::PolicyNumber;
use crate::problem::{Code, Problem, Problems};

const POLICY: &str = "policyNumber";
const SERVICE: &str = "serviceId";

/// The members of an API key that clients may set. Type and service are settled when it is made.
#[derive(Clone, Debug, Default, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub struct ApiKeyDraft {
    /// 1 to 100 characters.
    #[schema(value_type = String, min_length = 1, max_length = 100)]
    pub name: Member<String>,
    /// `live`, `test` or `admin`.
    #[schema(value_type = Kind, rename = "type")]
    pub kind: Member<String>,
    /// The calling service; none for `admin`.
    #[schema(value_type = Option<ServiceId>)]
    pub service_id: Member<Option<String>>,
    /// The number of the policy it is bound to.
    #[schema(value_type = Option<PolicyNumber>)]
    pub policy_number: Member<Option<String>>,
    /// What it may be used for; null for everything.
    #[schema(value_type = Option<Operations>)]
    pub allowed_operations: Member<Option<Vec<String>>>,
    /// Where it may be used from; null for anywhere.
    #[schema(value_type = Option<Vec<String>>, min_items = 1, max_items = 1000)]
    pub allowed_cidrs: Member<Option<Vec<String>>>,
    /// From when it is not good any more.
    #[schema(value_type = Option<Timestamp>)]
    pub expires_at: Member<Option<String>>,
}

impl Draft for ApiKeyDraft {
    const MEMBERS: &'static [&'static str] = &[
        "name",
        "type",
        SERVICE,
        POLICY,
        "allowedOperations",
        "allowedCidrs",
        "expiresAt",
    ];
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "hint",
        "status",
        "lastUsedAt",
        "createdAt",
        "updatedAt",
        "revokedAt",
    ];
    const VOLATILE: &'static [&'static str] = &["lastUsedAt", "updatedAt"];

    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            name: reader.string("name"),
            kind: reader.string("type"),
            service_id: reader.nullable_string(SERVICE),
            policy_number: reader.nullable_string(POLICY),
            allowed_operations: reader.nullable_strings("allowedOperations"),
            allowed_cidrs: reader.nullable_strings("allowedCidrs"),
            expires_at: reader.nullable_string("expiresAt"),
        }
    }
}

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Administrators,
    Live(ServiceId),
    Test(ServiceId),
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) name: String,
    pub(super) policy: Option<(PolicyId, String)>,
    pub(super) allowed_operations: Option<Operations>,
    pub(super) allowed_cidrs: Option<Vec<IpNet>>,
    pub(super) expires_at: Option<Timestamp>,
}

impl Owner {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Administrators => Kind::Admin,
            Self::Live(_) => Kind::Live,
            Self::Test(_) => Kind::Test,
        }
    }

    pub(super) fn service_id(self) -> Option<ServiceId> {
        match self {
            Self::Administrators => None,
            Self::Live(service) | Self::Test(service) => Some(service),
        }
    }
}

/// Decides on a new API key. What it refers to goes on living until the transaction ends.
pub(super) async fn of_new(
    connection: &mut PgConnection,
    now: Timestamp,
    proposal: Proposal<ApiKeyDraft>,
) -> Result<(Owner, Terms), Error> {
    let (mut problems, draft) = (proposal.problems, proposal.draft);
    let found = &mut problems;
    check::require(
        found,
        [
            ("name", draft.name.is_absent()),
            ("type", draft.kind.is_absent()),
        ],
    );
    let kind = match &draft.kind {
        Member::Given(name) => check::one_of(found, "type", name, &Kind::ALL.map(Kind::name)),
        Member::Absent | Member::Wrong => None,
    };
    let owner = match kind {
        None => None,
        Some(kind) => owner(connection, found, kind, &draft.service_id).await?,
    };
    let mut terms = Terms::default();
    apply(connection, now, found, kind, &mut terms, draft).await?;
    match owner {
        Some(owner) if problems.is_empty() => Ok((owner, terms)),
        _ => Err(problems.into()),
    }
}

/// Decides on a change of `before`. What it refers to goes on living until the transaction ends.
pub(super) async fn of_changed(
    connection: &mut PgConnection,
    now: Timestamp,
    before: &ApiKey,
    mut proposal: Proposal<ApiKeyDraft>,
) -> Result<Terms, Error> {
    proposal.check_read_only(before);
    let (mut problems, draft) = (proposal.problems, proposal.draft);
    let found = &mut problems;
    let same_service = before.service_id.map(|id| id.to_string());
    settled(found, "type", &draft.kind, before.kind.name());
    settled(found, SERVICE, &draft.service_id, &same_service);
    let mut terms = before.terms();
    apply(connection, now, found, Some(before.kind), &mut terms, draft).await?;
    if problems.is_empty() {
        Ok(terms)
    } else {
        Err(problems.into())
    }
}

async fn apply(
    connection: &mut PgConnection,
    now: Timestamp,
    found: &mut Problems,
    kind: Option<Kind>,
    terms: &mut Terms,
    draft: ApiKeyDraft,
) -> Result<(), Error> {
    let of_admins = kind == Some(Kind::Admin);
    if of_admins {
        let members = [
            (
                POLICY,
                matches!(draft.policy_number, Member::Given(Some(_))),
            ),
            (
                "allowedOperations",
                matches!(draft.allowed_operations, Member::Given(Some(_))),
            ),
        ];
        for (field, _) in members.into_iter().filter(|(_, is_given)| *is_given) {
            let message = "an admin key does not call the runtime API";
            found.note(Problem::new(field, Code::Conflict, message));
        }
    }
    check::set(found, &mut terms.name, draft.name, check::name);
    if let Member::Given(number) = draft.policy_number
        && !of_admins
    {
        bind(connection, found, terms, number).await?;
    }
    check::set(
        found,
        &mut terms.allowed_operations,
        draft.allowed_operations,
        |found, names| check::or_null(names, |names| operations(found, &names)),
    );
    check::set(
        found,
        &mut terms.allowed_cidrs,
        draft.allowed_cidrs,
        |found, texts| check::or_null(texts, |texts| networks(found, &texts)),
    );
    let expiry = terms.expires_at;
    check::set(
        found,
        &mut terms.expires_at,
        draft.expires_at,
        |found, text| check::or_null(text, |text| check::expiry(found, now, expiry, &text)),
    );
    Ok(())
}

async fn owner(
    connection: &mut PgConnection,
    found: &mut Problems,
    kind: Kind,
    service_id: &Member<Option<String>>,
) -> Result<Option<Owner>, Error> {
    let owner = match (kind, service_id) {
        (_, Member::Wrong) => return Ok(None),
        (Kind::Admin, Member::Absent | Member::Given(None)) => {
            return Ok(Some(Owner::Administrators));
        }
        (Kind::Admin, Member::Given(Some(_))) => {
            let message = "an admin key belongs to no service";
            found.note(Problem::new(SERVICE, Code::Conflict, message));
            return Ok(None);
        }
        (Kind::Live | Kind::Test, Member::Absent | Member::Given(None)) => {
            found.note(Problem::required(SERVICE));
            return Ok(None);
        }
        (Kind::Live, Member::Given(Some(_))) => Owner::Live,
        (Kind::Test, Member::Given(Some(_))) => Owner::Test,
    };
    let named = match service_id {
        Member::Given(Some(id)) => id.parse().ok(),
        Member::Given(None) | Member::Absent | Member::Wrong => None,
    };
    let living = services::lock_living(connection, named.as_slice()).await?;
    if living.is_empty() {
        let message = "there is no such service";
        found.note(Problem::new(SERVICE, Code::Unknown, message));
    }
    Ok(living.first().copied().map(owner))
}

async fn bind(
    connection: &mut PgConnection,
    found: &mut Problems,
    terms: &mut Terms,
    number: Option<String>,
) -> Result<(), Error> {
    let Some(text) = number else {
        terms.policy = None;
        return Ok(());
    };
    let policy = match text.parse::<PolicyNumber>() {
        Ok(number) => policies::lock_living(connection, &number).await?,
        Err(_) => None,
    };
    match policy {
        Some(policy) => terms.policy = Some((policy, text)),
        None => found.note(Problem::new(
            POLICY,
            Code::Unknown,
            "there is no such policy",
        )),
    }
    Ok(())
}

fn settled<T: PartialEq<U>, U: ?Sized>(
    found: &mut Problems,
    field: &str,
    member: &Member<T>,
    now: &U,
) {
    if matches!(member, Member::Given(stated) if stated != now) {
        let message = "this member cannot be changed";
        found.note(Problem::new(field, Code::Conflict, message));
    }
}

fn operations(found: &mut Problems, names: &[String]) -> Option<Operations> {
    let all = Operation::ALL.map(Operation::name);
    check::each(found, "allowedOperations", names, |found, field, name| {
        check::one_of(found, field, name, &all)
    })
    .map(|operations: Vec<Operation>| operations.into())
}

fn networks(found: &mut Problems, texts: &[String]) -> Option<Vec<IpNet>> {
    check::each(found, "allowedCidrs", texts, |found, field, text| {
        let network = text
            .parse()
            .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
            .ok()
            // Bits beyond the prefix are a slip of whoever wrote it, and one that opens doors.
            .filter(|network| network.trunc() == *network);
        if network.is_none() {
            let message = "this must be a network as 192.0.2.0/24 or 2001:db8::/32, \
                           with no bits set beyond its prefix";
            found.note(Problem::new(field, Code::Format, message));
        }
        network
    })
}
