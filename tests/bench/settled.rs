//! What is measured of a service that has just started: its memory, how soon it is ready when the
//! token is full, and whether a full token makes it slower.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cases::{KIB, SESSIONS};
use crate::cpu;
use crate::generator::Protocol;
use crate::measure::{Case, Measured, Subject};
use crate::place::{Callers, Place};
use crate::process::Site;
use crate::rounds::{Floors, thrice};

/// Keys in a full token.
pub(crate) const KEYS: usize = 1_000;

const MIB: f64 = 1_048_576.0;

/// Sizes in MiB, times in seconds.
pub(crate) struct Settled {
    pub(crate) at_rest: f64,
    /// After each of several loads at 64 connections.
    pub(crate) loaded: Vec<f64>,
    /// With a token that is full.
    pub(crate) started_in: f64,
    pub(crate) unprotect: Measured,
    pub(crate) token: Measured,
}

pub(crate) async fn measured(
    site: &Site,
    callers: &Callers,
    floors: &mut Floors,
    span: Duration,
) -> Settled {
    let (at_rest, loaded) = memory(site, callers, floors, span).await;
    floors.token.order(&format!("fill 0 {KEYS}"));
    let mut starts = Vec::new();
    for _ in 0..2 {
        starts.push(Place::again(site, callers, &[]).await.started_in);
    }
    let place = Place::again(site, callers, &[]).await;
    starts.push(place.started_in);
    starts.sort_unstable();
    let request = place.request("unprotect RSA-2048", KIB);
    let processes = floors.with(place.process.id());
    let unprotect = thrice(processes, &request, 16, span);
    let case = Case {
        subject: Subject::Token("rsa-2048-decrypt"),
        at_once: SESSIONS,
        protocol: Protocol::Http1,
        bytes: KIB,
    };
    let mut once = || floors.measure(place.process.id(), &case, None, span);
    let token = Measured::median(&[once(), once(), once()]);
    Settled {
        at_rest,
        loaded,
        started_in: starts[1].as_secs_f64(),
        unprotect,
        token,
    }
}

async fn memory(
    site: &Site,
    callers: &Callers,
    floors: &Floors,
    span: Duration,
) -> (f64, Vec<f64>) {
    let place = Place::again(site, callers, &[]).await;
    let id = place.process.id();
    // Its first jobs are done by then.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let at_rest = cpu::resident(id) as f64 / MIB;
    let request = place.request("protect RSA-2048", KIB);
    let loaded = (0..5).map(|_| {
        floors.with(id).load(&request, Protocol::Http1, 64, span);
        cpu::resident(id) as f64 / MIB
    });
    (at_rest, loaded.collect())
}

impl Settled {
    pub(crate) fn most(&self) -> f64 {
        self.loaded.iter().copied().fold(0.0, f64::max)
    }

    pub(crate) fn json(&self) -> Value {
        let tenth = |number: f64| (number * 10.0).round() / 10.0;
        json!({
            "memoryMiB": {
                "atRest": tenth(self.at_rest),
                "afterEachLoadAt64": self.loaded.iter().copied().map(tenth).collect::<Vec<_>>(),
            },
            "withFullToken": {
                "keys": KEYS,
                "readyAfterSeconds": (self.started_in * 1e3).round() / 1e3,
                "unprotectRatePerSecond": self.unprotect.rate.round(),
                "unprotectCpuUs": self.unprotect.cpu().round(),
                "tokenRatePerSecond": self.token.rate.round(),
                "tokenCpuUs": self.token.service.round(),
            },
        })
    }
}
