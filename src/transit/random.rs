//! Random bytes. No key takes part, so they are no recorded operation.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::body::{Fields, parse, quoted};
use crate::caller::{AdmittedCaller, check_namespace, namespace, read_for};
use crate::envelope::{ok, with_data};
use crate::errors::Refused;
use crate::session::tag;
use crate::state::Transit;
use engine::receive::AdminCaller;
use engine::web::{UnreadableBody, write_rate_limit};
use formats::hex::hex;
use formats::json::Text;

/// The number of bytes unless a request has another one.
const USUAL: i64 = 32;

/// The most bytes of a request.
const MOST: i64 = 128 * 1024 - 1;

/// What is asked for.
struct Wish {
    bytes: usize,
    is_hex: bool,
}

/// Answers a request for random bytes, with the segments `rest` of its path.
pub(crate) async fn answer(state: &Transit, rest: &str, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let (admitted, body) = match read_for(state, &parts, body).await {
        Ok(read) => read,
        Err(unreadable) => return Refused::from(unreadable).into_response(),
    };
    let text = match parse(&body) {
        Ok(text) => text,
        Err(not_json) => return Refused::from(not_json).into_response(),
    };
    let admitted = match admitted {
        Ok(admitted) => admitted,
        Err(not_admitted) => return not_admitted.into_response(),
    };
    let wish = Wish::read(text, rest);
    let checked = check(&admitted, namespace(&parts)).and(wish);
    let mut response = match checked {
        Ok(wish) => {
            // Neither form takes more than two bytes for one.
            let memory = admitted.caller.memory(&state.engine);
            let Some(share) = memory.reserve_answer(2 * wish.bytes).await else {
                return Refused::from(UnreadableBody::NoMemory).into_response();
            };
            let bytes = wish.made(state);
            // Neither hexadecimal digits nor base64 need to be escaped.
            let write = |out: &mut formats::wiped::Wiped<Vec<u8>>| {
                for part in [r#"{"random_bytes":""#, &bytes, r#""}"#] {
                    out.extend_from_slice(part.as_bytes());
                }
            };
            let body = with_data(&tag(state, &parts), bytes.len(), write);
            ok(StatusCode::OK, body, share.map(Arc::new), None)
        }
        Err(refused) => refused.into_response(),
    };
    write_rate_limit(admitted.bucket, response.headers_mut());
    response
}

/// Refuses callers that are no applications, or that are frozen.
fn check(admitted: &AdmittedCaller, namespace: Option<&str>) -> Result<(), Refused> {
    let AdminCaller::Caller(caller) = &admitted.caller else {
        return Err(Refused::denied("FORBIDDEN"));
    };
    let application = caller.clone().application()?;
    if application.frozen().is_some() {
        return Err(Refused::denied("SERVICE_FROZEN"));
    }
    check_namespace(&application, namespace)
}

impl Wish {
    fn read(text: Text<'_>, rest: &str) -> Result<Self, Refused> {
        let fields = Fields::of(text, &["bytes", "format"])?;
        let segments: Vec<&str> = rest.split('/').filter(|segment| !segment.is_empty()).collect();
        let (source, bytes) = match segments.as_slice() {
            [] => ("platform", None),
            [only] if only.bytes().all(|byte| byte.is_ascii_digit()) => ("platform", Some(*only)),
            [source] => (*source, None),
            [source, bytes] => (*source, Some(*bytes)),
            _ => return Err(Refused::not_found("unsupported path")),
        };
        if source != "platform" {
            let source = quoted(source);
            let text = format!("unsupported entropy source {source}; must be \"platform\"");
            return Err(Refused::invalid(text));
        }
        let bytes = match bytes {
            Some(bytes) => bytes.parse().map_err(|_| Refused::invalid("bytes is not a number"))?,
            None => fields.number("bytes")?.unwrap_or(USUAL),
        };
        if bytes < 1 {
            return Err(Refused::invalid("\"bytes\" cannot be less than 1"));
        }
        if bytes > MOST {
            return Err(Refused::invalid(format!("\"bytes\" should be less than {}", MOST + 1)));
        }
        let is_hex = match fields.filled("format")?.as_deref() {
            None | Some("base64") => false,
            Some("hex") => true,
            Some(other) => {
                let other = quoted(other);
                let text =
                    format!("unsupported encoding format {other}; must be \"hex\" or \"base64\"");
                return Err(Refused::invalid(text));
            }
        };
        let bytes = usize::try_from(bytes).map_err(|_| Refused::internal())?;
        Ok(Self { bytes, is_hex })
    }

    fn made(&self, state: &Transit) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new(vec![0; self.bytes]);
        state.engine.entropy.fill(bytes.as_mut_slice());
        Zeroizing::new(match self.is_hex {
            true => hex(&bytes),
            false => STANDARD.encode(bytes.as_slice()),
        })
    }
}
