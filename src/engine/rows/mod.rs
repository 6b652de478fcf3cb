//! All sealed rows: the row key, the rows that do not count, and those that deviate from the log of
//! management events.

mod compare;
mod examination;
mod examine;
mod initialize;
mod kinds;
mod new_key;
mod reseal;
mod store;
mod watch;

pub use self::compare::compare;
pub(crate) use self::compare::compare_in;
pub use self::examination::ExaminationStatus;
pub use self::examine::{examine_all, invalid_rows, missing_rows};
pub use self::initialize::{NotInitialized, initialize};
pub use self::new_key::{NotRenewed, Renewed, new_key};
pub use self::reseal::{
    NotSealed, ReviewedRows, has_events, seal_and_record, seal_reviewed, seal_seen,
};
pub use self::watch::{RecordedFindings, watch};
