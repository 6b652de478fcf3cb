//! A folder with tokens of both kinds and its environment variables.

use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::{env, fs};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::session::UserType;
use hsm::{TokenConfig, TokenSelect};

/// The labels of the two tokens of each kind.
pub(crate) const LABELS: [&str; 2] = ["one", "two"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    SoftHsm,
    Kryoptic,
}

#[derive(Debug)]
pub(crate) struct TokenFolder {
    folder: PathBuf,
}

const PREFIX: &str = "hsm-test-home-";
const MAKE_TOKEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../softhsm/make-token");
/// Created once and copied for every process, which is ten times as fast.
const MODEL: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/softhsm");

impl TokenFolder {
    /// Creates a folder for this process. The process that uses kryoptic tokens initializes them.
    pub(crate) fn create(name: &str) -> Self {
        clear_up();
        let folder = env::temp_dir().join(format!("{PREFIX}{}-{name}", process::id()));
        let home = Self { folder };
        let model = softhsm_model();
        copy(&model.join("tokens"), &home.tokens());
        fs::copy(model.join("pin"), home.folder.join("pin")).unwrap();
        let here = home.folder.to_str().unwrap();
        let settings = fs::read_to_string(model.join("softhsm2.conf")).unwrap();
        let settings = settings.replace(model.to_str().unwrap(), here);
        fs::write(home.folder.join("softhsm2.conf"), settings).unwrap();
        let slot = |(slot, label)| {
            format!(
                "[[slots]]\nslot = {slot}\ndbtype = \"sqlite\"\ndbargs = \"{here}/{label}.sql\"\n"
            )
        };
        let slots: String = LABELS.into_iter().enumerate().map(slot).collect();
        fs::write(home.folder.join("kryoptic.conf"), slots).unwrap();
        home
    }

    /// The folder that the parent process created.
    pub(crate) fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the SoftHSM tokens.
    pub(crate) fn tokens(&self) -> PathBuf {
        self.folder.join("tokens")
    }

    pub(crate) fn pin(&self) -> String {
        fs::read_to_string(self.folder.join("pin")).unwrap()
    }

    /// The environment variables of both libraries.
    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 2] {
        [
            ("SOFTHSM2_CONF", self.folder.join("softhsm2.conf")),
            ("KRYOPTIC_CONF", self.folder.join("kryoptic.conf")),
        ]
    }

    pub(crate) fn token(&self, module: &Path, label: &str) -> TokenConfig {
        TokenConfig {
            module: module.to_owned(),
            select: TokenSelect::Label(label.to_owned()),
            pin: self.pin().into(),
            module_parameters: None,
            retry_pin: false,
        }
    }

    /// Initializes the kryoptic tokens. Call it in a process that has the environment, before any other
    /// use of the module.
    pub(crate) fn initialize_kryoptic(&self) {
        let pin = self.pin().into();
        let context = Pkcs11::new(Kind::Kryoptic.module()).unwrap();
        let locking = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
        context.initialize(locking).unwrap();
        for (slot, label) in context.get_all_slots().unwrap().into_iter().zip(LABELS) {
            context.init_token(slot, &pin, label).unwrap();
            let session = context.open_rw_session(slot).unwrap();
            session.login(UserType::So, Some(&pin)).unwrap();
            session.init_pin(&pin).unwrap();
        }
        context.finalize().unwrap();
    }
}

impl Kind {
    /// The path of the module. A missing module fails the test.
    #[allow(
        clippy::disallowed_methods,
        reason = "the tests read these variables instead of settings"
    )]
    pub(crate) fn module(self) -> PathBuf {
        let (variable, usual) = match self {
            Self::SoftHsm => {
                ("SEALWARD_TEST_SOFTHSM", Some("/usr/lib/softhsm/libsofthsm2.so".into()))
            }
            Self::Kryoptic => ("SEALWARD_TEST_KRYOPTIC", None),
        };
        let module = env::var_os(variable).map(PathBuf::from).or(usual);
        let there = module.filter(|module| module.exists());
        there.unwrap_or_else(|| {
            panic!(
                "{variable} names no PKCS#11 module; run ./dev test, or: eval \"$(./dev test-env)\""
            )
        })
    }
}

fn softhsm_model() -> PathBuf {
    let model = PathBuf::from(MODEL);
    let whole = model.join("whole");
    if !whole.exists() {
        // The script locks the folder, so that concurrent processes wait.
        for label in LABELS {
            let created = Command::new(MAKE_TOKEN).arg(&model).arg(label).output();
            let created = created.unwrap();
            assert!(created.status.success(), "{created:?}");
        }
        fs::write(whole, "").unwrap();
    }
    model
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Removes the folders of processes that have exited.
fn clear_up() {
    for entry in fs::read_dir(env::temp_dir()).unwrap().flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if let Some((owner, _)) = name.and_then(|name| name.split_once('-'))
            && !Path::new("/proc").join(owner).exists()
        {
            // Another process can remove the folder at the same time.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}
