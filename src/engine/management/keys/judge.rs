//! The changes of a key that can need approval, and what events say of its row.

use serde_json::Value;

use crate::change_kind::ChangeKind;
use crate::keys::{DefaultKey, Key, KeyOrigin, KeyStatus, Usage};
use crate::management::changes::Judgement;
use crate::management::{Attested, Resource, ResourceType};
use formats::clock::Timestamp;

impl Resource for Key {
    const TYPE: ResourceType = ResourceType::Key;

    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement {
        let Some(after) = after else {
            return Judgement::default();
        };
        let at = after.updated_at;
        let mut kinds = Vec::new();
        if before.is_none() {
            kinds.extend(of_source(after.origin));
        }
        let rotates = before.is_some_and(|before| begins_rotation(before, after));
        let begins_to_work = works(after, at) && !before.is_some_and(|before| works(before, at));
        // An active key retires the one that it replaces, even if it has expired.
        let is_activated = is_active(after) && !before.is_some_and(is_active);
        // The successor of an expired key works.
        if begins_to_work || is_activated || (rotates && !works(after, at)) {
            kinds.push(ChangeKind::KeyActivate);
        }
        if is_deleted(after) && !before.is_some_and(is_deleted) {
            kinds.push(ChangeKind::KeyDestroy);
        }
        let given_up = before.filter(|before| works(before, at) && ends_earlier(before, after));
        // It can work longer than the keys that were activated after it.
        let ends_later =
            works(after, at) && before.is_some_and(|before| expires_earlier(after, before));
        let promoted = Some(after).filter(|_| rotates || ends_later);
        Judgement::of(kinds)
            .giving_up(given_up.and_then(|key| DefaultKey::of(key, at)))
            .promoting(promoted.and_then(|key| DefaultKey::of(key, at)))
    }
}

impl Attested for Key {
    const LOSSES: &'static [(&'static str, Option<&'static str>)] =
        &[("status", Some(KeyStatus::Disabled.name()))];

    fn has_lost(state: &Value) -> bool {
        let can_lose = [KeyStatus::Active, KeyStatus::Retired];
        !can_lose.iter().any(|status| state["status"] == status.name())
    }
}

/// The judgement of a new key with this origin, which works at once or not.
pub(super) fn of_creation(origin: KeyOrigin, works: bool) -> Judgement {
    let activation = works.then_some(ChangeKind::KeyActivate);
    Judgement::of(of_source(origin).into_iter().chain(activation))
}

fn of_source(origin: KeyOrigin) -> Option<ChangeKind> {
    match origin {
        KeyOrigin::Imported => Some(ChangeKind::KeyImport),
        KeyOrigin::Adopted => Some(ChangeKind::KeyAdopt),
        KeyOrigin::Generated => None,
    }
}

/// Whether the key protects, encrypts or signs at that time.
fn works(key: &Key, at: Timestamp) -> bool {
    is_active(key) && key.expires_at.is_none_or(|expiry| expiry > at)
}

/// Whether the key protects, encrypts or signs until it expires.
fn is_active(key: &Key) -> bool {
    let has_half = key.usage == Usage::Enc || key.private_half.token_name.is_some();
    key.status == KeyStatus::Active && has_half
}

/// Whether the key stops to work, or does so earlier than before.
fn ends_earlier(before: &Key, after: &Key) -> bool {
    after.status != KeyStatus::Active || expires_earlier(before, after)
}

/// Whether the second key expires earlier than the first.
fn expires_earlier(first: &Key, second: &Key) -> bool {
    match (first.expires_at, second.expires_at) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(first), Some(second)) => second < first,
    }
}

/// Whether an active key gets successors, or gets them at another time.
fn begins_rotation(before: &Key, after: &Key) -> bool {
    let is_changed = after.rotation_days != before.rotation_days;
    after.status == KeyStatus::Active && after.rotation_days.is_some() && is_changed
}

fn is_deleted(key: &Key) -> bool {
    match key.status {
        KeyStatus::PendingDestruction | KeyStatus::Destroyed => true,
        KeyStatus::Active | KeyStatus::Retired | KeyStatus::Disabled => false,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ids::{KeyId, ServiceId};
    use crate::keys::Made;
    use crate::resource::Name;
    use formats::material::Algorithm;

    const NOW: i64 = 1_800_000_000_000;

    fn now() -> Timestamp {
        Timestamp::from_millis(NOW)
    }

    fn service(number: u128) -> ServiceId {
        ServiceId::from_uuid(Uuid::from_u128(number))
    }

    fn key(origin: KeyOrigin, status: KeyStatus) -> Key {
        let made = Made {
            id: KeyId::from_uuid(Uuid::from_u128(6)),
            usage: Usage::Enc,
            algorithm: Algorithm::Rsa3072,
            origin,
            private_half: None,
            public_key: None,
        };
        Key { status, ..Key::new(made, service(1), Name::of("n"), now()) }
    }

    #[test]
    fn a_new_key_is_judged_by_its_origin_and_status() {
        for (origin, status, expected) in [
            (KeyOrigin::Generated, KeyStatus::Retired, &[][..]),
            (KeyOrigin::Generated, KeyStatus::Active, &[ChangeKind::KeyActivate]),
            (KeyOrigin::Imported, KeyStatus::Retired, &[ChangeKind::KeyImport]),
            (
                KeyOrigin::Imported,
                KeyStatus::Active,
                &[ChangeKind::KeyImport, ChangeKind::KeyActivate],
            ),
            (KeyOrigin::Adopted, KeyStatus::Retired, &[ChangeKind::KeyAdopt]),
            (
                KeyOrigin::Adopted,
                KeyStatus::Active,
                &[ChangeKind::KeyAdopt, ChangeKind::KeyActivate],
            ),
        ] {
            let kinds = Key::judge(None, Some(&key(origin, status))).kinds;
            assert_eq!(kinds, expected, "{origin} {status}");
        }
    }

    #[test]
    fn a_key_is_judged_by_the_status_that_it_reaches() {
        for from in KeyStatus::ALL {
            for to in KeyStatus::ALL {
                let of = |status| key(KeyOrigin::Imported, status);
                let kinds = Key::judge(Some(&of(from)), Some(&of(to))).kinds;
                let expected = match (from, to) {
                    (KeyStatus::Active, KeyStatus::Active) => None,
                    (_, KeyStatus::Active) => Some(ChangeKind::KeyActivate),
                    (
                        KeyStatus::Active | KeyStatus::Retired | KeyStatus::Disabled,
                        KeyStatus::PendingDestruction | KeyStatus::Destroyed,
                    ) => Some(ChangeKind::KeyDestroy),
                    _ => None,
                };
                assert_eq!(kinds, Vec::from_iter(expected), "{from} {to}");
            }
        }
    }

    #[test]
    fn an_expired_key_is_judged_by_the_status_that_it_reaches() {
        let expired = |status| Key { expires_at: Some(now()), ..key(KeyOrigin::Generated, status) };
        let (before, after) = (expired(KeyStatus::Retired), expired(KeyStatus::Active));
        let kinds = Key::judge(Some(&before), Some(&after)).kinds;
        assert_eq!(kinds, [ChangeKind::KeyActivate]);
    }

    #[test]
    fn a_later_expiry_activates_only_an_expired_key() {
        let expiring = |at: Option<i64>| Key {
            expires_at: at.map(Timestamp::from_millis),
            ..key(KeyOrigin::Generated, KeyStatus::Active)
        };
        for (before, after, activates) in [
            (Some(NOW), Some(NOW + 1), true),
            (Some(NOW), None, true),
            (Some(NOW + 1), None, false),
            (None, Some(NOW + 1), false),
        ] {
            let kinds = Key::judge(Some(&expiring(before)), Some(&expiring(after))).kinds;
            let expected = activates.then_some(ChangeKind::KeyActivate);
            assert_eq!(kinds, Vec::from_iter(expected), "{before:?} {after:?}");
        }
    }
}
