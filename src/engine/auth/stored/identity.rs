//! The resource.

use super::bound_policy::BoundPolicy;
use crate::auth::Match;
use crate::closed_set::ClosedSet;
use crate::ids::{IdentityId, ServiceId};
use crate::operation::Operations;
use crate::resource;
use crate::resource::{Deletable, Deprivable, Name};
use crate::seals::What;
use formats::clock::Timestamp;
use formats::closed_set;

resource! {
    /// A workload that authenticates with tokens of an issuer or with a client certificate instead of an
    /// API key.
    pub struct WorkloadIdentity(IdentityId) in "identities", requested by IdentityRequest {
        @fixed {
            /// The calling service.
            "Service" service_id: ServiceId;
        }
        /// Identifies the workload to people.
        "Name" name: Name;
        /// The policy of requests without a policy number.
        #[sqlx(flatten)]
        "Bound policy" policy_number: BoundPolicy = BoundPolicy::default();
        /// The operations that the identity allows; null for all operations.
        "Operations" allowed_operations: Option<Operations> = None;
        /// The credentials that match the identity. A credential that several identities match, disabled
        /// ones included, is refused.
        "Match" r#match: Match;
        /// Whether the credentials are accepted.
        "Status" status: IdentityStatus = IdentityStatus::Active;
        @internal {
            /// The time of its deletion. Of a deleted identity, the row stays.
            deleted_at: Option<Timestamp>;
        }
        @volatile {
            /// The time of the last authenticated request, with a delay of some seconds.
            last_used_at: Option<Timestamp>;
        }
    }
}

closed_set! {
    /// Whether the credentials of an identity are accepted.
    #[derive(Default)]
    pub enum IdentityStatus: "IdentityStatus" {
        /// They are accepted.
        #[default]
        Active = "active",
        /// They are refused.
        Disabled = "disabled",
    }
}

impl ClosedSet for IdentityStatus {}

impl Deletable for WorkloadIdentity {
    fn deleted(self, at: Timestamp) -> Self {
        Self { deleted_at: Some(at), ..self }
    }
}

impl Deprivable for WorkloadIdentity {
    const LOSES: Option<What> = Some(What::Disabled);

    fn deprive(&mut self, _: Timestamp) {
        self.status = IdentityStatus::Disabled;
    }
}
