//! The binary itself, as an operator runs it.

mod binary;
mod doctor;
mod memory;
mod serve;
mod settings;
