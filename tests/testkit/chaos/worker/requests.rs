//! Selects random operations on the existing resources.

use rand::RngExt as _;
use serde_json::{Value, json};

use super::super::fixtures::{Key, OperationResult, PolicyRole, one_of};
use super::super::history::Call;
use super::{CANARY, Worker};
use crate::{OPERATIONS, PROTECT, UNPROTECT};

/// A selected request.
pub struct SelectedRequest {
    pub(super) application: usize,
    pub(super) call: Call,
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
        match self.call {
            Call::Protect { .. } | Call::ForeignPolicy { .. } => with("payload", &self.body),
            Call::Unprotect { .. } | Call::Decrypt { .. } => self.body.to_string(),
            _ => {
                let payload = with("data", &self.body["payload"]);
                format!(r#"{{"operation":{},"payload":{payload}}}"#, self.body["operation"])
            }
        }
    }
}

impl Worker {
    /// Selects a random request for an application.
    pub(super) fn choose(&mut self, application: usize) -> Option<SelectedRequest> {
        self.sent_requests += 1;
        let which = self.rng.random_range(0..100);
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
        let amount = self.rng.random_range(0..10_000);
        format!(r#"{{"name":"{canary}", "amount": {amount}.50,"who":"Zo\u00eb","n":1E2}}"#)
    }

    pub fn protect(&mut self, application: usize) -> Option<SelectedRequest> {
        let includes_deleted = self.rng.random_bool(0.05);
        let fits = |role| match role {
            PolicyRole::Restricted => application == 0,
            PolicyRole::Deleted => includes_deleted,
            _ => true,
        };
        let state = self.fixtures.lock();
        let policy = state.policy(&mut self.rng, |policy| fits(policy.role))?;
        let (number, destination) = {
            let policy = &state.policies[policy];
            (policy.number.clone(), policy.destination)
        };
        drop(state);
        Some(SelectedRequest {
            application,
            call: Call::Protect { policy },
            path: PROTECT,
            body: json!({ "policyNumber": number }),
            plaintext: self.plaintext(),
            destination,
            is_genuine: true,
        })
    }

    /// Opens an existing envelope with any policy of its destination.
    pub fn unprotect(&mut self, application: usize) -> Option<SelectedRequest> {
        let state = self.fixtures.lock();
        let admits = |role| role != PolicyRole::Restricted || application == 0;
        // Only services that the bound policy allows can open an envelope.
        let candidates = state.sealed.iter();
        let candidates = candidates.filter(|sealed| admits(state.policies[sealed.policy].role));
        let sealed = one_of(&mut self.rng, candidates)?.clone();
        let policy = state.policy(&mut self.rng, |policy| {
            let exists = policy.role != PolicyRole::Deleted;
            policy.destination == sealed.destination && exists && admits(policy.role)
        })?;
        let jwe: Value = serde_json::from_str(&sealed.jwe).expect("an envelope");
        let number = &state.policies[policy].number;
        Some(SelectedRequest {
            application,
            call: Call::Unprotect { policy },
            path: UNPROTECT,
            body: json!({ "policyNumber": number, "jwe": jwe }),
            plaintext: sealed.plaintext,
            destination: sealed.destination,
            is_genuine: true,
        })
    }

    fn encrypt(&mut self, application: usize) -> Option<SelectedRequest> {
        let key = self.key(|key| key.application == application && !key.is_for_signing)?;
        Some(self.with_key(application, &key, Call::Encrypt { key: key.0 }, "AES-256-GCM"))
    }

    fn sign(&mut self, application: usize) -> Option<SelectedRequest> {
        let key = self.key(|key| key.application == application && key.is_for_signing)?;
        Some(self.with_key(application, &key, Call::Sign { key: key.0 }, "HMAC-SHA256"))
    }

    fn decrypt(&mut self, application: usize) -> Option<SelectedRequest> {
        let state = self.fixtures.lock();
        let own = state.encrypted.iter();
        let own = own.filter(|created| state.keys[created.key].application == application);
        let OperationResult { key, data, result } = one_of(&mut self.rng, own)?.clone();
        Some(operation(application, Call::Decrypt { key }, &result, data))
    }

    /// Verifies a signature. Every fourth request uses other data.
    fn verify(&mut self, application: usize) -> Option<SelectedRequest> {
        let state = self.fixtures.lock();
        let own = state.signed.iter();
        let own = own.filter(|created| state.keys[created.key].application == application);
        let created = one_of(&mut self.rng, own)?.clone();
        drop(state);
        let is_genuine = self.rng.random_bool(0.75);
        let data = if is_genuine { created.data } else { self.plaintext() };
        let call = Call::Verify { key: created.key };
        Some(SelectedRequest { is_genuine, ..operation(application, call, &created.result, data) })
    }

    fn hash(&mut self, application: usize) -> SelectedRequest {
        let payload = json!({ "algorithm": "SHA-256" });
        // Strings are hashed as their bytes.
        let plaintext = format!("\"{CANARY}{}\"", self.nonce());
        operation(application, Call::Hash, &payload, plaintext)
    }

    fn foreign_policy(&mut self, application: usize) -> Option<SelectedRequest> {
        if application == 0 {
            return None;
        }
        let state = self.fixtures.lock();
        let policy = state.policy(&mut self.rng, |policy| policy.role == PolicyRole::Restricted)?;
        let number = state.policies[policy].number.clone();
        drop(state);
        let call = Call::ForeignPolicy { policy };
        Some(SelectedRequest {
            path: PROTECT,
            body: json!({ "policyNumber": number }),
            ..operation(application, call, &Value::Null, self.plaintext())
        })
    }

    fn foreign_key(&mut self, application: usize) -> Option<SelectedRequest> {
        let key = self.key(|key| key.application != application && !key.is_for_signing)?;
        let call = Call::ForeignKey { key: key.0 };
        Some(self.with_key(application, &key, call, "AES-256-GCM"))
    }

    /// The index and the ID of a random matching key.
    fn key(&mut self, suits: impl Fn(&Key) -> bool) -> Option<(usize, String)> {
        let state = self.fixtures.lock();
        let key = state.key(&mut self.rng, suits)?;
        Some((key, state.keys[key].id.clone()))
    }

    fn with_key(
        &mut self,
        application: usize,
        (_, id): &(usize, String),
        call: Call,
        algorithm: &str,
    ) -> SelectedRequest {
        let payload = json!({ "algorithm": algorithm, "keyId": id });
        operation(application, call, &payload, self.plaintext())
    }
}

fn operation(
    application: usize,
    call: Call,
    payload: &Value,
    plaintext: String,
) -> SelectedRequest {
    let name = call.operation();
    SelectedRequest {
        application,
        call,
        path: OPERATIONS,
        body: json!({ "operation": name, "payload": payload }),
        plaintext,
        destination: 0,
        is_genuine: true,
    }
}
