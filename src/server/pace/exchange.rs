//! The exchanges of HTTP/2 streams: a request and its response. Their memory is limited for each network of
//! clients and in total, and each can be ended without its connection.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::HttpBody as _;
use axum::response::Response;
use hyper::rt::Executor;
use tokio::sync::Notify;

use engine::body_memory::Reserved;

/// The memory of a stream, with the headers of its request.
const STREAM: usize = 8 * 1024;

/// The memory of a response of unknown length: a chunk of an export.
const STREAMED: usize = 1024 * 1024;

/// The memory of all exchanges of one network.
const OF_ONE: usize = 32 * 1024 * 1024;

/// The memory of all exchanges.
const OF_ALL: usize = 512 * 1024 * 1024;

/// A network gets this fraction of the free memory, and at most `OF_ONE`: one eighth.
const PARTS: usize = 8;

/// The memory that a network gets although others use all of it.
const ALWAYS: usize = 256 * 1024;

tokio::task_local! {
    static CURRENT: StreamEnd;
}

/// Ends the task of a stream, which resets the stream. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamEnd(Arc<Notify>);

/// Runs each HTTP/2 stream as a task that can be ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Streams;

/// The exchanges of a listener. Clones share them.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct Exchanges(Arc<Mutex<Used>>);

/// The memory in use, in bytes.
#[derive(Debug, Default)]
struct Used {
    total: usize,
    networks: HashMap<IpAddr, usize>,
}

/// One exchange. It has memory until it is dropped.
#[derive(Debug)]
pub(in crate::server) struct Exchange {
    exchanges: Exchanges,
    network: IpAddr,
    bytes: usize,
    end: StreamEnd,
}

impl StreamEnd {
    pub(super) fn end(&self) {
        self.0.notify_one();
    }
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
{
    fn execute(&self, stream: F) {
        let end = StreamEnd::default();
        let ended = Arc::clone(&end.0);
        tokio::spawn(CURRENT.scope(end, async move {
            tokio::select! {
                biased;
                _ = stream => {}
                () = ended.notified() => {}
            }
        }));
    }
}

impl Exchanges {
    /// The exchange of the current stream; none on HTTP/1, where the limit of connections is enough.
    pub(in crate::server) fn begin(&self, network: impl FnOnce() -> IpAddr) -> Option<Exchange> {
        Some(Exchange {
            end: CURRENT.try_with(Clone::clone).ok()?,
            exchanges: self.clone(),
            network: network(),
            bytes: 0,
        })
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exchange {
    /// Reserves memory for the stream and for this number of bytes of its body. Ends the stream if its
    /// network uses too much.
    pub(in crate::server) async fn admit(&mut self, body: u64) {
        let body = usize::try_from(body).unwrap_or(OF_ALL);
        self.reserve(STREAM + body).await;
    }

    /// Reserves memory for the response, unless the request has reserved it. Ends the stream if there is
    /// not enough.
    pub(in crate::server) fn hold<'e>(
        &'e mut self,
        response: &Response,
    ) -> impl Future<Output = ()> + use<'e> {
        let headers = response.headers().iter();
        let lengths = headers.map(|(name, value)| name.as_str().len() + value.len());
        let mut bytes = lengths.sum();
        if response.extensions().get::<Reserved>().is_none() {
            let body = response.body().size_hint().upper();
            bytes += body.map_or(STREAMED, |body| usize::try_from(body).unwrap_or(OF_ALL));
        }
        self.reserve(bytes)
    }

    pub(super) fn end(&self) -> StreamEnd {
        self.end.clone()
    }

    async fn reserve(&mut self, bytes: usize) {
        if self.try_reserve(bytes).is_none() {
            tracing::debug!(network = %self.network, "a stream is reset: its network uses too much memory");
            self.end.end();
            std::future::pending().await
        }
    }

    fn try_reserve(&mut self, bytes: usize) -> Option<()> {
        let mut used = self.exchanges.used();
        let of_one = used.networks.get(&self.network).copied();
        let of_one = of_one.unwrap_or_default().checked_add(bytes)?;
        let total = used.total.checked_add(bytes)?;
        // The less is free, the less a network gets, so that a few networks do not use all.
        let share = OF_ALL.saturating_sub(used.total) / PARTS;
        let is_free = of_one <= share.clamp(ALWAYS, OF_ONE);
        if !is_free {
            return None;
        }
        used.total = total;
        used.networks.insert(self.network, of_one);
        self.bytes += bytes;
        Some(())
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut used = self.exchanges.used();
        used.total -= self.bytes;
        if let Entry::Occupied(mut of_one) = used.networks.entry(self.network) {
            *of_one.get_mut() -= self.bytes;
            if *of_one.get() == 0 {
                of_one.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::StreamExt as _;

    use super::super::Pace;
    use super::*;

    fn exchange(exchanges: &Exchanges, network: u8) -> Exchange {
        Exchange {
            exchanges: exchanges.clone(),
            network: IpAddr::from([192, 0, 2, network]),
            bytes: 0,
            end: StreamEnd::default(),
        }
    }

    #[test]
    fn a_network_uses_a_part_of_the_memory_until_its_exchanges_end() {
        let exchanges = Exchanges::default();
        let mut first = exchange(&exchanges, 0);
        assert!(first.try_reserve(OF_ONE).is_some());
        assert!(exchange(&exchanges, 0).try_reserve(1).is_none());
        // Of many networks that use all they get, each gets less than the one before.
        let mut least = OF_ONE;
        let others = (1..100).map(|network| {
            let mut other = exchange(&exchanges, network);
            while other.try_reserve(ALWAYS).is_some() {}
            assert!((ALWAYS..=least).contains(&other.bytes), "{}", other.bytes);
            least = other.bytes;
            other
        });
        let others: Vec<_> = others.collect();
        assert!(exchange(&exchanges, 100).try_reserve(ALWAYS + 1).is_none());
        assert!(exchange(&exchanges, 100).try_reserve(ALWAYS).is_some());
        drop((first, others));
        assert!(exchange(&exchanges, 100).try_reserve(OF_ONE).is_some());
        assert_eq!(exchanges.used().total, 0);
        assert!(exchanges.used().networks.is_empty());
    }

    #[tokio::test]
    async fn a_response_without_a_body_has_memory_until_it_is_sent() {
        let exchanges = Exchanges::default();
        let mut held = exchange(&exchanges, 0);
        assert!(held.try_reserve(STREAM).is_some());
        let response = Pace::begin()
            .asked(false)
            .answered(Body::empty(), Some(held));
        assert_eq!(response.size_hint().exact(), None);
        let mut parts = Body::new(response).into_data_stream();
        let queued = parts.next().await.unwrap().unwrap();
        assert!(queued.is_empty());
        assert!(parts.next().await.is_none());
        drop(parts);
        assert_eq!(exchanges.used().total, STREAM);
        drop(queued);
        assert_eq!(exchanges.used().total, 0);
    }
}
