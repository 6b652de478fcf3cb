//! The client's address behind trusted proxies, and whether its connection uses TLS.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::http::{Extensions, HeaderMap};
use ipnet::IpNet;

/// The address of the client itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// Marks a request whose TLS connection ends in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverTls;

/// Marks a response that is not sent: its connection closes instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request is not answered")]
pub struct Unanswered;

/// Marks a request that is refused because of its headers. It is the last of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedHead {
    /// `Transfer-Encoding` is not `chunked`.
    TransferEncoding,
    /// There is not exactly one well-formed `Host`, or the target of the request has a malformed host.
    Host,
}

/// Marks a request whose connection comes from a trusted proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedProxy;

/// The address of the client of a request, which the frame determined.
pub fn client_address(extensions: &Extensions) -> IpAddr {
    let address = extensions.get::<ClientAddress>();
    address.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |client| client.0)
}

impl TrustedProxy {
    /// The mark, if the connection's peer is a trusted proxy.
    pub fn of_request(request: &Request, proxies: &[IpNet]) -> Option<Self> {
        let ConnectInfo(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
        let peer = peer.ip().to_canonical();
        let is_proxy = proxies.iter().any(|network| network.contains(&peer));
        is_proxy.then_some(Self)
    }
}

impl ClientAddress {
    /// The client of `request`. The peer of its connection can be a trusted proxy.
    pub fn of_request(request: &Request, proxies: &[IpNet]) -> Self {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        Self::of(peer.map(|peer| peer.0.ip()), request.headers(), proxies)
    }

    /// The last address that is not a trusted proxy, from the connection's peer back through
    /// `X-Forwarded-For`. Entries before it come from the client and are ignored.
    fn of(peer: Option<IpAddr>, headers: &HeaderMap, proxies: &[IpNet]) -> Self {
        // A router that is called directly has no connection: the client is this machine.
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)).to_canonical();
        let is_proxy = |address: &IpAddr| proxies.iter().any(|network| network.contains(address));
        if !is_proxy(&peer) {
            return Self(peer);
        }
        let forwarded = headers.get_all("x-forwarded-for").iter().rev();
        // Each entry is read alone: the client can write any byte before the entry of the proxy.
        let hops = forwarded.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
        let mut nearest = peer;
        for hop in hops {
            let Some(address) = address(hop) else {
                break;
            };
            nearest = address.to_canonical();
            if !is_proxy(&nearest) {
                break;
            }
        }
        Self(nearest)
    }
}

/// The address of an entry of `X-Forwarded-For`. Some proxies add brackets or a port.
fn address(hop: &[u8]) -> Option<IpAddr> {
    let hop = str::from_utf8(hop).ok()?.trim();
    let bracketed = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || Some(hop.parse::<SocketAddr>().ok()?.ip());
    hop.parse().ok().or_else(bracketed).or_else(with_port)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn seen<T: AsRef<[u8]>>(peer: &str, forwarded: &[T]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            let line = HeaderValue::from_bytes(line.as_ref()).unwrap();
            headers.append("x-forwarded-for", line);
        }
        let proxies = ["10.0.0.0/8".parse().unwrap()];
        ClientAddress::of(Some(peer.parse().unwrap()), &headers, &proxies).0.to_string()
    }

    #[test]
    fn only_headers_of_trusted_proxies_are_used() {
        assert_eq!(seen("192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(seen::<&str>("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn values_from_untrusted_clients_are_ignored() {
        assert_eq!(seen("10.0.0.1", &["1.1.1.1, 198.51.100.7, 10.0.0.2"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["1.1.1.1", "198.51.100.7"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["1.1.1.1, nonsense, 10.0.0.2"]), "10.0.0.2");
    }

    #[test]
    fn bytes_that_are_not_text_do_not_hide_the_entry_of_the_proxy() {
        for line in [&b"\xff, 198.51.100.7"[..], b"10.0.0.2, \xc3, 198.51.100.7"] {
            assert_eq!(seen("10.0.0.1", &[line]), "198.51.100.7");
        }
        assert_eq!(seen("10.0.0.1", &[b"1.1.1.1, \xff"]), "10.0.0.1");
    }

    #[test]
    fn an_address_can_have_brackets_and_a_port() {
        for (hop, address) in [
            ("198.51.100.7:4711", "198.51.100.7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("[2001:db8::7]:4711", "2001:db8::7"),
        ] {
            assert_eq!(seen("10.0.0.1", &[hop]), address);
        }
    }

    #[test]
    fn an_ipv4_client_on_an_ipv6_socket_is_an_ipv4_client() {
        assert_eq!(seen::<&str>("::ffff:192.0.2.1", &[]), "192.0.2.1");
    }
}
