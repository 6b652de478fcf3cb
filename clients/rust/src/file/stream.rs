//! Sealed files from a reader to a writer, with constant memory.

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite,
    AsyncWriteExt as _, BufReader,
};
use zeroize::Zeroizing;

use super::segments::{HEADER, Header, SEGMENT, Segments, TAG};
use super::{Progress, line};
use crate::error::{Error, FileError};
use crate::{CachedKey, Client, Scope};

impl Client {
    /// Encrypts what a reader returns, and writes a sealed file. Returns the bytes of plaintext.
    ///
    /// The file has a data key of its own. `progress` is called after each segment.
    pub async fn encrypt_stream(
        &self,
        source: impl AsyncRead + Unpin,
        target: impl AsyncWrite + Unpin,
        scope: &Scope,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        let key = CachedKey::of(&self.data_key(scope).await?);
        encrypt(&key, Header::random()?, source, target, progress).await
    }

    /// Decrypts a sealed file that a reader returns, and writes its plaintext. Returns its bytes.
    ///
    /// Each byte that is written is authentic. But only after a success are they complete: discard them after an
    /// error.
    pub async fn decrypt_stream(
        &self,
        source: impl AsyncRead + Unpin,
        target: impl AsyncWrite + Unpin,
        scope: &Scope,
        progress: impl FnMut(Progress),
    ) -> Result<u64, Error> {
        let mut source = BufReader::with_capacity(1 << 16, source);
        let begin = Beginning::read(&mut source).await?;
        let envelope = line::read(&begin.line)?;
        let key = self.open_data_key(&envelope, scope).await?;
        decrypt(key.key(), &begin, source, target, progress).await
    }
}

/// Encrypts with this key and these random values.
pub(super) async fn encrypt(
    key: &CachedKey,
    header: Header,
    mut source: impl AsyncRead + Unpin,
    mut target: impl AsyncWrite + Unpin,
    mut progress: impl FnMut(Progress),
) -> Result<u64, Error> {
    let line = line::write(key.envelope())?;
    let mut segments = Segments::new(key.key(), &line, &header)?;
    let write = |error| Error::File(FileError::Io(error));
    target.write_all(&line).await.map_err(write)?;
    target.write_all(&header.write()).await.map_err(write)?;
    let mut parts = Parts::new();
    let mut bytes = 0;
    loop {
        let is_last = parts.next(&mut source, segments.room()).await?;
        bytes += length(&parts.current);
        segments.seal(&mut parts.current, is_last)?;
        target.write_all(&parts.current).await.map_err(write)?;
        progress(Progress { bytes });
        if is_last {
            target.flush().await.map_err(write)?;
            return Ok(bytes);
        }
    }
}

/// Decrypts what follows the beginning of a file.
pub(super) async fn decrypt(
    key: &[u8],
    begin: &Beginning,
    mut source: impl AsyncRead + Unpin,
    mut target: impl AsyncWrite + Unpin,
    mut progress: impl FnMut(Progress),
) -> Result<u64, Error> {
    let mut segments = Segments::new(key, &begin.line, &begin.header)?;
    let write = |error| Error::File(FileError::Io(error));
    let mut parts = Parts::new();
    let mut bytes = 0;
    loop {
        let is_last = parts.next(&mut source, segments.room() + TAG).await?;
        segments.open(&mut parts.current, is_last)?;
        bytes += length(&parts.current);
        target.write_all(&parts.current).await.map_err(write)?;
        progress(Progress { bytes });
        if is_last {
            target.flush().await.map_err(write)?;
            return Ok(bytes);
        }
    }
}

/// What a file begins with.
pub(super) struct Beginning {
    pub(super) line: Vec<u8>,
    header: Header,
}

impl Beginning {
    /// Reads the line and the header, and verifies their form.
    pub(super) async fn read(source: &mut (impl AsyncBufRead + Unpin)) -> Result<Self, Error> {
        let mut found = Vec::new();
        let limited = &mut source.take(line::LONGEST);
        limited.read_until(b'\n', &mut found).await.map_err(FileError::Io)?;
        line::read(&found)?;
        let mut header = [0; HEADER];
        source.read_exact(&mut header).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => FileError::Malformed,
            _ => FileError::Io(error),
        })?;
        Ok(Self { line: found, header: Header::read(header)? })
    }
}

/// Cuts a source into parts of given lengths. One more byte shows whether a part is the last one.
struct Parts {
    current: Zeroizing<Vec<u8>>,
    ahead: Option<u8>,
}

impl Parts {
    fn new() -> Self {
        Self { current: Zeroizing::new(Vec::with_capacity(SEGMENT + 1)), ahead: None }
    }

    /// Reads the next part. Returns whether it is the last one.
    async fn next(
        &mut self,
        source: &mut (impl AsyncRead + Unpin),
        length: usize,
    ) -> Result<bool, Error> {
        self.current.clear();
        self.current.extend(self.ahead.take());
        while self.current.len() <= length {
            let missing = length + 1 - self.current.len();
            let limit = u64::try_from(missing).unwrap_or(u64::MAX);
            let read = (&mut *source).take(limit).read_buf(&mut *self.current).await;
            if read.map_err(FileError::Io)? == 0 {
                return Ok(true);
            }
        }
        self.ahead = self.current.pop();
        Ok(false)
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
