//! Sealed files by their paths.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::fs::{self, File, OpenOptions};
use tokio::io::AsyncRead;

use super::Progress;
use super::segments::Header;
use super::stream::encrypt;
use crate::error::{Error, FileError, LocalError};
use crate::{Client, Scope};

impl Client {
    /// Encrypts a file into a sealed file. Returns the bytes of plaintext.
    ///
    /// The target appears under its name when it is complete, and replaces a file of that name. `progress` is
    /// called after each segment.
    pub async fn encrypt_file(
        &self,
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        scope: &Scope,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        let source = File::open(source).await.map_err(FileError::Io)?;
        let size = source.metadata().await.map_err(FileError::Io)?.len();
        let key = self.cached_data_key(size, scope).await?;
        let (target, mut file) = Target::create(target.as_ref()).await?;
        let bytes = encrypt(&key, Header::random()?, source, &mut file, progress).await?;
        target.finish(file).await?;
        Ok(bytes)
    }

    /// Decrypts a sealed file into a file. Returns the bytes of plaintext.
    ///
    /// The target appears under its name when the last segment was verified. After an error there is none.
    pub async fn decrypt_file(
        &self,
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        scope: &Scope,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        let source = File::open(source).await.map_err(FileError::Io)?;
        self.decrypt_stream_to_file(source, target, scope, progress).await
    }

    /// Encrypts what a reader returns into a sealed file, like [`Client::encrypt_file`].
    pub async fn encrypt_stream_to_file(
        &self,
        source: impl AsyncRead + Unpin,
        target: impl AsRef<Path>,
        scope: &Scope,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        let (target, mut file) = Target::create(target.as_ref()).await?;
        let bytes = self.encrypt_stream(source, &mut file, scope, progress).await?;
        target.finish(file).await?;
        Ok(bytes)
    }

    /// Decrypts a sealed file that a reader returns into a file, like [`Client::decrypt_file`].
    pub async fn decrypt_stream_to_file(
        &self,
        source: impl AsyncRead + Unpin,
        target: impl AsRef<Path>,
        scope: &Scope,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        let (target, mut file) = Target::create(target.as_ref()).await?;
        let bytes = self.decrypt_stream(source, &mut file, scope, progress).await?;
        target.finish(file).await?;
        Ok(bytes)
    }
}

/// A file that does not have its name yet. Dropping it removes it.
struct Target {
    temporary: PathBuf,
    name: PathBuf,
    is_finished: bool,
}

impl Target {
    /// A new file next to `name`, which only this user can read.
    async fn create(name: &Path) -> Result<(Self, File), Error> {
        let mut random = [0; 8];
        aws_lc_rs::rand::fill(&mut random).map_err(LocalError::from)?;
        let mut temporary = OsString::from(".");
        temporary.push(name.file_name().unwrap_or_default());
        temporary.push(format!(".{:016x}", u64::from_le_bytes(random)));
        let temporary = name.with_file_name(temporary);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&temporary).await.map_err(FileError::Io)?;
        Ok((Self { temporary, name: name.to_owned(), is_finished: false }, file))
    }

    async fn finish(mut self, file: File) -> Result<(), Error> {
        file.sync_all().await.map_err(FileError::Io)?;
        fs::rename(&self.temporary, &self.name).await.map_err(FileError::Io)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.is_finished {
            // Nothing else can be done if it fails: the name shows what the file is.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}
