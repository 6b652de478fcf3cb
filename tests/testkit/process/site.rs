//! A token, a database and settings, as an operator prepares them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use faulty_token::{Control, FOLDER};
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use tokio::sync::OnceCell;

use super::{Exit, program};
use crate::token::folder_of_process;
use crate::{Database, kryoptic_module, repository, softhsm_module};

/// The label of the token.
pub const LABEL: &str = "sealward";

pub struct Site {
    database: Database,
    folder: PathBuf,
    module: PathBuf,
    faults: Option<Control>,
    initialized: OnceLock<()>,
    admin_key: OnceLock<String>,
}

impl Site {
    /// Creates a site with a SoftHSM2 token.
    pub async fn new() -> Self {
        let site = Self::over(Database::new().await, softhsm_module());
        site.copy_token().await;
        site
    }

    /// Creates a site with a SoftHSM2 token and this database.
    pub fn on(database: Database) -> Self {
        let site = Self::over(database, softhsm_module());
        site.add_softhsm(LABEL);
        site
    }

    /// Creates a site with a SoftHSM2 token behind a module that injects faults.
    pub async fn with_faults() -> Self {
        let site = Self::behind_faults(Database::new().await, "");
        site.copy_token().await;
        site
    }

    /// As above, with this database and additional settings.
    pub fn with_faults_over(database: Database, more: &str) -> Self {
        let site = Self::behind_faults(database, more);
        site.add_softhsm(LABEL);
        site
    }

    fn behind_faults(database: Database, more: &str) -> Self {
        let mut site = Self::over(database, Control::module());
        site.faults = Some(Control::new(site.folder.join("faults"), softhsm_module()));
        site.add_settings(more);
        site
    }

    /// Adds to the default settings of this site.
    pub fn add_settings(&self, more: &str) {
        fs::write(self.settings(), self.default_settings() + more).expect("write the settings");
    }

    /// Creates a site with a kryoptic token, which supports the mechanisms of a modern HSM.
    pub async fn on_kryoptic() -> Self {
        Self::on_kryoptic_over(Database::new().await, "").with_row_key()
    }

    /// As above, with this database and additional settings.
    pub fn on_kryoptic_over(database: Database, more: &str) -> Self {
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
        // This SoftHSM2 tool initializes tokens of any module, but requires SoftHSM2 settings.
        let tokens = format!("directories.tokendir = {}\n", token.display());
        fs::write(site.softhsm_settings(), tokens).expect("SoftHSM2's settings");
        let mut init = Command::new("softhsm2-util");
        init.arg("--module").arg(&site.module);
        init.args(["--init-token", "--slot", "0", "--label", LABEL]);
        init.args(["--so-pin", &pin, "--pin", &pin]);
        run(init.envs(site.environment()));
        fs::write(site.settings(), site.default_settings() + more).expect("write the settings");
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
            initialized: OnceLock::new(),
            admin_key: OnceLock::new(),
        };
        fs::write(site.settings(), site.default_settings()).expect("write the settings");
        site
    }

    /// Copies a SoftHSM2 token with a row key. To make both takes much longer.
    async fn copy_token(&self) {
        static MADE: OnceCell<PathBuf> = OnceCell::const_new();
        let made = MADE.get_or_init(async || {
            let site = Self::on(Database::new().await);
            site.initialize();
            let kept = folder_of_process().join("site");
            copy(&site.folder.join("token"), &kept);
            kept
        });
        copy(made.await, &self.folder.join("token"));
        let tokens = self.folder.join("token/tokens");
        let settings = fs::read_to_string(self.softhsm_settings()).expect("SoftHSM2's settings");
        let lines = settings.lines().map(|line| match line.starts_with("directories.tokendir") {
            true => format!("directories.tokendir = {}\n", tokens.display()),
            false => format!("{line}\n"),
        });
        fs::write(self.softhsm_settings(), lines.collect::<String>()).expect("the settings");
        self.initialized.get_or_init(|| ());
    }

    /// Creates a SoftHSM2 token with this label. All have the same PIN.
    pub fn add_softhsm(&self, label: &str) {
        let script = repository().join("softhsm/make-token");
        run(Command::new(script).arg(self.folder.join("token")).arg(label));
    }

    /// Imports a private key in PEM into the token with this label without Sealward.
    pub fn import(&self, label: &str, cka_id: &str, pem: &str) {
        let file = self.write("imported.pem", pem);
        let pin = fs::read_to_string(self.pin_file()).expect("the PIN");
        let mut import = Command::new("softhsm2-util");
        import.arg("--import").arg(file).args(["--token", label]);
        import.args(["--label", "imported", "--id", cka_id]);
        run(import.args(["--pin", pin.trim()]).envs(self.environment()));
    }

    /// The setting `hsm.tokens` with the tokens that have these labels.
    pub fn tokens_with(&self, labels: &[&str]) -> String {
        let (module, pin) = (self.module.display(), self.pin_file());
        let (module, pin) = (module.to_string(), pin.display().to_string());
        let one = |label: &&str| self.tokens(&module, label, &pin).replace(['[', ']'], "");
        let tokens: Vec<_> = labels.iter().map(one).collect();
        format!("[{}]", tokens.join(", "))
    }

    /// Valid settings for this site.
    pub fn default_settings(&self) -> String {
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

    /// The folder of this site.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn settings(&self) -> PathBuf {
        self.folder.join("sealward.toml")
    }

    /// The file that holds the token's PIN.
    pub fn pin_file(&self) -> PathBuf {
        self.folder.join("token/pin")
    }

    /// The path of a file in this site.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file in this site and returns its path.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.file(name);
        fs::write(&file, text).expect("write a file");
        file
    }

    /// Controls the faults of the token.
    pub fn faults(&self) -> &Control {
        self.faults.as_ref().expect("a site with faults")
    }

    /// Variables for a login that is a member of `roles`: section, URL and password.
    pub async fn login(&self, section: &str, roles: &[&str]) -> [(String, String); 2] {
        let options = self.database.login(roles).await;
        let mut url = options.to_url_lossy();
        url.set_password(None).expect("a URL that can have a password");
        let file = self.write(&format!("{section}-password"), options.get_username());
        let name = |setting| format!("SEALWARD_{}_{setting}", section.to_uppercase());
        let password = format!("{{ file = \"{}\" }}", file.display());
        [(name("URL"), url.to_string()), (name("PASSWORD"), password)]
    }

    /// The connection options of the database.
    pub fn database(&self) -> &PgConnectOptions {
        self.database.options()
    }

    pub async fn connect(&self) -> PgConnection {
        let connection = self.database.options().connect();
        connection.await.expect("a connection")
    }

    /// Changes rows by SQL like an operator, who then seals them.
    pub async fn rewrite(&self, sql: &'static str) {
        let mut connection = self.connect().await;
        sqlx::raw_sql(sql).execute(&mut connection).await.expect("a change");
        self.run(&["rows", "reseal", "--yes"]).success();
    }

    fn with_row_key(self) -> Self {
        self.initialize();
        self
    }

    /// Makes the row key, at the first call.
    pub fn initialize(&self) {
        self.initialized.get_or_init(|| {
            self.run(&["init"]).success();
        });
    }

    /// The first admin key, which the first call creates.
    pub fn admin_key(&self) -> &str {
        self.admin_key.get_or_init(|| {
            self.initialize();
            let create = ["api-key", "create", "--type", "admin", "--name", "first"];
            self.run(&create).success().line().to_owned()
        })
    }

    /// A command that runs the binary with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.with_environment(Command::new(program()), arguments)
    }

    /// A command that runs `before` in a shell and then replaces the shell with the binary.
    pub fn command_after(&self, before: &str, arguments: &[&str]) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("{before}; exec \"$0\" \"$@\"")]);
        shell.arg(program());
        self.with_environment(shell, arguments)
    }

    fn with_environment(&self, mut command: Command, arguments: &[&str]) -> Command {
        command
            .args(arguments)
            .env_clear()
            .env("SEALWARD_CONFIG", self.settings())
            .envs(self.environment());
        command
    }

    /// Runs the binary with these arguments until it exits.
    pub fn run(&self, arguments: &[&str]) -> Exit {
        let output = self.command(arguments).output();
        output.expect("run the binary").into()
    }

    /// As `run`, with one setting overridden by its variable.
    pub fn run_with(&self, arguments: &[&str], variable: &str, value: &str) -> Exit {
        let output = self.command(arguments).env(variable, value).output();
        output.expect("run the binary").into()
    }

    /// The report of `sealward doctor` without trials of the token, successful or not.
    pub fn doctor(&self) -> Value {
        self.run(&["doctor", "--skip-trials", "--json"]).json()
    }

    /// The setting `hsm.tokens` with one token.
    pub fn tokens(&self, module: &str, label: &str, pin_file: &str) -> String {
        format!(
            "[{{ module = \"{module}\", label = \"{label}\", pin = {{ file = \"{pin_file}\" }} }}]"
        )
    }

    /// The environment variables of the modules.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut environment = vec![
            ("SOFTHSM2_CONF", self.softhsm_settings().into()),
            ("KRYOPTIC_CONF", self.kryoptic_settings().into()),
        ];
        environment.extend(self.faults.as_ref().map(|faults| (FOLDER, faults.folder().into())));
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
        // A remaining folder in /tmp does not fail the test.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(from, to).expect("a copy")),
        }
    }
}

fn run(command: &mut Command) {
    let output = command.output().expect("run the program");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {message}");
}
