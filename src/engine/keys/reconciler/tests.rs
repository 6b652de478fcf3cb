//! Orphans and missing keys.

use hsm::KeyRef;

use super::*;

const NOW: i64 = 1_700_000_000_000;

fn object(id: u128) -> TokenObject {
    TokenObject {
        token: "one".to_owned(),
        key: KeyRef::private(id.to_be_bytes()),
        label: String::new(),
        is_visible: false,
        internal: false,
    }
}

fn record(id: u128, destroyed: bool, age: i64) -> ExpectedKey {
    ExpectedKey {
        id: KeyId::from_uuid(Uuid::from_u128(id)),
        name: KeyName::Id(id.to_be_bytes().to_vec()),
        objects: 1,
        destroyed,
        created_at: Timestamp::from_millis(NOW - age),
    }
}

fn intent(id: u128, age: i64, fulfilled: bool) -> IntendedObject {
    IntendedObject {
        id: Uuid::from_u128(id),
        is_import_key: false,
        created_at: Timestamp::from_millis(NOW - age),
        fulfilled,
    }
}

#[test]
fn an_object_without_a_record_is_an_orphan() {
    let hour = 3_600_000;
    let records = [record(1, false, hour), record(2, true, hour)];
    let intents = [intent(3, hour, false), intent(4, 1_000, false), intent(5, hour, true)];
    let internal = TokenObject { internal: true, ..object(7) };
    let mut objects: Vec<_> = (1..=6).map(object).collect();
    objects.push(internal);
    let now = Timestamp::from_millis(NOW);
    let found: Vec<_> = orphans(&records, &intents, &objects, now)
        .into_iter()
        .map(|orphan| orphan.intended)
        .collect();
    let id = |id| KeyId::from_uuid(Uuid::from_u128(id));
    assert_eq!(found, [Some(Intended::Destroyed(id(2))), Some(Intended::Key(id(3))), None]);
}

#[test]
fn a_key_on_no_token_is_missing_unless_it_is_new_or_destroyed() {
    let records = [
        record(1, false, 1_000),
        record(2, false, 1_000),
        record(3, true, 1_000),
        record(4, false, -1_000),
    ];
    let found = missing(&records, &[object(1)], Timestamp::from_millis(NOW));
    assert_eq!(found, [KeyId::from_uuid(Uuid::from_u128(2))]);
}

/// Such an object can be made without the PIN.
#[test]
fn an_object_that_is_visible_without_a_login_hides_no_missing_key() {
    let decoy = TokenObject { is_visible: true, ..object(1) };
    let records = [record(1, false, 1_000)];
    let now = Timestamp::from_millis(NOW);
    let alone = std::slice::from_ref(&decoy);
    assert_eq!(missing(&records, alone, now), [records[0].id]);
    let found = orphans(&records, &[], alone, now);
    assert_eq!(found.iter().map(|orphan| orphan.intended).collect::<Vec<_>>(), [None]);
    let beside = [object(1), decoy];
    assert!(missing(&records, &beside, now).is_empty());
}

#[test]
fn a_key_that_is_recorded_by_its_label_is_found_by_it() {
    let labelled = |id| TokenObject { label: "vendor".to_owned(), ..object(id) };
    let records =
        [ExpectedKey { name: KeyName::Label("vendor".to_owned()), ..record(1, false, 1_000) }];
    let now = Timestamp::from_millis(NOW);
    assert!(missing(&records, &[labelled(7)], now).is_empty());
    assert!(orphans(&records, &[], &[labelled(7)], now).is_empty());
    assert_eq!(missing(&records, &[object(7)], now).len(), 1);
    assert_eq!(orphans(&records, &[], &[object(7)], now).len(), 1);
}

#[test]
fn a_hybrid_key_is_missing_unless_one_token_has_both_objects() {
    let hybrid = ExpectedKey { objects: 2, ..record(1, false, 1_000) };
    let on_another = TokenObject { token: "two".to_owned(), ..object(1) };
    let records = [hybrid];
    let is_missing = |objects: &[TokenObject]| {
        !missing(&records, objects, Timestamp::from_millis(NOW)).is_empty()
    };
    assert!(is_missing(&[object(1)]));
    assert!(is_missing(&[object(1), on_another]));
    assert!(!is_missing(&[object(1), object(1)]));
}
