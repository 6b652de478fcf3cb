//! A client that sends random requests and records and checks the responses.

mod answers;
mod requests;

use axum::http::Method;
use rand::rngs::SmallRng;

use self::requests::SelectedRequest;
use super::client::{Client, Place, Places, Sent, request};
use super::fixtures::{Fixtures, one_of};
use super::history::{Attempt, Outcome};
use super::run_log::RunLog;

/// The start of every plaintext, followed by the ID of its request.
const CANARY: &str = "canary-";

pub struct Worker {
    pub client: Client,
    pub rng: SmallRng,
    places: Places,
    fixtures: Fixtures,
    run_log: RunLog,
    name: String,
    sent_requests: u64,
}

impl Worker {
    pub fn new(
        name: String,
        rng: SmallRng,
        places: Places,
        fixtures: Fixtures,
        run_log: RunLog,
    ) -> Self {
        Self { client: Client::default(), rng, places, fixtures, run_log, name, sent_requests: 0 }
    }

    /// Sends one random request for one of these applications and returns the status.
    pub async fn send_random(&mut self, applications: &[usize]) -> Option<u16> {
        let to = one_of(&mut self.rng, self.places.now().into_iter())?;
        let application = one_of(&mut self.rng, applications.iter().copied())?;
        let selected = self.choose(application)?;
        self.send(to, selected).await
    }

    /// Sends a request and records its result.
    pub async fn send(&mut self, to: Place, selected: SelectedRequest) -> Option<u16> {
        let (api_key, secret) = {
            let state = self.fixtures.lock();
            let now = self.run_log.now();
            let api_key = state.api_key(&mut self.rng, selected.application, now)?;
            (api_key, state.api_keys[api_key].secret.clone())
        };
        let nonce = self.nonce();
        let mut request = request(Method::POST, selected.path, &secret, selected.text());
        let header = nonce.parse().expect("a header");
        request.headers_mut().insert("x-request-id", header);
        let began = self.run_log.now();
        let sent = self.client.send(to, request).await;
        let span = self.run_log.since(began);
        let (outcome, status) = match sent {
            Sent::Not => (Outcome::NotSent, None),
            Sent::Lost => (Outcome::Lost, None),
            Sent::Silence => (Outcome::Silence, None),
            Sent::Answered { status, request_id, body } => {
                let mut answer = self.read(&selected, status, &body);
                if request_id.as_deref() != Some(&nonce) {
                    answer.stray = Some(format!("the response has the request ID {request_id:?}"));
                }
                (Outcome::Answered(answer), Some(status))
            }
        };
        self.run_log.attempted(Attempt {
            nonce,
            at: to.instance,
            span,
            application: selected.application,
            api_key,
            call: selected.call,
            outcome,
        });
        status
    }

    /// Whether the instance at this place can protect and unprotect for the first application.
    pub async fn is_served(&mut self, place: usize, protecting: bool) -> bool {
        let places = self.places.now();
        let Some(to) = places.iter().find(|it| it.instance.place == place) else {
            return false;
        };
        self.sent_requests += 1;
        let selected = if protecting { self.protect(0) } else { self.unprotect(0) };
        match selected {
            Some(selected) => self.send(*to, selected).await == Some(200),
            None => false,
        }
    }

    fn nonce(&self) -> String {
        format!("{}-{}", self.name, self.sent_requests)
    }
}
