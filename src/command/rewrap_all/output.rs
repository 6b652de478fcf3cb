//! The output of a run, which can continue after an interruption.
//!
//! After each batch, a state file says how many lines of the input are done and how long the output is. A run that
//! continues cuts the output to this length, so that each line of the input has exactly one line of output.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::command::Failure;
use crate::command::key::invalid;

pub(super) struct Output {
    output: Written,
    errors: Written,
    state: OutputState,
    state_file: PathBuf,
}

#[derive(Default, Deserialize, Serialize)]
struct OutputState {
    lines: u64,
    failed: u64,
    output_bytes: u64,
    error_bytes: u64,
}

struct Written {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
}

impl Output {
    /// New files, or those of a run that was interrupted.
    pub(super) fn open(output: &Path, errors: &Path, resume: bool) -> Result<Self, Failure> {
        let mut name = output.to_owned().into_os_string();
        name.push(".state");
        let state_file = PathBuf::from(name);
        let state = match (fs::read(&state_file), resume) {
            (Ok(text), true) => {
                serde_json::from_slice(&text).map_err(|error| invalid(&state_file, error))?
            }
            (Ok(_), false) => {
                let advice = "belongs to an interrupted run; --resume continues it";
                return Err(invalid(&state_file, advice));
            }
            (Err(error), true) => return Err(invalid(&state_file, error)),
            (Err(_), false) => OutputState::default(),
        };
        let written = |path: &Path, bytes| {
            Written::open(path, bytes, resume).map_err(|error| invalid(path, error))
        };
        let mut opened = Self {
            output: written(output, state.output_bytes)?,
            errors: written(errors, state.error_bytes)?,
            state,
            state_file,
        };
        opened.save()?;
        Ok(opened)
    }

    /// The lines of the input that are done.
    pub(super) fn lines(&self) -> u64 {
        self.state.lines
    }

    pub(super) fn failed(&self) -> u64 {
        self.state.failed
    }

    pub(super) fn add(&mut self, line: &str) -> Result<(), Failure> {
        self.state.lines += 1;
        self.output.add(line)
    }

    pub(super) fn add_error(&mut self, line: &str) -> Result<(), Failure> {
        self.state.lines += 1;
        self.state.failed += 1;
        self.errors.add(line)
    }

    /// Makes the lines so far durable.
    pub(super) fn save(&mut self) -> Result<(), Failure> {
        self.state.output_bytes = self.output.flush()?;
        self.state.error_bytes = self.errors.flush()?;
        let failed = |error: io::Error| invalid(&self.state_file, error);
        let text = serde_json::to_vec(&self.state).map_err(io::Error::from).map_err(failed)?;
        let temporary = self.state_file.with_extension("state-new");
        let mut file = File::create(&temporary).map_err(failed)?;
        file.write_all(&text).and_then(|()| file.sync_data()).map_err(failed)?;
        fs::rename(&temporary, &self.state_file).map_err(failed)
    }

    /// Ends the run. There is nothing to continue.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.save()?;
        fs::remove_file(&self.state_file).map_err(|error| invalid(&self.state_file, error))?;
        match self.errors.bytes {
            0 => fs::remove_file(&self.errors.path)
                .map_err(|error| invalid(&self.errors.path, error)),
            _ => Ok(()),
        }
    }
}

impl Written {
    fn open(path: &Path, bytes: u64, resume: bool) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true);
        let mut file = match resume {
            true => options.open(path)?,
            false => options.create_new(true).open(path)?,
        };
        if file.metadata()?.len() < bytes {
            return Err(io::Error::other("is shorter than the interrupted run left it"));
        }
        file.set_len(bytes)?;
        file.seek(io::SeekFrom::End(0))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), bytes })
    }

    fn add(&mut self, line: &str) -> Result<(), Failure> {
        self.bytes += u64::try_from(line.len()).unwrap_or(u64::MAX) + 1;
        writeln!(self.file, "{line}").map_err(|error| invalid(&self.path, error))
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        flushed.map_err(|error| invalid(&self.path, error))?;
        Ok(self.bytes)
    }
}
