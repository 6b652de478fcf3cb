//! The layer that turns steps into spans of a trace.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanContext, SpanId, TraceId};
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanProcessor as _};
use tracing::Subscriber;
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::context;
use super::span::{Facts, TRACE_ID, TRACEPARENT, TRUSTED_PARENT};
use formats::clock::{Clock, Entropy};

/// Turns steps into spans.
#[derive(Debug)]
pub(in crate::telemetry) struct Steps {
    clock: Clock,
    entropy: Entropy,
    /// The Unix time at zero of the monotonic clock, so that no span ends before it starts.
    origin: Duration,
    /// Requests whose random number is at most this are sampled.
    bound: u64,
    processor: Arc<BatchSpanProcessor>,
}

/// A step in progress. Only steps of sampled requests have one.
struct Open {
    context: SpanContext,
    parent: SpanId,
    facts: Facts,
    start: SystemTime,
}

impl Steps {
    pub(super) fn new(
        clock: Clock,
        entropy: Entropy,
        ratio: f64,
        processor: Arc<BatchSpanProcessor>,
    ) -> Self {
        let now = u64::try_from(clock.now().as_millis()).unwrap_or_default();
        let origin = Duration::from_millis(now).saturating_sub(clock.monotonic());
        Self {
            clock,
            entropy,
            origin,
            bound: bound_of(ratio),
            processor,
        }
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.origin.saturating_add(self.clock.monotonic())
    }

    /// The span of a request and its parent.
    fn first(&self, facts: &Facts) -> Option<(SpanContext, SpanId)> {
        let remote = facts.text(TRACEPARENT).and_then(context::parse);
        let is_trusted = facts.text(TRUSTED_PARENT).is_some();
        let is_drawn = u64::from_be_bytes(self.entropy.bytes()) <= self.bound;
        let is_sampled = is_sampled(remote.as_ref(), is_trusted, is_drawn);
        let parent = remote
            .as_ref()
            .map_or(SpanId::INVALID, SpanContext::span_id);
        let trace = facts
            .text(TRACE_ID)
            .and_then(|trace| TraceId::from_hex(trace).ok());
        is_sampled.then(|| {
            let context = match trace {
                Some(trace) => context::in_trace(&self.entropy, trace),
                None => context::new(&self.entropy, remote.as_ref()),
            };
            (context, parent)
        })
    }
}

/// A trusted proxy decides whether its requests are sampled. Other requests are sampled at the
/// configured ratio.
fn is_sampled(remote: Option<&SpanContext>, is_trusted: bool, is_drawn: bool) -> bool {
    remote
        .filter(|_| is_trusted)
        .map_or(is_drawn, SpanContext::is_sampled)
}

/// The largest sampled number. The cast saturates.
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
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, around: Context<'_, S>) {
        let Some(span) = around.span(id) else { return };
        let mut facts = Facts::default();
        attributes.record(&mut facts);
        let context = match span.parent() {
            Some(parent) => {
                let extensions = parent.extensions();
                let open = extensions.get::<Open>();
                open.map(|open| {
                    let child = context::new(&self.entropy, Some(&open.context));
                    (child, open.context.span_id())
                })
            }
            // Background work is no step of a request.
            None if facts.text("method").is_some() => self.first(&facts),
            None => None,
        };
        if let Some((context, parent)) = context {
            span.extensions_mut().insert(Open {
                context,
                parent,
                facts,
                start: self.now(),
            });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, around: Context<'_, S>) {
        let Some(span) = around.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<Open>() {
            values.record(&mut open.facts);
        }
    }

    fn on_close(&self, id: Id, around: Context<'_, S>) {
        let Some(span) = around.span(&id) else { return };
        let Some(open) = span.extensions_mut().remove::<Open>() else {
            return;
        };
        let times = [open.start, self.now()];
        let ended = open
            .facts
            .into_span(span.name(), open.context, open.parent, times);
        self.processor.on_end(ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trusted_proxy_decides_about_sampling() {
        let parent = |flags| context::parse(&format!("00-{:032x}-{:016x}-{flags}", 1, 1)).unwrap();
        for (flags, is_requested) in [("01", true), ("00", false)] {
            let remote = parent(flags);
            for is_drawn in [true, false] {
                assert_eq!(is_sampled(Some(&remote), true, is_drawn), is_requested);
                assert_eq!(is_sampled(Some(&remote), false, is_drawn), is_drawn);
                assert_eq!(is_sampled(None, true, is_drawn), is_drawn);
            }
        }
    }
}
