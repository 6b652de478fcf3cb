//! The management API.
use crate::Client;

/// The management API.
#[derive(Clone, Copy, Debug)]
pub struct Management<'a> {
    client: &'a Client,
}

impl<'a> Management<'a> {
    pub(crate) fn new(client: &'a Client) -> Self {
        Self { client }
    }
}
