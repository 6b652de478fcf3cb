//! The limits on the number of bodies without a valid credential.

use std::net::IpAddr;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::semaphores::Semaphores;

/// The most requests without a valid credential, or over the rate limit, whose bodies are read at the same
/// time.
const REFUSED: usize = 256;

/// The most of them from one network.
const REFUSED_OF_ONE: usize = 64;

/// The most forms of visitors of the dashboard that are read at the same time. They are far smaller.
const FORMS: usize = 2_048;

/// The most of them from one network.
const FORMS_OF_ONE: usize = 64;

/// Small bodies without a valid credential that are read at the same time.
#[derive(Debug)]
pub(super) struct AnonymousBodies {
    all: Semaphore,
    networks: Semaphores<IpAddr>,
}

/// Permits to read a small body without a valid credential.
#[derive(Debug)]
pub struct AnonymousBody<'a> {
    _of_network: OwnedSemaphorePermit,
    _of_all: SemaphorePermit<'a>,
}

impl AnonymousBodies {
    /// Bodies of requests that will be refused.
    pub(super) fn refused() -> Self {
        Self::new(REFUSED, REFUSED_OF_ONE)
    }

    /// Forms of visitors of the dashboard.
    pub(super) fn forms() -> Self {
        Self::new(FORMS, FORMS_OF_ONE)
    }

    fn new(most: usize, of_one: usize) -> Self {
        Self {
            all: Semaphore::new(most),
            networks: Semaphores::new(of_one),
        }
    }

    /// Allows to read a body from this network. `None` if others use all permits.
    pub(super) fn body_of(&self, network: IpAddr) -> Option<AnonymousBody<'_>> {
        Some(AnonymousBody {
            _of_network: self.networks.of(network).try_acquire_owned().ok()?,
            _of_all: self.all.try_acquire().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_uses_a_part_of_the_memory_of_refused_bodies() {
        let refused = AnonymousBodies::refused();
        let network = |last: u8| IpAddr::from([192, 0, 2, last]);
        let take = |last, most| -> Vec<_> {
            let bodies = (0..most).map_while(|_| refused.body_of(network(last)));
            bodies.collect()
        };
        let first = take(1, REFUSED);
        assert_eq!(first.len(), REFUSED_OF_ONE);
        let others: Vec<_> = (2..=4).map(|last| take(last, REFUSED_OF_ONE)).collect();
        assert!(refused.body_of(network(5)).is_none());
        drop(first);
        assert!(refused.body_of(network(5)).is_some());
        drop(others);
        assert_eq!(refused.all.available_permits(), REFUSED);
    }
}
