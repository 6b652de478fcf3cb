//! Batches with one session of the token. The token then uses one core, as if it had its own processor, and
//! leaves the other ones to the service.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cases::KIB;
use crate::instance::{Callers, Instance};
use crate::measure::Measured;
use crate::rounds::{Baselines, median_of_three};
use testkit::Site;

pub(crate) struct OneSession {
    pub(crate) unprotect: Measured,
    pub(crate) rewrap: Measured,
    pub(crate) token: Measured,
}

pub(crate) async fn measured(
    site: &Site,
    callers: &Callers,
    baselines: &mut Baselines,
    span: Duration,
) -> OneSession {
    let instance = Instance::restart(site, callers, &[("SEALWARD_HSM_WORKERS", "1")]).await;
    let processes = baselines.with(instance.process.id());
    let batch = |operation| {
        let request = instance.request(operation, KIB);
        median_of_three(processes, &request, 16, span)
    };
    let (unprotect, rewrap) = (batch("unprotect/batch RSA-2048"), batch("rewrap/batch RSA-2048"));
    OneSession { unprotect, rewrap, token: baselines.token_alone(1, span) }
}

impl OneSession {
    pub(crate) fn json(&self) -> Value {
        json!({
            "unprotectBatchItemsPerSecond": self.unprotect.rate.round(),
            "rewrapBatchItemsPerSecond": self.rewrap.rate.round(),
            "tokenRatePerSecond": self.token.rate.round(),
        })
    }
}
