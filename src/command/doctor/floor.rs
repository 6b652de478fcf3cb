//! What the cryptographic floor stops, or what a stricter one would stop.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::command::terminal::in_line;
use engine::catalog::floor_of_listener;
use engine::db::Pool;
use engine::floor::{Floor, MINIMUM_STRENGTHS};
use engine::ledger::own_keys;
use engine::management::floor::{OwnKey, Stopped, StoppedKey, floors, stopped_by};
use engine::settings::Crypto;

/// What a floor stops, and the running instances that have other settings.
pub(super) struct Examined {
    floor: Floor,
    /// Whether it is not that of the settings.
    is_tried: bool,
    stopped: Stopped,
    unlike: i64,
}

/// A minimum strength, as `--floor` names it.
pub(super) fn minimum(text: &str) -> Result<u16, String> {
    let bits = text.parse().ok().filter(|bits| MINIMUM_STRENGTHS.contains(bits));
    bits.ok_or_else(|| "must be 112, 128 or 192".to_owned())
}

/// Examines the floor of the settings, or one with this minimum strength; none if the database does not show it.
pub(super) async fn examine(
    pool: Option<&Pool>,
    settings: &Crypto,
    minimum: Option<u16>,
) -> Option<Examined> {
    let pool = pool?;
    let own = settings.floor();
    let floor = minimum.map_or(own, |minimum| own.with_minimum(minimum));
    let others = floors(pool).await.ok()?;
    let own = floor_of_listener(own);
    let unlike = others.iter().filter(|(floor, _)| *floor != own).map(|(_, number)| number).sum();
    let own = own_keys(pool).await.ok()?;
    let stopped = stopped_by(pool, floor, &own).await.ok()?;
    Some(Examined { floor, is_tried: minimum.is_some(), stopped, unlike })
}

pub(super) fn as_json(examined: Option<&Examined>) -> Value {
    let Some(Examined { floor, stopped, unlike, .. }) = examined else {
        return Value::Null;
    };
    let keys = stopped.keys.iter().map(|key| {
        json!({
            "id": key.id, "name": key.name, "serviceId": key.service_id, "algorithm": key.algorithm,
            "rotates": key.rotates,
        })
    });
    let policies = stopped.policies.iter().map(|(policy, breach)| {
        json!({
            "id": policy.id, "policyNumber": policy.policy_number, "reason": breach.to_string(),
        })
    });
    let own = stopped.own.iter().map(|key| {
        let OwnKey { purpose, algorithm } = key;
        json!({ "purpose": purpose, "algorithm": algorithm, "strength": algorithm.strength() })
    });
    json!({
        "rules": floor.rules(),
        "stops": {
            "keysInAll": stopped.keys_in_all,
            "keys": keys.collect::<Vec<_>>(),
            "policies": policies.collect::<Vec<_>>(),
        },
        "weakerOwnKeys": own.collect::<Vec<_>>(),
        "differingInstances": unlike,
    })
}

/// Nothing about a floor that stops nothing, unless it is tried.
pub(super) fn text(examined: Option<&Examined>) -> String {
    let Some(examined) = examined else {
        return String::new();
    };
    if !examined.is_tried && examined.floor.is_open() && examined.unlike == 0 {
        return String::new();
    }
    let mut page = String::from("Cryptographic floor\n");
    // Writing to a string cannot fail.
    let _ = describe(&mut page, examined);
    page.push('\n');
    page
}

fn describe(page: &mut String, examined: &Examined) -> std::fmt::Result {
    let Examined { floor, is_tried, stopped, unlike } = examined;
    let verb = if *is_tried { "would stop" } else { "stops" };
    writeln!(page, "  {}", floor.rules())?;
    for StoppedKey { id, name, service, algorithm, rotates, .. } in &stopped.keys {
        let rotation = if *rotates { ", and its rotation" } else { "" };
        let (name, service) = (in_line(name), in_line(service));
        writeln!(page, "  {verb}  {id} ({name}) of {service}: {algorithm}{rotation}")?;
    }
    let listed = i64::try_from(stopped.keys.len()).unwrap_or(i64::MAX);
    if stopped.keys_in_all > listed {
        writeln!(page, "  {verb}  {} more keys", stopped.keys_in_all - listed)?;
    }
    for (policy, breach) in &stopped.policies {
        let number = &policy.policy_number;
        writeln!(page, "  {verb}  the policy {number}: {breach}")?;
    }
    if stopped.keys_in_all == 0 && stopped.policies.is_empty() {
        writeln!(page, "  {verb}  no active key and no active policy")?;
    }
    for OwnKey { purpose, algorithm } in &stopped.own {
        let strength = algorithm.strength();
        writeln!(
            page,
            "  keeps   the key of Sealward that {purpose}: {algorithm}, {strength} bits"
        )?;
    }
    if *unlike > 0 {
        writeln!(
            page,
            "  warning running instances with other settings crypto: {unlike}. Give all the same"
        )?;
    }
    Ok(())
}
