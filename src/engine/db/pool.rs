//! Connections to the primary, which survive a failover.

use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{
    Describe, Either, Error, Execute, Executor, PgConnection, PgPool, Postgres, Result, SqlStr,
    Transaction,
};
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use super::place;
use crate::resource::Rows;
use crate::seals::Seals;
use crate::shares::SLOW_READS;

/// Connections to the current primary. All clones move to a new primary together.
///
/// After a failover, connections to the former primary may never respond. They keep their places in
/// its pool, so the new primary gets a pool of its own.
#[derive(Clone, Debug)]
pub struct Pool {
    primary: Arc<RwLock<PgPool>>,
    slow_reads: Arc<Semaphore>,
    seals: Seals,
}

impl From<PgPool> for Pool {
    fn from(pool: PgPool) -> Self {
        let primary = Arc::new(RwLock::new(pool));
        Self {
            slow_reads: Arc::new(Semaphore::new(SLOW_READS)),
            seals: Seals::of(Arc::clone(&primary)),
            primary,
        }
    }
}

impl Pool {
    /// The connections to the current primary.
    pub fn current(&self) -> PgPool {
        let pool = self.primary.read().unwrap_or_else(PoisonError::into_inner);
        pool.clone()
    }

    /// Replaces the connections. Those in use end with their users.
    pub(super) fn replace(&self, pool: PgPool) {
        let mut current = self.primary.write().unwrap_or_else(PoisonError::into_inner);
        *current = pool;
    }

    /// A connection, which returns to the pool when it is dropped.
    pub async fn acquire(&self) -> Result<PoolConnection<Postgres>> {
        self.current().acquire().await
    }

    /// A transaction on a connection of its own.
    pub async fn begin(&self) -> Result<Transaction<'static, Postgres>> {
        self.current().begin().await
    }

    /// A transaction that writes, also if transactions of the login only read by default.
    pub(crate) async fn begin_to_write(&self) -> Result<Transaction<'static, Postgres>> {
        self.current().begin_with("BEGIN READ WRITE").await
    }

    /// A transaction that only reads, and whose statements see the same rows.
    pub async fn snapshot(&self) -> Result<Transaction<'static, Postgres>> {
        self.current().begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    /// The seals of the rows of this database.
    pub fn seals(&self) -> &Seals {
        &self.seals
    }

    /// The sealed rows.
    pub fn rows(&self) -> Rows<&Self> {
        Rows { executor: self, seals: self.seals.clone() }
    }

    /// The sealed rows, in the transaction of a connection.
    pub fn rows_on<'c>(&self, connection: &'c mut PgConnection) -> Rows<&'c mut PgConnection> {
        Rows { executor: connection, seals: self.seals.clone() }
    }

    /// Performs a read that may take many seconds, such as a search of the audit log, when few others run.
    /// Without its caller it continues and keeps its turn, because Postgres continues with the statement.
    pub(crate) async fn read_slowly<T: Send + 'static>(
        &self,
        read: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let turn = Arc::clone(&self.slow_reads).acquire_owned().await;
        let reading = async move {
            let _turn = turn;
            read.await
        };
        let reading = tokio::spawn(reading.in_current_span());
        reading.await.unwrap_or(Err(Error::WorkerCrashed))
    }

    /// Whether new connections go to the server of these options: after a failover, they go to another one.
    pub(crate) fn is_at(&self, server: &PgConnectOptions) -> bool {
        place(&self.connect_options()) == place(server)
    }

    /// The server and the login of new connections.
    pub(crate) fn connect_options(&self) -> Arc<PgConnectOptions> {
        self.current().connect_options()
    }
}

impl<'p> Executor<'p> for &Pool {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        (&self.current()).fetch_many(query)
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        (&self.current()).fetch_optional(query)
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement>>
    where
        'p: 'e,
    {
        (&self.current()).prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>>>
    where
        'p: 'e,
    {
        (&self.current()).describe(sql)
    }
}
