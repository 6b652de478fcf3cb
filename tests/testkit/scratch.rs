//! A temporary folder for one test.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Dropping this value removes the folder.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        let folder = env::temp_dir().join(format!("sealward-it-{:032x}", rand::random::<u128>()));
        fs::create_dir(&folder).expect("a folder");
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A remaining folder in /tmp does not fail the test.
        let _ = fs::remove_dir_all(&self.0);
    }
}
