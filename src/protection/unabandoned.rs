//! Work that comes to its end even if whoever waits for it goes away.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use hsm::Interest;
use tokio::runtime::Handle;
use tracing::Instrument as _;
use tracing::instrument::Instrumented;

/// Work that goes on in a task of its own once it is dropped: what a token was asked for is
/// recorded. What it was not asked for by then, it is not asked any more.
pub(super) struct Unabandoned<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    work: Option<Pin<Box<Instrumented<F>>>>,
    waiting: Option<Interest>,
}

/// The same work, as somebody waits for it.
pub(super) fn unabandoned<F>(
    work: F,
) -> Unabandoned<impl Future<Output = F::Output> + Send + use<F>>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let waiting = Interest::default();
    let work = waiting.in_what(work).in_current_span();
    Unabandoned {
        work: Some(Box::pin(work)),
        waiting: Some(waiting),
    }
}

impl<F> Future for Unabandoned<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(work) = &mut self.work else {
            // It has ended, and nobody asks again who heeds that.
            return Poll::Pending;
        };
        let polled = work.as_mut().poll(context);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl<F> Drop for Unabandoned<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn drop(&mut self) {
        self.waiting = None;
        // What panicked has no end to come to, nor has what outlives the runtime.
        if !thread::panicking()
            && let Some(work) = self.work.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(work);
        }
    }
}
