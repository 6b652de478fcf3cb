//! Whole histories: clients that remember everything, while what the service stands on fails in an
//! order that a seed decides; and a checker that reads afterwards whether every promise held.

pub(crate) mod administrator;
pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod faults;
pub(crate) mod fixtures;
pub(crate) mod history;
pub(crate) mod instances;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod run_log;
mod short;
pub(crate) mod worker;
