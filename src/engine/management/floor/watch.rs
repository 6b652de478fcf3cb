//! Watches what the floor of this instance stops, and the floors of the others.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::store;
use crate::catalog::floor_of_listener;
use crate::db::Pool;
use crate::floor::Floor;
use crate::jobs::{Job, Observed, Pulse};
use formats::clock::Clock;

/// How often the state is read.
const PERIOD: Duration = Duration::from_secs(5);

/// The state of the floor. Clones share it.
#[derive(Clone)]
pub struct FloorWatch {
    floor: Floor,
    seen: Observed<Option<Seen>>,
}

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    /// The instances with other settings.
    unlike: i64,
    /// The keys that are not rotated.
    stopped_rotations: i64,
}

impl FloorWatch {
    /// A state that is not known yet.
    pub fn new(clock: Clock, floor: Floor) -> Self {
        let period = Job::Floor.spec().period();
        Self { floor, seen: Observed::new(clock, period, None) }
    }

    /// The floor of this instance.
    pub fn floor(&self) -> Floor {
        self.floor
    }

    /// The number of running instances with another floor, if that is known.
    pub fn unlike(&self) -> Option<i64> {
        self.seen().map(|seen| seen.unlike)
    }

    /// The number of keys whose rotation would make a key that the floor does not allow, if that is known.
    pub fn stopped_rotations(&self) -> Option<i64> {
        self.seen().map(|seen| seen.stopped_rotations)
    }

    fn seen(&self) -> Option<Seen> {
        *self.seen.known()?
    }

    /// Keeps the state current until the process ends.
    pub async fn watch(self, database: Pool, pulse: Pulse) -> Infallible {
        let mut period = interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            period.tick().await;
            let looked = self.look(&database).await;
            pulse.ended(&looked);
            match looked {
                Ok(seen) => self.note(seen),
                // Other jobs report the outage.
                Err(error) => tracing::debug!(%error, "the floor could not be compared"),
            }
        }
    }

    async fn look(&self, database: &Pool) -> sqlx::Result<Seen> {
        let own = floor_of_listener(self.floor);
        let floors = store::floors(database).await?;
        let unlike = floors.iter().filter(|(floor, _)| *floor != own).map(|(_, number)| number);
        Ok(Seen {
            unlike: unlike.sum(),
            stopped_rotations: store::count_rotations(database, &self.floor.refused_keys()).await?,
        })
    }

    /// Logs each change for the worse.
    fn note(&self, seen: Seen) {
        let before = *self.seen.last();
        let (unlike, stopped) =
            before.map_or((0, 0), |before| (before.unlike, before.stopped_rotations));
        if seen.unlike > unlike {
            tracing::warn!(
                instances = seen.unlike,
                "other instances have another cryptographic floor: give all the same settings crypto"
            );
        }
        if seen.stopped_rotations > stopped {
            tracing::warn!(
                keys = seen.stopped_rotations,
                "keys are not rotated, because the cryptographic floor does not allow their algorithm"
            );
        }
        self.seen.set(Some(seen));
    }
}
