//! The certificate of the client, from its connection or from a trusted proxy, and the credentials of a
//! request.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, header};

use super::TrustedProxy;
use crate::auth::{Authorization, Credentials};
use crate::client_certificates::{Chain, ClientCertificate, PeerCertificate, forwarded};
use crate::settings::Http;

/// The certificate of the client of `request`. A proxy whose own certificate is pinned speaks for its
/// clients and never for itself.
pub fn client_certificate(request: &Request, settings: &Http) -> ClientCertificate {
    let Some(peer) = request.extensions().get::<PeerCertificate>() else {
        return ClientCertificate::Absent;
    };
    if !settings.proxy_certificates.contains(&peer.chain.fingerprint()) {
        return ClientCertificate::Presented(peer.clone());
    }
    if TrustedProxy::of_request(request, &settings.trusted_proxies).is_none() {
        return ClientCertificate::Absent;
    }
    let is_of_proxy = |chain: &Chain| settings.proxy_certificates.contains(&chain.fingerprint());
    match forwarded(request.headers()) {
        Ok(None) => ClientCertificate::Absent,
        Ok(Some(chain)) if is_of_proxy(&chain) => ClientCertificate::Malformed,
        Ok(Some(chain)) => ClientCertificate::Presented(PeerCertificate {
            chain: Arc::new(chain),
            trust: peer.trust.clone(),
        }),
        Err(_) => ClientCertificate::Malformed,
    }
}

/// The credentials of a request with these headers, whose certificate the frame has determined.
pub fn credentials<'a>(headers: &'a HeaderMap, extensions: &Extensions) -> Credentials<'a> {
    Credentials {
        authorization: authorization(headers),
        certificate: extensions.get().cloned().unwrap_or_default(),
    }
}

pub fn authorization(headers: &HeaderMap) -> Authorization<'_> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (None, _) => Authorization::Absent,
        (Some(only), None) => Authorization::One(only.as_bytes()),
        (Some(_), Some(_)) => Authorization::Several,
    }
}
