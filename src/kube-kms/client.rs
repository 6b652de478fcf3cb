//! The client of the plugin's own service, as the API server has one. Tests use it.

use std::path::Path;

use tonic::transport::{Channel, Endpoint};
pub use tonic::{Code, Status};

use crate::proto::key_management_service_client::KeyManagementServiceClient;
use crate::proto::{
    DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse,
};

/// An API server that calls a plugin.
#[derive(Clone, Debug)]
pub struct Kubernetes(KeyManagementServiceClient<Channel>);

impl Kubernetes {
    /// Connects to a socket.
    pub async fn connect(socket: &Path) -> Result<Self, tonic::transport::Error> {
        let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display()))?;
        Ok(Self(KeyManagementServiceClient::new(endpoint.connect().await?)))
    }

    /// Status.
    pub async fn status(&self) -> Result<StatusResponse, Status> {
        Ok(self.0.clone().status(StatusRequest {}).await?.into_inner())
    }

    /// Encrypt, with this ID.
    pub async fn encrypt(&self, plaintext: &[u8], uid: &str) -> Result<EncryptResponse, Status> {
        let request = EncryptRequest { plaintext: plaintext.to_owned(), uid: uid.to_owned() };
        Ok(self.0.clone().encrypt(request).await?.into_inner())
    }

    /// Decrypt, with this ID.
    pub async fn decrypt(
        &self,
        encrypted: &EncryptResponse,
        uid: &str,
    ) -> Result<DecryptResponse, Status> {
        let request = DecryptRequest {
            ciphertext: encrypted.ciphertext.clone(),
            uid: uid.to_owned(),
            key_id: encrypted.key_id.clone(),
            annotations: encrypted.annotations.clone(),
        };
        Ok(self.0.clone().decrypt(request).await?.into_inner())
    }
}
