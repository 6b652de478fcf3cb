//! A witness (C2SP `tlog-witness`) and its faults.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use engine::settings::SealWitness;
use formats::clock::Clock;
use formats::tlog::{Checkpoint, Hash, Signature, SignatureKind, VerifierKey, verify_consistency};
use tokio::net::TcpListener;

/// How a witness behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Behavior {
    /// As specified.
    #[default]
    Correct,
    /// It never answers.
    Silent,
    /// It signs another checkpoint.
    Wrong,
    /// It omits the time.
    Timeless,
    /// It does not know the log.
    Ignorant,
    /// It returns an error.
    Broken,
}

/// A witness that listens on this machine. Clones share it.
#[derive(Clone)]
pub(crate) struct WitnessServer(Arc<Inner>);

struct Inner {
    address: SocketAddr,
    name: String,
    pair: Ed25519KeyPair,
    state: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    behavior: Behavior,
    logs: Vec<VerifierKey>,
    /// The latest tree of each origin.
    cosigned: HashMap<String, (u64, Hash)>,
    /// The old sizes of the requests.
    asked: Vec<u64>,
    /// The number of the open request that it does not answer.
    unanswered: Option<usize>,
    /// The number of requests that it did not answer.
    silences: usize,
}

/// An open request that the witness does not answer.
struct Unanswered(WitnessServer);

impl Unanswered {
    fn new(witness: WitnessServer) -> Self {
        witness.known(|known| {
            known.silences += 1;
            known.unanswered = Some(known.silences);
        });
        Self(witness)
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.0.known(|known| known.unanswered = None);
    }
}

impl WitnessServer {
    /// A witness of the log with this public key.
    pub(crate) async fn new(name: &str, log: VerifierKey) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let inner = Inner {
            address: listener.local_addr().expect("an address"),
            name: name.to_owned(),
            pair: Ed25519KeyPair::from_seed_unchecked(&rand::random::<[u8; 32]>()).unwrap(),
            state: Mutex::default(),
        };
        let witness = Self(Arc::new(inner));
        witness.register(log);
        let routes = Router::new()
            .route("/witness/add-checkpoint", post(add_checkpoint))
            .with_state(witness.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        witness
    }

    pub(crate) fn key(&self) -> VerifierKey {
        let point = self.0.pair.public_key().as_ref();
        VerifierKey::new(&self.0.name, SignatureKind::Cosignature, point).unwrap()
    }

    pub(crate) fn settings(&self) -> SealWitness {
        SealWitness {
            url: format!("http://{}/witness/", self.0.address),
            key: self.key().to_string(),
            ca: None,
        }
    }

    pub(super) fn behave(&self, behavior: Behavior) {
        self.known(|known| known.behavior = behavior);
    }

    /// Accepts another log.
    pub(super) fn register(&self, log: VerifierKey) {
        self.known(|known| known.logs.push(log));
    }

    /// The size of the latest tree of this origin that it cosigned.
    pub(super) fn size(&self, origin: &str) -> u64 {
        self.known(|known| known.cosigned.get(origin).map_or(0, |(size, _)| *size))
    }

    /// The old sizes of the requests so far.
    pub(super) fn asked(&self) -> Vec<u64> {
        self.known(|known| known.asked.clone())
    }

    /// The number of the open request that it does not answer.
    pub(super) fn unanswered(&self) -> Option<usize> {
        self.known(|known| known.unanswered)
    }

    /// Replaces the roots of the latest trees that it cosigned.
    pub(super) fn forget_roots(&self) {
        self.known(|known| {
            let trees = known.cosigned.values_mut();
            trees.for_each(|(_, root)| *root = Hash::of_empty_tree());
        });
    }

    fn known<T>(&self, read: impl FnOnce(&mut Known) -> T) -> T {
        read(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The signature line of a checkpoint.
    fn line(&self, text: &str, time: u64) -> String {
        let signed = format!("cosignature/v1\ntime {time}\n{text}");
        let signature = self.0.pair.sign(signed.as_bytes());
        let line = Signature {
            name: self.0.name.clone(),
            key_id: self.key().id(),
            bytes: [&time.to_be_bytes(), signature.as_ref()].concat(),
        };
        format!("{line}\n")
    }
}

async fn add_checkpoint(State(witness): State<WitnessServer>, body: String) -> Response {
    match witness.known(|known| known.behavior) {
        Behavior::Silent => {
            let _request = Unanswered::new(witness.clone());
            std::future::pending().await
        }
        Behavior::Ignorant => return StatusCode::NOT_FOUND.into_response(),
        Behavior::Broken => return StatusCode::BAD_GATEWAY.into_response(),
        Behavior::Correct | Behavior::Wrong | Behavior::Timeless => {}
    }
    let (head, note) = body.split_once("\n\n").expect("a proof and a note");
    let mut lines = head.split('\n');
    let old = lines.next().and_then(|line| line.strip_prefix("old "));
    let old: u64 = old.expect("an old size").parse().expect("a number");
    let proof: Vec<Hash> = lines.map(|line| line.parse().expect("a hash")).collect();
    let logs = witness.known(|known| known.logs.clone());
    let opened = logs.iter().find_map(|log| Checkpoint::open(note, log).ok());
    let Some(checkpoint) = opened else {
        return StatusCode::FORBIDDEN.into_response();
    };
    if old > checkpoint.size {
        return StatusCode::BAD_REQUEST.into_response();
    }
    witness.known(|known| {
        known.asked.push(old);
        let latest = known.cosigned.get(&checkpoint.origin).copied();
        let (size, root) = latest.unwrap_or((0, Hash::of_empty_tree()));
        if old != size {
            let header = [(header::CONTENT_TYPE, "text/x.tlog.size")];
            return (StatusCode::CONFLICT, header, format!("{size}\n")).into_response();
        }
        let new = (checkpoint.size, checkpoint.root);
        if old == checkpoint.size && root != checkpoint.root {
            return StatusCode::CONFLICT.into_response();
        }
        if verify_consistency((old, root), new, &proof).is_err() {
            return StatusCode::UNPROCESSABLE_ENTITY.into_response();
        }
        known.cosigned.insert(checkpoint.origin.clone(), new);
        let now = u64::try_from(Clock::system().now().as_millis() / 1_000).unwrap();
        let text = checkpoint.to_string();
        let line = match known.behavior {
            Behavior::Wrong => witness.line(&text.replace("operations", "other"), now),
            Behavior::Timeless => witness.line(&text, 0),
            _ => witness.line(&text, now),
        };
        // Signatures of unknown keys are ignored.
        let other = "— other.example/w AAAAAAAAAAAAAAAA\n";
        format!("{other}{line}").into_response()
    })
}
