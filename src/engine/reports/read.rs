//! From a snapshot of the database to the register.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::sleep;

use super::people::{self, People};
use super::{
    Checkpoints, Day, KeyEntry, NotReported, PolicyEntry, Register, RegisterRequest, store,
};
use crate::audit::traffic::{self, DayUses};
use crate::auth::Service;
use crate::db::Pool;
use crate::ids::{KeyId, ServiceId};
use crate::keys::{Key, KeyOrigin, KeyStatus, Usage};
use crate::ledger::{Coverage, LogCosigner, LogKey, coverage};
use crate::management::{Authorized, ReadReports};
use crate::policy::Policy;
use crate::report_key::ReportKey;
use crate::resource::{Rows, fetch_whole};
use crate::rows::compare_in;
use formats::clock::Timestamp;
use formats::material::{Algorithm, PublicKey};
use formats::problem::{Code, Problem};

/// How often a snapshot is taken until the checkpoints cover it.
const ATTEMPTS: u32 = 50;

/// The time between two snapshots.
const PAUSE: Duration = Duration::from_millis(100);

/// Everything that is read once for all keys.
struct Sources {
    service_names: HashMap<ServiceId, String>,
    policies: Vec<Policy>,
    tokens: std::collections::BTreeMap<KeyId, Vec<String>>,
    uses: HashMap<KeyId, DayUses>,
    people: HashMap<KeyId, People>,
}

/// A key of Sealward's own.
struct InternalEntry {
    id: KeyId,
    name: &'static str,
    public_key: PublicKey,
    created_at: Timestamp,
    signs: bool,
}

/// Reads the register.
pub(super) async fn register(
    context: &Authorized<ReadReports>,
    request: &RegisterRequest,
) -> Result<Register, NotReported> {
    let today = Day::of(context.clock.now());
    if request.at.is_some_and(|at| at >= today) {
        let message = "must be a day that is over (UTC)";
        return Err(NotReported::Invalid(Problem::new("at", Code::Range, message)));
    }
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            sleep(PAUSE).await;
        }
        let (pool, request) = (context.pool.clone(), request.clone());
        let reading = async move { Ok(attempt_at(&pool, &request, today).await) };
        match context.pool.read_slowly(reading).await? {
            Err(NotReported::Behind) => {}
            done => return done,
        }
    }
    Err(NotReported::Behind)
}

async fn attempt_at(
    pool: &Pool,
    request: &RegisterRequest,
    today: Day,
) -> Result<Register, NotReported> {
    let mut snapshot = pool.snapshot().await?;
    let register = read(pool.rows_on(&mut snapshot), request, today).await;
    snapshot.rollback().await?;
    register
}

async fn read(
    mut rows: Rows<&mut PgConnection>,
    request: &RegisterRequest,
    today: Day,
) -> Result<Register, NotReported> {
    let checkpoints = match coverage(rows.again()).await? {
        Coverage::NoLogs => return Err(NotReported::NoLogs),
        Coverage::Behind => return Err(NotReported::Behind),
        Coverage::Whole { operations, management } => {
            Checkpoints { operations: operations.into(), management: management.into() }
        }
    };
    if deviates(rows.again()).await? {
        return Err(NotReported::Deviating);
    }
    let (at, uses) = uses(&mut *rows.executor, request.at, today).await?;
    let services = store::services(rows.again()).await?.ok_or(NotReported::Deviating)?;
    let sources = Sources {
        service_names: services.into_iter().map(|it| (it.id, it.name.to_string())).collect(),
        policies: store::policies(rows.again()).await?.ok_or(NotReported::Deviating)?,
        tokens: store::presence(&mut *rows.executor).await?,
        uses: uses.into_iter().map(|uses| (uses.key, uses)).collect(),
        people: people::of_keys(rows.again()).await?,
    };
    if let Some(number) = &request.filter.policy_number
        && !sources.policies.iter().any(|policy| policy.policy_number == *number)
    {
        let problem = Problem::new("policyNumber", Code::Unknown, "no policy has this number");
        return Err(NotReported::Invalid(problem));
    }
    let keys = store::keys(rows.again()).await?;
    let own = internal_keys(rows).await?.ok_or(NotReported::Deviating)?;
    let counting: Vec<Key> = keys.iter().filter(|key| key.seal_valid.is_none()).cloned().collect();
    let entries = keys.iter().map(|key| sources.entry(key, &counting));
    let mut keys: Vec<KeyEntry> =
        entries.chain(own.into_iter().map(InternalEntry::entry)).collect();
    keys.retain(|key| request.filter.includes(key));
    keys.sort_by_key(|key| key.key_id);
    Ok(Register { at, checkpoints, filter: request.filter.clone(), keys })
}

/// Whether a row that the register shows is not as its last sealed event says: whoever writes to the database cannot
/// hide a key or a policy from it, or add one.
async fn deviates(mut rows: Rows<&mut PgConnection>) -> sqlx::Result<bool> {
    Ok(!compare_in::<Key>(rows.again()).await?.is_empty()
        || !compare_in::<Policy>(rows.again()).await?.is_empty()
        || !compare_in::<Service>(rows).await?.is_empty())
}

/// The uses up to a day. Without one, up to yesterday, or to the day before until yesterday is counted.
async fn uses(
    connection: &mut PgConnection,
    at: Option<Day>,
    today: Day,
) -> Result<(Day, Vec<DayUses>), NotReported> {
    let yesterday = today.before();
    let days = at.map_or_else(|| vec![yesterday, yesterday.before()], |at| vec![at]);
    for day in days {
        let counted = traffic::uses_until(&mut *connection, day.recent_from(), day.end()).await?;
        if let Some(uses) = counted {
            return Ok((day, uses));
        }
    }
    Err(NotReported::Behind)
}

/// The keys of Sealward's own; none while the row of one that was ever made does not count.
async fn internal_keys(
    mut rows: Rows<&mut PgConnection>,
) -> sqlx::Result<Option<Vec<InternalEntry>>> {
    let reports = fetch_whole::<ReportKey>(rows.again()).await?;
    let logs = fetch_whole::<LogKey>(rows.again()).await?;
    let cosigners = fetch_whole::<LogCosigner>(rows).await?;
    let (Some(reports), Some(logs), Some(cosigners)) = (reports, logs, cosigners) else {
        return Ok(None);
    };
    let reports = reports.into_iter().map(|key| (key.id, key.public_key, key.created_at)).collect();
    let logs = logs.into_iter().map(|key| (key.id, key.public_key, key.created_at)).collect();
    let cosigners =
        cosigners.into_iter().map(|key| (key.id, key.public_key, key.created_at)).collect();
    let all = [
        ("signatures of reports", reports),
        ("checkpoints of the audit logs", logs),
        ("cosignatures of the audit logs", cosigners),
    ];
    Ok(Some(all.into_iter().flat_map(|(name, keys)| own(name, keys)).collect()))
}

/// The keys for one purpose, of which the last one signs.
fn own(name: &'static str, mut keys: Vec<(KeyId, Vec<u8>, Timestamp)>) -> Vec<InternalEntry> {
    keys.sort_by_key(|(id, _, created_at)| (*created_at, *id));
    let newest = keys.last().map(|(id, ..)| *id);
    let keys = keys.into_iter().filter_map(|(id, spki, created_at)| {
        let public_key = PublicKey::from_spki(&spki).ok()?;
        Some(InternalEntry { id, name, public_key, created_at, signs: Some(id) == newest })
    });
    keys.collect()
}

impl InternalEntry {
    fn entry(self) -> KeyEntry {
        let algorithm = self.public_key.algorithm();
        KeyEntry {
            key_id: self.id,
            service_id: None,
            service_name: None,
            name: self.name.to_owned(),
            version: None,
            usage: Usage::Sig,
            algorithm,
            strength: strength(algorithm),
            quantum_status: algorithm.quantum_status(),
            origin: KeyOrigin::Generated,
            status: if self.signs { KeyStatus::Active } else { KeyStatus::Retired },
            has_private: true,
            tokens: None,
            extractable: Some(false),
            thumbprint: Some(self.public_key.thumbprint()),
            created_at: self.created_at,
            activated_at: Some(self.created_at),
            last_protected_at: None,
            last_opened_at: None,
            uses_in_30_days: 0,
            expires_at: None,
            rotation_days: None,
            rotates_at: None,
            successor: None,
            destroy_at: None,
            policies: Vec::new(),
            created_by: None,
            approved_by: Vec::new(),
            seal_valid: None,
        }
    }
}

impl Sources {
    fn entry(&self, key: &Key, keys: &[Key]) -> KeyEntry {
        let uses = self.uses.get(&key.id);
        let people = self.people.get(&key.id).cloned().unwrap_or_default();
        KeyEntry {
            key_id: key.id,
            service_id: Some(key.service_id),
            service_name: self.service_names.get(&key.service_id).cloned(),
            name: key.name.to_string(),
            version: key.version,
            usage: key.usage,
            algorithm: key.algorithm,
            strength: strength(key.algorithm),
            quantum_status: key.algorithm.quantum_status(),
            origin: key.origin,
            status: key.status,
            has_private: key.has_private(),
            tokens: Some(self.tokens.get(&key.id).cloned().unwrap_or_default()),
            extractable: key.extractable,
            thumbprint: key.thumbprint.clone(),
            created_at: key.created_at,
            activated_at: key.activated_at,
            last_protected_at: uses.and_then(|uses| uses.last_protected),
            last_opened_at: uses.and_then(|uses| uses.last_opened),
            uses_in_30_days: uses.map_or(0, |uses| uses.recent),
            expires_at: key.expires_at,
            rotation_days: key.rotation_days,
            rotates_at: key.takeover(),
            successor: key.successor(keys),
            destroy_at: key.destroy_at,
            policies: self.policies_of(key),
            created_by: people.created_by,
            approved_by: people.approved_by.into_iter().collect(),
            seal_valid: key.seal_valid,
        }
    }

    /// The policies whose envelopes are made for keys like this one.
    fn policies_of(&self, key: &Key) -> Vec<PolicyEntry> {
        let family = key.algorithm.family();
        let uses = |policy: &&Policy| {
            key.usage == Usage::Enc
                && policy.destination_service_id == key.service_id
                && policy.alg.family() == family
        };
        let policies = self.policies.iter().filter(uses);
        let entries = policies.map(|policy| PolicyEntry {
            policy_number: policy.policy_number.clone(),
            status: policy.status,
            deleted: policy.deleted_at.is_some(),
            alg: policy.alg,
            enc: policy.enc,
            destination_service_id: policy.destination_service_id,
            allowed_service_ids: policy.allowed_service_ids.clone(),
        });
        entries.collect()
    }
}

fn strength(algorithm: Algorithm) -> u16 {
    u16::try_from(algorithm.strength()).unwrap_or(u16::MAX)
}
