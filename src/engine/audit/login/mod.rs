//! Whether the login of the service could change or delete records of the audit log, or let a row count that
//! does not.
//!
//! The service uses the role `sealward_application`, but an attacker who controls the service can
//! leave it (`SET ROLE NONE`) and use every role of the login. So all of them are checked.

mod store;

use crate::db::Pool;

/// The login of the service, and what it could do to the audit log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Login {
    pub name: String,
    /// Each privilege that it must not have, with the statement that revokes it. Empty for a login
    /// that can only insert and read records.
    pub excess: Vec<String>,
    /// Each setting of its own, with the statement that removes it. The login can change them itself.
    pub settings: Vec<String>,
}

/// Checks the login of `pool`.
pub async fn login(pool: &Pool) -> sqlx::Result<Login> {
    let mut connection = pool.acquire().await?;
    let name = store::name(&mut connection).await?;
    let mut excess = store::attributes(&mut connection).await?;
    // A superuser has every privilege.
    if excess.is_empty() {
        excess = store::roles(&mut connection).await?;
        excess.extend(store::privileges(&mut connection).await?);
    }
    let settings = store::settings(&mut connection).await?;
    Ok(Login { name, excess, settings })
}
