//! The fields of a span, and the finished span in the types of OpenTelemetry.

use std::fmt;
use std::time::SystemTime;

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use tracing::field::{Field, Visit};

/// The fields of a span.
#[derive(Debug, Default)]
pub(super) struct Facts(Vec<(&'static str, Value)>);

/// The field with the trace context of the client. It is no attribute of the span.
pub(super) const TRACEPARENT: &str = "traceparent";

/// The field that lets the parent decide about sampling. It is no attribute of the span.
pub(super) const TRUSTED_PARENT: &str = "trusted_parent";

/// The field with the id of the trace. It is no attribute of the span.
pub(super) const TRACE_ID: &str = "trace_id";

impl Facts {
    /// The value of a text field.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|(field, fact)| match fact {
            Value::String(text) if *field == name => Some(text.as_str()),
            _ => None,
        })
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.0.iter().find_map(|(field, fact)| match fact {
            Value::I64(number) if *field == name => Some(*number),
            _ => None,
        })
    }
}

impl Visit for Facts {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), value.to_owned().into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.push((field.name(), Value::I64(value)));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.0.push((field.name(), Value::I64(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push((field.name(), format!("{value:?}").into()));
    }
}

impl Facts {
    /// The finished span. Attributes have the names of the semantic conventions where these exist.
    pub(super) fn into_span(
        self,
        name: &'static str,
        context: SpanContext,
        parent: SpanId,
        times: [SystemTime; 2],
    ) -> SpanData {
        let [start_time, end_time] = times;
        let is_request = self.text("method").is_some();
        let is_failure = self.number("status").is_some_and(|status| status >= 500);
        SpanData {
            span_context: context,
            parent_span_id: parent,
            parent_span_is_remote: is_request,
            span_kind: if is_request {
                SpanKind::Server
            } else {
                SpanKind::Internal
            },
            name: self.title(name).into(),
            start_time,
            end_time,
            attributes: self.0.into_iter().filter_map(attribute).collect(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: if is_failure {
                Status::error("")
            } else {
                Status::Unset
            },
            instrumentation_scope: InstrumentationScope::builder("sealward")
                .with_version(env!("CARGO_PKG_VERSION"))
                .build(),
        }
    }

    /// The route of a request, the name of a step.
    fn title(&self, name: &str) -> String {
        match (self.text("method"), self.text("route")) {
            (Some(method), Some(route)) => format!("{method} {route}"),
            (Some(method), None) => method.to_owned(),
            (None, _) => name.to_owned(),
        }
    }
}

fn attribute((field, value): (&'static str, Value)) -> Option<KeyValue> {
    let key = match field {
        TRACEPARENT | TRUSTED_PARENT | TRACE_ID => return None,
        "method" => "http.request.method",
        "route" => "http.route",
        "status" => "http.response.status_code",
        "code" => "error.type",
        "request_id" => "sealward.request_id",
        "token" => "sealward.token",
        other => other,
    };
    Some(KeyValue::new(key, value))
}
