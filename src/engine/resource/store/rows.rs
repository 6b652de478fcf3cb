//! Access to sealed rows.

use sqlx::PgConnection;

use crate::seals::Seals;

/// Access to sealed rows: the pool or a connection, and the seals.
#[derive(Clone, Debug)]
pub struct Rows<E> {
    /// The pool or the connection.
    pub executor: E,
    /// The seals.
    pub seals: Seals,
}

impl Rows<&mut PgConnection> {
    /// The same access, for one of several statements.
    pub fn again(&mut self) -> Rows<&mut PgConnection> {
        Rows { executor: &mut *self.executor, seals: self.seals.clone() }
    }
}
