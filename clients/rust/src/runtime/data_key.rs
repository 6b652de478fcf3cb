//! `POST /api/v1/data-keys`.

use std::fmt;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::open_set::open_set;
use crate::transport::Call;
use crate::{Client, Context, Envelope, Scope};

open_set! {
    /// The algorithms of data keys.
    DataKeyAlgorithm {
        Aes256 = "AES-256",
        Aes128 = "AES-128",
    }
}

/// A new key and its envelope. The key is wiped when dropped.
#[derive(Clone)]
pub struct DataKey {
    key: Option<Zeroizing<Vec<u8>>>,
    /// The envelope of the key.
    pub envelope: Envelope,
    /// The algorithm.
    pub algorithm: DataKeyAlgorithm,
    /// The ID of the request.
    pub request_id: String,
}

impl DataKey {
    /// The bytes of the key; none if they were not requested.
    pub fn key(&self) -> Option<&[u8]> {
        self.key.as_ref().map(|key| key.as_slice())
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DataKey")
            .field("algorithm", &self.algorithm)
            .field("envelope", &self.envelope)
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataKeyRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) policy_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context: Option<&'a Context>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) algorithm: Option<DataKeyAlgorithm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plaintext: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataKeyAnswer {
    request_id: String,
    algorithm: DataKeyAlgorithm,
    #[serde(default, deserialize_with = "crate::base64_bytes::optional::deserialize")]
    key: Option<Vec<u8>>,
    jwe: Envelope,
}

impl Client {
    /// Makes a data key with 256 bits. Use each key for one object.
    pub async fn data_key(&self, scope: &Scope) -> Result<DataKey, Error> {
        self.request_data_key(scope, None, None).await
    }

    /// Makes a data key of this algorithm.
    pub async fn data_key_of(
        &self,
        algorithm: DataKeyAlgorithm,
        scope: &Scope,
    ) -> Result<DataKey, Error> {
        self.request_data_key(scope, Some(algorithm), None).await
    }

    /// Makes only the envelope of a new data key, for another program.
    pub async fn data_key_envelope(
        &self,
        algorithm: Option<DataKeyAlgorithm>,
        scope: &Scope,
    ) -> Result<DataKey, Error> {
        self.request_data_key(scope, algorithm, Some(false)).await
    }

    async fn request_data_key(
        &self,
        scope: &Scope,
        algorithm: Option<DataKeyAlgorithm>,
        plaintext: Option<bool>,
    ) -> Result<DataKey, Error> {
        let request = DataKeyRequest {
            policy_number: scope.policy_number(),
            context: scope.bound_to(),
            algorithm,
            plaintext,
        };
        let answer = self.answer(Call::post("/api/v1/data-keys", &request)?).await?;
        let made: DataKeyAnswer = answer.parse()?;
        if made.key.is_some() != plaintext.unwrap_or(true) {
            return Err(answer.unexpected());
        }
        Ok(DataKey {
            key: made.key.map(Zeroizing::new),
            envelope: made.jwe,
            algorithm: made.algorithm,
            request_id: made.request_id,
        })
    }
}
