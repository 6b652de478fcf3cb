//! Consistency under combined failures: clients record all requests while components fail in an order
//! that a seed determines. Afterwards a checker verifies the guarantees against the recorded history.

pub mod administrator;
pub mod changes;
pub mod check;
pub mod client;
mod faults;
pub mod fixtures;
pub mod history;
pub mod instances;
mod monitor;
pub mod plan;
pub mod run;
pub mod run_log;
pub mod worker;
