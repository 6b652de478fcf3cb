//! The owner of a bucket.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::ids::{CredentialId, PersonId, ServiceId};

/// The owner of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All requests of a service, with any of its keys.
    Service(ServiceId),
    /// All requests with one admin key.
    AdminKey(CredentialId),
    /// All requests of a person who is signed in.
    Person(PersonId),
    /// Failed authentications from one address.
    Failures(IpAddr),
    /// Sign-in attempts from one address.
    SignIns(IpAddr),
    /// Logouts by the provider from one address.
    Logouts(IpAddr),
}

impl Scope {
    /// The scope of the client's whole network.
    pub(super) fn widened(self) -> Self {
        match self {
            Self::Failures(address) => Self::Failures(network_of(address)),
            Self::SignIns(address) => Self::SignIns(network_of(address)),
            Self::Logouts(address) => Self::Logouts(network_of(address)),
            Self::Service(_) | Self::AdminKey(_) | Self::Person(_) => self,
        }
    }
}

/// The key in the shared storage.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(id) => write!(f, "sealward:limit:{id}"),
            Self::AdminKey(id) => write!(f, "sealward:limit:{id}"),
            Self::Person(id) => write!(f, "sealward:limit:{id}"),
            Self::Failures(address) => write!(f, "sealward:limit:failures:{address}"),
            Self::SignIns(address) => write!(f, "sealward:limit:sign-ins:{address}"),
            Self::Logouts(address) => write!(f, "sealward:limit:logouts:{address}"),
        }
    }
}

/// The address, or the /64 network of an IPv6 address: a client can use any of its addresses.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        address @ IpAddr::V4(_) => address,
    }
}
