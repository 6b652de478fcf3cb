//! The faults of a run and their times. A seed determines them, so that a run can be repeated.

use std::fmt;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

/// The sequence of faults. Faults of one component do not overlap; faults of different components
/// can.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub postgres: Vec<Step<PostgresFault>>,
    pub valkey: Vec<Step<ValkeyFault>>,
    pub token: Vec<Step<TokenFault>>,
    pub instances: Vec<Step<InstanceFault>>,
    pub changes: Vec<Step<AdminChange>>,
}

/// A step: a pause and then a fault with its duration.
#[derive(Clone, Copy, Debug)]
pub struct Step<F> {
    pub after: Duration,
    pub what: F,
    pub lasts: Duration,
}

#[derive(Clone, Copy, Debug)]
pub enum PostgresFault {
    /// Its processes are paused.
    Frozen,
    /// A fast shutdown and a restart.
    Stopped,
    /// A crash and a restart.
    Crashed,
    /// All connections close, and new ones fail.
    CutOff,
    /// Connections stay open, but no data passes.
    Silent,
    /// High latency.
    Slow,
    /// The notification connections of the instances are closed repeatedly.
    NotificationsCut,
}

#[derive(Clone, Copy, Debug)]
pub enum ValkeyFault {
    CutOff,
    Silent,
}

#[derive(Clone, Copy, Debug)]
pub enum TokenFault {
    /// Decryption and signing fail like those of a broken device.
    Failing,
    /// The token is missing.
    Away,
    /// Every call is slow.
    Slow,
    /// Calls hang.
    Hanging,
    /// The token closes all its sessions once.
    SessionsDropped,
    /// The token ends the login once.
    LoginDropped,
}

#[derive(Clone, Copy, Debug)]
pub enum InstanceFault {
    /// Killed like in a power failure, and restarted.
    Killed(usize),
    /// SIGTERM and a restart.
    Ended(usize),
    /// All instances get SIGTERM and restart in turn.
    Replaced,
    /// Paused and continued with its old caches.
    Frozen(usize),
}

/// A change by an administrator. Numbers select the resource.
#[derive(Clone, Copy, Debug)]
pub enum AdminChange {
    RevokeApiKey(usize),
    TogglePolicy(usize),
    ReplacePolicy,
    ToggleKey(usize),
    NewEnvelopeKey(usize),
}

impl Plan {
    /// A plan for this number of instances and this duration.
    pub fn of(seed: u64, length: Duration, instances: usize) -> Self {
        let mut part = 0;
        let pauses = Pauses::within(length);
        let mut rng = || {
            part += 1;
            SmallRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ part)
        };
        Self {
            seed,
            postgres: steps(rng(), length, pauses.of(1_500.0..5_000.0), 200..2_500, |rng| {
                use PostgresFault::*;
                let all = [Frozen, Stopped, Crashed, CutOff, Silent, Slow, NotificationsCut];
                all[rng.random_range(0..all.len())]
            }),
            valkey: steps(rng(), length, pauses.of(3_000.0..8_000.0), 500..4_000, |rng| {
                use ValkeyFault::*;
                [CutOff, Silent][rng.random_range(0..2)]
            }),
            token: steps(rng(), length, pauses.of(2_000.0..6_000.0), 200..2_500, |rng| {
                use TokenFault::*;
                let all = [Failing, Away, Slow, Hanging, SessionsDropped, LoginDropped];
                all[rng.random_range(0..all.len())]
            }),
            instances: steps(rng(), length, pauses.of(2_000.0..7_000.0), 200..2_000, |rng| {
                use InstanceFault::*;
                let place = rng.random_range(0..instances);
                let all = [Killed(place), Ended(place), Replaced, Frozen(place)];
                all[rng.random_range(0..all.len())]
            }),
            changes: steps(rng(), length, 200..1_200, 0..1, |rng| {
                use AdminChange::*;
                let which = rng.random_range(0..1_000);
                match rng.random_range(0..10) {
                    0..4 => RevokeApiKey(which),
                    4..7 => TogglePolicy(which),
                    7 => ToggleKey(which),
                    8 => ReplacePolicy,
                    _ => NewEnvelopeKey(which),
                }
            }),
        }
    }
}

/// The scale of all pauses. Short runs use short pauses.
struct Pauses(f64);

impl Pauses {
    fn within(length: Duration) -> Self {
        Self((length.as_secs_f64() / 40.0).clamp(0.3, 1.0))
    }

    /// In milliseconds.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "some thousand milliseconds"
    )]
    fn of(&self, usual: std::ops::Range<f64>) -> std::ops::Range<u64> {
        (usual.start * self.0) as u64..(usual.end * self.0) as u64
    }
}

/// Creates steps until the end of the run, with pauses and durations in milliseconds.
fn steps<F>(
    mut rng: SmallRng,
    length: Duration,
    pauses: std::ops::Range<u64>,
    lengths: std::ops::Range<u64>,
    mut choose: impl FnMut(&mut SmallRng) -> F,
) -> Vec<Step<F>> {
    let mut steps = Vec::new();
    let mut passed = Duration::ZERO;
    loop {
        let step = Step {
            after: Duration::from_millis(rng.random_range(pauses.clone())),
            what: choose(&mut rng),
            lasts: Duration::from_millis(rng.random_range(lengths.clone())),
        };
        passed += step.after + step.lasts;
        if passed > length {
            return steps;
        }
        steps.push(step);
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}", self.seed)?;
        row(f, "Postgres", &self.postgres)?;
        row(f, "Valkey", &self.valkey)?;
        row(f, "token", &self.token)?;
        row(f, "instances", &self.instances)?;
        row(f, "changes", &self.changes)
    }
}

fn row<F: fmt::Debug>(f: &mut fmt::Formatter<'_>, name: &str, steps: &[Step<F>]) -> fmt::Result {
    write!(f, "  {name}:")?;
    for step in steps {
        write!(f, " +{:.1} {:?}", step.after.as_secs_f64(), step.what)?;
        if step.lasts > Duration::from_millis(1) {
            write!(f, " for {:.1}", step.lasts.as_secs_f64())?;
        }
        write!(f, ";")?;
    }
    writeln!(f)
}
