//! Downloads, which end when their reader loses the right.

use futures_util::stream::{Stream, TryStreamExt as _};

use super::change::check;
use super::{Authorized, Error, Right, store};

impl<R: Right> Authorized<R> {
    /// The chunks of a file. Before each, the credential and the roles of the reader are checked again. If
    /// the reader lost the right, the last item is an error, and the response must abort so that the file
    /// is not mistaken for a complete one.
    pub fn download<E>(
        self,
        chunks: impl Stream<Item = Result<Vec<u8>, E>> + Send + 'static,
    ) -> impl Stream<Item = Result<Vec<u8>, Error>> + Send + 'static
    where
        Error: From<E>,
        E: Send + 'static,
    {
        chunks.map_err(Error::from).and_then(move |chunk| {
            let reader = self.clone();
            async move {
                reader.check_author().await.inspect_err(|error| {
                    tracing::warn!(%error, "a download ended early");
                })?;
                Ok(chunk)
            }
        })
    }

    /// Checks that the author still has a role for `R`.
    async fn check_author(&self) -> Result<(), Error> {
        let mut connection = self.pool.acquire().await?;
        let author =
            store::author(self.pool.rows_on(&mut connection), &self.actor, self.clock.now())
                .await?;
        check(&self.actor, author.as_ref(), &[R::ROLES])
    }
}
