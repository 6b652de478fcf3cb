//! The client for programs without an async runtime.

use std::path::Path;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::error::Error;
use crate::{
    CachedKey, Caller, Ciphertext, Data, DataKey, Digest, Encrypt, Envelope, HashAlgorithm, Health,
    JwkSet, Payload, PolicySummary, Progress, Protected, Protection, Scope, Sealed, Sign,
    Signature, Target, Unprotected,
};

/// A client whose calls block. It must not be used in an async task.
#[derive(Clone, Debug)]
pub struct Client {
    client: crate::Client,
    handle: Handle,
    _runtime: Arc<Background>,
}

/// A runtime that does not wait when it ends. The look-up of a name can outlast every deadline.
#[derive(Debug)]
struct Background(Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Declares a call that waits for the call of the same name of the async client.
macro_rules! blocking {
    ($($(#[$about:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        impl Client {
            $(
                $(#[$about])*
                pub fn $name(&self, $($argument: $type),*) -> Result<$result, Error> {
                    self.wait(self.client.$name($($argument),*))
                }
            )+
        }
    };
}

impl Client {
    /// A blocking client that makes the calls of this client.
    pub fn new(client: crate::Client) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| Error::Configuration(error.to_string()))?;
        let handle = runtime.handle().clone();
        Ok(Self { client, handle, _runtime: Arc::new(Background(Some(runtime))) })
    }

    /// A blocking client with the settings in the environment, as [`crate::Builder::from_env`] describes them.
    pub fn from_env() -> Result<Self, Error> {
        Self::new(crate::Client::from_env()?)
    }

    /// The async client, whose other calls [`Client::wait`] makes.
    pub fn asynchronous(&self) -> &crate::Client {
        &self.client
    }

    /// Waits for a call of the async client, for example of the management API.
    pub fn wait<T>(&self, call: impl Future<Output = T>) -> T {
        self.handle.block_on(call)
    }

    /// Protects payloads, as [`crate::Client::protect_batch`] does.
    pub fn protect_batch<'a>(
        &self,
        items: impl IntoIterator<Item = (&'a Payload, &'a Scope)>,
    ) -> Result<Vec<Result<Protected, Error>>, Error> {
        self.wait(self.client.protect_batch(items))
    }

    /// Opens envelopes, as [`crate::Client::unprotect_batch`] does.
    pub fn unprotect_batch<'a>(
        &self,
        items: impl IntoIterator<Item = (Sealed<'a>, &'a Scope)>,
    ) -> Result<Vec<Result<Unprotected, Error>>, Error> {
        self.wait(self.client.unprotect_batch(items))
    }

    /// Opens an envelope. A failure to decrypt is final.
    pub fn unprotect<'a>(
        &self,
        sealed: impl Into<Sealed<'a>>,
        scope: &Scope,
    ) -> Result<Unprotected, Error> {
        self.wait(self.client.unprotect(sealed, scope))
    }

    /// Opens an envelope and makes a new one of its payload, which does not leave Sealward.
    pub fn rewrap<'a>(
        &self,
        sealed: impl Into<Sealed<'a>>,
        scope: &Scope,
        target: &Target,
    ) -> Result<Protected, Error> {
        self.wait(self.client.rewrap(sealed, scope, target))
    }

    /// Encrypts a file, as [`crate::Client::encrypt_file`] does.
    pub fn encrypt_file(
        &self,
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        scope: &Scope,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        self.wait(self.client.encrypt_file(source, target, scope, progress))
    }

    /// Decrypts a file, as [`crate::Client::decrypt_file`] does.
    pub fn decrypt_file(
        &self,
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        scope: &Scope,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        self.wait(self.client.decrypt_file(source, target, scope, progress))
    }
}

blocking! {
    /// Protects a payload. A payload that passes through or is dropped is an error.
    protect(payload: &Payload, scope: &Scope) -> Protected;
    /// Protects a payload, or returns what the failure mode of an inactive policy made of it.
    protect_or_pass(payload: &Payload, scope: &Scope) -> Protection;
    /// Makes a data key with 256 bits.
    data_key(scope: &Scope) -> DataKey;
    /// A data key from the cache, as [`crate::Client::cached_data_key`] describes it.
    cached_data_key(bytes: u64, scope: &Scope) -> CachedKey;
    /// Opens the envelope of a data key.
    open_data_key(envelope: &Envelope, scope: &Scope) -> CachedKey;
    /// Seals a payload in this process, as [`crate::Client::seal_locally`] describes it.
    seal_locally(policy: &str, payload: &Payload) -> Envelope;
    /// Encrypts a value in the token.
    encrypt(data: Data<'_>, how: &Encrypt) -> Ciphertext;
    /// Decrypts a JSON value. A failure is final.
    decrypt(encrypted: &Ciphertext, aad: Option<&[u8]>) -> Payload;
    /// Signs a value in the token.
    sign(data: Data<'_>, how: &Sign) -> Signature;
    /// Whether a signature is valid.
    verify(data: Data<'_>, signature: &Signature) -> bool;
    /// Whether a signature of a service is valid, as [`crate::Client::verify_locally`] describes it.
    verify_locally(service_id: &str, data: Data<'_>, signature: &Signature) -> bool;
    /// Hashes a value.
    hash(data: Data<'_>, algorithm: &HashAlgorithm) -> Digest;
    /// Who calls, and what the credential allows.
    caller() -> Caller;
    /// A policy under which the caller can protect.
    policy(number: &str) -> PolicySummary;
    /// Whether the service works.
    health() -> Health;
    /// The public keys of a service that publishes them.
    jwks(service_id: &str) -> JwkSet;
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_end_of_a_client_waits_for_nothing() {
        let client = crate::Client::builder("http://127.0.0.1:1").build();
        let client = Client::new(client.unwrap()).unwrap();
        let (release, wait) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let look_up = move || {
            begin.send(()).unwrap();
            let _ = wait.recv();
        };
        let running = client.handle.spawn_blocking(look_up);
        begun.recv().unwrap();
        drop(client);
        assert!(!running.is_finished());
        drop(release);
    }
}
