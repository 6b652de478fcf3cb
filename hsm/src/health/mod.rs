//! The checks of a token's health: the canary and the OAEP trial.

pub(crate) mod canary;
pub(crate) mod oaep_trial;
