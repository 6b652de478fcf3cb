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

pub(crate) struct Worker {
    pub(crate) client: Client,
    pub(crate) dice: SmallRng,
    places: Places,
    fixtures: Fixtures,
    run_log: RunLog,
    name: String,
    asked: u64,
}

impl Worker {
    pub(crate) fn new(
        name: String,
        dice: SmallRng,
        places: Places,
        fixtures: Fixtures,
        run_log: RunLog,
    ) -> Self {
        Self {
            client: Client::default(),
            dice,
            places,
            fixtures,
            run_log,
            name,
            asked: 0,
        }
    }

    /// Sends one random request for one of these applications and returns the status.
    pub(crate) async fn ask(&mut self, applications: &[usize]) -> Option<u16> {
        let to = one_of(&mut self.dice, self.places.now().into_iter())?;
        let application = one_of(&mut self.dice, applications.iter().copied())?;
        let order = self.choose(application)?;
        self.place(to, order).await
    }

    /// Sends a request and records its result.
    pub(crate) async fn place(&mut self, to: Place, order: SelectedRequest) -> Option<u16> {
        let (api_key, secret) = {
            let state = self.fixtures.lock();
            let now = self.run_log.now();
            let api_key = state.api_key(&mut self.dice, order.application, now)?;
            (api_key, state.api_keys[api_key].secret.clone())
        };
        let nonce = self.nonce();
        let mut request = request(Method::POST, order.path, &secret, order.text());
        let header = nonce.parse().expect("a header");
        request.headers_mut().insert("x-request-id", header);
        let began = self.run_log.now();
        let sent = self.client.send(to, request).await;
        let span = self.run_log.since(began);
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
        self.run_log.attempted(Attempt {
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

    /// Whether the instance at this place can protect and unprotect for the first application.
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
}
