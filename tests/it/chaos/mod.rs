//! Consistency under combined failures: clients record all requests while components fail in an order
//! that a seed determines. Afterwards a checker verifies the guarantees against the recorded history.

pub(crate) mod administrator;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod faults;
pub(crate) mod fixtures;
pub(crate) mod history;
pub(crate) mod instances;
pub(crate) mod monitor;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod run_log;
mod short;
pub(crate) mod worker;
