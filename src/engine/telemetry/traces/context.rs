//! W3C Trace Context: the place of a span in a trace.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
};
use opentelemetry_sdk::propagation::TraceContextPropagator;

use super::span::TRACEPARENT;
use formats::clock::Entropy;

/// The context in the header `traceparent`; none if it is invalid.
pub(super) fn parse(header: &str) -> Option<SpanContext> {
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

/// The id of the trace of a request: that of the header `traceparent`, or a new one.
#[must_use]
pub fn trace_id(traceparent: Option<&str>, entropy: &Entropy) -> String {
    let remote = traceparent.and_then(parse);
    trace_of(entropy, remote.as_ref()).to_string()
}

/// The context of a new span: in the trace of its parent, or in a new trace.
pub(super) fn new(entropy: &Entropy, parent: Option<&SpanContext>) -> SpanContext {
    in_trace(entropy, trace_of(entropy, parent))
}

fn trace_of(entropy: &Entropy, parent: Option<&SpanContext>) -> TraceId {
    parent.map_or_else(
        || TraceId::from_bytes(entropy.name()),
        SpanContext::trace_id,
    )
}

/// The context of a new span in the trace with this id.
pub(super) fn in_trace(entropy: &Entropy, trace: TraceId) -> SpanContext {
    let span = SpanId::from_bytes(entropy.name());
    SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn the_trace_of_a_client_continues() {
        let entropy = Entropy::system();
        let remote = parse(&format!("00-{TRACE}-b7ad6b7169203331-01")).unwrap();
        assert!(remote.is_sampled());
        assert_eq!(remote.span_id().to_string(), "b7ad6b7169203331");
        let first = new(&entropy, Some(&remote));
        assert_eq!(first.trace_id().to_string(), TRACE);
        let child = new(&entropy, Some(&first));
        assert_eq!(child.trace_id(), first.trace_id());
        assert_ne!(child.span_id(), first.span_id());
        let unsampled = parse(&format!("00-{TRACE}-b7ad6b7169203331-00"));
        assert!(!unsampled.unwrap().is_sampled());
        assert_ne!(new(&entropy, None).trace_id(), first.trace_id());
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
