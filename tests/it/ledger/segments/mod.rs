//! Segments: the transaction of some records writes their hashes, and the sealer gives positions to them.

mod attacks;
mod calls;
mod changed;
mod false_nodes;
mod fixture;
mod later;
mod plans;
mod text;
mod transactions;
mod writing;
