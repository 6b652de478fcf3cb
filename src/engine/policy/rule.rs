//! A policy, and what its state means for protecting and unprotecting.

use super::operations::PolicyOperations;
use super::{AllowedServices, EnvelopeHeaders, PolicyNumber};
use crate::closed_set::ClosedSet;
use crate::ids::{PolicyId, ServiceId};
use crate::operation::{Operation, Operations};
use crate::resource;
use crate::resource::{Deletable, Deprivable, Description, Name};
use formats::clock::Timestamp;
use formats::closed_set;
use formats::envelope::{Alg, Enc, HeaderMembers};
use formats::problem::{Code, Problem, Problems};

resource! {
    /// Defines how payloads are protected for one destination service, and for which callers.
    pub struct Policy(PolicyId) in "policies", requested by PolicyRequest {
        /// The number that callers send. Unique. It does not begin with `pol_` and does not consist of dots
        /// only. A new policy without one gets the next number of the form `POL-000001`.
        "Policy number" policy_number: PolicyNumber, optional;
        /// Identifies the policy to people.
        "Name" name: Name;
        /// The purpose of the policy.
        "Description" description: Option<Description> = None;
        /// The service whose keys protect the payloads.
        "Destination service" destination_service_id: ServiceId;
        /// Where the private key is: in the token of this service, or with the destination service
        /// only.
        "Private key" key_ownership: KeyOwnership = KeyOwnership::default();
        /// The algorithm that wraps the content key: RSA-OAEP for RSA keys, ECDH-ES for EC keys, HPKE for
        /// ML-KEM and hybrid keys. HPKE needs the setting `envelopes.post_quantum`. With it, the default of
        /// a service whose active `enc` keys are all hybrid is `HPKE-8-KE`.
        "Key wrapping (alg)" alg: Alg = Alg::default();
        /// The algorithm that encrypts the content.
        "Encryption (enc)" enc: Enc = Enc::default();
        /// Whether the policy protects. Protected payloads stay readable under an inactive policy.
        "Status" status: PolicyStatus = PolicyStatus::default();
        /// The result of `/protect` while the policy is inactive.
        "Failure mode" failure_mode: FailureMode = FailureMode::default();
        /// The services that may use the policy: a list of service IDs, or `["*"]` for any service.
        /// Required for a new policy, so that no policy is open to any service by mistake.
        #[sqlx(flatten)]
        "Allowed services" allowed_service_ids: AllowedServices;
        /// The operations that the policy allows.
        "Allowed operations" allowed_operations: Operations as PolicyOperations = PolicyOperations::all();
        /// Whether protecting needs a context. Not supported when only the destination service holds
        /// the private key.
        "Context required" context_required: bool = false;
        /// Whether an envelope that names no policy of this service is refused. Not supported when only
        /// the destination service holds the private key.
        "Require binding" require_binding: bool = false;
        /// The header members `typ`, `iat` and `cty` of envelopes, exactly; null for `cty` alone. Only
        /// supported when only the destination service holds the private key.
        "Envelope headers" headers: Option<EnvelopeHeaders> = None;
        @internal {
            /// The time of its deletion. Of a deleted policy, the row goes on deciding.
            deleted_at: Option<Timestamp>;
        }
    }
}

closed_set! {
    /// The holder of the private key of a destination.
    #[derive(Default)]
    pub enum KeyOwnership: "KeyOwnership" {
        /// The token of this service.
        #[default]
        ServiceManaged = "service_managed",
        /// The destination alone. It opens the envelopes itself.
        DestinationManaged = "destination_managed",
    }
}

impl ClosedSet for KeyOwnership {}

closed_set! {
    /// Whether a policy protects.
    #[derive(Default)]
    pub enum PolicyStatus: "PolicyStatus" {
        /// It protects.
        #[default]
        Active = "active",
        /// It does not protect; its failure mode applies.
        Inactive = "inactive",
    }
}

impl ClosedSet for PolicyStatus {}

closed_set! {
    /// The result of `/protect` under an inactive policy.
    #[derive(Default)]
    pub enum FailureMode: "FailureMode" {
        /// It refuses the request.
        #[default]
        Error = "error",
        /// It returns the payload unprotected.
        Passthrough = "passthrough",
        /// It discards the payload.
        Drop = "drop",
    }
}

impl ClosedSet for FailureMode {}

/// What protecting under a policy does, by the policy's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It makes an envelope.
    Protect,
    /// It refuses the request.
    Refuse,
    /// It returns the payload unprotected.
    PassThrough,
    /// It discards the payload.
    Drop,
}

/// The destination alone has the private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("only the destination service holds the private key of this policy")]
pub struct UnprotectNotAvailable;

impl Deletable for Policy {
    fn deleted(self, at: Timestamp) -> Self {
        Self { deleted_at: Some(at), ..self }
    }
}

impl Deprivable for Policy {}

impl Policy {
    /// The same policy, no longer deleted. It is inactive, so that nothing protects under it yet.
    pub(crate) fn restored(self) -> Self {
        Self { deleted_at: None, status: PolicyStatus::Inactive, ..self }
    }

    /// What protecting under this policy does.
    pub fn verdict(&self) -> Verdict {
        self.verdict_if(self.status)
    }

    /// What protecting under this policy does while it is inactive.
    pub fn fallback(&self) -> Verdict {
        self.verdict_if(PolicyStatus::Inactive)
    }

    fn verdict_if(&self, status: PolicyStatus) -> Verdict {
        Verdict::of(status, self.failure_mode)
    }

    /// Whether this policy allows `operation` to `service`.
    pub(super) fn allows(&self, service: ServiceId, operation: Operation) -> bool {
        self.allowed_service_ids.include(service) && self.allowed_operations.contain(operation)
    }

    /// Checks the context of a new envelope, which a request gives as `member`. Only the destination
    /// reads the envelopes of a key that it holds itself, so those have none.
    pub(crate) fn check_context(
        &self,
        member: &'static str,
        has_context: bool,
    ) -> Result<(), Problem> {
        match self.key_ownership {
            KeyOwnership::ServiceManaged if self.context_required && !has_context => {
                Err(Problem::required(member))
            }
            KeyOwnership::DestinationManaged if has_context => Err(binding_unsupported(member)),
            KeyOwnership::ServiceManaged | KeyOwnership::DestinationManaged => Ok(()),
        }
    }

    /// The identifier that envelopes of this policy carry.
    pub fn binding(&self) -> Option<PolicyId> {
        match self.key_ownership {
            KeyOwnership::ServiceManaged => Some(self.id),
            KeyOwnership::DestinationManaged => None,
        }
    }

    /// The header members of an envelope that is made at `now`, in addition to those that every
    /// envelope has.
    pub fn header_members(&self, now: Timestamp) -> HeaderMembers<'_> {
        let headers = self.headers.as_ref();
        headers.map_or_else(HeaderMembers::default, |headers| headers.at(now))
    }

    /// Notes the members that do not fit the key ownership.
    pub(crate) fn check_binding(&self, problems: &mut Problems) {
        let members =
            [("contextRequired", self.context_required), ("requireBinding", self.require_binding)];
        if self.key_ownership == KeyOwnership::DestinationManaged {
            for (member, _) in members.into_iter().filter(|(_, is_set)| *is_set) {
                problems.note(binding_unsupported(member));
            }
        } else if self.headers.is_some() {
            let message = "is not supported with keyOwnership service_managed";
            problems.note(Problem::new("headers", Code::Unsupported, message));
        }
    }

    /// Whether envelopes of this policy can be opened here. The status does not matter: protected
    /// payloads stay readable.
    pub(crate) fn unprotectable(&self) -> Result<(), UnprotectNotAvailable> {
        match self.key_ownership {
            KeyOwnership::ServiceManaged => Ok(()),
            KeyOwnership::DestinationManaged => Err(UnprotectNotAvailable),
        }
    }
}

fn binding_unsupported(field: &'static str) -> Problem {
    let message = "is not supported with keyOwnership destination_managed";
    Problem::new(field, Code::Unsupported, message)
}

impl Verdict {
    /// The state table of the interface.
    pub const fn of(status: PolicyStatus, mode: FailureMode) -> Self {
        use FailureMode::{Drop, Error, Passthrough};
        match (status, mode) {
            (PolicyStatus::Active, Error | Passthrough | Drop) => Self::Protect,
            (PolicyStatus::Inactive, Error) => Self::Refuse,
            (PolicyStatus::Inactive, Passthrough) => Self::PassThrough,
            (PolicyStatus::Inactive, Drop) => Self::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_table_matches_the_interface() {
        let verdicts =
            |status| FailureMode::ALL.map(|mode| (mode.name(), Verdict::of(status, mode)));
        for (mode, verdict) in verdicts(PolicyStatus::Active) {
            assert_eq!(verdict, Verdict::Protect, "{mode}");
        }
        let inactive = [
            ("error", Verdict::Refuse),
            ("passthrough", Verdict::PassThrough),
            ("drop", Verdict::Drop),
        ];
        assert_eq!(verdicts(PolicyStatus::Inactive), inactive);
    }
}
