//! The module's access to the folder: the fault of a call, and the record of all calls.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{env, thread};

use crate::Rule;
use crate::control::{CALLS, FOLDER, MODULE, RULES};

static FOLDER_IN_USE: OnceLock<Option<Folder>> = OnceLock::new();

/// The control folder of this process.
pub(crate) struct Folder {
    path: PathBuf,
    calls: File,
    in_force: Mutex<InForce>,
}

/// The rules at the last read, with their counters.
#[derive(Default)]
struct InForce {
    text: String,
    rules: Vec<(Rule, u64)>,
}

/// The control folder. Without one, the module has no token.
pub(crate) fn folder() -> Option<&'static Folder> {
    FOLDER_IN_USE.get_or_init(Folder::open).as_ref()
}

impl Folder {
    #[allow(
        clippy::disallowed_methods,
        reason = "a PKCS#11 module can only be configured through the environment"
    )]
    fn open() -> Option<Self> {
        let path = PathBuf::from(env::var_os(FOLDER)?);
        let calls = OpenOptions::new().append(true).open(path.join(CALLS)).ok()?;
        Some(Self { path, calls, in_force: Mutex::default() })
    }

    /// The path of the other module.
    pub(crate) fn module(&self) -> Option<String> {
        fs::read_to_string(self.path.join(MODULE)).ok()
    }

    /// Records a call and returns its fault.
    pub(crate) fn meet(&self, function: &str, token: &str, mechanism: Option<u64>) -> Option<Rule> {
        // One write per line, so that lines of different threads do not mix.
        let line = format!("{function} {token}\n");
        let _ = (&self.calls).write_all(line.as_bytes());

        let text = self.read_rules();
        let mut in_force = self.in_force.lock().unwrap_or_else(PoisonError::into_inner);
        if in_force.text != text {
            in_force.renew(text);
        }
        in_force.meet(function, token, mechanism)
    }

    /// Hangs until the rule is removed.
    pub(crate) fn hang(&self, rule: &Rule) {
        let line = rule.to_string();
        while self.read_rules().lines().any(|other| other == line) {
            pause(Duration::from_millis(1));
        }
    }

    fn read_rules(&self) -> String {
        fs::read_to_string(self.path.join(RULES)).unwrap_or_default()
    }
}

impl InForce {
    /// Reads the rules. The first line is a number and not a rule.
    fn renew(&mut self, text: String) {
        let rules = text.lines().filter_map(|line| line.parse().ok());
        self.rules = rules.map(|rule| (rule, 0)).collect();
        self.text = text;
    }

    fn meet(&mut self, function: &str, token: &str, mechanism: Option<u64>) -> Option<Rule> {
        let mut met = None;
        for (rule, count) in &mut self.rules {
            if rule.function == function
                && rule.token.as_deref().is_none_or(|label| label == token)
                && rule.mechanism.is_none_or(|wanted| Some(wanted) == mechanism)
                && rule.thread.as_deref().is_none_or(|name| name == this_thread())
            {
                *count += 1;
                if met.is_none() && rule.calls.contains(count) {
                    met = Some(rule.clone());
                }
            }
        }
        met
    }
}

/// Sleeps to simulate a slow token.
#[allow(clippy::disallowed_methods, reason = "simulates a slow token")]
pub(crate) fn pause(time: Duration) {
    thread::sleep(time);
}

/// The name of this thread in the system. Rust's thread names belong to the program and not to this
/// module.
fn this_thread() -> String {
    let name = fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
    name.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;

    fn in_force(rules: &[Rule]) -> InForce {
        let mut in_force = InForce::default();
        in_force.renew(rules.iter().map(|rule| format!("{rule}\n")).collect());
        in_force
    }

    #[test]
    fn each_rule_counts_its_calls_from_one() {
        let second = Fault::Return(5).on("C_Sign").calls(2..=2).token("one");
        let mut rules = in_force(std::slice::from_ref(&second));
        let mut meet = |token| rules.meet("C_Sign", token, None).is_some();
        assert_eq!(
            [meet("one"), meet("two"), meet("one"), meet("one")],
            [false, false, true, false]
        );
    }

    #[test]
    fn the_first_applicable_rule_is_used() {
        let first = Fault::Return(5).on("C_Sign").calls(1..=1);
        let later = Fault::Hang.on("C_Sign").calls(1..=9);
        let mut rules = in_force(&[first.clone(), later.clone()]);
        assert_eq!(rules.meet("C_Sign", "one", None), Some(first));
        assert_eq!(rules.meet("C_Sign", "one", None), Some(later));
    }

    #[test]
    fn rules_match_the_mechanism() {
        let rule = Fault::Hang.on("C_SignInit").mechanism(7);
        let mut rules = in_force(std::slice::from_ref(&rule));
        let met = [None, Some(6), Some(7)]
            .map(|mechanism| rules.meet("C_SignInit", "one", mechanism).is_some());
        assert_eq!(met, [false, false, true]);
    }

    #[test]
    fn rules_match_the_thread_name_of_the_system() {
        let rule = Fault::Hang.on("C_Sign").thread("hsm-worker");
        let meets =
            move || in_force(std::slice::from_ref(&rule)).meet("C_Sign", "one", None).is_some();
        assert!(!meets());
        let named = thread::Builder::new().name("hsm-worker".to_owned()).spawn(meets);
        assert!(named.unwrap().join().unwrap());
    }
}
