//! Work that completes even if its caller is dropped.

use hsm::CancelGuard;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

/// Runs `work` in a task of its own, so that a started token operation is recorded. When the caller is
/// dropped, its token operations that still wait in `lane` are cancelled. None if the work panics.
pub(super) async fn run_to_completion<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
    lane: u64,
    tasks: &TaskTracker,
) -> Option<T> {
    let waiting = CancelGuard::in_lane(lane);
    let task = tasks.spawn(waiting.scope(work).in_current_span());
    task.await.ok()
}

#[cfg(test)]
mod tests {
    use futures_util::poll;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_continues_without_its_caller() {
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let (sender, receiver) = oneshot::channel();
        let tasks = TaskTracker::new();
        let work = async move {
            may_go_on.await.unwrap();
            sender.send(7).unwrap();
        };
        let mut call = Box::pin(run_to_completion(work, 0, &tasks));
        assert!(poll!(&mut call).is_pending());
        drop(call);
        tasks.close();
        assert!(poll!(Box::pin(tasks.wait())).is_pending());
        go_on.send(()).unwrap();
        tasks.wait().await;
        assert_eq!(receiver.await, Ok(7));
    }

    #[tokio::test]
    async fn the_caller_gets_the_result() {
        let tasks = TaskTracker::new();
        assert_eq!(run_to_completion(async { 7 }, 0, &tasks).await, Some(7));
    }

    #[tokio::test]
    async fn the_caller_learns_of_a_panic() {
        let work = async { panic!("on purpose") };
        let done: Option<()> = run_to_completion(work, 0, &TaskTracker::new()).await;
        assert_eq!(done, None);
    }
}
