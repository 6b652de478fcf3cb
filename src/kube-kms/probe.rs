//! Probes: whether Sealward encrypts, and with which key.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use formats::clock::Clock;
use sealward_client::{Client, Data, Encrypt, ErrorKind};

use crate::ciphertext;
use crate::refused::{CallError, escaped};

/// The result of a probe counts as current for this time.
const FRESH: Duration = Duration::from_secs(30);
/// As above, if Sealward was not reached: such a probe encrypted nothing and adds nothing to the audit log.
const FRESH_WITHOUT_ANSWER: Duration = Duration::from_secs(3);
/// Nothing is encrypted without a successful probe within this time. The API server calls Status each minute.
const TRUSTED: Duration = Duration::from_secs(90);
/// What a probe encrypts.
const CONTENT: &[u8] = b"probe";
/// The ID of the requests of probes in the log and in the audit log.
const REQUEST_ID: &str = "kube-kms-probe";

/// The probes of a plugin. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Probes(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    sealward: Client,
    clock: Clock,
    /// One probe at a time: calls that arrive meanwhile use its result.
    turn: tokio::sync::Mutex<()>,
    seen: Mutex<Seen>,
}

/// What is known.
#[derive(Debug, Default)]
struct Seen {
    last: Option<ProbeResult>,
    /// The last one that Status caused. Encrypt trusts no other, because Kubernetes does not know their keys.
    of_status: Option<ProbeResult>,
    /// The key that the last successful Status named.
    reported: Option<String>,
}

/// What a probe is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProbePurpose {
    Status,
    Monitoring,
}

/// The result of a probe.
#[derive(Clone, Debug)]
struct ProbeResult {
    at: Duration,
    key_id: Result<String, CallError>,
}

impl Probes {
    pub(crate) fn new(sealward: Client, clock: Clock) -> Self {
        let (turn, seen) = (tokio::sync::Mutex::default(), Mutex::default());
        Self(Arc::new(Shared { sealward, clock, turn, seen }))
    }

    /// The key that encrypts, for Status.
    pub(crate) async fn report(&self) -> Result<String, CallError> {
        let key_id = self.current(ProbePurpose::Status).await?;
        self.0.seen().reported = Some(key_id.clone());
        Ok(key_id)
    }

    /// Whether Sealward encrypts, for others than the API server. This does not change what Encrypt does, except
    /// that a failure stops it.
    pub(crate) async fn health(&self) -> Result<(), CallError> {
        self.current(ProbePurpose::Monitoring).await.map(drop)
    }

    /// Probes if the last result is not current.
    async fn current(&self, purpose: ProbePurpose) -> Result<String, CallError> {
        let shared = Arc::clone(&self.0);
        // The API server gives up after its own timeout. The probe goes on, so that its failure is known.
        let probed = tokio::spawn(async move { shared.current(purpose).await });
        probed.await.unwrap_or(Err(CallError::Panicked))
    }

    /// The key with which to encrypt: that of the last Status, because Kubernetes discards a response with
    /// another key.
    ///
    /// Kubernetes can ask for a new seed after a Status that is not healthy, so the plugin itself refuses.
    pub(crate) fn to_encrypt(&self) -> Result<String, CallError> {
        let now = self.0.clock.monotonic();
        let seen = self.0.seen();
        let trusted = seen.of_status.as_ref().ok_or(CallError::NotReported)?;
        for found in seen.last.iter().chain([trusted]) {
            found.key_id.as_ref().map_err(CallError::clone)?;
        }
        if now.saturating_sub(trusted.at) > TRUSTED {
            return Err(CallError::Outdated);
        }
        seen.reported.clone().ok_or(CallError::NotReported)
    }

    /// Whether the last probe succeeded, and the time since it. None before the first one.
    pub(crate) fn last(&self) -> Option<(bool, Duration)> {
        let now = self.0.clock.monotonic();
        let seen = self.0.seen();
        let last = seen.last.as_ref()?;
        Some((last.key_id.is_ok(), now.saturating_sub(last.at)))
    }
}

impl Shared {
    async fn current(&self, purpose: ProbePurpose) -> Result<String, CallError> {
        let _turn = self.turn.lock().await;
        let (last, of_status) = {
            let seen = self.seen();
            (seen.last.clone(), seen.of_status.clone())
        };
        let usable = match purpose {
            ProbePurpose::Status => of_status,
            ProbePurpose::Monitoring => last.clone(),
        };
        if let Some(found) = usable
            && self.clock.monotonic().saturating_sub(found.at) < found.lifetime()
        {
            return found.key_id;
        }
        let key_id = self.probe().await;
        log(last.map(|last| last.key_id).as_ref(), &key_id);
        let found = ProbeResult { at: self.clock.monotonic(), key_id: key_id.clone() };
        let mut seen = self.seen();
        if purpose == ProbePurpose::Status {
            seen.of_status = Some(found.clone());
        }
        seen.last = Some(found);
        key_id
    }

    async fn probe(&self) -> Result<String, CallError> {
        let sealward = self.sealward.with_request_id(REQUEST_ID);
        let encrypted = sealward.encrypt(Data::Bytes(CONTENT), &Encrypt::default()).await;
        let encrypted = encrypted.map_err(|error| CallError::Probe(Arc::new(error)))?;
        ciphertext::join(&encrypted).ok_or(CallError::ProbeAnswer)?;
        Ok(encrypted.key_id)
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProbeResult {
    fn lifetime(&self) -> Duration {
        let kind = self.key_id.as_ref().err().and_then(CallError::kind);
        match kind {
            Some(ErrorKind::ConnectionFailed | ErrorKind::CredentialUnavailable) => {
                FRESH_WITHOUT_ANSWER
            }
            _ => FRESH,
        }
    }
}

/// Logs a result that differs from the last one.
fn log(last: Option<&Result<String, CallError>>, now: &Result<String, CallError>) {
    match (last, now) {
        (Some(Ok(last)), Ok(key_id)) if last == key_id => {}
        (Some(Err(last)), Err(error)) if last.kind() == error.kind() => {}
        (_, Ok(key_id)) => tracing::info!(key_id = escaped(key_id), "Sealward encrypts"),
        (_, Err(error)) => tracing::warn!(%error, "nothing can be encrypted"),
    }
}
