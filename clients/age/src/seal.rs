//! The state machine that encrypts: `recipient-v1`.

use std::collections::HashSet;
use std::io;

use age_core::format::{FileKey, Stanza};
use age_plugin::Callbacks;
use age_plugin::recipient::{Error, RecipientPluginV1};

use crate::identity::Identity;
use crate::recipient::Recipient;
use crate::{NAME, service, stanza};

/// The recipients of files. Those of identities were looked up.
#[derive(Default)]
pub(crate) struct Recipients(Vec<Recipient>);

impl RecipientPluginV1 for Recipients {
    fn add_recipient(&mut self, index: usize, plugin: &str, bytes: &[u8]) -> Result<(), Error> {
        let known = Recipient::from_bytes(bytes).filter(|_| plugin == NAME);
        let message = "this is not a recipient of this version of age-plugin-sealward".to_owned();
        self.0.push(known.ok_or(Error::Recipient { index, message })?);
        Ok(())
    }

    fn add_identity(&mut self, index: usize, plugin: &str, bytes: &[u8]) -> Result<(), Error> {
        let refused = |message| Error::Identity { index, message };
        let identity = Identity::from_bytes(bytes).filter(|_| plugin == NAME);
        let identity = identity.ok_or_else(|| refused(Identity::UNKNOWN.to_owned()))?;
        let found = service::recipient_of_file(&identity);
        self.0.push(found.map_err(|failure| refused(failure.line()))?);
        Ok(())
    }

    fn labels(&mut self) -> HashSet<String> {
        HashSet::new()
    }

    fn wrap_file_keys(
        &mut self,
        file_keys: Vec<FileKey>,
        _: impl Callbacks<Error>,
    ) -> io::Result<Result<Vec<Vec<Stanza>>, Vec<Error>>> {
        let sealed = file_keys.iter().map(|file_key| self.seal(file_key)).collect();
        Ok(sealed)
    }
}

impl Recipients {
    /// One stanza for each recipient.
    fn seal(&self, file_key: &FileKey) -> Result<Vec<Stanza>, Vec<Error>> {
        let failed = |policy: &str, error| {
            vec![Error::Internal { message: format!("policy {policy}: {error}") }]
        };
        let sealed = self.0.iter().map(|recipient| {
            stanza::seal(recipient, file_key).map_err(|error| failed(&recipient.policy, error))
        });
        sealed.collect()
    }
}
