//! How long a credential lives, as these clients read it.
//!
//! A lease is never 0 and always renewable: clients otherwise log in again as often as they can, or never. A
//! renewal says how much time is left, so that clients log in again before a credential ends.

use std::time::Duration;

use serde_json::json;
use zeroize::Zeroizing;

use engine::receive::AdminCaller;
use formats::clock::Timestamp;

/// The lease of a credential without an end, and the longest lease. It bounds how long a client repeats refused
/// renewals after its credential was revoked.
const LONGEST: u64 = 900;

/// The longest lease of a token, 20 days. Clients compute with longer ones wrongly: some wait for 32 bits of
/// milliseconds.
const LONGEST_OF_TOKENS: u64 = 20 * 24 * 60 * 60;

/// The lease of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    /// What is left, in seconds.
    pub(super) left: u64,
    /// Its length at the beginning, in seconds.
    pub(super) whole: u64,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl Lease {
    pub(super) fn of(caller: &AdminCaller, now: Timestamp) -> Self {
        let (since, until, is_token) = match caller {
            AdminCaller::Caller(caller) => {
                let lifetime = caller.lifetime();
                (lifetime.since, lifetime.until, caller.kind().is_none())
            }
            AdminCaller::Person(_) => (None, None, true),
        };
        let seconds = |from: Timestamp, to: Timestamp| to.since(from).as_secs();
        let Some(until) = until else {
            return Self { left: LONGEST, whole: LONGEST, since, until: None };
        };
        let left = seconds(now, until).max(1);
        // An API key has no beginning that matters.
        let (left, whole) = match (is_token, since) {
            (true, Some(since)) => (left, seconds(since, until).max(left)),
            (true, None) => (left, left),
            (false, _) => (left.min(LONGEST), left.min(LONGEST)),
        };
        let [left, whole] = [left, whole].map(|it| it.min(LONGEST_OF_TOKENS));
        Self { left, whole, since, until: Some(until) }
    }

    /// Whether the credential has ended. Requests with it still count for a minute, because clocks differ.
    pub(super) fn is_over(self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// The member `auth` of the answer to a log-in or a renewal, with the credential as its token.
    pub(super) fn auth(self, token: &str) -> Zeroizing<String> {
        let token = Zeroizing::new(json!(token).to_string());
        let rest = json!({
            "accessor": "",
            "policies": ["default"],
            "token_policies": ["default"],
            "metadata": {},
            "lease_duration": self.left,
            "renewable": true,
            "entity_id": "",
            "token_type": "service",
            "orphan": true,
            "mfa_requirement": null,
            "num_uses": 0,
        })
        .to_string();
        let members = rest.strip_prefix('{').unwrap_or_default();
        let length = token.len() + members.len() + 20;
        let mut auth = Zeroizing::new(String::with_capacity(length));
        for part in ["{\"client_token\":", &token, ",", members] {
            auth.push_str(part);
        }
        auth
    }
}

/// Seconds, for what has them as a number.
pub(super) fn unix(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(i64::try_from(Duration::from_secs(1).as_millis()).unwrap_or(1_000))
}
