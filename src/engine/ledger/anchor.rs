//! The copy of the latest checkpoints outside of the database.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Log;

/// The file of `audit.seal.anchor`: a JSON object of the latest checkpoint of each log, and of those of its
/// former origins. So a log cannot return to an origin with another history.
#[derive(Clone, Debug)]
pub(super) struct AnchorFile(PathBuf);

/// The anchor while no other process writes it.
#[derive(Clone, Debug)]
pub(super) struct HeldAnchor {
    file: AnchorFile,
    /// The file that is locked. The lock ends with its last clone.
    lock: Arc<File>,
}

/// The notes in an anchor.
pub(super) type Notes = BTreeMap<String, String>;

/// Why the anchor cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AnchorError {
    /// The file cannot be read or written.
    #[error("the file of audit.seal.anchor, {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It has another content.
    #[error("the file of audit.seal.anchor, {}, must be a JSON object of checkpoints", .0.display())]
    Content(PathBuf),
    /// Another instance has its lock.
    #[error(
        "another instance writes the file of audit.seal.anchor, {}: if it does not end, it seals in \
         another database",
        .0.display()
    )]
    Held(PathBuf),
    /// The witness does not answer, or refuses the log.
    #[error(
        "the witness {name} of audit.seal.anchor did not confirm the latest checkpoint: {reason}"
    )]
    Witness {
        /// The name of its key.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl AnchorFile {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The latest checkpoint of a log under this origin. None if the file does not exist or has none.
    pub(super) async fn read(&self, log: Log, origin: &str) -> Result<Option<String>, AnchorError> {
        let mut notes = self.blocking(|path| read(&path)).await?;
        let latest = notes.remove(log.name());
        let latest = latest.filter(|note| origin_of(note) == Some(origin));
        Ok(latest.or_else(|| notes.remove(origin)))
    }

    /// Whether it has a checkpoint of a log, under any origin.
    pub(super) async fn knows(&self, log: Log) -> Result<bool, AnchorError> {
        Ok(self.blocking(|path| read(&path)).await?.contains_key(log.name()))
    }

    /// Locks the anchor against instances that seal in another database, as after a failover.
    pub(super) async fn hold(&self) -> Result<HeldAnchor, AnchorError> {
        let lock = self.blocking(|path| lock(&path)).await?;
        Ok(HeldAnchor { file: self.clone(), lock: Arc::new(lock) })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(PathBuf) -> Result<T, AnchorError> + Send + 'static,
    ) -> Result<T, AnchorError> {
        let path = self.0.clone();
        let done = tokio::task::spawn_blocking(move || work(path)).await;
        done.unwrap_or_else(|stopped| {
            Err(AnchorError::File { path: self.0.clone(), source: io::Error::other(stopped) })
        })
    }
}

impl HeldAnchor {
    /// Replaces the checkpoint of a log under its origin, on disk before it returns.
    pub(super) async fn write(&self, log: Log, note: &str) -> Result<(), AnchorError> {
        let (note, held) = (note.to_owned(), Arc::clone(&self.lock));
        self.file
            .blocking(move |path| {
                let mut notes = read(&path)?;
                let origin = origin_of(&note).map(str::to_owned);
                if let Some(former) = notes.insert(log.name().to_owned(), note)
                    && let Some(of_former) = origin_of(&former).map(str::to_owned)
                    && origin.as_ref() != Some(&of_former)
                {
                    notes.insert(of_former, former);
                }
                let written = write(&path, &notes);
                drop(held);
                written.map_err(|source| AnchorError::File { path, source })
            })
            .await
    }
}

/// The origin of a checkpoint, its first line.
fn origin_of(note: &str) -> Option<&str> {
    note.lines().next()
}

/// Takes the lock of the anchor. It is a file of its own, because each write replaces the anchor.
fn lock(path: &Path) -> Result<File, AnchorError> {
    let failed = |source| AnchorError::File { path: path.to_owned(), source };
    let file = File::create(path.with_added_extension("lock")).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(AnchorError::Held(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

fn read(path: &Path) -> Result<Notes, AnchorError> {
    match fs::read(path) {
        Ok(text) => {
            serde_json::from_slice(&text).map_err(|_| AnchorError::Content(path.to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Notes::new()),
        Err(source) => Err(AnchorError::File { path: path.to_owned(), source }),
    }
}

/// Replaces the file at once, so that a crash leaves the old or the new one.
fn write(path: &Path, notes: &Notes) -> io::Result<()> {
    let new = path.with_added_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(&serde_json::to_vec_pretty(notes)?)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
