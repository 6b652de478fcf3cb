//! A policy, and what its state means for protecting and unprotecting.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::envelope::{Alg, Enc};
use crate::ids::{PolicyId, ServiceId};
use crate::operation::{Operation, Operations};

/// How payloads are protected for one destination, and for whom.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its identifier.
    pub id: PolicyId,
    /// What callers name it by.
    pub number: PolicyNumber,
    /// The service whose key protects.
    pub destination: ServiceId,
    /// Who holds the private key.
    pub key_ownership: KeyOwnership,
    /// How the content key is wrapped.
    pub alg: Alg,
    /// How the content is encrypted.
    pub enc: Enc,
    /// Whether it protects.
    pub status: Status,
    /// What protecting does while it does not.
    pub failure_mode: FailureMode,
    /// The services that may use it; none means all.
    pub allowed_services: Option<Vec<ServiceId>>,
    /// What may be done under it.
    pub allowed_operations: Operations,
}

/// The text by which callers name a policy.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
pub struct PolicyNumber(String);

/// Who holds the private key of a policy's destination.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum KeyOwnership {
    /// The token of this service.
    #[default]
    ServiceManaged,
    /// The destination alone: what is protected is opened there.
    DestinationManaged,
}

/// Whether a policy protects.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema,
)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[schema(as = PolicyStatus)]
pub enum Status {
    /// It does.
    #[default]
    Active,
    /// It does not; its failure mode says what happens instead.
    Inactive,
}

/// What protecting under an inactive policy does.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema,
)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum FailureMode {
    /// Refuses.
    #[default]
    Error,
    /// Gives the payload back as it came, unprotected.
    Passthrough,
    /// Throws the payload away.
    Drop,
}

/// What protecting under a policy comes to, by its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// An envelope is made.
    Protect,
    /// The request is refused.
    Refuse,
    /// The payload is given back as it came.
    PassThrough,
    /// The payload is thrown away.
    Drop,
}

/// The private key is with the destination alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the destination alone holds the private key of this policy")]
pub struct UnprotectNotAvailable;

impl Policy {
    /// What protecting comes to under this policy.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.status, self.failure_mode)
    }

    /// Whether unprotecting is possible under this policy at all. Its status does not matter: what
    /// was protected stays readable.
    ///
    /// # Errors
    /// When the destination alone holds the private key.
    pub fn unprotectable(&self) -> Result<(), UnprotectNotAvailable> {
        match self.key_ownership {
            KeyOwnership::ServiceManaged => Ok(()),
            KeyOwnership::DestinationManaged => Err(UnprotectNotAvailable),
        }
    }

    /// Whether this policy lets `service` do that.
    #[must_use]
    pub fn allows(&self, service: ServiceId, operation: Operation) -> bool {
        let service_allowed = self
            .allowed_services
            .as_ref()
            .is_none_or(|allowed| allowed.contains(&service));
        service_allowed && self.allowed_operations.contain(operation)
    }
}

impl Verdict {
    /// The state table of the interface.
    #[must_use]
    pub const fn of(status: Status, failure_mode: FailureMode) -> Self {
        match (status, failure_mode) {
            (Status::Active, _) => Self::Protect,
            (Status::Inactive, FailureMode::Error) => Self::Refuse,
            (Status::Inactive, FailureMode::Passthrough) => Self::PassThrough,
            (Status::Inactive, FailureMode::Drop) => Self::Drop,
        }
    }
}

impl PolicyNumber {
    /// The most characters of a number.
    pub const LONGEST: usize = 64;

    /// The number as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text cannot be a policy number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not 1 to 64 characters of A-Z a-z 0-9 . _ -")]
pub struct NotANumber;

impl FromStr for PolicyNumber {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let right_length = (1..=Self::LONGEST).contains(&text.len());
        let right_characters = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        if right_length && right_characters {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotANumber)
        }
    }
}

impl fmt::Display for PolicyNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PolicyNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_table_is_that_of_the_interface() {
        use FailureMode::{Drop, Error, Passthrough};
        for failure_mode in [Error, Passthrough, Drop] {
            assert_eq!(Verdict::of(Status::Active, failure_mode), Verdict::Protect);
        }
        let inactive = |failure_mode| Verdict::of(Status::Inactive, failure_mode);
        assert_eq!(inactive(Error), Verdict::Refuse);
        assert_eq!(inactive(Passthrough), Verdict::PassThrough);
        assert_eq!(inactive(Drop), Verdict::Drop);
    }

    #[test]
    fn numbers_are_of_few_characters() {
        let longest = "x".repeat(64);
        for good in ["POL-000001", "a", "A.b_c-9", &longest] {
            assert!(good.parse::<PolicyNumber>().is_ok(), "{good}");
        }
        let too_long = "x".repeat(65);
        for bad in ["", " ", "a b", "ä", "a\0", "a/b", &too_long] {
            assert!(bad.parse::<PolicyNumber>().is_err(), "{bad:?}");
        }
    }
}
