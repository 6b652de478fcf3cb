//! The connections of the API server.

use std::io;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::sleep;

/// The time after a failure. Without it, a lasting one, such as too many open files, would use a whole core.
const PAUSE: Duration = Duration::from_millis(100);

/// The connections that `accept` returns. A failure is logged, and does not end them.
pub(crate) fn connections<C, F>(accept: impl Fn() -> F) -> impl Stream<Item = io::Result<C>>
where
    F: Future<Output = io::Result<C>>,
{
    unfold(accept, |accept| async {
        loop {
            match accept().await {
                Ok(connection) => return Some((Ok(connection), accept)),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(PAUSE).await;
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::ErrorKind;
    use std::pin::pin;
    use std::time::Instant;

    use futures_util::StreamExt as _;

    use super::*;

    #[tokio::test]
    async fn each_failure_pauses_and_the_next_connection_arrives() {
        let calls = Cell::new(0);
        let accept = || async {
            calls.set(calls.get() + 1);
            match calls.get() {
                1..=3 => Err(ErrorKind::QuotaExceeded.into()),
                call => Ok(call),
            }
        };
        let mut connections = pin!(connections(accept));
        let began = Instant::now();
        assert_eq!(connections.next().await.unwrap().unwrap(), 4);
        assert!(began.elapsed() >= 3 * PAUSE, "{:?}", began.elapsed());
        assert_eq!(connections.next().await.unwrap().unwrap(), 5);
    }
}
