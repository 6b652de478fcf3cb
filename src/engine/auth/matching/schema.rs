//! The schema of the rule: one object, because generated clients support it better than alternatives.

use std::borrow::Cow;

use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Match;
use super::claims::{Claims, Exact};
use crate::fingerprint::Fingerprint;
use crate::spiffe::SpiffeId;

/// The credentials that match an identity: exactly one of `issuer`, `spiffeId` and `certificateSha256`.
/// Comparison is exact and case-sensitive.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IdentityMatch)]
#[expect(dead_code, reason = "only the schema uses it")]
struct Documentation {
    /// The claim `iss` of the token. With it, a subject or a claim is required.
    #[schema(nullable = false)]
    issuer: Option<Exact>,
    /// The claim `sub` of the token.
    #[schema(nullable = false)]
    subject: Option<Exact>,
    /// Other claims of the token by their names.
    #[schema(nullable = false)]
    claims: Option<Claims>,
    /// The SPIFFE ID in the client certificate.
    #[schema(nullable = false)]
    spiffe_id: Option<SpiffeId>,
    /// The SHA-256 of the client certificate.
    #[schema(nullable = false)]
    certificate_sha256: Option<Fingerprint>,
}

impl PartialSchema for Match {
    fn schema() -> RefOr<Schema> {
        Documentation::schema()
    }
}

impl ToSchema for Match {
    fn name() -> Cow<'static, str> {
        <Documentation as ToSchema>::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Documentation::schemas(schemas);
    }
}
