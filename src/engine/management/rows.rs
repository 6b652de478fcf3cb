//! Sealed rows, for the operator on the machine of the service.

use sqlx::PgConnection;

use crate::auth::{ApiKey, Service, WorkloadIdentity};
use crate::keys::Key;
use crate::policy::Policy;
use crate::resource::{Rows, reseal};
use crate::seals::RowName;

/// Seals every row that does not count, as it is. Returns their names.
pub async fn reseal_all(mut rows: Rows<&mut PgConnection>) -> sqlx::Result<Vec<RowName>> {
    let mut sealed = reseal::<Service>(rows.again()).await?;
    sealed.extend(reseal::<Policy>(rows.again()).await?);
    sealed.extend(reseal::<Key>(rows.again()).await?);
    sealed.extend(reseal::<ApiKey>(rows.again()).await?);
    sealed.extend(reseal::<WorkloadIdentity>(rows).await?);
    Ok(sealed)
}
