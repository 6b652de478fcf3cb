//! The byte stream of a connection: it reports received bytes, lets other connections take turns, and
//! closes so that the client receives the last response.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::connections::OpenConnection;
use super::pace::{LEFTOVER, LINGER, Pace};

/// The number of bytes after which a connection lets others run. HTTP/2 processes all frames that it can
/// read, and small frames of control take much time for their size.
const TURN: usize = 8 * 1024;

/// The stream of an open connection.
pub(super) struct Stream<S: AsyncRead + Unpin + Send + 'static> {
    /// None only during drop.
    inner: Option<(S, OpenConnection)>,
    pace: Pace,
    /// The bytes that were read in this turn.
    read: usize,
    /// Whether the write side is shut down.
    is_shut: bool,
}

impl<S: AsyncRead + Unpin + Send + 'static> Stream<S> {
    pub(super) fn new(stream: S, connection: OpenConnection, pace: Pace) -> Self {
        Self {
            inner: Some((stream, connection)),
            pace,
            read: 0,
            is_shut: false,
        }
    }

    fn get(&mut self) -> io::Result<Pin<&mut S>> {
        match &mut self.inner {
            Some((stream, _)) => Ok(Pin::new(stream)),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl<S: AsyncRead + Unpin + Send + 'static> Drop for Stream<S> {
    fn drop(&mut self) {
        let is_needed = self.is_shut && self.pace.is_cut_short();
        let here = Handle::try_current();
        if let (true, Some((stream, connection)), Ok(here)) = (is_needed, self.inner.take(), here) {
            here.spawn(linger(stream, connection));
        }
    }
}

/// Reads and discards.
async fn linger<S: AsyncRead + Unpin>(mut stream: S, _connection: OpenConnection) {
    let mut bytes = vec![0; 16 * 1024];
    let mut left = LEFTOVER;
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

/// Reads, unless the turn is over: then the connection continues after the others.
fn poll_in_turns<S: AsyncRead>(
    stream: Pin<&mut S>,
    read: &mut usize,
    context: &mut Context<'_>,
    into: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    if *read >= TURN {
        *read = 0;
        context.waker().wake_by_ref();
        return Poll::Pending;
    }
    let before = into.filled().len();
    let polled = stream.poll_read(context, into);
    match polled {
        Poll::Ready(_) => *read += into.filled().len() - before,
        Poll::Pending => *read = 0,
    }
    polled
}

impl<S: AsyncRead + Unpin + Send + 'static> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let mut read = self.read;
        let polled = poll_in_turns(self.get()?, &mut read, context, into);
        self.read = read;
        if polled.is_ready() && into.filled().len() > before {
            self.pace.heard();
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
        self.get()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get()?.poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        let stream = self.inner.as_ref();
        stream.is_some_and(|(stream, _)| stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = self.get()?.poll_shutdown(context);
        self.is_shut |= matches!(polled, Poll::Ready(Ok(())));
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn a_connection_with_endless_input_lets_others_run_and_continues() {
        let mut endless = tokio::io::repeat(7);
        let (mut read, mut turns, mut reads) = (0, 0, 0);
        // Completes only if the connection is woken after each turn.
        poll_fn(|context| {
            loop {
                let mut buffer = [0; 1024];
                let mut into = ReadBuf::new(&mut buffer);
                match poll_in_turns(Pin::new(&mut endless), &mut read, context, &mut into) {
                    Poll::Ready(result) => {
                        result.expect("bytes");
                        reads += 1;
                    }
                    Poll::Pending => {
                        turns += 1;
                        return if turns == 3 {
                            Poll::Ready(())
                        } else {
                            Poll::Pending
                        };
                    }
                }
            }
        })
        .await;
        assert_eq!(reads, 3 * TURN / 1024);
    }
}
