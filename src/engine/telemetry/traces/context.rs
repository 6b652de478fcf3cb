//! The trace that a request joins (W3C Trace Context), and whether its spans are sampled.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Link, SpanContext, SpanKind, TraceContextExt as _, TraceId};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    IdGenerator as _, RandomIdGenerator, Sampler, SamplingResult, ShouldSample,
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use formats::clock::Entropy;

const TRACEPARENT: &str = "traceparent";

/// Marks the context of a request whose trusted proxy decides about sampling.
#[derive(Debug)]
struct SampledByProxy;

/// Puts the step of a request into the trace of the header `traceparent`, or into a new one.
/// Returns the id of the trace, also if the step is not traced.
pub(crate) fn join_trace(
    step: &Span,
    traceparent: Option<&str>,
    from_trusted_proxy: bool,
    entropy: &Entropy,
) -> String {
    let remote = traceparent.and_then(parse);
    if let Some(remote) = &remote {
        let mut parent = Context::new().with_remote_span_context(remote.clone());
        if from_trusted_proxy {
            parent = parent.with_value(SampledByProxy);
        }
        // This fails only if traces are disabled.
        let _ = step.set_parent(parent);
    }
    let traced = step.context().span().span_context().trace_id();
    let trace = match remote {
        Some(remote) => remote.trace_id(),
        None if traced == TraceId::INVALID => TraceId::from_bytes(entropy.name()),
        None => traced,
    };
    trace.to_string()
}

/// The context in the header `traceparent`; none if it is invalid.
fn parse(header: &str) -> Option<SpanContext> {
    // The propagator itself accepts ids of any length.
    let mut lengths = header.split('-').skip(1).map(str::len);
    if (lengths.next(), lengths.next()) != (Some(32), Some(16)) {
        return None;
    }
    let headers = HashMap::from([(TRACEPARENT.to_owned(), header.to_owned())]);
    let remote = TraceContextPropagator::new().extract(&headers);
    let remote = remote.span().span_context().clone();
    remote.is_valid().then_some(remote)
}

/// A trusted proxy decides whether its requests are sampled. Other requests are sampled at the
/// configured ratio. Background work is no step of a request and is never sampled.
#[derive(Clone, Debug)]
pub(super) struct RequestSampler {
    pub(super) ratio: f64,
}

impl ShouldSample for RequestSampler {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let by_proxy = parent.is_some_and(|parent| parent.get::<SampledByProxy>().is_some());
        let is_sampled = parent.is_some_and(|parent| parent.span().span_context().is_sampled());
        let (sampler, id) = if *kind == SpanKind::Server && !by_proxy {
            // A client chooses the id of its trace, so the ratio applies to another random id.
            let id = RandomIdGenerator::default().new_trace_id();
            (Sampler::TraceIdRatioBased(self.ratio), id)
        } else if is_sampled {
            (Sampler::AlwaysOn, trace)
        } else {
            (Sampler::AlwaysOff, trace)
        };
        sampler.should_sample(parent, id, name, kind, attributes, links)
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::super::Traces;
    use super::*;
    use crate::telemetry::step;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    /// Runs `test` with traces of this share of requests.
    fn traced(ratio: f64, test: impl FnOnce()) {
        let sampler = RequestSampler { ratio };
        let provider = SdkTracerProvider::builder().with_sampler(sampler).build();
        let subscriber = Registry::default().with(Traces(provider).layer());
        tracing::subscriber::with_default(subscriber, test);
    }

    fn request() -> Span {
        step!("request", otel.kind = "server")
    }

    fn context(step: &Span) -> SpanContext {
        step.context().span().span_context().clone()
    }

    #[test]
    fn the_trace_of_a_client_continues() {
        let entropy = Entropy::system();
        let header = format!("00-{TRACE}-b7ad6b7169203331-01");
        let remote = parse(&header).unwrap();
        assert!(remote.is_sampled());
        assert_eq!(remote.span_id().to_string(), "b7ad6b7169203331");
        let unsampled = parse(&format!("00-{TRACE}-b7ad6b7169203331-00"));
        assert!(!unsampled.unwrap().is_sampled());
        traced(1.0, || {
            let first = request();
            assert_eq!(join_trace(&first, Some(&header), false, &entropy), TRACE);
            let child = first.in_scope(|| context(&step!("child")));
            let first = context(&first);
            assert_eq!(first.trace_id().to_string(), TRACE);
            assert_eq!(child.trace_id(), first.trace_id());
            assert_ne!(child.span_id(), first.span_id());
            assert!(child.is_sampled());

            let new = request();
            let trace = join_trace(&new, None, false, &entropy);
            assert_eq!(context(&new).trace_id().to_string(), trace);
            assert_ne!(trace, TRACE);
        });
        // The log names a trace also if traces are off.
        let off = Span::none();
        assert_eq!(join_trace(&off, Some(&header), false, &entropy), TRACE);
        let trace = join_trace(&off, None, false, &entropy);
        assert_ne!(trace, join_trace(&off, None, false, &entropy));
        assert_eq!(trace.len(), TRACE.len());
    }

    #[test]
    fn only_a_trusted_proxy_decides_about_sampling() {
        let entropy = Entropy::system();
        for (ratio, is_drawn) in [(0.0, false), (1.0, true)] {
            traced(ratio, || {
                let is_sampled = |traceparent: Option<&str>, from_trusted_proxy| {
                    let step = request();
                    let _ = join_trace(&step, traceparent, from_trusted_proxy, &entropy);
                    context(&step).is_sampled()
                };
                for (flags, is_requested) in [("01", true), ("00", false)] {
                    let header = format!("00-{TRACE}-b7ad6b7169203331-{flags}");
                    assert_eq!(is_sampled(Some(&header), true), is_requested);
                    assert_eq!(is_sampled(Some(&header), false), is_drawn);
                    assert_eq!(is_sampled(None, true), is_drawn);
                }
            });
        }
    }

    #[test]
    fn the_ratio_does_not_depend_on_the_trace_of_the_client() {
        let entropy = Entropy::system();
        let header = format!("00-{TRACE}-b7ad6b7169203331-01");
        traced(0.5, || {
            let sampled = (0..200).filter(|_| {
                let step = request();
                let _ = join_trace(&step, Some(&header), false, &entropy);
                context(&step).is_sampled()
            });
            assert!((50..150).contains(&sampled.count()));
        });
    }

    #[test]
    fn background_work_is_not_traced() {
        traced(1.0, || {
            let work = step!("token");
            assert!(!context(&work).is_sampled());
            let child = work.in_scope(|| context(&step!("child")));
            assert!(!child.is_sampled());
        });
    }

    #[test]
    fn an_invalid_header_is_ignored() {
        for header in [
            String::new(),
            "nonsense".to_owned(),
            format!("00-{TRACE}-b7ad6b7169203331"),
            format!("00-{TRACE}-b7ad6b7169203331-01-more"),
            format!("ff-{TRACE}-b7ad6b7169203331-01"),
            format!("00-{}-b7ad6b7169203331-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
            format!("00-{TRACE}0-b7ad6b7169203331-01"),
        ] {
            assert_eq!(parse(&header), None, "{header}");
        }
    }
}
