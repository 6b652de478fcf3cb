//! The building blocks of pages: layout, forms, lists, formats of states and times.

pub(super) mod chart;
pub(super) mod confirm;
pub(super) mod difference;
pub(super) mod fields;
pub(super) mod filters;
pub(super) mod list;
pub(super) mod notice;
pub(super) mod services;
pub(super) mod shell;
pub(super) mod words;
