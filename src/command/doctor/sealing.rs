//! Whether the audit logs are tamper-evident.

use std::fmt::Write as _;

use serde_json::{Value, json};

use engine::db::Pool;
use engine::ledger::{self, Log};
use engine::settings::Seal;

/// What the audit logs lack; none if the database does not show it.
pub(super) async fn check(pool: Option<&Pool>, settings: &Seal) -> Option<Vec<&'static str>> {
    let keys = ledger::keys(pool?, Log::Operations).await.ok()?;
    let mut warnings = Vec::new();
    if keys.is_none() {
        warnings.push("records are not sealed: run `sealward audit init`");
    }
    if settings.anchor.is_none() {
        warnings.push(
            "a restored backup of the database can hide records: set audit.seal.anchor to a place outside \
             of the database",
        );
    }
    Some(warnings)
}

pub(super) fn as_json(found: Option<&[&str]>) -> Value {
    json!({ "warnings": found })
}

pub(super) fn text(found: Option<&[&str]>) -> String {
    let found = found.unwrap_or_default();
    if found.is_empty() {
        return String::new();
    }
    let mut page = String::from("Audit logs\n");
    for warning in found {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "  {warning}");
    }
    page.push('\n');
    page
}
