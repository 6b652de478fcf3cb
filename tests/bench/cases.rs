//! What is measured: every operation at 16 connections, the most important ones at more and fewer,
//! and all of them in every way when there is time.

use std::iter::once;

use crate::generator::Protocol;
use crate::measure::{Case, Subject};

pub(crate) const KIB: usize = 1_024;

/// The sessions that the service has by default, and so has the token alone.
pub(crate) const SESSIONS: usize = 4;

pub(crate) const OPERATIONS: [&str; 14] = [
    "protect RSA-2048",
    "protect RSA-3072",
    "protect P-256",
    "unprotect RSA-2048",
    "unprotect RSA-3072",
    "unprotect P-256",
    "encrypt AES-256",
    "decrypt AES-256",
    "sign RSA-2048",
    "sign P-256",
    "verify RSA-2048",
    "hash SHA-256",
    "401",
    "health",
];

const OF_THE_TOKEN: [&str; 7] = [
    "rsa-2048-decrypt",
    "rsa-3072-decrypt",
    "p-256-derive",
    "aes-256-encrypt",
    "aes-256-decrypt",
    "rsa-2048-sign",
    "p-256-sign",
];

pub(crate) fn cases(is_quick: bool) -> Vec<Case> {
    let asked = |subject, at_once, protocol, bytes| Case {
        subject,
        at_once,
        protocol,
        bytes,
    };
    let services = || OPERATIONS.map(Subject::Service);
    let everything = || once(Subject::Echo).chain(services());
    let own = |subject, at_once| asked(subject, at_once, Protocol::Http1, KIB);
    let mut cases: Vec<Case> = everything().map(|subject| own(subject, 16)).collect();
    let most = Subject::Service(OPERATIONS[0]);
    if is_quick {
        cases.extend([own(most, 1), own(most, 64), own(Subject::Commit, 1)]);
        cases.push(own(Subject::Commit, 16));
    } else {
        for at_once in [1, 64] {
            cases.extend(everything().map(|subject| own(subject, at_once)));
        }
        cases.extend([1, 16, 64].map(|at_once| own(Subject::Commit, at_once)));
        cases.extend(everything().map(|subject| asked(subject, 16, Protocol::Http2, KIB)));
        let sized = everything().filter(|it| *it != Subject::Service("health"));
        cases.extend(sized.map(|subject| asked(subject, 16, Protocol::Http1, 64 * KIB)));
    }
    cases.extend(OF_THE_TOKEN.map(|operation| own(Subject::Token(operation), SESSIONS)));
    cases
}
