//! Consistency under combined failures: the tests of what `tests/long/chaos` runs for long.

mod check;
mod plan;
mod short;
