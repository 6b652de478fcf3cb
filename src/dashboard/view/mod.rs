//! What pages are made of: the shell around them, forms, lists, words for states and times.

pub(super) mod chart;
pub(super) mod confirm;
pub(super) mod fields;
pub(super) mod filters;
pub(super) mod list;
pub(super) mod notice;
pub(super) mod services;
pub(super) mod shell;
pub(super) mod words;
