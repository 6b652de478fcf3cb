//! People without the API: for the operator on the machine of the service.

use super::{Person, store};
use crate::management::{Error, Expected, ResourceType, System};

/// Unlocks the person with this identifier or this subject.
pub async fn unlock(system: &System, name: &str) -> Result<Person, Error> {
    let id = match name.parse() {
        Ok(id) => id,
        Err(_) => one_of(store::of_subject(system.pool.rows(), name).await?)?.id,
    };
    super::unlock(&system.authorize(), id, &Expected::Any).await
}

/// The one person with a subject.
fn one_of(people: Vec<Person>) -> Result<Person, Error> {
    let mut people = people.into_iter();
    let first = people.next().ok_or(Error::Missing(ResourceType::Person))?;
    let others: Vec<String> = people.map(|person| person.id.to_string()).collect();
    if others.is_empty() {
        return Ok(first);
    }
    let (id, others) = (first.id, others.join(", "));
    let message = format!("several people have this subject: name one of {id}, {others}");
    Err(Error::Conflict(message))
}
