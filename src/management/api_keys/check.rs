//! Checks of an API key that depend on several members or on the database.

use sqlx::PgConnection;

use super::ApiKey;
use crate::auth::Kind;
use crate::clock::Timestamp;
use crate::management::{check, policies, services};
use crate::problem::{Code, Problem, Problems};

/// Checks a new API key, or one changed from `before`. Services and policies that it refers to cannot
/// be deleted until the transaction on `connection` ends.
pub(super) async fn check(
    connection: &mut PgConnection,
    problems: &mut Problems,
    now: Timestamp,
    before: Option<&ApiKey>,
    api_key: &mut ApiKey,
) -> sqlx::Result<()> {
    let note = |problems: &mut Problems, field: &str, message: &'static str| {
        problems.note(Problem::new(field, Code::Conflict, message));
    };
    match (api_key.r#type, api_key.service_id) {
        (Kind::Admin, None) => {}
        (Kind::Admin, Some(_)) => note(problems, "serviceId", "must be left out of an admin key"),
        (Kind::Live | Kind::Test, None) => problems.note(Problem::required("serviceId")),
        (Kind::Live | Kind::Test, Some(service)) if before.is_none() => {
            let named = [("serviceId".to_owned(), service)];
            services::check_living(connection, problems, &named).await?;
        }
        (Kind::Live | Kind::Test, Some(_)) => {}
    }
    if api_key.r#type == Kind::Admin {
        if api_key.policy_number.number.take().is_some() {
            note(problems, "policyNumber", "must be left out of an admin key");
        }
        if api_key.allowed_operations.is_some() {
            note(
                problems,
                "allowedOperations",
                "must be left out of an admin key",
            );
        }
    }
    if let (Some(number), None) = (&api_key.policy_number.number, api_key.policy_number.id) {
        api_key.policy_number.id = policies::lock_living(connection, number).await?;
        if api_key.policy_number.id.is_none() {
            let message = "must be the number of an existing policy";
            problems.note(Problem::new("policyNumber", Code::Unknown, message));
        }
    }
    let expires_at = before.and_then(|before| before.expires_at);
    check::expiry(problems, now, expires_at, api_key.expires_at);
    Ok(())
}
