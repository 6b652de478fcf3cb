//! Habits of tokens of other vendors, which the faulty token imitates. Each token worked otherwise.

mod abilities;
mod attributes;
mod module;
mod outages;
mod record;
mod start;
