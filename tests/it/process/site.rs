//! What an operator has before the first start: a token, a database, settings.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use faulty_token::{Control, FOLDER};
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};

use super::Ended;
use crate::support::{Database, softhsm_module};

/// The binary.
const PROGRAM: &str = env!("CARGO_BIN_EXE_sealward");

/// The label of the token.
pub(crate) const LABEL: &str = "sealward";

pub(crate) struct Site {
    database: Database,
    folder: PathBuf,
    module: PathBuf,
    faults: Option<Control>,
    admin_key: OnceLock<String>,
}

impl Site {
    /// With a token of SoftHSM2.
    pub(crate) async fn new() -> Self {
        Self::on(Database::new().await)
    }

    /// The same over this database.
    pub(crate) fn on(database: Database) -> Self {
        let site = Self::over(database, softhsm_module());
        site.make_softhsm();
        site
    }

    /// With a token of SoftHSM2 that is reached through a module which injects faults.
    pub(crate) async fn with_faults() -> Self {
        Self::with_faults_over(Database::new().await, "")
    }

    /// The same over this database, with more sections of settings than the sound ones.
    pub(crate) fn with_faults_over(database: Database, more: &str) -> Self {
        let mut site = Self::over(database, Control::module());
        site.make_softhsm();
        site.faults = Some(Control::new(site.folder.join("faults"), softhsm_module()));
        fs::write(site.settings(), site.sound() + more).expect("write the settings");
        site
    }

    /// With a token of kryoptic, which does what a modern HSM does.
    pub(crate) async fn on_kryoptic() -> Self {
        Self::on_kryoptic_over(Database::new().await, "")
    }

    /// The same over this database, with more sections of settings than the sound ones.
    pub(crate) fn on_kryoptic_over(database: Database, more: &str) -> Self {
        let site = Self::over(database, kryoptic_module());
        let token = site.folder.join("token");
        fs::create_dir(&token).expect("a folder");
        let settings = format!(
            "[[slots]]\nslot = 0\ndbtype = \"sqlite\"\ndbargs = \"{}\"\n",
            token.join("token.sql").display()
        );
        fs::write(site.kryoptic_settings(), settings).expect("kryoptic's settings");
        let pin = format!("{:032x}", rand::random::<u128>());
        fs::write(site.pin_file(), &pin).expect("a PIN");
        // This tool of SoftHSM2 makes tokens of any module, if it only finds settings of its own.
        let tokens = format!("directories.tokendir = {}\n", token.display());
        fs::write(site.softhsm_settings(), tokens).expect("SoftHSM2's settings");
        let mut make = Command::new("softhsm2-util");
        make.arg("--module").arg(&site.module);
        make.args(["--init-token", "--slot", "0", "--label", LABEL]);
        make.args(["--so-pin", &pin, "--pin", &pin]);
        run(make.envs(site.environment()));
        fs::write(site.settings(), site.sound() + more).expect("write the settings");
        site
    }

    fn over(database: Database, module: PathBuf) -> Self {
        let name = format!("sealward-site-{:032x}", rand::random::<u128>());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).expect("a folder");
        let site = Self {
            database,
            folder,
            module,
            faults: None,
            admin_key: OnceLock::new(),
        };
        fs::write(site.settings(), site.sound()).expect("write the settings");
        site
    }

    fn make_softhsm(&self) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("softhsm/make-token");
        run(Command::new(script)
            .arg(self.folder.join("token"))
            .arg(LABEL));
    }

    /// Settings with which everything works.
    pub(crate) fn sound(&self) -> String {
        format!(
            "environment = \"development\"\n\
             [http]\nlisten = \"127.0.0.1:0\"\n\
             [limits]\nrequest_timeout = \"2min\"\n\
             {}\
             [log]\nformat = \"json\"\n\
             [hsm]\nallow_raw_rsa = true\n\
             [[hsm.tokens]]\nmodule = \"{}\"\nlabel = \"{LABEL}\"\npin = {{ file = \"{}\" }}\n",
            self.database.settings(),
            self.module.display(),
            self.pin_file().display(),
        )
    }

    /// Where all of it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn settings(&self) -> PathBuf {
        self.folder.join("sealward.toml")
    }

    /// The file that holds the token's PIN.
    pub(crate) fn pin_file(&self) -> PathBuf {
        self.folder.join("token/pin")
    }

    /// A file of this site.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A file of this site with this in it.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.file(name);
        fs::write(&file, text).expect("write a file");
        file
    }

    /// What its token can be made to do wrong.
    pub(crate) fn faults(&self) -> &Control {
        self.faults.as_ref().expect("a site with faults")
    }

    /// Variables for a login that is a member of `roles`: section, URL and password.
    pub(crate) async fn login(&self, section: &str, roles: &[&str]) -> [(String, String); 2] {
        let options = self.database.login(roles).await;
        let mut url = options.to_url_lossy();
        url.set_password(None)
            .expect("a URL that can have a password");
        let file = self.write(&format!("{section}-password"), options.get_username());
        let name = |setting| format!("SEALWARD_{}_{setting}", section.to_uppercase());
        let password = format!("{{ file = \"{}\" }}", file.display());
        [(name("URL"), url.to_string()), (name("PASSWORD"), password)]
    }

    /// How to reach its database.
    pub(crate) fn database(&self) -> &PgConnectOptions {
        self.database.options()
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        let connection = self.database.options().connect();
        connection.await.expect("a connection")
    }

    /// The first admin key, made when it is first asked for.
    pub(crate) fn admin_key(&self) -> &str {
        self.admin_key.get_or_init(|| {
            let wanted = ["api-key", "create", "--type", "admin", "--name", "first"];
            self.run(&wanted).well().line().to_owned()
        })
    }

    /// The binary with these arguments, not started yet.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.arranged(Command::new(PROGRAM), arguments)
    }

    /// The same in a shell that does something else before, and then becomes the binary.
    pub(crate) fn command_after(&self, before: &str, arguments: &[&str]) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("{before}; exec \"$0\" \"$@\""), PROGRAM]);
        self.arranged(shell, arguments)
    }

    fn arranged(&self, mut command: Command, arguments: &[&str]) -> Command {
        command
            .args(arguments)
            .env_clear()
            .env("SEALWARD_CONFIG", self.settings())
            .envs(self.environment());
        command
    }

    /// Runs the binary with these arguments to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let output = self.command(arguments).output();
        output.expect("run the binary").into()
    }

    /// The same with one setting overridden by its variable.
    pub(crate) fn run_with(&self, arguments: &[&str], variable: &str, value: &str) -> Ended {
        let output = self.command(arguments).env(variable, value).output();
        output.expect("run the binary").into()
    }

    /// What `sealward doctor` reports, whether well or ill.
    pub(crate) fn doctor(&self) -> Value {
        self.run(&["doctor", "--json"]).json()
    }

    /// The setting `hsm.tokens` with these members of its one token.
    pub(crate) fn tokens(&self, module: &str, label: &str, pin_file: &str) -> String {
        format!(
            "[{{ module = \"{module}\", label = \"{label}\", pin = {{ file = \"{pin_file}\" }} }}]"
        )
    }

    /// What the modules must find in the environment.
    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut environment = vec![
            ("SOFTHSM2_CONF", self.softhsm_settings().into()),
            ("KRYOPTIC_CONF", self.kryoptic_settings().into()),
        ];
        environment.extend(
            self.faults
                .as_ref()
                .map(|faults| (FOLDER, faults.folder().into())),
        );
        environment
    }

    fn softhsm_settings(&self) -> PathBuf {
        self.folder.join("token/softhsm2.conf")
    }

    fn kryoptic_settings(&self) -> PathBuf {
        self.folder.join("token/kryoptic.conf")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A folder left behind in /tmp fails no test.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the tests have no settings but these"
)]
fn kryoptic_module() -> PathBuf {
    std::env::var_os("SEALWARD_TEST_KRYOPTIC")
        .expect("SEALWARD_TEST_KRYOPTIC names kryoptic's module; ./dev test sets it")
        .into()
}

fn run(command: &mut Command) {
    let output = command.output().expect("it runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
}
