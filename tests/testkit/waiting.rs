//! Waiting for an event.

use std::time::Duration;

/// The time limit for all waiting, longer than the time limit of a request. A loaded machine takes a
/// minute to make an RSA key of 4,096 bits.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Polls until `is_so` returns true, for at most `patience`. Returns the elapsed time.
pub async fn within(patience: Duration, mut is_so: impl AsyncFnMut() -> bool) -> Duration {
    let started = tokio::time::Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < patience, "not within {patience:?}");
        // Yields the processor to the awaited task.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    started.elapsed()
}
