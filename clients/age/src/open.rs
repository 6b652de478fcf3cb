//! The state machine that decrypts: `identity-v1`.

use std::collections::HashMap;
use std::io;

use age_core::format::{FileKey, Stanza};
use age_plugin::Callbacks;
use age_plugin::identity::{Error, IdentityPluginV1};

use crate::identity::Identity;
use crate::stanza::{Read, Sealed, read};
use crate::{NAME, service};

/// The stanzas of a file that the plugin tries to open at most. A file of many would use up the rate limit of its
/// reader. Stanzas for other policies do not count.
const MOST_TRIED: usize = 16;

/// The identities of a person.
#[derive(Default)]
pub(crate) struct Identities(Vec<IdentityEntry>);

struct IdentityEntry {
    identity: Identity,
    index: usize,
    /// The failure of a request that would be the same for the next one.
    failure: Option<String>,
}

/// The key of a file, or why it is not there; neither if no stanza was for these identities.
#[derive(Default)]
struct Outcome {
    file_key: Option<FileKey>,
    errors: Vec<Error>,
}

impl IdentityPluginV1 for Identities {
    fn add_identity(&mut self, index: usize, plugin: &str, bytes: &[u8]) -> Result<(), Error> {
        let identity = Identity::from_bytes(bytes).filter(|_| plugin == NAME);
        let unknown = || Error::Identity { index, message: Identity::UNKNOWN.to_owned() };
        let identity = identity.ok_or_else(unknown)?;
        self.0.push(IdentityEntry { identity, index, failure: None });
        Ok(())
    }

    fn unwrap_file_keys(
        &mut self,
        files: Vec<Vec<Stanza>>,
        _: impl Callbacks<Error>,
    ) -> io::Result<HashMap<usize, Result<FileKey, Vec<Error>>>> {
        let opened = files.iter().enumerate().filter_map(|(file_index, stanzas)| {
            let Outcome { file_key, errors } = self.open(file_index, stanzas);
            match file_key {
                Some(file_key) => Some((file_index, Ok(file_key))),
                None if errors.is_empty() => None,
                None => Some((file_index, Err(errors))),
            }
        });
        Ok(opened.collect())
    }
}

impl Identities {
    /// Opens the first stanza of a file that opens.
    fn open(&mut self, file_index: usize, stanzas: &[Stanza]) -> Outcome {
        let mut outcome = Outcome::default();
        let mut tried = 0;
        for (stanza_index, stanza) in stanzas.iter().enumerate() {
            let refused = |message: &str| Error::Stanza {
                file_index,
                stanza_index,
                message: message.to_owned(),
            };
            let read = read(stanza);
            if !self.are_for(&read) {
                continue;
            }
            tried += 1;
            if tried > MOST_TRIED {
                outcome.errors.push(refused(&format!(
                    "the file has more than {MOST_TRIED} stanzas for these identities"
                )));
                break;
            }
            let Read::Sealed(sealed) = read else {
                outcome.errors.push(refused("the file is damaged: its stanza is malformed"));
                continue;
            };
            for entry in self.0.iter_mut().filter(|it| it.identity.policy == sealed.policy) {
                match entry.open(&sealed) {
                    Ok(Some(file_key)) => {
                        outcome.file_key = Some(file_key);
                        return outcome;
                    }
                    Ok(None) => outcome.errors.push(refused("the envelope contains no file key")),
                    Err(error) => outcome.errors.push(error),
                }
            }
        }
        outcome
    }

    /// Whether one of these identities is for a stanza. A malformed stanza could be for each of them.
    fn are_for(&self, stanza: &Read) -> bool {
        match stanza {
            Read::Foreign => false,
            Read::Malformed => true,
            Read::Sealed(sealed) => self.0.iter().any(|it| it.identity.policy == sealed.policy),
        }
    }
}

impl IdentityEntry {
    fn open(&mut self, sealed: &Sealed) -> Result<Option<FileKey>, Error> {
        let refused = |message| Error::Identity { index: self.index, message };
        if let Some(message) = &self.failure {
            return Err(refused(message.clone()));
        }
        service::open(&self.identity, sealed).map_err(|failure| {
            self.failure = failure.is_lasting().then(|| failure.line());
            refused(failure.line())
        })
    }
}
