//! The audit writer hashes exactly the text that Postgres returns.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use engine::audit::{
    CLIENT_CLOSED_REQUEST, Endpoint, OperationType, Outcome, Record, Recorder, RewrapTarget,
};
use engine::ids::{ApiKeyId, CredentialId, IdentityId, KeyId, ServiceId};
use engine::ledger::{self, Log};
use engine::settings::Audit;
use formats::clock::{Clock, Entropy, Timestamp};
use formats::envelope::{Alg, Context, ContextTag, Curve, Enc, HeaderMembers, Recipient, seal};
use formats::json::Text;
use formats::tlog::Hash;
use rand::seq::IndexedRandom as _;
use serde_json::Value;
use uuid::Uuid;

use super::fixture::Written;
use testkit::{PrivateKey, write};

const RECORDS: usize = 1_000;

/// The number of records of each of [`MOMENTS`]. The others are of the present.
const OF_A_MOMENT: usize = 50;

const MOMENTS: [&str; 7] = [
    // No earlier day has a table.
    "2000-01-01T00:00:00.000Z",
    "2024-02-28T23:59:59.999Z",
    "2024-02-29T00:00:00.000Z",
    "2024-02-29T09:05:07.040Z",
    "2024-12-31T23:59:59.000Z",
    "2025-01-01T00:00:00.001Z",
    // 32 bits do not hold its seconds since 1970.
    "2106-02-07T06:28:16.100Z",
];

fn one_of<T: Clone>(values: &[T]) -> T {
    values.choose(&mut rand::rng()).expect("a value").clone()
}

fn maybe<T>(value: T) -> Option<T> {
    (rand::random::<u8>() < 200).then_some(value)
}

fn id() -> Uuid {
    one_of(&[Uuid::nil(), Uuid::max(), Uuid::from_u128(rand::random())])
}

fn text() -> String {
    let texts = [
        "".to_owned(),
        "plain".to_owned(),
        "quote \" backslash \\ slash / <&>'".to_owned(),
        "\u{0}\u{1}\u{8}\t\n\u{c}\r\u{1f}\u{7f}\u{80}\u{9f}".to_owned(),
        "\u{2028}\u{2029}\u{feff}\u{fffd}\u{10ffff}".to_owned(),
        "ü 😀 e\u{301}".to_owned(),
        "x".repeat(600),
        "😀".repeat(200),
        format!("{:x}", rand::random::<u128>()),
    ];
    one_of(&texts)
}

fn address() -> IpAddr {
    let low: u32 = one_of(&[0, 1, 0xffff, 0x1_0000, 0x2_0005, u32::MAX, rand::random()]);
    let any = rand::random::<u128>();
    let v6 = one_of(&[
        u128::from(low),
        0xffff_0000_0000 | u128::from(low),
        0x1_0000_0000_0000 | u128::from(low),
        any,
        any & 0xffff_0000_0000_ffff_0000_0000_0000_ffff,
        any & 0xffff_0000_ffff_0000_0000_ffff_0000_0000,
        u128::MAX,
    ]);
    one_of(&[IpAddr::V4(Ipv4Addr::from_bits(low)), IpAddr::V6(Ipv6Addr::from_bits(v6))])
}

/// The tag of a context in a new envelope.
fn tag() -> ContextTag {
    let context = Text::parse(br#"{"a":"b"}"#).expect("JSON");
    let context = Context::parse(context).expect("a context");
    let key = PrivateKey::ec(Curve::P256);
    let recipient = Recipient {
        key: key.public(),
        kid: "kid",
        alg: Alg::EcdhEsA256Kw,
        enc: Enc::A256GCM,
        policy: None,
        context: Some(&context),
        members: HeaderMembers::default(),
    };
    let sealed = seal(&Entropy::system(), recipient, b"1", &mut String::new());
    sealed.expect("an envelope").expect("a tag")
}

fn random_record(tags: &[ContextTag]) -> Record {
    let credentials = [
        CredentialId::ApiKey(ApiKeyId::from_uuid(id())),
        CredentialId::Identity(IdentityId::from_uuid(id())),
    ];
    let sizes = [0, 1, (1 << 53) - 1, (1 << 53) + 1, isize::MAX.unsigned_abs(), usize::MAX];
    Record {
        request_id: text().into(),
        service_id: maybe(ServiceId::from_uuid(id())),
        credential_id: maybe(one_of(&credentials)),
        token_subject: maybe(text().chars().take(256).collect::<String>().into()),
        operation_type: maybe(one_of(&OperationType::ALL)),
        endpoint: maybe(one_of(&Endpoint::ALL)),
        policy_number: maybe(text().into()),
        key_id: maybe(KeyId::from_uuid(id())),
        ctx: maybe(one_of(tags)),
        payload_size_bytes: one_of(&sizes),
        response_status: one_of(&[0, 200, 599, i16::MAX.unsigned_abs(), u16::MAX]),
        arrived: Duration::from_nanos(rand::random::<u64>() >> rand::random_range(0..64)),
        error_code: maybe(one_of(&["", CLIENT_CLOSED_REQUEST, "quote \" backslash \\ ü"])),
        outcome: one_of(&Outcome::ALL),
        error_message: maybe(text().into()),
        client_address: maybe(address()),
        item: maybe(one_of(&[0, 1, i16::MAX.unsigned_abs(), u16::MAX])),
        sealing: maybe(Box::new(RewrapTarget {
            policy_number: maybe(text().into()),
            key_id: maybe(KeyId::from_uuid(id())),
            ctx: maybe(one_of(tags)),
        })),
    }
}

/// Writes records as an instance whose clock shows this time.
async fn write_at(written: &Written, moment: Timestamp, records: Vec<Record>) {
    written.kept.make_day(&format!("'{moment}'::timestamptz")).await;
    let (clock, pool) = (Clock::held_at(moment), written.kept.pool.clone());
    let (recorder, writer) = Recorder::open(clock, Entropy::system(), pool, &Audit::default());
    let _jobs = write(writer);
    let submit = |record| recorder.submit(record).expect("a place");
    for pending in records.into_iter().map(submit).collect::<Vec<_>>() {
        pending.receipt().await.expect("a receipt");
    }
}

#[tokio::test]
async fn the_hashed_text_is_the_text_that_is_read_back() {
    let written = Written::new().await;
    let tags = [tag(), tag(), tag()];
    let mut records: Vec<_> = (0..RECORDS).map(|_| random_record(&tags)).collect();
    let rows = RECORDS + records.iter().filter(|record| record.sealing.is_some()).count();
    for moment in MOMENTS {
        let of_moment = records.split_off(records.len() - OF_A_MOMENT);
        write_at(&written, moment.parse().expect("a time"), of_moment).await;
    }
    written.write_all(records).await;
    let _sealer = written.kept.sealer().await;
    let checkpoint = written.kept.covered(rows as u64).await;
    written.assert_each_in_one_segment(rows as i64).await;
    let hashes: Vec<Vec<u8>> = sqlx::query_scalar(
        "SELECT leaf_hash FROM audit_log_index WHERE log = 1 ORDER BY log_index",
    )
    .fetch_all(&written.kept.owner)
    .await
    .expect("hashes");
    let lines = written.kept.export().await;
    assert_eq!(lines.len(), rows);
    for (line, hash) in lines.iter().zip(&hashes) {
        let leaf = ledger::leaf(Log::Operations, line).expect("a leaf");
        assert_eq!(Hash::of_leaf(&leaf).as_bytes().as_slice(), hash, "{line}");
    }
    assert_eq!(crate::ledger::fixture::root_of(Log::Operations, &lines), checkpoint.root);
    for moment in MOMENTS {
        assert!(lines.iter().any(|line| line.contains(moment)), "{moment}");
    }
    // The generated values were not reduced to a few.
    let of = |name: &str| {
        let value =
            |line: &String| serde_json::from_str::<Value>(line).expect("a line")[name].to_string();
        lines.iter().map(value).collect::<std::collections::HashSet<_>>().len()
    };
    assert!(of("client_address") > 100 && of("response_time_ms") > 100);
    assert_eq!((of("ctx"), of("error_code")), (4, 4));
}
