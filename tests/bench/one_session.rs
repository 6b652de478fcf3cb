//! Batches with one session of the token. The token then uses one core, as if it had its own processor, and
//! leaves the other ones to the service.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cases::KIB;
use crate::generator::Protocol;
use crate::instance::{Callers, Instance};
use crate::measure::{Case, Measured, Subject};
use crate::process::Site;
use crate::rounds::{Baselines, median_of_three};

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
    let id = instance.process.id();
    let processes = baselines.with(id);
    let batch = |operation| {
        let request = instance.request(operation, KIB);
        median_of_three(processes, &request, 16, span)
    };
    let (unprotect, rewrap) = (
        batch("unprotect/batch RSA-2048"),
        batch("rewrap/batch RSA-2048"),
    );
    let case = Case {
        subject: Subject::Token("rsa-2048-decrypt"),
        at_once: 1,
        protocol: Protocol::Http1,
        bytes: KIB,
    };
    let mut once = || baselines.measure(id, &case, None, span);
    OneSession {
        unprotect,
        rewrap,
        token: Measured::median(&[once(), once(), once()]),
    }
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
