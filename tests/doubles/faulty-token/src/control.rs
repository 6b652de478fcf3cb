//! The interface for tests: sets faults and counts calls.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::Rule;

/// The environment variable with the control folder of the faulty token.
pub const FOLDER: &str = "FAULTY_TOKEN";

pub(crate) const MODULE: &str = "module";
pub(crate) const RULES: &str = "rules";
pub(crate) const CALLS: &str = "calls";

/// The control folder of a faulty token.
#[derive(Debug, Clone)]
pub struct Control {
    folder: PathBuf,
}

impl Control {
    /// Creates the folder for a module that forwards to `module`.
    ///
    /// # Panics
    ///
    /// Panics if the folder cannot be written, like all functions here.
    pub fn new(folder: impl Into<PathBuf>, module: impl AsRef<Path>) -> Self {
        let control = Self::at(folder);
        sound(fs::create_dir_all(&control.folder));
        let module = module.as_ref().as_os_str().as_encoded_bytes();
        sound(fs::write(control.folder.join(MODULE), module));
        sound(fs::write(control.folder.join(CALLS), ""));
        control.rules(&[]);
        control
    }

    /// Opens an existing folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { folder }
    }

    /// The folder, which is the value for [`FOLDER`].
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Replaces all rules. If several apply to a call, the first one is used. The counters of all
    /// rules restart.
    pub fn rules(&self, rules: &[Rule]) {
        let place = self.folder.join(RULES);
        // The number in the first line distinguishes identical rules that are set again.
        let before = fs::read_to_string(&place).unwrap_or_default();
        let number: u64 = before.lines().next().map_or(0, |line| sound(line.parse::<u64>()) + 1);
        let text: String = rules.iter().map(|rule| format!("{rule}\n")).collect();
        // Renaming prevents reads of an incomplete file.
        let aside = self.folder.join("rules.new");
        sound(fs::write(&aside, format!("{number}\n{text}")));
        sound(fs::rename(aside, place));
    }

    /// The number of calls of a function, for all tokens.
    pub fn calls(&self, function: &str) -> usize {
        self.count(|called, _| called == function)
    }

    /// The number of calls of a function for the token with this label.
    pub fn calls_on(&self, token: &str, function: &str) -> usize {
        self.count(|called, on| called == function && on == token)
    }

    fn count(&self, fits: impl Fn(&str, &str) -> bool) -> usize {
        sound(fs::read_to_string(self.folder.join(CALLS)))
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter(|(function, token)| fits(function, token))
            .count()
    }

    /// The path of the module, which cargo puts next to the test binaries of dependent crates.
    pub fn module() -> PathBuf {
        let beside =
            sound(env::current_exe()).parent().map(|folder| folder.join("libfaulty_token.so"));
        sound(
            beside
                .filter(|path| path.exists())
                .ok_or("libfaulty_token.so is not beside this binary: is faulty-token a dev-dependency of its package?"),
        )
    }
}

#[allow(clippy::panic, reason = "only tests use this")]
fn sound<T>(result: Result<T, impl std::fmt::Debug>) -> T {
    result.unwrap_or_else(|error| panic!("the faulty token's folder: {error:?}"))
}
