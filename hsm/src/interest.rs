//! Work that goes on when whoever waits for it goes away, and the operations in it that need not.

use std::sync::{Arc, Weak};

tokio::task_local! {
    static INTEREST: Weak<()>;
}

/// Somebody's interest in what some work comes to.
///
/// Work that must come to its own end, because it has to write down what a token did, cannot be
/// dropped to save the token its part. Once the interest it is [in](Self::in_what) is dropped, those of
/// its operations that no worker has begun are left undone, and fail with
/// [`TokenOut`](crate::ErrorKind::TokenOut).
#[derive(Debug, Default)]
pub struct Interest(Arc<()>);

/// Whether an operation is still wanted.
#[derive(Debug)]
pub(crate) struct Wanted(Option<Weak<()>>);

impl Interest {
    /// What `work` asks of tokens, it asks for as long as this is there.
    pub fn in_what<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        INTEREST.scope(Arc::downgrade(&self.0), work)
    }
}

impl Wanted {
    /// As it is for the present work. What nobody declared an interest in is wanted for good.
    pub(crate) fn here() -> Self {
        Self(INTEREST.try_with(Weak::clone).ok())
    }

    pub(crate) fn no_more(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|interest| interest.strong_count() == 0)
    }
}
