//! Whether the rows of the database count, and are as the log of management events says.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::database::DatabaseConnection;
use engine::rows::{compare, examine_all};
use engine::seals::{Deviation, Finding};

/// What is wrong with the rows.
pub(super) struct WrongRows {
    invalid: Vec<Finding>,
    /// None before `sealward audit init`.
    deviating: Option<Vec<Deviation>>,
    /// The tokens that derive another row key.
    others: Vec<String>,
}

/// The examination, or the reason why there is none. The row key must be there.
pub(super) type Examined = Result<WrongRows, String>;

pub(super) async fn examine(database: &DatabaseConnection, token: Option<&hsm::Token>) -> Examined {
    let token = token.ok_or("no token could be opened")?;
    let pool = database.as_ref().map_err(Clone::clone)?.pool();
    examine_all(pool).await.map_err(|error| error.to_string())?;
    let deviating = compare(pool).await.map_err(|error| error.to_string())?;
    let tokens = token.status().tokens.into_iter().filter(|token| token.excluded);
    let others = tokens.map(|token| token.label).collect();
    Ok(WrongRows { invalid: pool.seals().findings(), deviating, others })
}

/// Whether a row was found that is not right.
pub(super) fn is_wrong(examined: &Examined) -> bool {
    examined.as_ref().is_ok_and(|found| {
        let deviates = found.deviating.as_ref().is_some_and(|rows| !rows.is_empty());
        deviates || !found.invalid.is_empty() || !found.others.is_empty()
    })
}

pub(super) fn text(examined: &Examined) -> String {
    let mut page = String::from("Rows\n");
    // Writing to a string cannot fail.
    let _ = match examined {
        Err(reason) => writeln!(page, "  not examined: {reason}"),
        Ok(found) => found_text(&mut page, found),
    };
    page.push('\n');
    page
}

fn found_text(page: &mut String, found: &WrongRows) -> std::fmt::Result {
    for token in &found.others {
        writeln!(page, "  excluded  token {token:?} derives another row key")?;
    }
    for Finding { row, flaw } in &found.invalid {
        writeln!(page, "  invalid   {} {}: {flaw}", row.table, row.id)?;
    }
    if found.invalid.is_empty() {
        writeln!(page, "  every row counts")?;
    }
    let Some(deviating) = &found.deviating else {
        return writeln!(page, "  not compared with events, which are not sealed");
    };
    for Deviation { row, difference, members } in deviating {
        let members = members.join(", ");
        writeln!(page, "  deviates  {} {}: {difference} {members}", row.table, row.id)?;
    }
    if deviating.is_empty() {
        writeln!(page, "  every row is as its last event says")?;
    }
    Ok(())
}

pub(super) fn as_json(examined: &Examined) -> Value {
    let found = match examined {
        Err(reason) => return json!({ "error": reason }),
        Ok(found) => found,
    };
    let invalid: Vec<Value> = found
        .invalid
        .iter()
        .map(|Finding { row, flaw }| json!({ "table": row.table, "id": row.id.to_string(), "flaw": flaw }))
        .collect();
    let deviating = found.deviating.as_ref().map(|rows| {
        let rows = rows.iter().map(|Deviation { row, difference, members }| {
            json!({ "table": row.table, "id": row.id.to_string(), "difference": difference, "members": members })
        });
        rows.collect::<Vec<_>>()
    });
    json!({ "invalid": invalid, "deviating": deviating, "excludedTokens": found.others })
}
