//! The stored facts about a credential, and the reasons to refuse it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use ipnet::IpNet;

use super::{ApiKeyDigest, ApiKeyType, RateLimit, Roles};
use crate::client_certificates;
use crate::fingerprint::Fingerprint;
use crate::ids::{CredentialId, PolicyId, ServiceId};
use crate::jwt;
use crate::operation::Operations;
use crate::settings::Stage;
use formats::clock::Timestamp;

/// The stored facts about the owner of a credential.
#[derive(Debug)]
pub struct Identity {
    pub(super) credential_id: CredentialId,
    pub(super) name: String,
    /// The type of an API key; none for workload identities.
    pub(super) kind: Option<ApiKeyType>,
    pub(super) roles: Roles,
    pub(super) service_id: Option<ServiceId>,
    pub(super) service_name: Option<Box<str>>,
    /// Whether the service is frozen.
    pub(super) is_frozen: bool,
    pub(super) rate_limit: RateLimit,
    pub(super) bound_policy: Option<PolicyId>,
    pub(super) allowed_operations: Option<Operations>,
    pub(super) noted: Noted,
}

/// The stored facts about an API key.
#[derive(Debug)]
pub(super) struct StoredKey {
    pub(super) at_rest: ApiKeyDigest,
    pub(super) kind: ApiKeyType,
    pub(super) allowed_networks: Option<Vec<IpNet>>,
    /// The client certificate that requests with the key need.
    pub(super) certificate: Option<Fingerprint>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) revoked_at: Option<Timestamp>,
    /// Whether its person is locked.
    pub(super) is_cut_off: bool,
    pub(super) identity: Arc<Identity>,
}

/// The stored facts about a workload identity.
#[derive(Debug)]
pub(super) struct Workload {
    /// Why its credentials are refused.
    pub(super) refused: Option<CredentialRefused>,
    pub(super) identity: Arc<Identity>,
}

impl StoredKey {
    /// The reason to refuse the key, apart from its digest and its certificate.
    pub(super) fn refusal(
        &self,
        now: Timestamp,
        stage: Stage,
        client: IpAddr,
    ) -> Option<CredentialRefused> {
        if self.revoked_at.is_some() {
            return Some(CredentialRefused::Revoked);
        }
        if self.is_cut_off {
            return Some(CredentialRefused::Locked);
        }
        if self.expires_at.is_some_and(|expiry| expiry <= now) {
            return Some(CredentialRefused::Expired);
        }
        if !self.kind.fits(stage) {
            return Some(CredentialRefused::OtherEnvironment);
        }
        let at_home = self
            .allowed_networks
            .as_ref()
            .is_none_or(|networks| networks.iter().any(|network| network.contains(&client)));
        (!at_home).then_some(CredentialRefused::OtherNetwork)
    }
}

/// Why a credential is refused, for the log. Clients get the same answer for all reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CredentialRefused {
    /// The request has none or several.
    #[error("not exactly one credential")]
    Missing,
    /// It is neither an API key nor a token.
    #[error("not an API key")]
    Malformed,
    /// The token is not valid.
    #[error(transparent)]
    Token(#[from] jwt::TokenRefused),
    /// The client certificate does not count.
    #[error(transparent)]
    Certificate(#[from] client_certificates::CertificateRefused),
    /// The key requires another client certificate.
    #[error("API key used without the client certificate that it requires")]
    OtherCertificate,
    /// The token or certificate is valid, but not exactly one workload identity matches it.
    #[error("the credential matches no workload identity, or several")]
    NoIdentity,
    /// The workload identity is disabled.
    #[error("disabled workload identity")]
    Disabled,
    /// The person is locked, or was locked after the token was issued.
    #[error("locked person, or a token from before a lock")]
    Locked,
    /// The row of its service in the database does not count.
    #[error("the row of the service does not count")]
    LostService,
    /// The row of the person in the database does not count.
    #[error("the row of the person does not count")]
    InvalidRow,
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

        use crate::ids::ApiKeyId;

        Self {
            credential_id: CredentialId::ApiKey(ApiKeyId::from_uuid(Uuid::from_u128(1))),
            name: "sample".to_owned(),
            kind: Some(ApiKeyType::Live),
            roles: Roles::default(),
            service_id: Some(ServiceId::from_uuid(Uuid::from_u128(2))),
            service_name: Some("sample".into()),
            is_frozen: false,
            rate_limit: RateLimit::OF_ADMINS,
            bound_policy: None,
            allowed_operations: None,
            noted: Noted::default(),
        }
    }
}

#[cfg(test)]
impl StoredKey {
    /// A good live key, for tests.
    fn sample() -> Self {
        Self {
            at_rest: ApiKeyDigest::from_bytes([0; 32]),
            kind: ApiKeyType::Live,
            allowed_networks: None,
            certificate: None,
            expires_at: None,
            revoked_at: None,
            is_cut_off: false,
            identity: Arc::new(Identity::sample()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000_000;

    fn refusal(key: &StoredKey, stage: Stage, client: &str) -> Option<CredentialRefused> {
        key.refusal(Timestamp::from_millis(NOW), stage, client.parse().unwrap())
    }

    #[test]
    fn each_key_type_has_its_environments() {
        let table = [
            (ApiKeyType::Live, [true, false, true]),
            (ApiKeyType::Test, [false, true, true]),
            (ApiKeyType::Admin, [true, true, true]),
        ];
        for (kind, taken) in table {
            let key = StoredKey { kind, ..StoredKey::sample() };
            let stages = [Stage::Production, Stage::Staging, Stage::Development];
            for (stage, taken) in stages.into_iter().zip(taken) {
                let refusal = refusal(&key, stage, "10.0.0.1");
                let expected = (!taken).then_some(CredentialRefused::OtherEnvironment);
                assert_eq!(refusal, expected, "{kind} in {stage:?}");
            }
        }
    }

    #[test]
    fn a_key_is_invalid_after_its_expiry_or_revocation_or_a_lock() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        let expiring = |expires_at| StoredKey { expires_at, ..StoredKey::sample() };
        let stage = Stage::Production;
        assert_eq!(refusal(&expiring(at(NOW + 1)), stage, "::1"), None);
        let over = refusal(&expiring(at(NOW)), stage, "::1");
        assert_eq!(over, Some(CredentialRefused::Expired));
        let revoked = StoredKey { revoked_at: at(NOW), ..StoredKey::sample() };
        assert_eq!(refusal(&revoked, stage, "::1"), Some(CredentialRefused::Revoked));
        let locked = StoredKey { is_cut_off: true, ..StoredKey::sample() };
        assert_eq!(refusal(&locked, stage, "::1"), Some(CredentialRefused::Locked));
    }

    #[test]
    fn a_key_with_networks_is_only_valid_in_these_networks() {
        let key = StoredKey {
            allowed_networks: Some(vec![
                "10.1.0.0/16".parse().unwrap(),
                "2001:db8::/32".parse().unwrap(),
            ]),
            ..StoredKey::sample()
        };
        for (client, inside) in [
            ("10.1.255.1", true),
            ("10.2.0.1", false),
            ("2001:db8::1", true),
            ("::ffff:10.1.0.1", false),
        ] {
            let refusal = refusal(&key, Stage::Production, client);
            assert_eq!(refusal.is_none(), inside, "{client}");
        }
    }
}
