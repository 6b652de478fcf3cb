//! The calls of the API server.

use std::collections::HashMap;
use std::sync::Arc;

use formats::clock::Clock;
use sealward_client::{Client, Data, Encrypt};
use tonic::{Code, Request, Response, Status, async_trait};
use zeroize::Zeroizing;

use crate::ciphertext::{self, MAX_PLAINTEXT};
use crate::meter::CallMeter;
use crate::probe::Probes;
use crate::proto::key_management_service_server::KeyManagementService;
use crate::proto::{
    DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse,
};
use crate::refused::{CallError, escaped};

/// The longest request ID that Sealward accepts.
const MAX_REQUEST_ID: usize = 128;

pub(crate) struct Calls {
    pub(crate) sealward: Client,
    pub(crate) probes: Probes,
    pub(crate) meter: CallMeter,
    pub(crate) clock: Clock,
}

#[async_trait]
impl KeyManagementService for Calls {
    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusResponse>, Status> {
        self.counted("Status", self.reported()).await
    }

    async fn encrypt(
        &self,
        request: Request<EncryptRequest>,
    ) -> Result<Response<EncryptResponse>, Status> {
        let request = request.into_inner();
        let uid = request.uid.clone();
        let encrypted = self.counted("Encrypt", self.encrypted(request)).await;
        log("encrypt", &uid, encrypted)
    }

    async fn decrypt(
        &self,
        request: Request<DecryptRequest>,
    ) -> Result<Response<DecryptResponse>, Status> {
        let request = request.into_inner();
        let uid = request.uid.clone();
        let decrypted = self.counted("Decrypt", self.decrypted(request)).await;
        log("decrypt", &uid, decrypted)
    }
}

impl Calls {
    /// An error instead of a response that is not healthy: Kubernetes extends the life of its seed after any
    /// response that names a key (kubernetes/kubernetes#138950).
    async fn reported(&self) -> Result<StatusResponse, CallError> {
        let key_id = self.probes.report().await?;
        Ok(StatusResponse { version: "v2".to_owned(), healthz: "ok".to_owned(), key_id })
    }

    async fn encrypted(&self, request: EncryptRequest) -> Result<EncryptResponse, CallError> {
        let plaintext = Zeroizing::new(request.plaintext);
        if plaintext.len() > MAX_PLAINTEXT {
            return Err(CallError::TooLong);
        }
        let key_id = self.probes.to_encrypt()?;
        let how = Encrypt { key_id: Some(key_id.clone()), ..Encrypt::default() };
        let encrypted = self.traced(&request.uid).encrypt(Data::Bytes(&plaintext), &how).await;
        let encrypted = encrypted.map_err(|error| CallError::Encrypt(Arc::new(error)))?;
        let ciphertext = ciphertext::join(&encrypted).filter(|_| encrypted.key_id == key_id);
        let ciphertext = ciphertext.ok_or(CallError::OtherKey)?;
        // etcd stores annotations as plaintext, and nothing needs them.
        Ok(EncryptResponse { ciphertext, key_id, annotations: HashMap::new() })
    }

    /// Needs no probe: what was encrypted stays readable, also with old keys.
    async fn decrypted(&self, request: DecryptRequest) -> Result<DecryptResponse, CallError> {
        let key_id = request.key_id.clone();
        let is_own = !key_id.is_empty() && request.annotations.is_empty();
        let stored = ciphertext::split(&request.ciphertext, request.key_id);
        let stored = stored.filter(|_| is_own).ok_or(CallError::Malformed)?;
        let mut plaintext = self
            .traced(&request.uid)
            .decrypt_bytes(&stored, None)
            .await
            .map_err(|error| CallError::Decrypt { key_id, error: Arc::new(error) })?;
        Ok(DecryptResponse { plaintext: std::mem::take(&mut *plaintext) })
    }

    /// The client whose requests have the ID of a call, so that the logs of Kubernetes lead to the audit log.
    fn traced(&self, uid: &str) -> Client {
        let is_valid = (1..=MAX_REQUEST_ID).contains(&uid.len())
            && uid.bytes().all(|byte| byte.is_ascii_graphic());
        match is_valid {
            true => self.sealward.with_request_id(uid),
            false => self.sealward.clone(),
        }
    }

    async fn counted<T>(
        &self,
        method: &'static str,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<Response<T>, Status> {
        let began = self.clock.monotonic();
        let answer = call.await.map(Response::new).map_err(Status::from);
        let code = answer.as_ref().err().map_or(Code::Ok, Status::code);
        self.meter.count(method, code, self.clock.monotonic().saturating_sub(began));
        answer
    }
}

/// Logs a call that uses a key. Status logs changes only.
fn log<T>(operation: &str, uid: &str, answer: Result<T, Status>) -> Result<T, Status> {
    let uid = escaped(&uid);
    match &answer {
        Ok(_) => tracing::info!(operation, uid, "done"),
        Err(status) => tracing::warn!(operation, uid, error = status.message(), "refused"),
    }
    answer
}
