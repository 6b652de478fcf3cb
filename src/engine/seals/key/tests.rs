use super::*;

const ROW: RowName = RowName { table: "keys", id: uuid::Uuid::from_u128(7) };

fn key(secrets: &[(u32, &'static [u8])]) -> RowKey {
    RowKey::derive(secrets.iter().copied()).unwrap()
}

fn form(status: &str) -> RowForm {
    let mut form = RowForm::default();
    form.add("status", &status, (FIRST_FORM, false)).unwrap();
    form
}

const FORMS: Forms = Forms { newest: 1, written: 1 };

fn sealed(key: &RowKey, revision: i64, form: &RowForm) -> Vec<u8> {
    key.seal(ROW, revision, (form, FORMS)).unwrap().bytes
}

#[test]
fn a_seal_is_that_of_one_row_with_these_columns_at_one_revision() {
    let key = key(&[(1, b"secret")]);
    let seal = sealed(&key, 3, &form("active"));
    assert_eq!(key.verify(ROW, 3, (&form("active"), FORMS), &seal), Ok(()));
    let another = RowName { table: "keys", id: uuid::Uuid::from_u128(8) };
    let elsewhere = RowName { table: "services", ..ROW };
    for (row, revision, status) in
        [(another, 3, "active"), (elsewhere, 3, "active"), (ROW, 4, "active"), (ROW, 3, "disabled")]
    {
        assert_eq!(key.verify(row, revision, (&form(status), FORMS), &seal), Err(Flaw::Forged));
    }
    for at in 0..seal.len() {
        let mut other = seal.clone();
        other[at] ^= 1;
        assert!(key.verify(ROW, 3, (&form("active"), FORMS), &other).is_err(), "byte {at}");
    }
    assert_eq!(key.verify(ROW, 3, (&form("active"), FORMS), &seal[..4]), Err(Flaw::Forged));
}

#[test]
fn the_endorsed_generation_seals_and_the_others_count() {
    let (old, mut new) = (key(&[(1, b"old")]), key(&[(1, b"old"), (2, b"new")]));
    assert_eq!(
        old.verify(ROW, 1, (&form("active"), FORMS), &sealed(&new, 1, &form("active"))),
        Ok(())
    );
    let endorsement = new.endorse_newest().unwrap();
    new.activate(&[endorsement]);
    assert!(new.endorse_newest().is_none());
    let before = sealed(&old, 1, &form("active"));
    assert_eq!(new.verify(ROW, 1, (&form("active"), FORMS), &before), Ok(()));
    let after = sealed(&new, 1, &form("active"));
    assert_eq!(old.verify(ROW, 1, (&form("active"), FORMS), &after), Err(Flaw::OtherGeneration));
    assert_eq!(key(&[(2, b"new")]).verify(ROW, 1, (&form("active"), FORMS), &after), Ok(()));
}

#[test]
fn only_the_predecessor_endorses_a_generation() {
    let (old, both, new) =
        (key(&[(1, b"old")]), key(&[(1, b"old"), (2, b"new")]), key(&[(2, b"new")]));
    assert!(old.agrees_with(&both) && both.agrees_with(&new) && !old.agrees_with(&new));
    let endorsement = both.endorse_newest().unwrap();
    let all = [endorsement.clone()];
    assert!(old.endorses(&new, &all));
    let other = key(&[(2, b"other")]);
    assert!(!old.endorses(&other, &all) && !other.endorses(&new, &all));
    let mut forged = key(&[(1, b"old"), (2, b"other")]);
    forged.activate(&all);
    assert_eq!(forged.sealing(), 1);
    // Its predecessor is destroyed.
    let mut left = key(&[(2, b"new"), (3, b"next")]);
    left.activate(&all);
    assert_eq!((left.sealing(), left.newest(), left.before(3)), (2, 3, vec![2]));
}

#[test]
fn another_secret_makes_another_key() {
    let (one, other) = (key(&[(1, b"one")]), key(&[(1, b"other")]));
    let seal = sealed(&one, 1, &form("active"));
    assert_eq!(other.verify(ROW, 1, (&form("active"), FORMS), &seal), Err(Flaw::Forged));
    assert!(!one.agrees_with(&other));
    assert!(RowKey::derive([]).is_none());
    assert_eq!(format!("{one:?}"), "RowKey([redacted])");
}

#[test]
fn columns_do_not_run_into_each_other() {
    let of = |columns: &[(&str, Option<&str>)]| {
        let mut form = RowForm::default();
        columns
            .iter()
            .for_each(|(name, value)| form.add(name, value, (FIRST_FORM, false)).unwrap());
        form.in_form(FIRST_FORM).unwrap()
    };
    let forms = [
        of(&[("a", Some("bc"))]),
        of(&[("ab", Some("c"))]),
        of(&[("a", Some("b")), ("c", None)]),
        of(&[("a", None), ("bc", None)]),
        of(&[("a", Some("")), ("bc", None)]),
    ];
    for (place, form) in forms.iter().enumerate() {
        assert!(!forms[place + 1..].contains(form), "{place}");
    }
}

/// A row of two releases: the later one adds a column.
#[test]
fn a_column_of_a_later_form_has_its_default_in_rows_of_the_former() {
    let key = key(&[(1, b"secret")]);
    let with = |is_default: bool| {
        let mut form = form("active");
        form.add("added", &!is_default, (2, is_default)).unwrap();
        form
    };
    let former = sealed(&key, 1, &form("active"));
    let reads = Forms { newest: 2, written: 1 };
    assert_eq!(key.verify(ROW, 1, (&with(true), reads), &former), Ok(()));
    assert_eq!(key.verify(ROW, 1, (&with(false), reads), &former), Err(Flaw::Forged));
    // It writes rows that the former release reads, and no other ones.
    let seal = key.seal(ROW, 1, (&with(true), reads)).map(|seal| seal.bytes);
    assert_eq!(seal, Some(former.clone()));
    assert!(key.seal(ROW, 1, (&with(false), reads)).is_none());
    // The release after it.
    let writes = Forms { newest: 2, written: 2 };
    for is_default in [true, false] {
        let seal = key.seal(ROW, 1, (&with(is_default), writes)).unwrap().bytes;
        assert_eq!(key.verify(ROW, 1, (&with(is_default), reads), &seal), Ok(()));
        assert_eq!(key.verify(ROW, 1, (&with(!is_default), reads), &seal), Err(Flaw::Forged));
        let other = key.verify(ROW, 1, (&form("active"), FORMS), &seal);
        assert_eq!(other, Err(Flaw::OtherVersion));
    }
    let mut none = former;
    none[0] = 0;
    assert_eq!(key.verify(ROW, 1, (&form("active"), FORMS), &none), Err(Flaw::OtherVersion));
}
