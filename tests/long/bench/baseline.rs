//! Baseline processes. Each runs in its own process so that its CPU time can be measured.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A process that runs one command per line of stdin and answers with a line of JSON.
pub(crate) struct Baseline {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// The result of one command.
pub(crate) struct Measurement {
    pub(crate) times: usize,
    pub(crate) rate: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

impl Baseline {
    pub(crate) fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("a baseline process");
        Self {
            commands: child.stdin.take().expect("its input"),
            answers: BufReader::new(child.stdout.take().expect("its output")),
            child,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("an answer");
        assert!(!line.is_empty(), "a baseline process has ended");
        line.trim().to_owned()
    }

    pub(crate) fn command(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").expect("a running baseline process");
        self.line()
    }

    /// Runs `what` with `at_once` in parallel for `span`.
    pub(crate) fn measure(&mut self, what: &str, at_once: usize, span: Duration) -> Measurement {
        let result = self.command(&format!("{what} {at_once} {}", span.as_millis()));
        let result: Value = serde_json::from_str(&result).expect("JSON");
        let micros = |name: &str| Duration::from_micros(result[name].as_u64().expect("µs"));
        let times = result["times"].as_u64().expect("a count");
        Measurement {
            times: usize::try_from(times).expect("a count"),
            rate: times as f64 / micros("spanUs").as_secs_f64(),
            p50: micros("p50Us"),
            p99: micros("p99Us"),
        }
    }
}

impl Drop for Baseline {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
