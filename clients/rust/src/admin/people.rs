//! People.

use serde::{Deserialize, Serialize};

use super::request::request;
use super::resource::{outcome, path_of, post, stored};
use super::{Outcome, Resource, Resources, Role, Stored};
use crate::error::Error;
use crate::open_set::open_set;

open_set! {
    /// The status of a person.
    PersonStatus {
        Active = "active",
        Locked = "locked",
    }
}

/// A person who administers Sealward.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    /// The ID.
    pub id: String,
    /// The OpenID Connect provider.
    pub issuer: Option<String>,
    /// The name at the provider.
    pub subject: String,
    /// The name for people.
    pub name: String,
    /// The status.
    pub status: PersonStatus,
    /// The roles of the last check.
    pub roles: Vec<Role>,
    /// When the person was last seen.
    pub last_seen_at: Option<String>,
    /// When the person was locked.
    pub locked_at: Option<String>,
    /// Who locked the person.
    pub locked_by: Option<String>,
    /// Why the person was locked.
    pub lock_reason: Option<String>,
    /// The admin keys of the person.
    pub api_key_ids: Vec<String>,
    /// When the record was created.
    pub created_at: String,
    /// When the record was last changed.
    pub updated_at: String,
    /// Whether its row in the database counts; only in lists.
    pub seal_valid: Option<bool>,
}

request! {
    /// Which people a list contains.
    PersonFilter {
        ;
        /// The items of a page.
        limit: u32,
        /// The status.
        status: PersonStatus,
    }
}

#[derive(Serialize)]
pub(crate) struct NewPerson<'a> {
    pub(crate) subject: &'a str,
    pub(crate) reason: &'a str,
}

#[derive(Serialize)]
pub(crate) struct NewPersonLock<'a> {
    pub(crate) reason: &'a str,
}

#[derive(Serialize)]
pub(crate) struct NoMembers {}

impl Resource for Person {
    const PATH: &'static str = "/admin/people";
    type Filter = PersonFilter;
}

impl Resources<'_, Person> {
    /// Locks a person. All sessions and admin keys of the person end.
    pub async fn lock(&self, id: &str, reason: &str) -> Result<Stored<Person>, Error> {
        let path = format!("{}/lock", path_of::<Person>(id));
        stored(&self.client().answer(post(path, &NewPersonLock { reason })?).await?)
    }

    /// Locks a person who was not seen yet.
    pub async fn lock_unseen(&self, subject: &str, reason: &str) -> Result<Stored<Person>, Error> {
        let call = post(Person::PATH.to_owned(), &NewPerson { subject, reason })?;
        stored(&self.client().answer(call).await?)
    }

    /// Unlocks a person.
    pub async fn unlock(&self, id: &str) -> Result<Outcome<Stored<Person>>, Error> {
        let path = format!("{}/unlock", path_of::<Person>(id));
        outcome(&self.client().answer(post(path, &NoMembers {})?).await?)
    }
}
