//! Other people's JOSE libraries open what we seal and seal what we open, for every algorithm.
//!
//! `tests/interop/setup` installs them once; `./dev test` calls it and sets the variable.

mod envelopes;
mod keys;
mod peer;
mod signatures;
