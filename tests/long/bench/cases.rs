//! The cases. A quick run measures every operation at 16 connections, protect at 1 and 64, and encryption at 64. A full
//! run measures every operation at 1, 16 and 64 connections, and with 64 KiB.

use std::iter::once;

use crate::measure::{Case, Subject};
use crate::transit::ENCRYPTIONS;

pub(crate) const KIB: usize = 1_024;

/// The default number of token sessions of the service. The token baseline uses the same number.
pub(crate) const SESSIONS: usize = 4;

pub(crate) const OPERATIONS: [&str; 17] = [
    "protect RSA-2048",
    "protect RSA-3072",
    "protect P-256",
    "protect P-256+ML-KEM-768",
    "protect ML-KEM-768",
    "unprotect RSA-2048",
    "unprotect RSA-3072",
    "unprotect P-256",
    "encrypt AES-256",
    "transit encrypt AES-256",
    "decrypt AES-256",
    "sign RSA-2048",
    "sign P-256",
    "verify RSA-2048",
    "hash SHA-256",
    "401",
    "health",
];

/// The operations in batches, each with its number of connections.
const BATCHES: [(&str, usize); 3] = [
    ("protect/batch RSA-2048", 64),
    ("unprotect/batch RSA-2048", 16),
    ("rewrap/batch RSA-2048", 16),
];

/// The operations on kryoptic, a token in software with ML-KEM.
const KRYOPTIC_OPERATIONS: [&str; 4] =
    ["unprotect RSA-2048", "unprotect P-256", "unprotect P-256+ML-KEM-768", "unprotect ML-KEM-768"];

const TOKEN_OPERATIONS: [&str; 7] = [
    "rsa-2048-decrypt",
    "rsa-3072-decrypt",
    "p-256-derive",
    "aes-256-encrypt",
    "aes-256-decrypt",
    "rsa-2048-sign",
    "p-256-sign",
];

pub(crate) fn cases(is_quick: bool) -> Vec<Case> {
    let case = |subject, at_once, bytes| Case { subject, at_once, bytes };
    let services = || OPERATIONS.map(Subject::Service);
    let everything = || once(Subject::Echo).chain(services());
    let small = |subject, at_once| case(subject, at_once, KIB);
    let mut cases: Vec<Case> = everything().map(|subject| small(subject, 16)).collect();
    let protect = Subject::Service(OPERATIONS[0]);
    if is_quick {
        cases.extend([small(protect, 1), small(protect, 64), small(Subject::Commit, 1)]);
        cases.push(small(Subject::Commit, 16));
        cases.extend(ENCRYPTIONS.map(|name| small(Subject::Service(name), 64)));
    } else {
        for at_once in [1, 64] {
            cases.extend(everything().map(|subject| small(subject, at_once)));
        }
        cases.extend([1, 16, 64].map(|at_once| small(Subject::Commit, at_once)));
        // The service does not read a large body without a credential: it closes the connection, and h2load
        // does not end.
        let unsized_cases = ["health", "401"].map(Subject::Service);
        let sized = everything().filter(|it| !unsized_cases.contains(it));
        cases.extend(sized.map(|subject| case(subject, 16, 64 * KIB)));
    }
    cases.extend(BATCHES.map(|(name, at_once)| small(Subject::Service(name), at_once)));
    cases.extend(KRYOPTIC_OPERATIONS.map(|name| small(Subject::OnKryoptic(name), 16)));
    cases.extend(TOKEN_OPERATIONS.map(|operation| small(Subject::Token(operation), SESSIONS)));
    cases
}
