//! The register as a table.

use super::{KeyEntry, Register};
use crate::audit::{Column, cell, csv as write};
use crate::policy::AllowedServices;

/// A key and the report that contains it: a row of a table stands alone.
struct TableRow<'a> {
    key: &'a KeyEntry,
    report: &'a Register,
}

/// The register in CSV. The members have the names of the JSON form.
pub(super) fn csv(register: &Register) -> Vec<u8> {
    let columns: &[Column<TableRow<'_>>] = &[
        ("keyId", |it| it.key.key_id.to_string()),
        ("serviceId", |it| cell(it.key.service_id.as_ref())),
        ("serviceName", |it| cell(it.key.service_name.as_ref())),
        ("name", |it| it.key.name.clone()),
        ("version", |it| cell(it.key.version.as_ref())),
        ("use", |it| it.key.usage.to_string()),
        ("algorithm", |it| it.key.algorithm.to_string()),
        ("strength", |it| it.key.strength.to_string()),
        ("quantumStatus", |it| it.key.quantum_status.to_string()),
        ("origin", |it| it.key.origin.to_string()),
        ("status", |it| it.key.status.to_string()),
        ("hasPrivate", |it| it.key.has_private.to_string()),
        ("tokens", |it| joined(it.key.tokens.as_deref().unwrap_or_default())),
        ("extractable", |it| cell(it.key.extractable.as_ref())),
        ("thumbprint", |it| cell(it.key.thumbprint.as_ref())),
        ("createdAt", |it| it.key.created_at.to_string()),
        ("activatedAt", |it| cell(it.key.activated_at.as_ref())),
        ("lastProtectedAt", |it| cell(it.key.last_protected_at.as_ref())),
        ("lastOpenedAt", |it| cell(it.key.last_opened_at.as_ref())),
        ("usesIn30Days", |it| it.key.uses_in_30_days.to_string()),
        ("expiresAt", |it| cell(it.key.expires_at.as_ref())),
        ("rotationDays", |it| cell(it.key.rotation_days.as_ref())),
        ("rotatesAt", |it| cell(it.key.rotates_at.as_ref())),
        ("successor", |it| cell(it.key.successor.as_ref())),
        ("destroyAt", |it| cell(it.key.destroy_at.as_ref())),
        ("policies", |it| joined(&policies(it.key))),
        ("allowedServiceIds", |it| joined(&callers(it.key))),
        ("createdBy", |it| cell(it.key.created_by.as_ref().map(|maker| &maker.actor))),
        ("createdByPerson", |it| {
            cell(it.key.created_by.as_ref().and_then(|maker| maker.person.as_ref()))
        }),
        ("approvedBy", |it| joined(&it.key.approved_by)),
        ("sealValid", |it| it.key.seal_valid.unwrap_or(true).to_string()),
        ("at", |it| it.report.at.to_string()),
        ("filter", |it| it.report.filter.to_string()),
        ("operationsCheckpoint", |it| it.report.checkpoints.operations.to_string()),
        ("managementCheckpoint", |it| it.report.checkpoints.management.to_string()),
    ];
    let lines: Vec<TableRow<'_>> =
        register.keys.iter().map(|key| TableRow { key, report: register }).collect();
    write(columns, &lines)
}

/// A list in one cell. A backslash stands before a separator in an element.
fn joined(texts: &[String]) -> String {
    let escaped: Vec<String> =
        texts.iter().map(|text| text.replace('\\', "\\\\").replace(';', "\\;")).collect();
    escaped.join("; ")
}

fn policies(key: &KeyEntry) -> Vec<String> {
    key.policies.iter().map(|policy| policy.policy_number.as_str().to_owned()).collect()
}

/// The services that any of the policies allows.
fn callers(key: &KeyEntry) -> Vec<String> {
    let allowed = key.policies.iter().flat_map(|policy| match &policy.allowed_service_ids {
        AllowedServices::Any => vec!["*".to_owned()],
        AllowedServices::Only(services) => services.iter().map(ToString::to_string).collect(),
    });
    let allowed: std::collections::BTreeSet<String> = allowed.collect();
    allowed.into_iter().collect()
}
