//! Who makes a change.

use std::collections::HashSet;

use super::Change;
use crate::auth::Person;
use crate::ids::ApiKeyId;
use crate::management::changes::Authority;

impl Change<'_> {
    /// Whether the author authenticated with this API key.
    pub(in crate::management) fn is_by(&self, id: ApiKeyId) -> bool {
        self.context.actor.api_key_id == Some(id)
    }

    /// The person of the author.
    pub(in crate::management) fn person(&self) -> Option<&str> {
        self.author.as_ref()?.person.as_deref()
    }

    /// Whether the author is this person, or has a key that names them.
    pub(in crate::management) fn is_by_person(&self, person: &Person) -> bool {
        let actor = self.context.actor.person.as_ref();
        actor.is_some_and(|actor| actor.id() == person.id())
            || self.person() == Some(person.subject())
    }

    /// The author, for people: the person, or else the name of the credential.
    pub(in crate::management) fn author_name(&self) -> String {
        self.person().unwrap_or(&self.context.actor.name).to_owned()
    }

    /// Whether the author is the service itself, or an operator on its machine.
    pub(in crate::management) fn is_by_system(&self) -> bool {
        matches!(self.authority, Authority::System)
    }

    /// Whether the author has a credential that names no person.
    pub(in crate::management) fn is_by_unknown_person(&self) -> bool {
        self.author.as_ref().is_some_and(|author| author.person.is_none())
    }

    /// The people who may act as the author: its person, and those who may know its API key.
    pub(in crate::management) fn people(&self) -> Vec<String> {
        let author = self.author.iter();
        each_once(author.flat_map(|author| author.person.iter().chain(&author.known_to)))
    }

    /// The people who create what the author creates: its person, and those who created its API key.
    pub(in crate::management) fn makers(&self) -> Vec<String> {
        let author = self.author.iter();
        each_once(author.flat_map(|author| author.person.iter().chain(&author.made_by)))
    }
}

/// The people without repetitions, which would lengthen the list with each key that creates the next one.
fn each_once<'n>(people: impl Iterator<Item = &'n String>) -> Vec<String> {
    let mut named = HashSet::new();
    people.filter(|person| named.insert(*person)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::each_once;

    #[test]
    fn nobody_is_named_twice() {
        let people = ["ada", "bob", "ada", "cai", "bob"].map(str::to_owned);
        assert_eq!(each_once(people.iter()), ["ada", "bob", "cai"]);
    }
}
