//! Clients who mean it ill, or know no better.

mod bodies;
mod descriptors;
mod floods;
mod frames;
mod slow_clients;
mod smuggling;
