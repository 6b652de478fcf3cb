//! Malicious and faulty clients.

mod bodies;
mod descriptors;
mod floods;
mod frames;
mod many_connections;
mod slow_clients;
mod smuggling;
