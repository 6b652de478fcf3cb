//! The exit code and the output of the binary.

use std::process::Output;

use serde_json::Value;

#[derive(Debug)]
pub struct Exit {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Exit {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Exit {
    /// Asserts that it succeeded.
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Asserts this exit code and each of these texts in the error message, which comes last.
    #[track_caller]
    pub fn failure(self, code: i32, expected: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        let message = self.stderr.find("sealward: ").or_else(|| self.stderr.find("error: "));
        let message = message.map(|begins| &self.stderr[begins..]);
        let message = message.unwrap_or_else(|| panic!("no error message in {self:?}"));
        for text in expected {
            assert!(message.contains(text), "{text:?} is not in {message:?}");
        }
    }

    /// The only line of its output.
    #[track_caller]
    pub fn line(&self) -> &str {
        let mut lines = self.stdout.lines();
        let line = lines.next().unwrap_or_else(|| panic!("no output: {self:?}"));
        assert_eq!(lines.next(), None, "{self:?}");
        line
    }

    /// The output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
