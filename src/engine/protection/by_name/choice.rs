//! The key of an operation.

use crate::keys::{KeyStatus, KeyVersion, NoKey, PermittedKey};
use crate::policy::{Permit, Permittable};
use crate::protection::{Call, Protection, Refusal, VersionRefused};
use formats::material::Algorithm;

impl Protection {
    /// The version of a key. The record names it, even where the caller owns it and cannot use it.
    pub(super) async fn choose_by_name<'a, O: Permittable>(
        &'a self,
        call: &mut Call,
        permit: &'a Permit<O>,
        name: &str,
        version: Option<KeyVersion>,
        fitting: &[Algorithm],
    ) -> Result<PermittedKey<'a, Permit<O>>, Refusal> {
        let keyring = &self.dependencies.keyring;
        let refused = match keyring.choose_version(permit, name, version, fitting).await {
            Ok(key) => {
                call.note_key(key.id());
                return Ok(key);
            }
            Err(refused) => refused,
        };
        let caller = permit.application().service_id();
        let versions = keyring.versions(caller, name).await?.ok_or(Refusal::KeyNotFound)?;
        let algorithm = |id| {
            let mut keys = versions.keys();
            keys.find(|key| key.id == id).map(|key| key.algorithm)
        };
        Err(match refused {
            NoKey::NotFound | NoKey::HeldByDestination(_) => match version {
                None => Refusal::KeyNotFound,
                Some(version) if versions.keys().any(|key| key.version >= Some(version)) => {
                    Refusal::Version(VersionRefused::TooOld)
                }
                Some(_) => Refusal::Version(VersionRefused::TooNew),
            },
            NoKey::NotAllowed(key, status) => {
                call.note_key(key);
                match (version, status) {
                    (None, KeyStatus::Destroyed) => Refusal::KeyNotFound,
                    // It made something before, and does so no more.
                    (Some(_), KeyStatus::Retired | KeyStatus::Destroyed) => {
                        Refusal::Version(VersionRefused::TooOld)
                    }
                    _ => Refusal::KeyState(status),
                }
            }
            NoKey::Expired(key) => {
                call.note_key(key);
                match version {
                    None => Refusal::KeyExpired,
                    Some(_) => Refusal::Version(VersionRefused::TooOld),
                }
            }
            NoKey::BelowFloor(key, breach) => {
                call.note_key(key);
                breach.into()
            }
            NoKey::Unfit(key) => {
                call.note_key(key);
                algorithm(key).map_or(Refusal::KeyNotFound, Refusal::Unsupported)
            }
            NoKey::Unreadable(unreadable) => unreadable.into(),
        })
    }
}
