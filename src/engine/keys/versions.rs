//! The keys of a service with one name. Texts name one of them by its version.

use std::cmp::Reverse;
use std::sync::Arc;

use super::key::VERSIONS;
use super::usable::Usable;
use super::{Key, KeyStatus};
use crate::ids::ServiceId;
use crate::seals::{Group, GroupMember};
use formats::clock::Timestamp;

/// The `sig` or `data` keys of a service with one name, the highest version first.
#[derive(Debug)]
pub struct Versions {
    versions: Vec<Version>,
    /// The number of versions above the first one whose row does not count.
    above_missing: usize,
}

#[derive(Debug)]
struct Version {
    key: Key,
    usable: Arc<Usable>,
}

/// The versions of a name. Each version that ever was is an entry of the group, whose number the key has.
pub(super) fn versions_of(service: ServiceId, name: &str) -> Group {
    Group::of(VERSIONS, &[service.uuid().as_bytes(), name.as_bytes()])
}

impl Versions {
    /// Those of `keys` that are the members of the group.
    pub(super) fn of(group: Group, members: &[GroupMember], mut keys: Vec<Key>) -> Self {
        let mut places: Vec<(i64, Option<Key>)> = members
            .iter()
            .filter_map(|member| match keys.iter().position(|key| key.id.uuid() == member.id) {
                Some(place) => {
                    let key = keys.swap_remove(place);
                    Some((key.version_in(group)?, Some(key)))
                }
                None => Some((member.number, None)),
            })
            .collect();
        places.sort_by_key(|(number, _)| Reverse(*number));
        let (mut versions, mut above_missing) = (Vec::new(), None);
        for (_, key) in places {
            match key {
                Some(key) => versions.push(Version { usable: Arc::new(Usable::of(&key)), key }),
                None => above_missing = above_missing.or(Some(versions.len())),
            }
        }
        let above_missing = above_missing.unwrap_or(versions.len());
        Self { versions, above_missing }
    }

    /// The keys, also those that are disabled or destroyed.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.versions.iter().map(|version| &version.key)
    }

    /// The key that encrypts or signs under the name: the highest version that is active and has not expired.
    pub fn acting(&self, now: Timestamp) -> Option<&Key> {
        self.acting_version(now).map(|version| &version.key)
    }

    /// No version below one whose row does not count: it must not take the place of the missing one.
    fn acting_version(&self, now: Timestamp) -> Option<&Version> {
        let mut present = self.versions.iter().take(self.above_missing);
        present.find(|Version { key, usable }| {
            let can_act = key.status == KeyStatus::Active && key.has_private();
            can_act && !usable.is_expired(now)
        })
    }

    /// The version with this number.
    pub(super) fn numbered(&self, number: i64) -> Option<&Arc<Usable>> {
        let has_number = |version: &&Version| version.key.number() == Some(number);
        self.versions.iter().find(has_number).map(|version| &version.usable)
    }

    /// The key that encrypts or signs, or else the one that would if its state allowed it.
    pub(super) fn default_version(&self, now: Timestamp) -> Option<&Arc<Usable>> {
        let highest = || self.versions.first().filter(|_| self.above_missing > 0);
        self.acting_version(now).or_else(highest).map(|version| &version.usable)
    }
}

impl Key {
    /// The group of the versions of its name.
    pub(super) fn versions(&self) -> Group {
        versions_of(self.service_id, &self.name)
    }

    fn number(&self) -> Option<i64> {
        self.version.map(|version| version.number())
    }

    /// Its number among these versions; none if it has another name, which a key never changes. An entry with another
    /// number changes nothing, because the sealed row has the number.
    fn version_in(&self, versions: Group) -> Option<i64> {
        self.number().filter(|_| self.versions() == versions)
    }
}

#[cfg(test)]
mod tests {
    use hsm::KeyName;
    use uuid::Uuid;

    use super::*;
    use crate::ids::KeyId;
    use crate::keys::{KeyOrigin, KeyVersion, Made, Usage};
    use crate::resource::Name;
    use formats::material::Algorithm;

    fn now() -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000)
    }

    fn service() -> ServiceId {
        ServiceId::from_uuid(Uuid::from_u128(1))
    }

    /// An active key with this version.
    fn key(number: i64) -> Key {
        let made = Made {
            id: KeyId::from_uuid(Uuid::from_u128(number.cast_unsigned().into())),
            usage: Usage::Data,
            algorithm: Algorithm::Aes256,
            origin: KeyOrigin::Generated,
            private_half: Some((KeyName::Id(vec![1]), false)),
            public_key: None,
        };
        let version = Some(KeyVersion::of(number));
        let key = Key::new(made, service(), Name::of("cards"), now());
        Key { version, status: KeyStatus::Active, ..key }
    }

    /// The versions of these keys, of which each number is a member.
    fn versions(numbers: &[i64], keys: Vec<Key>) -> Versions {
        let members = numbers.iter().rev();
        let members =
            members.map(|&number| GroupMember { id: key(number).id.uuid(), first: number, number });
        let members: Vec<GroupMember> = members.collect();
        Versions::of(versions_of(service(), "cards"), &members, keys)
    }

    fn acting(versions: &Versions) -> Option<i64> {
        versions.acting(now()).and_then(Key::number)
    }

    #[test]
    fn the_highest_version_that_is_active_and_has_not_expired_acts() {
        let retired = Key { status: KeyStatus::Retired, ..key(4) };
        let expired = Key { expires_at: Some(now()), ..key(3) };
        let all = versions(&[1, 2, 3, 4], vec![key(1), key(2), expired.clone(), retired]);
        assert_eq!(acting(&all), Some(2));
        let numbers: Vec<_> = all.keys().filter_map(Key::number).collect();
        assert_eq!(numbers, [4, 3, 2, 1]);
        assert_eq!(acting(&versions(&[3], vec![expired])), None);
    }

    #[test]
    fn a_key_without_a_private_half_does_not_act() {
        let mut public = key(2);
        public.private_half.token_name = None;
        assert_eq!(acting(&versions(&[1, 2], vec![key(1), public])), Some(1));
    }

    #[test]
    fn no_version_acts_below_one_that_does_not_count() {
        let hidden = versions(&[1, 2, 3], vec![key(1), key(3)]);
        assert_eq!(acting(&hidden), Some(3));
        let highest_hidden = versions(&[1, 2, 3], vec![key(1), key(2)]);
        assert_eq!(acting(&highest_hidden), None);
        assert!(highest_hidden.default_version(now()).is_none());
        // Texts name the versions below it.
        assert!(highest_hidden.numbered(2).is_some());
        assert!(highest_hidden.numbered(3).is_none());
    }

    #[test]
    fn an_entry_gives_no_key_another_number_or_name() {
        let forged = GroupMember { id: key(1).id.uuid(), first: 1, number: 7 };
        let second = GroupMember { id: key(2).id.uuid(), first: 2, number: 2 };
        let keys = || vec![key(1), key(2)];
        let versions = Versions::of(versions_of(service(), "cards"), &[forged, second], keys());
        assert_eq!(acting(&versions), Some(2));
        assert!(versions.numbered(1).is_some() && versions.numbered(7).is_none());
        let hidden = Versions::of(versions_of(service(), "cards"), &[forged, second], vec![key(1)]);
        assert_eq!(acting(&hidden), None);
        let others = Versions::of(versions_of(service(), "other"), &[forged, second], keys());
        assert_eq!(others.keys().count(), 0);
    }
}
