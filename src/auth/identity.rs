//! The stored facts about an API key, and the reasons to refuse it.

use std::net::IpAddr;
use std::sync::atomic::AtomicI64;

use ipnet::IpNet;

use super::{AtRest, Kind, RateLimit, Roles};
use crate::clock::Timestamp;
use crate::ids::{ApiKeyId, PolicyId, ServiceId};
use crate::operation::Operations;
use crate::settings::Stage;

/// The stored facts about an API key.
#[derive(Debug)]
pub struct Identity {
    pub(super) api_key_id: ApiKeyId,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) roles: Roles,
    pub(super) at_rest: AtRest,
    pub(super) service_id: Option<ServiceId>,
    pub(super) rate_limit: RateLimit,
    pub(super) bound_policy: Option<PolicyId>,
    pub(super) allowed_operations: Option<Operations>,
    pub(super) allowed_networks: Option<Vec<IpNet>>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) revoked_at: Option<Timestamp>,
    pub(super) noted: Noted,
}

impl Identity {
    /// The reason to refuse the key, apart from its digest.
    pub(super) fn refusal(&self, now: Timestamp, stage: Stage, client: IpAddr) -> Option<Refusal> {
        if self.revoked_at.is_some() {
            return Some(Refusal::Revoked);
        }
        if self.expires_at.is_some_and(|expiry| expiry <= now) {
            return Some(Refusal::Expired);
        }
        if !self.kind.fits(stage) {
            return Some(Refusal::OtherEnvironment);
        }
        let at_home = self
            .allowed_networks
            .as_ref()
            .is_none_or(|networks| networks.iter().any(|network| network.contains(&client)));
        (!at_home).then_some(Refusal::OtherNetwork)
    }
}

/// Why a credential is refused, for the log. Clients get the same answer for all reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The request has none or several.
    #[error("not exactly one credential")]
    Missing,
    /// It is not a bearer token in the format of API keys.
    #[error("not an API key")]
    Malformed,
    /// The key does not exist.
    #[error("unknown API key")]
    Unknown,
    /// The key was revoked.
    #[error("revoked API key")]
    Revoked,
    /// The key has expired.
    #[error("expired API key")]
    Expired,
    /// The type of the key is not accepted in this environment.
    #[error("API key of another environment")]
    OtherEnvironment,
    /// The address is not in the allowed networks of the key.
    #[error("API key used from outside its networks")]
    OtherNetwork,
}

/// When the use of one key was last noted. It avoids the lock that all keys share.
#[derive(Debug)]
pub(super) struct Noted(pub(super) AtomicI64);

impl Default for Noted {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

#[cfg(test)]
impl Identity {
    /// A good live key, for tests.
    pub(super) fn sample() -> Self {
        use uuid::Uuid;

        Self {
            api_key_id: ApiKeyId::from_uuid(Uuid::from_u128(1)),
            name: "sample".to_owned(),
            kind: Kind::Live,
            roles: Roles::default(),
            at_rest: AtRest::from_bytes([0; 32]),
            service_id: Some(ServiceId::from_uuid(Uuid::from_u128(2))),
            rate_limit: RateLimit::OF_ADMINS,
            bound_policy: None,
            allowed_operations: None,
            allowed_networks: None,
            expires_at: None,
            revoked_at: None,
            noted: Noted::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000_000;

    fn refusal(identity: &Identity, stage: Stage, client: &str) -> Option<Refusal> {
        identity.refusal(Timestamp::from_millis(NOW), stage, client.parse().unwrap())
    }

    #[test]
    fn each_key_type_has_its_environments() {
        let table = [
            (Kind::Live, [true, false, true]),
            (Kind::Test, [false, true, true]),
            (Kind::Admin, [true, true, true]),
        ];
        for (kind, taken) in table {
            let identity = Identity {
                kind,
                ..Identity::sample()
            };
            let stages = [Stage::Production, Stage::Staging, Stage::Development];
            for (stage, taken) in stages.into_iter().zip(taken) {
                let refusal = refusal(&identity, stage, "10.0.0.1");
                let expected = (!taken).then_some(Refusal::OtherEnvironment);
                assert_eq!(refusal, expected, "{kind} in {stage:?}");
            }
        }
    }

    #[test]
    fn a_key_is_invalid_after_its_expiry_or_revocation() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        let expiring = |expires_at| Identity {
            expires_at,
            ..Identity::sample()
        };
        let stage = Stage::Production;
        assert_eq!(refusal(&expiring(at(NOW + 1)), stage, "::1"), None);
        let over = refusal(&expiring(at(NOW)), stage, "::1");
        assert_eq!(over, Some(Refusal::Expired));
        let revoked = Identity {
            revoked_at: at(NOW),
            ..Identity::sample()
        };
        assert_eq!(refusal(&revoked, stage, "::1"), Some(Refusal::Revoked));
    }

    #[test]
    fn a_key_with_networks_is_only_valid_in_these_networks() {
        let identity = Identity {
            allowed_networks: Some(vec![
                "10.1.0.0/16".parse().unwrap(),
                "2001:db8::/32".parse().unwrap(),
            ]),
            ..Identity::sample()
        };
        for (client, inside) in [
            ("10.1.255.1", true),
            ("10.2.0.1", false),
            ("2001:db8::1", true),
            ("::ffff:10.1.0.1", false),
        ] {
            let refusal = refusal(&identity, Stage::Production, client);
            assert_eq!(refusal.is_none(), inside, "{client}");
        }
    }
}
