//! What is measured beside the service, each in a process of its own so that its processor time can
//! be told apart.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A process that does what a line on its input says, and answers with a line of JSON.
pub(crate) struct Helper {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What a helper did in the time it was given.
pub(crate) struct Done {
    pub(crate) times: usize,
    pub(crate) rate: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

impl Helper {
    pub(crate) fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("a helper");
        Self {
            orders: child.stdin.take().expect("its input"),
            answers: BufReader::new(child.stdout.take().expect("its output")),
            child,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line it says.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("an answer");
        assert!(!line.is_empty(), "a helper has ended");
        line.trim().to_owned()
    }

    pub(crate) fn order(&mut self, order: &str) -> String {
        writeln!(self.orders, "{order}").expect("a living helper");
        self.line()
    }

    /// Lets it do one thing, so many at a time, for so long.
    pub(crate) fn measure(&mut self, what: &str, at_once: usize, span: Duration) -> Done {
        let told = self.order(&format!("{what} {at_once} {}", span.as_millis()));
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let micros = |name: &str| Duration::from_micros(told[name].as_u64().expect("µs"));
        let times = told["times"].as_u64().expect("a count");
        Done {
            times: usize::try_from(times).expect("a count"),
            rate: times as f64 / micros("spanUs").as_secs_f64(),
            p50: micros("p50Us"),
            p99: micros("p99Us"),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
