//! The comparison of the tokens with the records.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::database::DatabaseConnection;
use crate::command::terminal::in_line;
use engine::keys::{Comparison, Intended, Orphan, Vault};
use engine::management::dangers::{Extractable, extractable_keys};
use formats::clock::{Clock, Entropy};

/// The comparison and the extractable keys, or the reason why they are missing. A new installation has
/// no database.
pub(super) type KeyComparison = Result<(Comparison, Vec<Extractable>), String>;

/// Compares the tokens with the records, if there is a database.
pub(super) async fn compare(
    database: &DatabaseConnection,
    token: Option<&hsm::Token>,
) -> KeyComparison {
    let token = token.ok_or("no token could be opened")?;
    let pool = database.as_ref().map_err(Clone::clone)?.pool().clone();
    pool.seals().open(token).await.map_err(|error| error.to_string())?;
    let vault = Vault::new(token.clone(), pool.clone(), Clock::system(), Entropy::system());
    let found = vault.compare().await.map_err(|error| error.to_string())?;
    let extractable = extractable_keys(&pool).await;
    Ok((found, extractable.map_err(|error| error.to_string())?))
}

/// The text form.
pub(super) fn text(records: &KeyComparison) -> String {
    let mut page = String::from("Records\n");
    // Writing to a string cannot fail.
    let _ = match records {
        Err(reason) => writeln!(page, "  not compared: {reason}"),
        Ok((found, extractable)) => found_text(&mut page, found, extractable),
    };
    page
}

fn found_text(
    page: &mut String,
    found: &Comparison,
    extractable: &[Extractable],
) -> std::fmt::Result {
    for key in extractable {
        let Extractable { id, name } = key;
        writeln!(
            page,
            "  warning   {id} ({}) can leave its token: replace it by a generated key",
            in_line(name)
        )?;
    }
    for key in &found.missing {
        writeln!(page, "  missing   {key} is recorded but on no token")?;
    }
    for orphan in &found.orphans {
        let Orphan { token, key, .. } = orphan;
        let name = &key.name;
        let meant = meant_for(orphan).map_or_else(String::new, |meant| format!(", {meant}"));
        writeln!(page, "  orphan    {name:?} on token {token:?}{meant}")?;
    }
    if found.missing.is_empty() && found.orphans.is_empty() {
        writeln!(page, "  tokens and records match")?;
    }
    if !found.complete {
        writeln!(page, "  some tokens did not respond")?;
    }
    Ok(())
}

/// The JSON form.
pub(super) fn as_json(records: &KeyComparison) -> Value {
    let (found, extractable) = match records {
        Err(reason) => return json!({ "error": reason }),
        Ok(found) => found,
    };
    let extractable: Vec<_> = extractable.iter().map(|key| key.id).collect();
    let orphans: Vec<Value> = found
        .orphans
        .iter()
        .map(|orphan| {
            json!({
                "token": orphan.token,
                "name": format!("{:?}", orphan.key.name),
                "label": orphan.label,
                "meantFor": meant_for(orphan),
            })
        })
        .collect();
    json!({ "missing": found.missing, "orphans": orphans, "complete": found.complete,
        "extractable": extractable })
}

fn meant_for(orphan: &Orphan) -> Option<String> {
    orphan.intended.map(|intended| match intended {
        Intended::Key(key) => format!("intended as {key}, whose creation failed"),
        Intended::ImportKey(key) => format!("intended as {key}, whose creation failed"),
        Intended::Destroyed(key) => format!("was {key}, which is recorded as destroyed"),
    })
}
