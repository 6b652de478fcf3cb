//! Sees steps begin and end, and gives each its place in a trace.

use std::time::Duration;

use tracing::Subscriber;
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context as Surroundings, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::context::{Context, Remote};
use super::export::Outbox;
use super::span::{Ended, Facts, TRACEPARENT};
use crate::clock::{Clock, Entropy};

/// Steps, on their way into traces.
#[derive(Debug)]
pub(in crate::telemetry) struct Steps {
    clock: Clock,
    entropy: Entropy,
    /// The present moment is this and the clock's monotonic time, so that a step is never over
    /// before it has begun.
    origin: Duration,
    /// Of all numbers of eight bytes, those below this are traced.
    bound: u64,
    outbox: Outbox,
}

/// A step under way. Steps of a request that is not traced have none.
struct Open {
    context: Context,
    facts: Facts,
    began: u64,
}

impl Steps {
    pub(super) fn new(clock: Clock, entropy: Entropy, ratio: f64, outbox: Outbox) -> Self {
        let now = u64::try_from(clock.now().as_millis()).unwrap_or_default();
        let origin = Duration::from_millis(now).saturating_sub(clock.monotonic());
        Self {
            clock,
            entropy,
            origin,
            bound: bound_of(ratio),
            outbox,
        }
    }

    fn now(&self) -> u64 {
        let now = self.origin.saturating_add(self.clock.monotonic());
        u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Where a request begins. A client that traces decides for its requests; the others are
    /// traced in the share that the settings want.
    fn first(&self, facts: &Facts) -> Option<Context> {
        let remote = facts.text(TRACEPARENT).and_then(Remote::parse);
        let context = Context::first(&self.entropy, remote);
        let is_traced = match remote {
            Some(remote) => remote.is_sampled,
            None => u64::from_be_bytes(self.entropy.bytes()) <= self.bound,
        };
        is_traced.then_some(context)
    }
}

/// Casting saturates: the whole is everything there is.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share is not exact"
)]
fn bound_of(ratio: f64) -> u64 {
    (ratio.clamp(0.0, 1.0) * u64::MAX as f64) as u64
}

impl<S> Layer<S> for Steps
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, around: Surroundings<'_, S>) {
        let Some(span) = around.span(id) else { return };
        let mut facts = Facts::default();
        attributes.record(&mut facts);
        let context = match span.parent() {
            Some(parent) => {
                let extensions = parent.extensions();
                let open = extensions.get::<Open>();
                open.map(|open| open.context.child(&self.entropy))
            }
            // What nobody asked for is no step of a request.
            None if facts.text("method").is_some() => self.first(&facts),
            None => None,
        };
        if let Some(context) = context {
            span.extensions_mut().insert(Open {
                context,
                facts,
                began: self.now(),
            });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, around: Surroundings<'_, S>) {
        let Some(span) = around.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<Open>() {
            values.record(&mut open.facts);
        }
    }

    fn on_close(&self, id: Id, around: Surroundings<'_, S>) {
        let Some(span) = around.span(&id) else { return };
        let Some(open) = span.extensions_mut().remove::<Open>() else {
            return;
        };
        self.outbox.put(Ended {
            context: open.context,
            name: span.name(),
            facts: open.facts,
            times: [open.began, self.now()],
        });
    }
}
