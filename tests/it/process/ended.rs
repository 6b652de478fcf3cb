//! How a run of the binary ended.

use std::process::Output;

use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Ended {
    /// It ended well.
    #[track_caller]
    pub(crate) fn well(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// It ended with this code, and said each of these things in its complaint, which comes last.
    #[track_caller]
    pub(crate) fn badly(self, code: i32, said: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        let complaint = self
            .err
            .find("sealward: ")
            .or_else(|| self.err.find("error: "));
        let complaint = complaint.map(|begins| &self.err[begins..]);
        let complaint = complaint.unwrap_or_else(|| panic!("no complaint in {self:?}"));
        for words in said {
            assert!(
                complaint.contains(words),
                "{words:?} is not in {complaint:?}"
            );
        }
    }

    /// The one line it printed.
    #[track_caller]
    pub(crate) fn line(&self) -> &str {
        let mut lines = self.out.lines();
        let line = lines.next().unwrap_or_else(|| panic!("nothing: {self:?}"));
        assert_eq!(lines.next(), None, "{self:?}");
        line
    }

    /// What it printed, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
