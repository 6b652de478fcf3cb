//! Selects random operations on the existing resources.

use rand::RngExt as _;
use serde_json::{Value, json};

use super::super::fixtures::{Key, Made, PolicyRole, one_of};
use super::super::history::Asked;
use super::{CANARY, Worker};
use crate::support::{OPERATIONS, PROTECT, UNPROTECT};

/// A selected request.
pub(crate) struct SelectedRequest {
    pub(super) application: usize,
    pub(super) asked: Asked,
    pub(super) path: &'static str,
    body: Value,
    /// The only plaintext that the response may contain.
    pub(super) plaintext: String,
    pub(super) destination: usize,
    /// The expected verdict of `verify`.
    pub(super) is_genuine: bool,
}

impl SelectedRequest {
    /// The body with the exact text of the plaintext.
    pub(super) fn text(&self) -> String {
        let with = |member: &str, object: &Value| {
            let text = object.to_string();
            let rest = text.strip_prefix('{').expect("an object");
            let comma = if rest == "}" { "" } else { "," };
            format!(r#"{{"{member}":{}{comma}{rest}"#, self.plaintext)
        };
        match self.asked {
            Asked::Protect { .. } | Asked::ForeignPolicy { .. } => with("payload", &self.body),
            Asked::Unprotect { .. } | Asked::Decrypt { .. } => self.body.to_string(),
            _ => {
                let payload = with("data", &self.body["payload"]);
                format!(
                    r#"{{"operation":{},"payload":{payload}}}"#,
                    self.body["operation"]
                )
            }
        }
    }
}

impl Worker {
    /// Selects a random request for an application.
    pub(super) fn choose(&mut self, application: usize) -> Option<SelectedRequest> {
        self.asked += 1;
        let which = self.dice.random_range(0..100);
        match which {
            0..30 => self.protect(application),
            30..55 => self.unprotect(application),
            55..64 => self.encrypt(application),
            64..72 => self.decrypt(application),
            72..80 => self.sign(application),
            80..88 => self.verify(application),
            88..94 => Some(self.hash(application)),
            94..97 => self.foreign_policy(application),
            _ => self.foreign_key(application),
        }
    }

    /// A unique plaintext with a format that only an exact copy preserves.
    fn plaintext(&mut self) -> String {
        let canary = format!("{CANARY}{}", self.nonce());
        let amount = self.dice.random_range(0..10_000);
        format!(r#"{{"name":"{canary}", "amount": {amount}.50,"who":"Zo\u00eb","n":1E2}}"#)
    }

    pub(crate) fn protect(&mut self, application: usize) -> Option<SelectedRequest> {
        let also_past = self.dice.random_bool(0.05);
        let fits = |role| match role {
            PolicyRole::Restricted => application == 0,
            PolicyRole::Deleted => also_past,
            _ => true,
        };
        let state = self.fixtures.lock();
        let policy = state.policy(&mut self.dice, |policy| fits(policy.role))?;
        let (number, destination) = {
            let policy = &state.policies[policy];
            (policy.number.clone(), policy.destination)
        };
        drop(state);
        Some(SelectedRequest {
            application,
            asked: Asked::Protect { policy },
            path: PROTECT,
            body: json!({ "policyNumber": number }),
            plaintext: self.plaintext(),
            destination,
            is_genuine: true,
        })
    }

    /// Opens an existing envelope with any policy of its destination.
    pub(crate) fn unprotect(&mut self, application: usize) -> Option<SelectedRequest> {
        let state = self.fixtures.lock();
        let admits = |role| role != PolicyRole::Restricted || application == 0;
        // An envelope is open to those only whom the policy that it is bound to allows.
        let open = state.sealed.iter();
        let open = open.filter(|sealed| admits(state.policies[sealed.policy].role));
        let sealed = one_of(&mut self.dice, open)?.clone();
        let policy = state.policy(&mut self.dice, |policy| {
            let is_there = policy.role != PolicyRole::Deleted;
            policy.destination == sealed.destination && is_there && admits(policy.role)
        })?;
        let jwe: Value = serde_json::from_str(&sealed.jwe).expect("an envelope");
        let number = &state.policies[policy].number;
        Some(SelectedRequest {
            application,
            asked: Asked::Unprotect { policy },
            path: UNPROTECT,
            body: json!({ "policyNumber": number, "jwe": jwe }),
            plaintext: sealed.plaintext,
            destination: sealed.destination,
            is_genuine: true,
        })
    }

    fn encrypt(&mut self, application: usize) -> Option<SelectedRequest> {
        let key = self.key(|key| key.application == application && !key.is_for_signing)?;
        Some(self.with_key(
            application,
            &key,
            Asked::Encrypt { key: key.0 },
            "AES-256-GCM",
        ))
    }

    fn sign(&mut self, application: usize) -> Option<SelectedRequest> {
        let key = self.key(|key| key.application == application && key.is_for_signing)?;
        Some(self.with_key(application, &key, Asked::Sign { key: key.0 }, "HMAC-SHA256"))
    }

    fn decrypt(&mut self, application: usize) -> Option<SelectedRequest> {
        let state = self.fixtures.lock();
        let own = state.encrypted.iter();
        let own = own.filter(|made| state.keys[made.key].application == application);
        let Made { key, data, result } = one_of(&mut self.dice, own)?.clone();
        Some(operation(
            application,
            Asked::Decrypt { key },
            &result,
            data,
        ))
    }

    /// Verifies a signature. Every fourth request uses other data.
    fn verify(&mut self, application: usize) -> Option<SelectedRequest> {
        let state = self.fixtures.lock();
        let own = state.signed.iter();
        let own = own.filter(|made| state.keys[made.key].application == application);
        let made = one_of(&mut self.dice, own)?.clone();
        drop(state);
        let is_genuine = self.dice.random_bool(0.75);
        let data = if is_genuine {
            made.data
        } else {
            self.plaintext()
        };
        let asked = Asked::Verify { key: made.key };
        Some(SelectedRequest {
            is_genuine,
            ..operation(application, asked, &made.result, data)
        })
    }

    fn hash(&mut self, application: usize) -> SelectedRequest {
        let payload = json!({ "algorithm": "SHA-256" });
        // Strings are hashed as their bytes.
        let plaintext = format!("\"{CANARY}{}\"", self.nonce());
        operation(application, Asked::Hash, &payload, plaintext)
    }

    fn foreign_policy(&mut self, application: usize) -> Option<SelectedRequest> {
        if application == 0 {
            return None;
        }
        let state = self.fixtures.lock();
        let policy = state.policy(&mut self.dice, |policy| {
            policy.role == PolicyRole::Restricted
        })?;
        let number = state.policies[policy].number.clone();
        drop(state);
        let asked = Asked::ForeignPolicy { policy };
        Some(SelectedRequest {
            path: PROTECT,
            body: json!({ "policyNumber": number }),
            ..operation(application, asked, &Value::Null, self.plaintext())
        })
    }

    fn foreign_key(&mut self, application: usize) -> Option<SelectedRequest> {
        let key = self.key(|key| key.application != application && !key.is_for_signing)?;
        let asked = Asked::ForeignKey { key: key.0 };
        Some(self.with_key(application, &key, asked, "AES-256-GCM"))
    }

    /// The index and the ID of a random matching key.
    fn key(&mut self, suits: impl Fn(&Key) -> bool) -> Option<(usize, String)> {
        let state = self.fixtures.lock();
        let key = state.key(&mut self.dice, suits)?;
        Some((key, state.keys[key].id.clone()))
    }

    fn with_key(
        &mut self,
        application: usize,
        (_, id): &(usize, String),
        asked: Asked,
        algorithm: &str,
    ) -> SelectedRequest {
        let payload = json!({ "algorithm": algorithm, "keyId": id });
        operation(application, asked, &payload, self.plaintext())
    }
}

fn operation(
    application: usize,
    asked: Asked,
    payload: &Value,
    plaintext: String,
) -> SelectedRequest {
    let name = asked.operation();
    SelectedRequest {
        application,
        asked,
        path: OPERATIONS,
        body: json!({ "operation": name, "payload": payload }),
        plaintext,
        destination: 0,
        is_genuine: true,
    }
}
