//! The two audit logs.

use formats::closed_set;

closed_set! {
    /// An audit log.
    #[derive(PartialOrd, Ord)]
    pub enum Log: "AuditLogName" {
        /// Requests of the runtime API.
        Operations = "operations",
        /// Management events.
        Management = "management",
    }
}

impl Log {
    /// The number of the log in the tables.
    pub(crate) const fn number(self) -> i16 {
        match self {
            Self::Operations => 1,
            Self::Management => 2,
        }
    }
}
