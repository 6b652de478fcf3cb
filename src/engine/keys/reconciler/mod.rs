//! The comparison of tokens and records. An object without a record is an orphan: it is reported and
//! never deleted automatically. A recorded key that is in no token is missing.

mod abandoned;
mod store;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::iter;
use std::time::Duration;

use hsm::{HsmError, KeyName, TokenObject, TokenState};
use uuid::Uuid;

use super::{Comparison, Intended, Orphan, Vault};
use crate::ids::{ImportKeyId, KeyId};
use formats::clock::Timestamp;

/// Why the comparison failed.
#[derive(Debug, thiserror::Error)]
pub enum NotCompared {
    /// The token did not list its objects.
    #[error(transparent)]
    Token(#[from] HsmError),
    /// The database did not return the records.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The maximum time to create an object, longer than any deadline. Younger objects are not orphans.
const UNDER_WAY: Duration = Duration::from_secs(15 * 60);

impl Vault {
    /// Compares the tokens with the records, and records which token has which key.
    pub async fn compare(&self) -> Result<Comparison, NotCompared> {
        // The tokens come first: an object that is created meanwhile is not an orphan, because its intent
        // is read later.
        let asked_at = self.clock.now();
        let objects = self.token.inventory().await?;
        let serving = self.serving();
        let records = store::records(self.pool.rows()).await?;
        let intents = store::intents(&self.pool).await?;

        let complete = serving.len() == self.token.status().tokens.len();
        let missing = if complete { missing(&records, &objects, asked_at) } else { Vec::new() };
        let comparison = Comparison {
            made_at: Some(asked_at),
            orphans: orphans(&records, &intents, &objects, asked_at),
            missing,
            complete,
        };
        self.note(&records, &intents, &objects, &serving, asked_at).await?;
        comparison.log();
        self.latest.set(comparison.clone());
        Ok(comparison)
    }

    /// Destroys the objects of destroyed keys that a comparison found, such as on a token that was away
    /// when the others destroyed them. An adopted key is named by others and may be another key by now:
    /// it is only reported.
    pub(crate) async fn destroy_left_over(&self, comparison: &Comparison) {
        for orphan in &comparison.orphans {
            let Some(Intended::Destroyed(id)) = orphan.intended else {
                continue;
            };
            if orphan.key.name != KeyName::Id(id.uuid().as_bytes().to_vec()) {
                continue;
            }
            match self.destroy(&orphan.key).await {
                Ok(()) => tracing::info!(
                    token = orphan.token,
                    key = %id,
                    "destroyed the remaining object of a destroyed key"
                ),
                Err(error) => tracing::warn!(
                    token = orphan.token,
                    key = %id,
                    ?error,
                    "the token did not destroy the remaining object of a destroyed key"
                ),
            }
        }
    }

    fn serving(&self) -> Vec<String> {
        let tokens = self.token.status().tokens.into_iter();
        tokens.filter(|token| token.state == TokenState::Serving).map(|token| token.label).collect()
    }

    /// Records which token has which key, and removes intents without an object.
    async fn note(
        &self,
        records: &[ExpectedKey],
        intents: &[IntendedObject],
        objects: &[TokenObject],
        serving: &[String],
        asked_at: Timestamp,
    ) -> sqlx::Result<()> {
        for token in serving {
            let there = held(objects.iter().filter(|object| object.token == *token));
            let (held, not_held) = records
                .iter()
                .filter(|record| record.created_at < asked_at)
                .partition::<Vec<_>, _>(|record| record.is_whole(&there));
            let ids = |records: Vec<&ExpectedKey>| records.iter().map(|record| record.id).collect();
            store::note_presence(&self.pool, token, ids(held), true, asked_at).await?;
            store::note_presence(&self.pool, token, ids(not_held), false, asked_at).await?;
        }
        if serving.len() < self.token.status().tokens.len() {
            return Ok(());
        }
        let there = held(objects);
        for intent in intents {
            let found = there.contains_key(&intent.name());
            if !found && !intent.fulfilled && asked_at.since(intent.created_at) > UNDER_WAY {
                store::forget_intent(&self.pool, intent.id).await?;
            }
        }
        Ok(())
    }
}

impl Comparison {
    /// Logs missing keys and orphans.
    fn log(&self) {
        for orphan in &self.orphans {
            tracing::warn!(
                token = orphan.token,
                name = ?orphan.key.name,
                label = orphan.label,
                intended = ?orphan.intended,
                "the token holds a key that no record names"
            );
        }
        for key in &self.missing {
            tracing::error!(%key, "a key is recorded and no token holds it");
        }
        let (orphans, missing) = (self.orphans.len(), self.missing.len());
        let complete = self.complete;
        tracing::info!(orphans, missing, complete, "token and records were compared");
    }
}

/// A key that should be in a token.
#[derive(Debug)]
struct ExpectedKey {
    id: KeyId,
    name: KeyName,
    /// The number of its objects in a token.
    objects: usize,
    destroyed: bool,
    created_at: Timestamp,
}

/// An intended object.
#[derive(Debug)]
struct IntendedObject {
    id: Uuid,
    is_import_key: bool,
    created_at: Timestamp,
    /// It exists: a recorded wrapping key.
    fulfilled: bool,
}

impl ExpectedKey {
    /// Whether the key should have been in the token at the time of the listing.
    fn may_be_missing(&self, asked_at: Timestamp) -> bool {
        !self.destroyed && self.created_at < asked_at
    }

    /// Whether a token has all objects of the key. `there` counts the objects of the token by name.
    fn is_whole(&self, there: &HashMap<KeyName, usize>) -> bool {
        there.get(&self.name) >= Some(&self.objects)
    }
}

impl IntendedObject {
    /// The name of its object.
    fn name(&self) -> KeyName {
        KeyName::Id(self.id.as_bytes().to_vec())
    }
}

/// The number of these objects with each name that can be keys of Sealward.
fn held<'a>(objects: impl IntoIterator<Item = &'a TokenObject>) -> HashMap<KeyName, usize> {
    let mut held = HashMap::new();
    let private = objects.into_iter().filter(|object| !object.is_visible);
    for name in private.flat_map(names) {
        *held.entry(name).or_insert(0) += 1;
    }
    held
}

/// The names by which a record can name an object: its label too if its id is not unique.
fn names(object: &TokenObject) -> impl Iterator<Item = KeyName> {
    let name = object.key.name.clone();
    let label = KeyName::Label(object.label.clone());
    let label = Some(label).filter(|label| *label != name);
    iter::once(name).chain(label)
}

/// The keys that no token holds with all their objects.
fn missing(records: &[ExpectedKey], objects: &[TokenObject], asked_at: Timestamp) -> Vec<KeyId> {
    let tokens: HashSet<_> = objects.iter().map(|object| &object.token).collect();
    let of = |token: &String| held(objects.iter().filter(|object| object.token == *token));
    let there: Vec<_> = tokens.into_iter().map(of).collect();
    records
        .iter()
        .filter(|record| record.may_be_missing(asked_at))
        .filter(|record| !there.iter().any(|there| record.is_whole(there)))
        .map(|record| record.id)
        .collect()
}

fn orphans(
    records: &[ExpectedKey],
    intents: &[IntendedObject],
    objects: &[TokenObject],
    asked_at: Timestamp,
) -> Vec<Orphan> {
    let records: HashMap<_, _> = records.iter().map(|record| (&record.name, record)).collect();
    let intents: HashMap<_, _> = intents.iter().map(|intent| (intent.name(), intent)).collect();
    let mut found = Vec::new();
    for object in objects.iter().filter(|object| !object.internal) {
        if object.is_visible {
            found.push(Orphan::of(object, None));
            continue;
        }
        let name = &object.key.name;
        let is_recorded = |name| records.get(&name).is_some_and(|record| !record.destroyed);
        if names(object).any(is_recorded) {
            continue;
        }
        let intended = match (records.get(name), intents.get(name)) {
            (Some(record), _) => Some(Intended::Destroyed(record.id)),
            (None, Some(intent)) => {
                if intent.fulfilled || asked_at.since(intent.created_at) <= UNDER_WAY {
                    continue;
                }
                Some(if intent.is_import_key {
                    Intended::ImportKey(ImportKeyId::from_uuid(intent.id))
                } else {
                    Intended::Key(KeyId::from_uuid(intent.id))
                })
            }
            (None, None) => None,
        };
        found.push(Orphan::of(object, intended));
    }
    found
}
