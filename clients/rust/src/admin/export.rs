//! Exports of the audit logs, line by line.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::error::Error;

/// How long an export can stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// The records of an export. It holds one line in memory, and not the complete response.
pub struct Export<T> {
    address: String,
    status: u16,
    body: Incoming,
    read: Vec<u8>,
    is_complete: bool,
    kind: PhantomData<T>,
}

impl<T> fmt::Debug for Export<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Export").finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Export<T> {
    pub(super) fn new(address: &str, response: Response<Incoming>) -> Self {
        Self {
            address: address.to_owned(),
            status: response.status().as_u16(),
            body: response.into_body(),
            read: Vec::new(),
            is_complete: false,
            kind: PhantomData,
        }
    }

    /// The next record; none after the last one. An export that is cut short is an error.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return self.record(&line).map(Some);
            }
            if self.is_complete {
                let rest = std::mem::take(&mut self.read);
                return match rest.is_empty() {
                    true => Ok(None),
                    false => self.record(&rest).map(Some),
                };
            }
            match timeout(PATIENCE, self.body.frame()).await {
                Ok(Some(Ok(frame))) => self.read.extend(frame.into_data().iter().flatten()),
                Ok(Some(Err(error))) => {
                    let address = self.address.clone();
                    return Err(Error::Connection { address, source: Box::new(error) });
                }
                Ok(None) => self.is_complete = true,
                Err(_) => return Err(Error::Deadline(PATIENCE)),
            }
        }
    }

    fn record(&self, line: &[u8]) -> Result<T, Error> {
        let unexpected = |_| Error::Unexpected { status: self.status, request_id: None };
        serde_json::from_slice(line).map_err(unexpected)
    }
}
