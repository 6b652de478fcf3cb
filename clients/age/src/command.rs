//! The commands for people: they print a recipient, or an identity.

use std::io::Write as _;

use chrono::{SecondsFormat, Utc};

use crate::failure::Failure;
use crate::identity::Identity;
use crate::service;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Print the recipient of a policy. It has a public key: everyone encrypts with it offline.
    Recipient(Place),
    /// Print an identity file for a policy. It has no secret: it names the service and the policy.
    Identity(Place),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// The base URL of the service, for example `https://sealward.example.com`.
    #[arg(long, env = "SEALWARD_URL")]
    url: String,
    /// The number of the policy.
    #[arg(long, value_name = "NUMBER")]
    policy: String,
}

impl Command {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = match self {
            Self::Recipient(place) => format!("{}\n", place.look_up()?.1),
            Self::Identity(place) => place.identity_file()?,
        };
        std::io::stdout().write_all(text.as_bytes()).map_err(Failure::Output)
    }
}

impl Place {
    /// The identity, and the text of its recipient.
    fn look_up(&self) -> Result<(Identity, String), Failure> {
        let identity = Identity::new(&self.url, &self.policy)?;
        let recipient = service::recipient(&identity)?.text();
        Ok((identity, recipient))
    }

    fn identity_file(&self) -> Result<String, Failure> {
        let (identity, recipient) = self.look_up()?;
        let created = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        let Identity { url, policy } = &identity;
        let text = identity.text();
        Ok(format!(
            "# created: {created}\n# policy: {policy} at {url}\n# recipient: {recipient}\n{text}\n"
        ))
    }
}
