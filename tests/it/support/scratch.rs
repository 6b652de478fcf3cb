//! A folder of one test's own.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// It is removed with this.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        let folder = env::temp_dir().join(format!("sealward-it-{:032x}", rand::random::<u128>()));
        fs::create_dir(&folder).expect("a folder");
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder left behind in /tmp fails no test.
        let _ = fs::remove_dir_all(&self.0);
    }
}
