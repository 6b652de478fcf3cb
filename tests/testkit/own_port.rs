//! A local port that no other process gets.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

/// A port of its test. It refuses connections, unless the test listens at it.
pub struct OwnPort {
    /// Bound, so that no other process gets the port, but not listening.
    socket: TcpSocket,
}

impl OwnPort {
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        // The listener of the test shares the address.
        socket.set_reuseaddr(true).expect("a shared address");
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
        Self { socket }
    }

    pub fn address(&self) -> SocketAddr {
        self.socket.local_addr().expect("its address")
    }
}
