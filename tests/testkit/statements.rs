//! The statements that clients of Postgres execute, read from their messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How often each statement was executed, by its SQL text.
#[derive(Clone, Default)]
pub(super) struct Statements(Arc<Mutex<HashMap<String, u64>>>);

/// The messages of one connection without TLS.
pub(super) struct Messages {
    statements: Statements,
    /// Bytes of messages that are not complete.
    pending: Vec<u8>,
    /// Startup messages have no type. The last one has the version of the protocol.
    has_started: bool,
    /// The SQL texts of prepared statements by name.
    prepared: HashMap<String, String>,
}

/// The version in a startup message. Other numbers are requests that precede it.
const VERSION_3: u32 = 3 << 16;

impl Statements {
    /// The number of executions of statements whose text contains `part`.
    pub(super) fn executed(&self, part: &str) -> u64 {
        let counts = self.0.lock().unwrap();
        let of_part = counts.iter().filter(|(sql, _)| sql.contains(part));
        of_part.map(|(_, count)| count).sum()
    }

    /// Reads the messages of a new connection.
    pub(super) fn messages(&self) -> Messages {
        Messages {
            statements: self.clone(),
            pending: Vec::new(),
            has_started: false,
            prepared: HashMap::new(),
        }
    }

    fn count(&self, sql: &str) {
        let mut counts = self.0.lock().unwrap();
        *counts.entry(sql.to_owned()).or_insert(0) += 1;
    }
}

impl Messages {
    /// Reads the next bytes from the client.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        while let Some((kind, body)) = self.next() {
            let mut texts = body.split(|byte| *byte == 0);
            let mut text =
                || String::from_utf8_lossy(texts.next().unwrap_or_default()).into_owned();
            match kind {
                None => self.has_started |= number(&body) == Some(VERSION_3),
                Some(b'Q') => self.statements.count(&text()),
                Some(b'P') => {
                    let (name, sql) = (text(), text());
                    self.prepared.insert(name, sql);
                }
                Some(b'B') => {
                    let (_portal, name) = (text(), text());
                    self.statements.count(&self.prepared[&name]);
                }
                Some(_) => {}
            }
        }
    }

    /// The next complete message: its type and its content.
    fn next(&mut self) -> Option<(Option<u8>, Vec<u8>)> {
        let head = usize::from(self.has_started);
        let length = number(self.pending.get(head..)?)? as usize;
        let end = head + length;
        if self.pending.len() < end {
            return None;
        }
        let message: Vec<u8> = self.pending.drain(..end).collect();
        let kind = self.has_started.then(|| message[0]);
        Some((kind, message[head + 4..].to_vec()))
    }
}

/// The number at the start of `bytes`.
fn number(bytes: &[u8]) -> Option<u32> {
    let bytes = bytes.get(..4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}
