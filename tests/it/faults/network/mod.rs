//! Malicious and faulty clients.

mod bodies;
mod descriptors;
mod many_connections;
mod pipelining;
mod slow_clients;
mod smuggling;
