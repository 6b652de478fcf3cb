//! The byte stream of a connection: it reports progress to the timers, and closes so that the client
//! receives the last response.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::connections::OpenConnection;
use super::timers::ConnectionTimers;

/// How long the service reads and discards after the last response. Closing earlier would reset the connection.
pub(super) const LINGER: Duration = Duration::from_secs(2);

/// The stream of an open connection.
pub(super) struct Stream<S: AsyncRead + Unpin + Send + 'static> {
    /// None only during drop.
    inner: Option<(S, OpenConnection)>,
    timers: ConnectionTimers,
    /// How many bytes the service reads and discards after the last response.
    leftover: usize,
    /// Whether the write side is shut down.
    is_shut: bool,
}

impl<S: AsyncRead + Unpin + Send + 'static> Stream<S> {
    pub(super) fn new(
        stream: S,
        connection: OpenConnection,
        timers: ConnectionTimers,
        leftover: usize,
    ) -> Self {
        Self { inner: Some((stream, connection)), timers, leftover, is_shut: false }
    }

    fn get(&mut self) -> io::Result<Pin<&mut S>> {
        match &mut self.inner {
            Some((stream, _)) => Ok(Pin::new(stream)),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn note_written(&self, polled: &Poll<io::Result<usize>>) {
        match polled {
            Poll::Ready(Ok(bytes)) => self.timers.written(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.timers.delay(),
        }
    }
}

impl<S: AsyncRead + Unpin + Send + 'static> Drop for Stream<S> {
    fn drop(&mut self) {
        let is_needed = self.is_shut && self.timers.has_unread_input();
        let here = Handle::try_current();
        if let (true, Some((stream, connection)), Ok(here)) = (is_needed, self.inner.take(), here) {
            here.spawn(linger(stream, connection, self.leftover));
        }
    }
}

/// Reads and discards.
async fn linger<S: AsyncRead + Unpin>(mut stream: S, _connection: OpenConnection, mut left: usize) {
    let mut bytes = vec![0; 16 * 1024];
    let reading = async {
        while left > 0 {
            match stream.read(&mut bytes).await {
                Ok(read) if read > 0 => left = left.saturating_sub(read),
                _ => break,
            }
        }
    };
    // A client that sends longer does not read.
    let _ = timeout(LINGER, reading).await;
}

impl<S: AsyncRead + Unpin + Send + 'static> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = self.get()?.poll_read(context, into);
        if polled.is_ready() && into.filled().len() > before {
            self.timers.received();
        }
        polled
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = self.get()?.poll_write(context, bytes);
        self.note_written(&polled);
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = self.get()?.poll_write_vectored(context, parts);
        self.note_written(&polled);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        let stream = self.inner.as_ref();
        stream.is_some_and(|(stream, _)| stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = self.get()?.poll_flush(context);
        match polled {
            Poll::Ready(_) => self.timers.flushed(),
            Poll::Pending => self.timers.delay(),
        }
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = self.get()?.poll_shutdown(context);
        self.is_shut |= matches!(polled, Poll::Ready(Ok(())));
        polled
    }
}
