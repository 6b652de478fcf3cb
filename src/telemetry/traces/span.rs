//! A span that has ended, and how OTLP writes it as JSON.

use std::fmt::{self, Write as _};

use serde_json::{Value, json};
use tracing::field::{Field, Visit};

use super::context::Context;

/// A span that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) context: Context,
    /// What it was called in the code.
    pub(super) name: &'static str,
    pub(super) facts: Facts,
    /// Nanoseconds since the Unix epoch.
    pub(super) times: [u64; 2],
}

/// What was said of a span.
#[derive(Debug, Default)]
pub(super) struct Facts(Vec<(&'static str, Fact)>);

#[derive(Debug)]
enum Fact {
    Text(String),
    Number(i64),
}

/// The field in which a span gets the client's own trace; it says nothing of the span itself.
pub(super) const TRACEPARENT: &str = "traceparent";

impl Facts {
    /// A text that was said.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|(field, fact)| match fact {
            Fact::Text(text) if *field == name => Some(text.as_str()),
            _ => None,
        })
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.0.iter().find_map(|(field, fact)| match fact {
            Fact::Number(number) if *field == name => Some(*number),
            _ => None,
        })
    }
}

impl Visit for Facts {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), Fact::Text(value.to_owned())));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.push((field.name(), Fact::Number(value)));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.0.push((field.name(), Fact::Number(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0
            .push((field.name(), Fact::Text(format!("{value:?}"))));
    }
}

impl Ended {
    /// As OTLP has it. The names of attributes are those of OpenTelemetry's conventions where they
    /// have one.
    pub(super) fn to_json(&self) -> Value {
        let attributes = self.facts.0.iter().filter_map(|(field, fact)| {
            let key = match *field {
                TRACEPARENT => return None,
                "method" => "http.request.method",
                "route" => "http.route",
                "status" => "http.response.status_code",
                "code" => "error.type",
                "request_id" => "sealward.request_id",
                "token" => "sealward.token",
                other => other,
            };
            let value = match fact {
                Fact::Text(text) => json!({ "stringValue": text }),
                Fact::Number(number) => json!({ "intValue": number.to_string() }),
            };
            Some(json!({ "key": key, "value": value }))
        });
        let attributes: Vec<_> = attributes.collect();
        let [start, end] = self.times;
        let mut span = json!({
            "traceId": hex(&self.context.trace),
            "spanId": hex(&self.context.span),
            "name": self.title(),
            "kind": if self.is_request() { SERVER } else { INTERNAL },
            "startTimeUnixNano": start.to_string(),
            "endTimeUnixNano": end.to_string(),
            "attributes": attributes,
            "status": if self.is_failure() { json!({ "code": ERROR }) } else { json!({}) },
        });
        if let (Some(parent), Some(span)) = (self.context.parent, span.as_object_mut()) {
            span.insert("parentSpanId".to_owned(), json!(hex(&parent)));
        }
        span
    }

    /// A request is called by its route, a step by its name.
    fn title(&self) -> String {
        match (self.facts.text("method"), self.facts.text("route")) {
            (Some(method), Some(route)) => format!("{method} {route}"),
            (Some(method), None) => method.to_owned(),
            _ => self.name.to_owned(),
        }
    }

    fn is_request(&self) -> bool {
        self.facts.text("method").is_some()
    }

    fn is_failure(&self) -> bool {
        self.facts
            .number("status")
            .is_some_and(|status| status >= 500)
    }
}

// The numbers of OTLP.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
const ERROR: u8 = 2;

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
