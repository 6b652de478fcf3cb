//! The keys of a service that take over from each other.

use std::cmp::Reverse;

use super::key::SUCCESSION;
use super::{Key, KeyStatus, Usage};
use crate::ids::{KeyId, ServiceId};
use crate::seals::{Group, GroupMember};
use formats::material::{Algorithm, Family};

/// The keys of a service with this use that can take the place of one with this algorithm: for envelopes those
/// of the family, for other operations those that fit the same algorithm of the operation. Each activation is
/// an entry of the group, and the key has its number.
pub(super) fn succession_of(service: ServiceId, usage: Usage, algorithm: Algorithm) -> Group {
    let family = algorithm.family();
    let of_family = usage == Usage::Enc || family == Family::Rsa;
    let fitting = if of_family { family.name() } else { algorithm.name() };
    let service = service.uuid();
    Group::of(SUCCESSION, &[service.as_bytes(), usage.name().as_bytes(), fitting.as_bytes()])
}

/// All successions of a service.
pub(super) fn successions_of(service: ServiceId) -> Vec<Group> {
    let mut all = Vec::new();
    for usage in Usage::ALL {
        for algorithm in Algorithm::ALL.into_iter().filter(|it| usage.allows(*it)) {
            let group = succession_of(service, usage, algorithm);
            if !all.contains(&group) {
                all.push(group);
            }
        }
    }
    all
}

impl Key {
    /// The group of keys that it takes over from.
    pub(super) fn succession(&self) -> Group {
        succession_of(self.service_id, self.usage, self.algorithm)
    }

    /// The key among `keys` that replaces this one or has replaced it: the one that waits for its activation, or else
    /// the next one that was activated. Keys that are not for envelopes are replaced by those with their name. A key
    /// that still acts was not replaced by one that does not.
    pub(crate) fn successor(&self, keys: &[Self]) -> Option<KeyId> {
        let waits = |key: &&Self| key.succeeds == Some(self.id) && key.status == KeyStatus::Retired;
        let can_replace = |key: &&Self| {
            key.service_id == self.service_id
                && key.activation > self.activation
                && key.usage == self.usage
                && (key.usage == Usage::Enc || key.name == self.name)
                && key.succession() == self.succession()
                && (self.status != KeyStatus::Active || key.status == KeyStatus::Active)
        };
        let next = || keys.iter().filter(can_replace).min_by_key(|key| key.activation);
        let waiting = keys.iter().find(waits);
        waiting.or_else(|| self.activation.and_then(|_| next())).map(|key| key.id)
    }

    /// The number of its last activation; none if it has another succession, which a key never changes. An entry with
    /// another number changes nothing, because the sealed row has the last one.
    fn activation_in(&self, succession: Group) -> Option<i64> {
        self.activation.filter(|_| self.succession() == succession)
    }
}

/// Those of the keys of a succession that act by default, the one that was activated last first. Of envelope
/// keys, only that one does. After a member whose row does not count none acts: an earlier key must not take
/// the place of the missing one.
pub(super) fn acting<'k>(
    succession: Group,
    members: &[GroupMember],
    keys: &'k [Key],
) -> impl Iterator<Item = &'k Key> {
    let mut places: Vec<(i64, Option<&Key>)> = members
        .iter()
        .filter_map(|member| match keys.iter().find(|key| key.id.uuid() == member.id) {
            Some(key) => Some((key.activation_in(succession)?, Some(key))),
            None => Some((member.number, None)),
        })
        .collect();
    places.sort_by_key(|(number, _)| Reverse(*number));
    let mut counted = Vec::new();
    for (_, key) in places {
        match key {
            Some(key) => counted.push(key),
            None => break,
        }
        if counted.iter().any(|key| key.usage == Usage::Enc) {
            break;
        }
    }
    counted.into_iter().filter(|key| key.status == KeyStatus::Active)
}
