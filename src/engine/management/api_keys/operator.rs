//! API keys without the API: for the operator on the machine of the service.

use super::{ApiKey, ApiKeyFilter, ApiKeyRequest, Created};
use crate::ids::ApiKeyId;
use crate::management::{Error, Expected, Page, PageRequest, System};
use crate::resource::ResourceRequest;

/// Creates an API key, such as the first admin key.
pub async fn create(
    system: &System,
    request: ResourceRequest<ApiKeyRequest>,
) -> Result<Created, Error> {
    super::create(&system.authorize(), request).await
}

/// Lists API keys.
pub async fn list(
    system: &System,
    filter: &ApiKeyFilter,
    page: PageRequest,
) -> Result<Page<ApiKey>, Error> {
    super::list(&system.authorize(), filter, page).await
}

pub async fn revoke(system: &System, id: ApiKeyId) -> Result<(), Error> {
    super::revoke(&system.authorize(), id, &Expected::Any).await
}
