//! What the service does while something that it stands on fails, or while somebody means it ill.
//!
//! In all of these: no answer comes later than a request may take; none is anything but right, or 503
//! with `Retry-After`; each success is recorded once; and when the fault is over all goes on by
//! itself.

mod clock;
mod database;
mod ended;
mod fixture;
mod killed;
mod load;
mod network;
mod tokens;
