//! The lines of the input.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use sealward_client::{Context, Envelope, Error, Invalid, Scope};
use serde_json::{Map, Value};

use crate::command::Failure;
use crate::command::key::invalid;

/// The lines of a file, or of standard input for `-`.
pub(super) struct Lines {
    path: PathBuf,
    source: BufReader<Box<dyn Read>>,
    number: u64,
}

/// A line of the input.
pub(super) struct InputLine {
    number: u64,
    /// The members besides `jwe`; none if the line is an envelope itself.
    around: Option<Map<String, Value>>,
    envelope: Option<Envelope>,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let source: Box<dyn Read> = match path == Path::new("-") {
            true => Box::new(std::io::stdin()),
            false => Box::new(File::open(path).map_err(|error| invalid(path, error))?),
        };
        Ok(Self { path: path.to_owned(), source: BufReader::new(source), number: 0 })
    }

    /// Skips lines that are done.
    pub(super) fn skip(&mut self, count: u64) -> Result<(), Failure> {
        while self.number < count {
            if self.read()?.is_none() {
                return Err(invalid(&self.path, "has fewer lines than the interrupted run read"));
            }
        }
        Ok(())
    }

    /// The next lines. Empty lines are envelopes that fail.
    pub(super) fn next(&mut self, most: usize) -> Result<Vec<InputLine>, Failure> {
        let mut lines = Vec::with_capacity(most);
        while lines.len() < most
            && let Some(text) = self.read()?
        {
            lines.push(InputLine::parse(self.number, &text));
        }
        Ok(lines)
    }

    fn read(&mut self) -> Result<Option<String>, Failure> {
        let mut line = Vec::new();
        let read = self.source.read_until(b'\n', &mut line);
        if read.map_err(|error| invalid(&self.path, error))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }
}

impl InputLine {
    fn parse(number: u64, text: &str) -> Self {
        if let Ok(envelope) = text.trim().parse() {
            return Self { number, around: None, envelope: Some(envelope) };
        }
        let mut around: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let envelope = around.remove("jwe").and_then(|jwe| jwe.to_string().parse().ok());
        Self { number, around: Some(around), envelope }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn envelope(&self) -> Option<&Envelope> {
        self.envelope.as_ref()
    }

    /// The policy and the context of the line, or else those of the arguments.
    pub(super) fn scope(&self, default: &Scope) -> Scope {
        let member = |name| self.around.as_ref().and_then(|around| around.get(name));
        let mut scope = default.clone();
        if let Some(number) = member("policyNumber").and_then(Value::as_str) {
            scope = scope.policy(number);
        }
        if let Some(members) = member("context").and_then(Value::as_object) {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
            scope = scope.context(members.collect::<Context>());
        }
        scope
    }

    pub(super) fn not_an_envelope(&self) -> Error {
        Error::Invalid(Invalid::Envelope)
    }

    /// The line of the output.
    pub(super) fn with(&self, envelope: &Envelope) -> Result<String, Failure> {
        let Some(around) = &self.around else {
            return Ok(envelope.to_string());
        };
        let mut members = around.clone();
        let envelope = serde_json::to_value(envelope);
        let envelope = envelope.map_err(|error| Failure::Other(error.to_string()))?;
        members.insert("jwe".to_owned(), envelope);
        Ok(Value::Object(members).to_string())
    }
}
