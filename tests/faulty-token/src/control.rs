//! The test's side: arranges faults and reads what was called.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::Rule;

/// The environment variable that names the folder a process's faulty token lives in.
pub const FOLDER: &str = "FAULTY_TOKEN";

pub(crate) const MODULE: &str = "module";
pub(crate) const RULES: &str = "rules";
pub(crate) const CALLS: &str = "calls";

/// A folder that rules a faulty token.
#[derive(Debug, Clone)]
pub struct Control {
    folder: PathBuf,
}

impl Control {
    /// Makes the folder, for a module that forwards to this one.
    ///
    /// # Panics
    ///
    /// When the folder cannot be written, as everything here: a test has nothing better to do.
    pub fn new(folder: impl Into<PathBuf>, module: impl AsRef<Path>) -> Self {
        let control = Self::at(folder);
        sound(fs::create_dir_all(&control.folder));
        let module = module.as_ref().as_os_str().as_encoded_bytes();
        sound(fs::write(control.folder.join(MODULE), module));
        sound(fs::write(control.folder.join(CALLS), ""));
        control.rules(&[]);
        control
    }

    /// A folder that was made already.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { folder }
    }

    /// The folder, which is what [`FOLDER`] must say.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts these rules in force, instead of those before. Where several apply, the first does.
    /// All begin to count anew.
    pub fn rules(&self, rules: &[Rule]) {
        let place = self.folder.join(RULES);
        // A number on top tells the same rules apart that are put in force again.
        let before = fs::read_to_string(&place).unwrap_or_default();
        let number: u64 = before
            .lines()
            .next()
            .map_or(0, |line| sound(line.parse::<u64>()) + 1);
        let text: String = rules.iter().map(|rule| format!("{rule}\n")).collect();
        // Renamed into place, so that nobody reads half of it.
        let aside = self.folder.join("rules.new");
        sound(fs::write(&aside, format!("{number}\n{text}")));
        sound(fs::rename(aside, place));
    }

    /// How often a function was called, all tokens together.
    pub fn calls(&self, function: &str) -> usize {
        self.count(|called, _| called == function)
    }

    /// How often a function was called for the token with this label.
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

    /// The module itself. Cargo puts it beside the test binaries of whoever depends on this crate.
    pub fn module() -> PathBuf {
        let beside = sound(env::current_exe())
            .parent()
            .map(|folder| folder.join("libfaulty_token.so"));
        sound(
            beside
                .filter(|path| path.exists())
                .ok_or("libfaulty_token.so is not beside this binary: is faulty-token a dev-dependency of its package?"),
        )
    }
}

#[allow(clippy::panic, reason = "only tests come here, and fail")]
fn sound<T>(result: Result<T, impl std::fmt::Debug>) -> T {
    result.unwrap_or_else(|error| panic!("the faulty token's folder: {error:?}"))
}
