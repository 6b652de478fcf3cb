//! Runs the real binary, in a folder and an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::Database;

/// The label of the token.
pub(super) const LABEL: &str = "sealward";

/// What an operator has before the first start: a token, a database, settings.
pub(super) struct Site {
    database: Database,
    folder: PathBuf,
}

/// SoftHSM2's module.
#[allow(
    clippy::disallowed_methods,
    reason = "the tests have no settings but these"
)]
pub(super) fn module() -> PathBuf {
    let named = std::env::var_os("SEALWARD_TEST_SOFTHSM");
    named
        .expect("SEALWARD_TEST_SOFTHSM names SoftHSM's module; ./dev test sets it")
        .into()
}

/// How a run of the binary ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Site {
    pub(super) async fn new() -> Self {
        let folder =
            std::env::temp_dir().join(format!("sealward-site-{:032x}", rand::random::<u128>()));
        fs::create_dir(&folder).expect("a folder");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("softhsm/make-token");
        let made = Command::new(script)
            .arg(folder.join("token"))
            .arg(LABEL)
            .output();
        let made = made.expect("run softhsm/make-token");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let site = Self {
            database: Database::new().await,
            folder,
        };
        fs::write(site.settings(), site.sound()).expect("write the settings");
        site
    }

    /// Settings with which everything works.
    pub(super) fn sound(&self) -> String {
        format!(
            "environment = \"development\"\n\
             [http]\nlisten = \"127.0.0.1:0\"\n\
             {}\
             [hsm]\nallow_raw_rsa = true\n\
             [[hsm.tokens]]\nmodule = \"{}\"\nlabel = \"{}\"\npin = {{ file = \"{}\" }}\n",
            self.database.settings(),
            module().display(),
            LABEL,
            self.pin_file().display(),
        )
    }

    pub(super) fn settings(&self) -> PathBuf {
        self.folder.join("sealward.toml")
    }

    /// The file that holds the token's PIN.
    pub(super) fn pin_file(&self) -> PathBuf {
        self.folder.join("token/pin")
    }

    /// The binary with these arguments, not started yet.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealward"));
        command
            .args(arguments)
            .env_clear()
            .env("SEALWARD_CONFIG", self.settings())
            .env("SOFTHSM2_CONF", self.folder.join("token/softhsm2.conf"));
        command
    }

    /// Runs the binary with these arguments to its end.
    pub(super) fn run(&self, arguments: &[&str]) -> Ended {
        self.command(arguments)
            .output()
            .expect("run the binary")
            .into()
    }

    /// The same with one setting overridden by its variable.
    pub(super) fn run_with(&self, arguments: &[&str], variable: &str, value: &str) -> Ended {
        self.command(arguments)
            .env(variable, value)
            .output()
            .expect("run the binary")
            .into()
    }

    /// The setting `hsm.tokens` with these members of its one token.
    pub(super) fn tokens(&self, module: &str, label: &str, pin_file: &str) -> String {
        format!(
            "[{{ module = \"{module}\", label = \"{label}\", pin = {{ file = \"{pin_file}\" }} }}]"
        )
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A folder left behind in /tmp fails no test.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Ended {
    /// It ended well.
    #[track_caller]
    pub(super) fn well(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// It ended with this code, and said each of these things on one line of standard error.
    #[track_caller]
    pub(super) fn badly(self, code: i32, said: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        let complaint = self.err.lines().find(|line| line.starts_with("sealward: "));
        let complaint = complaint.unwrap_or_else(|| panic!("no complaint in {self:?}"));
        for words in said {
            assert!(
                complaint.contains(words),
                "{words:?} is not in {complaint:?}"
            );
        }
    }
}
