//! The plugin over its socket, with a scripted Sealward behind it.

mod calls;
mod monitor;
mod sealward;
mod socket;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use formats::clock::{Clock, Timestamp};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::Status;

use self::sealward::Sealward;
use crate::client::Kubernetes;
use crate::proto::{DecryptResponse, EncryptResponse, StatusResponse};
use crate::{CannotServe, Plugin, Socket};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kube-kms-{}-{number}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running plugin, and an API server that calls it.
struct Running {
    sealward: Sealward,
    clock: Clock,
    kubernetes: Kubernetes,
    monitor: axum::Router,
    folder: Folder,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Result<(), CannotServe>>,
}

impl Running {
    async fn new() -> Self {
        let sealward = Sealward::start().await;
        let (clock, folder) = (Clock::held_at(Timestamp::from_millis(0)), Folder::new());
        let plugin = Plugin::new(&sealward.client(), clock.clone());
        let monitor = plugin.monitor();
        let path = folder.path("kms.sock");
        let socket = Socket::bind(&path).unwrap();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(plugin.serve(socket, async move {
            let _ = stopped.await;
        }));
        let kubernetes = Kubernetes::connect(&path).await.unwrap();
        Self { sealward, clock, kubernetes, monitor, folder, stop, served }
    }

    async fn status(&self) -> Result<StatusResponse, Status> {
        self.kubernetes.status().await
    }

    /// The key that Status names.
    async fn key(&self) -> String {
        self.status().await.unwrap().key_id
    }

    async fn encrypt(&self, plaintext: &[u8]) -> Result<EncryptResponse, Status> {
        self.kubernetes.encrypt(plaintext, "uid-1").await
    }

    async fn decrypt(&self, encrypted: &EncryptResponse) -> Result<DecryptResponse, Status> {
        self.kubernetes.decrypt(encrypted, "uid-2").await
    }

    fn seconds_pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}
