//! What all resources have in common.

use std::fmt;
use std::marker::PhantomData;

use aws_lc_rs::rand;
use hyper::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Change, Pager};
use crate::Client;
use crate::error::{Error, LocalError};
use crate::transport::{Answer, Call, segment};

/// A kind of resource.
pub trait Resource: DeserializeOwned {
    /// Its path in the API.
    #[doc(hidden)]
    const PATH: &'static str;
    /// What a list can be filtered by.
    type Filter: Serialize + Default;
}

/// A kind of resource that administrators create, change and delete.
pub trait Editable: Resource + Serialize {
    /// The request to create one.
    type New: Serialize;
    /// The response to it.
    type Created: DeserializeOwned;
    /// The request to change one. Absent members keep their value.
    type Changes: Serialize;
}

/// The resources of one kind.
pub struct Resources<'a, R> {
    client: &'a Client,
    kind: PhantomData<R>,
}

/// A resource with the tag of its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored<T> {
    /// The resource.
    pub resource: T,
    /// The tag, for `if_match` of a change.
    pub etag: Option<String>,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a pending change has no effect yet"]
pub enum Outcome<T> {
    /// It was made.
    Done(T),
    /// It needs approval, and has no effect until then.
    Pending(Box<Change>),
}

impl<T> Outcome<T> {
    /// The result of a change that was made, or the pending change.
    pub fn done(self) -> Result<T, Box<Change>> {
        match self {
            Self::Done(done) => Ok(done),
            Self::Pending(change) => Err(change),
        }
    }
}

impl<T> fmt::Debug for Resources<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Resources").field(self.client).finish()
    }
}

impl<'a, R: Resource> Resources<'a, R> {
    pub(super) fn new(client: &'a Client) -> Self {
        Self { client, kind: PhantomData }
    }

    /// All resources that match a filter, page by page.
    pub fn list(&self, filter: &R::Filter) -> Pager<'a, R> {
        Pager::new(self.client, R::PATH, filter)
    }

    /// The resource with this ID.
    pub async fn get(&self, id: &str) -> Result<Stored<R>, Error> {
        stored(&self.client.answer(Call::get(path_of::<R>(id))).await?)
    }

    pub(super) fn client(&self) -> &'a Client {
        self.client
    }
}

impl<R: Editable> Resources<'_, R> {
    /// Creates a resource.
    pub async fn create(&self, new: &R::New) -> Result<Outcome<Stored<R::Created>>, Error> {
        outcome(&self.client.answer(post(R::PATH.to_owned(), new)?).await?)
    }

    /// Changes the given members, if the resource still has the tag.
    pub async fn update(
        &self,
        id: &str,
        changes: &R::Changes,
        if_match: Option<&str>,
    ) -> Result<Outcome<Stored<R>>, Error> {
        let call = Call::new(Method::PATCH, path_of::<R>(id));
        let call = call.with_body("application/merge-patch+json", changes)?;
        outcome(&self.client.answer(matching(call, if_match)).await?)
    }

    /// Replaces a resource, such as one that was read and edited, if it still has the tag.
    pub async fn replace(
        &self,
        id: &str,
        resource: &R,
        if_match: Option<&str>,
    ) -> Result<Outcome<Stored<R>>, Error> {
        let call = Call::new(Method::PUT, path_of::<R>(id));
        let call = call.with_body("application/json", resource)?;
        outcome(&self.client.answer(matching(call, if_match)).await?)
    }

    /// Deletes a resource, if it still has the tag.
    pub async fn delete(&self, id: &str, if_match: Option<&str>) -> Result<Outcome<()>, Error> {
        let call = Call::new(Method::DELETE, path_of::<R>(id));
        let answer = self.client.answer(matching(call, if_match)).await?;
        match answer.status() {
            202 => answer.parse().map(|change| Outcome::Pending(Box::new(change))),
            _ => Ok(Outcome::Done(())),
        }
    }
}

/// The path of a resource.
pub(super) fn path_of<R: Resource>(id: &str) -> String {
    format!("{}/{}", R::PATH, segment(id))
}

/// A POST request that can be repeated.
pub(super) fn post(path: String, body: &impl Serialize) -> Result<Call<'static>, Error> {
    let mut random = [0; 16];
    rand::fill(&mut random).map_err(LocalError::from)?;
    let key = format!("{:032x}", u128::from_be_bytes(random));
    Ok(Call::post(path, body)?.header("idempotency-key", key))
}

pub(super) fn matching<'a>(call: Call<'a>, if_match: Option<&'a str>) -> Call<'a> {
    match if_match {
        Some(etag) => call.header("if-match", etag),
        None => call,
    }
}

pub(super) fn stored<T: DeserializeOwned>(answer: &Answer) -> Result<Stored<T>, Error> {
    let etag = answer.header("etag").map(ToOwned::to_owned);
    Ok(Stored { resource: answer.parse()?, etag })
}

pub(super) fn outcome<T: DeserializeOwned>(answer: &Answer) -> Result<Outcome<Stored<T>>, Error> {
    match answer.status() {
        202 => answer.parse().map(|change| Outcome::Pending(Box::new(change))),
        _ => stored(answer).map(Outcome::Done),
    }
}
