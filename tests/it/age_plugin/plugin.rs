//! The plugin in the environment of a user, and what an age client says to it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use age_core::format::Stanza;
use age_core::plugin::{Connection, IDENTITY_V1, RECIPIENT_V1};
use testkit::{Exit, Scratch, program};

/// The plugin of a user with these variables.
pub(super) struct Plugin {
    program: PathBuf,
    _folder: Scratch,
}

/// What the plugin answered: stanzas or a file key, or errors.
pub(super) type Answer = Result<Vec<Stanza>, Vec<String>>;

impl Plugin {
    pub(super) fn with(variables: &[(&str, &str)]) -> Self {
        let folder = Scratch::new();
        let program = program().with_file_name("age-plugin-sealward");
        assert!(program.exists(), "cargo build --package age-plugin-sealward builds {program:?}");
        let variables: String =
            variables.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
        let script = folder.path().join("age-plugin-sealward");
        let text = format!("#!/bin/sh\nexec env -i {variables}{} \"$@\"\n", program.display());
        fs::write(&script, text).expect("a script");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("its mode");
        Self { program: script, _folder: folder }
    }

    /// The plugin of a user with this API key.
    pub(super) fn of(key: &str) -> Self {
        Self::with(&[("SEALWARD_API_KEY", key)])
    }

    /// Runs a command of a person.
    pub(super) fn run(&self, arguments: &[&str]) -> Exit {
        let output = Command::new(&self.program).args(arguments).output();
        output.expect("run the plugin").into()
    }

    /// Wraps a file key for recipients (`add-recipient`) and identities (`add-identity`).
    pub(super) fn wrap(&self, receivers: &[(&str, &str)], file_key: &[u8]) -> Answer {
        let mut connection = self.connect(RECIPIENT_V1);
        let sent = connection.unidir_send(|mut phase| {
            for (command, receiver) in receivers {
                phase.send(command, &[receiver], &[])?;
            }
            phase.send("wrap-file-key", &[], file_key)
        });
        sent.expect("the first phase");
        answer(connection, "recipient-stanza")
    }

    /// Unwraps the key of a file with these stanzas.
    pub(super) fn unwrap<'a>(
        &self,
        identities: &[&str],
        stanzas: impl IntoIterator<Item = &'a Stanza>,
    ) -> Answer {
        let mut connection = self.connect(IDENTITY_V1);
        let sent = connection.unidir_send(|mut phase| {
            for identity in identities {
                phase.send("add-identity", &[identity], &[])?;
            }
            for stanza in stanzas {
                phase.send_stanza("recipient-stanza", &["0"], stanza)?;
            }
            Ok(())
        });
        sent.expect("the first phase");
        answer(connection, "file-key")
    }

    fn connect(
        &self,
        state: &str,
    ) -> Connection<impl std::io::Read + use<>, impl std::io::Write + use<>> {
        Connection::open(&self.program, state).expect("run the plugin")
    }
}

/// A stanza, to be changed.
pub(super) fn copy(stanza: &Stanza) -> Stanza {
    Stanza { tag: stanza.tag.clone(), args: stanza.args.clone(), body: stanza.body.clone() }
}

/// The second phase: results of this type, and errors.
fn answer<R: std::io::Read, W: std::io::Write>(
    mut connection: Connection<R, W>,
    expected: &str,
) -> Answer {
    let (mut results, mut errors) = (Vec::new(), Vec::new());
    let done = connection.bidir_receive(&[expected, "labels", "error"], |mut stanza, reply| {
        match stanza.tag.as_str() {
            "error" => errors.push(String::from_utf8(stanza.body).expect("text")),
            "recipient-stanza" => {
                stanza.tag = stanza.args.remove(1);
                stanza.args.remove(0);
                results.push(stanza);
            }
            "file-key" => results.push(stanza),
            _ => assert_eq!(stanza.args, Vec::<String>::new()),
        }
        reply.ok(None)
    });
    done.expect("the second phase");
    if errors.is_empty() { Ok(results) } else { Err(errors) }
}
