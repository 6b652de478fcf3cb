//! One who asks, remembers, and compares what comes back with what was to come.

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use rand::RngExt as _;
use rand::rngs::SmallRng;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::cast::{Cast, Made, PolicyRole, Sealed, keep, one_of};
use super::chronicle::Chronicle;
use super::client::{Client, Place, Places, Sent, request};
use super::history::{Answer, Asked, Attempt, Gave, Outcome};
use crate::support::{OPERATIONS, PROTECT, UNPROTECT};

/// Stands in every plaintext, before the name of the request that it was sent with.
const CANARY: &str = "canary-";

pub(crate) struct Worker {
    pub(crate) client: Client,
    pub(crate) dice: SmallRng,
    places: Places,
    cast: Cast,
    chronicle: Chronicle,
    name: String,
    asked: u64,
}

/// A request that was chosen.
pub(crate) struct Order {
    application: usize,
    asked: Asked,
    path: &'static str,
    body: Value,
    /// The plaintext that may be in the answer, and no other.
    plaintext: String,
    destination: usize,
    /// For a verdict: whether it is to be a good one.
    is_genuine: bool,
}

impl Worker {
    pub(crate) fn new(
        name: String,
        dice: SmallRng,
        places: Places,
        cast: Cast,
        chronicle: Chronicle,
    ) -> Self {
        Self {
            client: Client::default(),
            dice,
            places,
            cast,
            chronicle,
            name,
            asked: 0,
        }
    }

    /// Asks one thing of some instance, for one of these applications; says what the status was.
    pub(crate) async fn ask(&mut self, applications: &[usize]) -> Option<u16> {
        let to = one_of(&mut self.dice, self.places.now().into_iter())?;
        let application = one_of(&mut self.dice, applications.iter().copied())?;
        let order = self.choose(application)?;
        self.place(to, order).await
    }

    /// Sends a request, and writes down what became of it.
    pub(crate) async fn place(&mut self, to: Place, order: Order) -> Option<u16> {
        let (api_key, secret) = {
            let roles = self.cast.roles();
            let now = self.chronicle.now();
            let api_key = roles.api_key(&mut self.dice, order.application, now)?;
            (api_key, roles.api_keys[api_key].secret.clone())
        };
        let nonce = self.nonce();
        let mut request = request(Method::POST, order.path, &secret, text_of(&order));
        let header = nonce.parse().expect("a header");
        request.headers_mut().insert("x-request-id", header);
        let began = self.chronicle.now();
        let sent = self.client.send(to, request).await;
        let span = self.chronicle.since(began);
        let (outcome, status) = match sent {
            Sent::Not => (Outcome::NotSent, None),
            Sent::Lost => (Outcome::Lost, None),
            Sent::Silence => (Outcome::Silence, None),
            Sent::Answered {
                status,
                request_id,
                body,
            } => {
                let mut answer = self.read(&order, status, &body);
                if request_id.as_deref() != Some(&nonce) {
                    answer.stray = Some(format!("the answer is called {request_id:?}"));
                }
                (Outcome::Answered(answer), Some(status))
            }
        };
        self.chronicle.attempted(Attempt {
            nonce,
            at: to.instance,
            span,
            application: order.application,
            api_key,
            asked: order.asked,
            outcome,
        });
        status
    }

    /// Whether the instance at this place protects, or opens an envelope, for the first application.
    pub(crate) async fn is_served(&mut self, place: usize, protecting: bool) -> bool {
        let places = self.places.now();
        let Some(to) = places.iter().find(|it| it.instance.place == place) else {
            return false;
        };
        self.asked += 1;
        let order = if protecting {
            self.protect(0)
        } else {
            self.unprotect(0)
        };
        match order {
            Some(order) => self.place(*to, order).await == Some(200),
            None => false,
        }
    }

    fn nonce(&self) -> String {
        format!("{}-{}", self.name, self.asked)
    }

    /// What to ask for.
    fn choose(&mut self, application: usize) -> Option<Order> {
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

    /// A plaintext that no other request has, written in a way that only a faithful service keeps.
    fn plaintext(&mut self) -> String {
        let canary = format!("{CANARY}{}", self.nonce());
        let amount = self.dice.random_range(0..10_000);
        format!(r#"{{"name":"{canary}", "amount": {amount}.50,"who":"Zo\u00eb","n":1E2}}"#)
    }

    pub(crate) fn protect(&mut self, application: usize) -> Option<Order> {
        let also_past = self.dice.random_bool(0.05);
        let fits = |role| match role {
            PolicyRole::OfTheFirst => application == 0,
            PolicyRole::Past => also_past,
            _ => true,
        };
        let roles = self.cast.roles();
        let policy = roles.policy(&mut self.dice, |policy| fits(policy.role))?;
        let (number, destination) = {
            let policy = &roles.policies[policy];
            (policy.number.clone(), policy.destination)
        };
        drop(roles);
        Some(Order {
            application,
            asked: Asked::Protect { policy },
            path: PROTECT,
            body: json!({ "policyNumber": number }),
            plaintext: self.plaintext(),
            destination,
            is_genuine: true,
        })
    }

    /// Opens an envelope that somebody got, under any policy of its destination.
    pub(crate) fn unprotect(&mut self, application: usize) -> Option<Order> {
        let roles = self.cast.roles();
        let sealed = one_of(&mut self.dice, roles.sealed.iter())?.clone();
        let policy = roles.policy(&mut self.dice, |policy| {
            let is_there = policy.role != PolicyRole::Past;
            let is_for_all = policy.role != PolicyRole::OfTheFirst || application == 0;
            policy.destination == sealed.destination && is_there && is_for_all
        })?;
        let jwe: Value = serde_json::from_str(&sealed.jwe).expect("an envelope");
        let number = &roles.policies[policy].number;
        Some(Order {
            application,
            asked: Asked::Unprotect { policy },
            path: UNPROTECT,
            body: json!({ "policyNumber": number, "jwe": jwe }),
            plaintext: sealed.plaintext,
            destination: sealed.destination,
            is_genuine: true,
        })
    }

    fn encrypt(&mut self, application: usize) -> Option<Order> {
        let roles = self.cast.roles();
        let key = roles.key(&mut self.dice, |key| {
            key.application == application && !key.is_for_signing
        })?;
        let id = roles.keys[key].id.clone();
        drop(roles);
        let payload = json!({ "algorithm": "AES-256-GCM", "keyId": id });
        let plaintext = self.plaintext();
        Some(operation(
            application,
            Asked::Encrypt { key },
            &payload,
            plaintext,
        ))
    }

    fn sign(&mut self, application: usize) -> Option<Order> {
        let roles = self.cast.roles();
        let key = roles.key(&mut self.dice, |key| {
            key.application == application && key.is_for_signing
        })?;
        let id = roles.keys[key].id.clone();
        drop(roles);
        let payload = json!({ "algorithm": "HMAC-SHA256", "keyId": id });
        let plaintext = self.plaintext();
        Some(operation(
            application,
            Asked::Sign { key },
            &payload,
            plaintext,
        ))
    }

    fn decrypt(&mut self, application: usize) -> Option<Order> {
        let roles = self.cast.roles();
        let own = roles.encrypted.iter();
        let own = own.filter(|made| roles.keys[made.key].application == application);
        let Made { key, data, result } = one_of(&mut self.dice, own)?.clone();
        Some(operation(
            application,
            Asked::Decrypt { key },
            &result,
            data,
        ))
    }

    /// Asks for a verdict on a signature, every fourth time on one of other data.
    fn verify(&mut self, application: usize) -> Option<Order> {
        let roles = self.cast.roles();
        let own = roles.signed.iter();
        let own = own.filter(|made| roles.keys[made.key].application == application);
        let made = one_of(&mut self.dice, own)?.clone();
        drop(roles);
        let is_genuine = self.dice.random_bool(0.75);
        let data = if is_genuine {
            made.data
        } else {
            self.plaintext()
        };
        let asked = Asked::Verify { key: made.key };
        Some(Order {
            is_genuine,
            ..operation(application, asked, &made.result, data)
        })
    }

    fn hash(&mut self, application: usize) -> Order {
        let payload = json!({ "algorithm": "SHA-256" });
        // Hashed as a string is: its bytes as they are.
        let plaintext = format!("\"{CANARY}{}\"", self.nonce());
        operation(application, Asked::Hash, &payload, plaintext)
    }

    fn foreign_policy(&mut self, application: usize) -> Option<Order> {
        if application == 0 {
            return None;
        }
        let roles = self.cast.roles();
        let policy = roles.policy(&mut self.dice, |policy| {
            policy.role == PolicyRole::OfTheFirst
        })?;
        let number = roles.policies[policy].number.clone();
        drop(roles);
        let asked = Asked::ForeignPolicy { policy };
        Some(Order {
            path: PROTECT,
            body: json!({ "policyNumber": number }),
            ..operation(application, asked, &Value::Null, self.plaintext())
        })
    }

    fn foreign_key(&mut self, application: usize) -> Option<Order> {
        let roles = self.cast.roles();
        let key = roles.key(&mut self.dice, |key| {
            key.application != application && !key.is_for_signing
        })?;
        let id = roles.keys[key].id.clone();
        drop(roles);
        let payload = json!({ "algorithm": "AES-256-GCM", "keyId": id });
        let plaintext = self.plaintext();
        Some(operation(
            application,
            Asked::ForeignKey { key },
            &payload,
            plaintext,
        ))
    }

    /// What an answer gave, held against what was asked for; what is of use later is kept.
    fn read(&self, order: &Order, status: u16, body: &str) -> Answer {
        let answer: Value = serde_json::from_str(body).unwrap_or_default();
        let gave = match status {
            200 => self.gave(order, &answer, body),
            _ => Gave::Nothing,
        };
        let may_tell = matches!(gave, Gave::Right | Gave::PassedThrough);
        let strays = body.split(CANARY).skip(1);
        let mut strays = strays.filter(|rest| {
            let name = rest.split(['"', '\\']).next().unwrap_or_default();
            !(may_tell && order.plaintext.contains(&format!("{CANARY}{name}")))
        });
        Answer {
            status,
            code: answer["error"]["code"].as_str().map(str::to_owned),
            gave,
            stray: strays
                .next()
                .map(|_| format!("a plaintext shows in {body}")),
        }
    }

    fn gave(&self, order: &Order, answer: &Value, body: &str) -> Gave {
        let wrong = || Gave::Wrong(format!("it gave {body}"));
        let result = &answer["result"];
        match order.asked {
            Asked::Protect { .. } | Asked::ForeignPolicy { .. } => {
                let operations = answer["operations"].as_array().map(Vec::len);
                if answer["jwe"].is_object() && operations == Some(1) {
                    let sealed = Sealed {
                        jwe: answer["jwe"].to_string(),
                        plaintext: order.plaintext.clone(),
                        destination: order.destination,
                    };
                    keep(&mut self.cast.roles().sealed, sealed);
                    return Gave::Envelope;
                }
                if operations != Some(0) || !answer["jwe"].is_null() {
                    return wrong();
                }
                if answer["dropped"] == true && answer["payload"].is_null() {
                    return Gave::Dropped;
                }
                match raw(body, &["payload"]) {
                    Some(payload) if payload == order.plaintext => Gave::PassedThrough,
                    _ => wrong(),
                }
            }
            Asked::Unprotect { .. } => match raw(body, &["payload"]) {
                Some(payload) if payload == order.plaintext => Gave::Right,
                _ => wrong(),
            },
            Asked::Decrypt { .. } => match raw(body, &["result", "data"]) {
                Some(data) if data == order.plaintext => Gave::Right,
                _ => wrong(),
            },
            Asked::Verify { .. } if result["valid"] == order.is_genuine => Gave::Right,
            Asked::Hash => {
                let text: String = serde_json::from_str(&order.plaintext).expect("a string");
                let expected = BASE64.encode(Sha256::digest(text));
                if result["hash"] == expected {
                    Gave::Right
                } else {
                    wrong()
                }
            }
            Asked::Encrypt { key } | Asked::Sign { key } if result["keyId"].is_string() => {
                let made = Made {
                    key,
                    data: order.plaintext.clone(),
                    result: result.clone(),
                };
                let mut roles = self.cast.roles();
                if matches!(order.asked, Asked::Encrypt { .. }) {
                    keep(&mut roles.encrypted, made);
                } else {
                    keep(&mut roles.signed, made);
                }
                Gave::Right
            }
            Asked::ForeignKey { .. } => Gave::Right,
            Asked::Verify { .. } | Asked::Encrypt { .. } | Asked::Sign { .. } => wrong(),
        }
    }
}

fn operation(application: usize, asked: Asked, payload: &Value, plaintext: String) -> Order {
    let name = asked.operation();
    Order {
        application,
        asked,
        path: OPERATIONS,
        body: json!({ "operation": name, "payload": payload }),
        plaintext,
        destination: 0,
        is_genuine: true,
    }
}

/// The body, with the plaintext in it to the letter where one is sent.
fn text_of(order: &Order) -> String {
    let with = |member: &str, object: &Value| {
        let text = object.to_string();
        let rest = text.strip_prefix('{').expect("an object");
        let comma = if rest == "}" { "" } else { "," };
        format!(r#"{{"{member}":{}{comma}{rest}"#, order.plaintext)
    };
    match order.asked {
        Asked::Protect { .. } | Asked::ForeignPolicy { .. } => with("payload", &order.body),
        Asked::Unprotect { .. } | Asked::Decrypt { .. } => order.body.to_string(),
        _ => {
            let payload = with("data", &order.body["payload"]);
            format!(
                r#"{{"operation":{},"payload":{payload}}}"#,
                order.body["operation"]
            )
        }
    }
}

/// The text of a member, to the letter.
fn raw<'b>(body: &'b str, path: &[&str]) -> Option<&'b str> {
    let mut text = body;
    for name in path {
        let members: std::collections::HashMap<&str, &RawValue> =
            serde_json::from_str(text).ok()?;
        text = members.get(name)?.get();
    }
    Some(text)
}
