//! Faults and the calls to which they apply. A rule is one line of text, so that processes can share it.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// A fault. Codes and flags are the numbers of PKCS#11.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call does not reach the token and returns this code.
    Return(u64),
    /// The call is executed but returns this code.
    ThenReturn(u64),
    /// The call takes this much longer.
    Delay(Duration),
    /// The call hangs until the rule is removed, and then continues.
    Hang,
    /// The token closes all its sessions before the call, which also ends the login.
    DropSessions,
    /// The token ends the login before the call.
    DropLogin,
    /// The call is executed but reports this length for its output, the last argument.
    Length(u64),
    /// The call is executed, but its output differs from that of every other call.
    Vary,
    /// `C_GetTokenInfo` also returns these flags.
    Flags(u64),
    /// `C_GetTokenInfo` does not return these flags.
    NoFlags(u64),
    /// A call whose template has this attribute fails with `CKR_GENERAL_ERROR`.
    RefuseAttribute(u64),
    /// `C_UnwrapKey` makes keys that can be read and extracted, whatever the template asks for.
    Loosen,
    /// `C_OpenSession` fails with `CKR_SESSION_COUNT` while this many sessions are open.
    SessionLimit(u64),
    /// `C_GetTokenInfo` reports a clock with a time that is no time.
    OddTime,
    /// The process exits immediately.
    Abort,
}

/// A fault and the calls to which it applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub(crate) function: String,
    pub(crate) calls: RangeInclusive<u64>,
    pub(crate) token: Option<String>,
    pub(crate) thread: Option<String>,
    pub(crate) mechanism: Option<u64>,
    pub(crate) fault: Fault,
}

impl Fault {
    /// Every call of this function.
    pub fn on(self, function: &str) -> Rule {
        Rule {
            function: function.to_owned(),
            calls: 1..=u64::MAX,
            token: None,
            thread: None,
            mechanism: None,
            fault: self,
        }
    }
}

impl Rule {
    /// Only these matching calls, counted from 1 since the rule was set.
    #[must_use]
    pub fn calls(self, calls: RangeInclusive<u64>) -> Self {
        Self { calls, ..self }
    }

    /// Only calls for the token with this label. The label must not contain spaces.
    #[must_use]
    pub fn token(self, label: &str) -> Self {
        let token = Some(label.to_owned());
        Self { token, ..self }
    }

    /// Only calls on threads with this name. The name must not contain spaces.
    #[must_use]
    pub fn thread(self, name: &str) -> Self {
        let thread = Some(name.to_owned());
        Self { thread, ..self }
    }

    /// Only calls with this mechanism.
    #[must_use]
    pub fn mechanism(self, mechanism: u64) -> Self {
        let mechanism = Some(mechanism);
        Self { mechanism, ..self }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, number) = match self.fault {
            Fault::Return(code) => ("return", code),
            Fault::ThenReturn(code) => ("then-return", code),
            Fault::Delay(time) => ("delay", u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            Fault::Hang => ("hang", 0),
            Fault::DropSessions => ("drop-sessions", 0),
            Fault::DropLogin => ("drop-login", 0),
            Fault::Length(length) => ("length", length),
            Fault::Vary => ("vary", 0),
            Fault::Flags(flags) => ("flags", flags),
            Fault::NoFlags(flags) => ("no-flags", flags),
            Fault::RefuseAttribute(attribute) => ("refuse-attribute", attribute),
            Fault::Loosen => ("loosen", 0),
            Fault::SessionLimit(limit) => ("session-limit", limit),
            Fault::OddTime => ("odd-time", 0),
            Fault::Abort => ("abort", 0),
        };
        let mechanism = self.mechanism.map(|mechanism| mechanism.to_string());
        write!(
            f,
            "{} {} {} {} {} {} {name} {number}",
            self.function,
            self.calls.start(),
            self.calls.end(),
            self.token.as_deref().unwrap_or("*"),
            self.thread.as_deref().unwrap_or("*"),
            mechanism.as_deref().unwrap_or("*"),
        )
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let unread = || format!("not a rule: {line:?}");
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[function, first, last, token, thread, mechanism, name, number] = words.as_slice()
        else {
            return Err(unread());
        };
        let number_of = |word: &str| word.parse::<u64>().map_err(|_| unread());
        let number = number_of(number)?;
        let some = |word: &str| (word != "*").then(|| word.to_owned());
        Ok(Self {
            function: function.to_owned(),
            calls: number_of(first)?..=number_of(last)?,
            token: some(token),
            thread: some(thread),
            mechanism: some(mechanism).map(|mechanism| number_of(&mechanism)).transpose()?,
            fault: match name {
                "return" => Fault::Return(number),
                "then-return" => Fault::ThenReturn(number),
                "delay" => Fault::Delay(Duration::from_millis(number)),
                "hang" => Fault::Hang,
                "drop-sessions" => Fault::DropSessions,
                "drop-login" => Fault::DropLogin,
                "length" => Fault::Length(number),
                "vary" => Fault::Vary,
                "flags" => Fault::Flags(number),
                "no-flags" => Fault::NoFlags(number),
                "refuse-attribute" => Fault::RefuseAttribute(number),
                "loosen" => Fault::Loosen,
                "session-limit" => Fault::SessionLimit(number),
                "odd-time" => Fault::OddTime,
                "abort" => Fault::Abort,
                _ => return Err(unread()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_round_trips() {
        let faults = [
            Fault::Return(0x30),
            Fault::ThenReturn(0x05),
            Fault::Delay(Duration::from_millis(250)),
            Fault::Hang,
            Fault::DropSessions,
            Fault::DropLogin,
            Fault::Length(u64::MAX),
            Fault::Vary,
            Fault::Flags(0x20000),
            Fault::NoFlags(0x10000),
            Fault::RefuseAttribute(0x170),
            Fault::Loosen,
            Fault::SessionLimit(4),
            Fault::OddTime,
            Fault::Abort,
        ];
        for fault in faults {
            let all = fault.on("C_Sign");
            let some = all.clone().calls(2..=3).token("one").thread("hsm-worker").mechanism(0x251);
            for rule in [all, some] {
                assert_eq!(rule.to_string().parse(), Ok(rule));
            }
        }
    }

    #[test]
    fn malformed_rules_are_refused() {
        for line in [
            "",
            "C_Sign 1 2 * * * return",
            "C_Sign 1 2 * * * explode 0",
            "C_Sign x 2 * * * hang 0",
            "C_Sign 1 2 * * x hang 0",
        ] {
            line.parse::<Rule>().unwrap_err();
        }
    }
}
