//! The batches of the runtime API.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::protect::{ProtectRequest, ProtectedPayload};
use super::rewrap::{RewrapRequest, RewrappedPayload};
use super::unprotect::{UnprotectRequest, UnprotectedPayload};
use super::{Protected, Protection, Sealed, Target, Unprotected};
use crate::error::{Error, Invalid};
use crate::payload::Wiped;
use crate::transport::{Answer, Call, ErrorObject, Overrides};
use crate::{Client, Payload, Scope};

/// The most items of a request.
const MOST_ITEMS: usize = 1000;
/// The most bytes of a request, which is the default of Sealward.
const MOST_BYTES: usize = 16 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BatchAnswer<'a> {
    request_id: String,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// What items of all kinds have.
#[derive(Deserialize)]
pub(super) struct Item {
    status: u16,
    error: Option<ErrorObject>,
}

/// Turns an item of the answer with the ID of its request into a result; none if it is not as documented.
type Read<T> = for<'a> fn(&'a RawValue, &str) -> Option<T>;

impl Client {
    /// Protects payloads. The results have the order of the items, and fail one by one.
    ///
    /// Items beyond the limits of a request are sent with several requests, one after another.
    pub async fn protect_batch<'a>(
        &self,
        items: impl IntoIterator<Item = (&'a Payload, &'a Scope)>,
    ) -> Result<Vec<Result<Protected, Error>>, Error> {
        let results = self.protect_or_pass_batch(items).await?.into_iter();
        Ok(results.map(|result| result?.only_protected()).collect())
    }

    /// The same with [`Client::protect_or_pass`].
    pub async fn protect_or_pass_batch<'a>(
        &self,
        items: impl IntoIterator<Item = (&'a Payload, &'a Scope)>,
    ) -> Result<Vec<Result<Protection, Error>>, Error> {
        let requests =
            items.into_iter().map(|(payload, scope)| ProtectRequest::new(payload, scope));
        let read: Read<_> = |item, id| {
            serde_json::from_str::<ProtectedPayload<'_>>(item.get()).ok()?.protection(Some(id))
        };
        let bodies = Bodies::of(requests)?;
        self.batch("/api/v1/protect/batch", bodies, false, read).await
    }

    /// Opens envelopes. The results have the order of the items, and fail one by one.
    pub async fn unprotect_batch<'a>(
        &self,
        items: impl IntoIterator<Item = (Sealed<'a>, &'a Scope)>,
    ) -> Result<Vec<Result<Unprotected, Error>>, Error> {
        let requests = items.into_iter().map(|(it, scope)| Ok(UnprotectRequest::new(it, scope)));
        let read: Read<_> = |item, id| {
            let item: UnprotectedPayload<'_> = serde_json::from_str(item.get()).ok()?;
            Some(item.into_unprotected(Some(id)))
        };
        let bodies = Bodies::of(requests)?;
        self.batch("/api/v1/unprotect/batch", bodies, true, read).await
    }

    /// Opens envelopes and makes new ones. The results have the order of the items, and fail one by one.
    pub async fn rewrap_batch<'a>(
        &self,
        items: impl IntoIterator<Item = (Sealed<'a>, &'a Scope, &'a Target)>,
    ) -> Result<Vec<Result<Protected, Error>>, Error> {
        let requests =
            items.into_iter().map(|(it, scope, to)| Ok(RewrapRequest::new(it, scope, to)));
        let read: Read<_> = |item, id| {
            let item: RewrappedPayload = serde_json::from_str(item.get()).ok()?;
            Some(item.into_protected(Some(id)))
        };
        let bodies = Bodies::of(requests)?;
        self.batch("/api/v1/rewrap/batch", bodies, true, read).await
    }

    async fn batch<T>(
        &self,
        path: &str,
        bodies: Bodies,
        opens: bool,
        read: Read<T>,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        let expires = Instant::now() + self.transport().deadline(self.overrides());
        let mut results = Vec::with_capacity(bodies.items);
        for (body, count) in bodies.bodies {
            let call = Call::new(hyper::Method::POST, path).with_text(body);
            let call = if opens { call.opening() } else { call };
            let left = expires.saturating_duration_since(Instant::now());
            let overrides = Overrides { deadline: Some(left), ..self.overrides().clone() };
            let answer = self.transport().answer(&call, &overrides).await?;
            results.extend(results_of(&answer, count, opens, read)?);
        }
        Ok(results)
    }
}

fn results_of<T>(
    answer: &Answer,
    count: usize,
    opens: bool,
    read: Read<T>,
) -> Result<Vec<Result<T, Error>>, Error> {
    let batch: BatchAnswer<'_> = answer.parse()?;
    if batch.items.len() != count {
        return Err(answer.unexpected());
    }
    let id = batch.request_id;
    let result = |item: &&RawValue| {
        let common: Item = serde_json::from_str(item.get()).map_err(|_| answer.unexpected())?;
        match common.error {
            Some(error) => Err(error.into_error(common.status, opens, Some(id.clone()))),
            None => read(item, &id).ok_or_else(|| answer.unexpected()),
        }
    };
    Ok(batch.items.iter().map(result).collect())
}

/// The bodies of the requests for a list of items, each with its number of items.
struct Bodies {
    bodies: Vec<(Wiped, usize)>,
    items: usize,
}

impl Bodies {
    const BEGIN: &'static [u8] = br#"{"items":["#;
    const END: &'static [u8] = b"]}";

    fn of<R: Serialize>(requests: impl Iterator<Item = Result<R, Error>>) -> Result<Self, Error> {
        let mut all = Self { bodies: Vec::new(), items: 0 };
        for request in requests {
            let mut item = Wiped::default();
            serde_json::to_writer(&mut item, &request?)
                .map_err(|_| Error::Invalid(Invalid::Value))?;
            all.add(&item.0);
        }
        for (body, _) in &mut all.bodies {
            body.extend(Self::END);
        }
        Ok(all)
    }

    fn add(&mut self, item: &[u8]) {
        self.items += 1;
        if let Some((body, count)) = self.bodies.last_mut()
            && *count < MOST_ITEMS
            && body.0.len() + 1 + item.len() + Self::END.len() <= MOST_BYTES
        {
            body.extend(b",");
            body.extend(item);
            *count += 1;
            return;
        }
        let mut body = Wiped::default();
        body.extend(Self::BEGIN);
        body.extend(item);
        self.bodies.push((body, 1));
    }
}
