//! The cookie with the secret of a browser.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue, header};

use super::Secret;
use engine::web::OverTls;

/// The transport of a browser, which determines the attributes of its cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// TLS, which ends in this process or in a proxy. Without TLS a browser drops the cookie, so that
    /// it cannot sign in over a network.
    Network,
    /// From this machine, without TLS.
    Loopback,
}

impl Transport {
    /// The transport of a request from `client`.
    pub(crate) fn of(client: IpAddr, tls: Option<&OverTls>) -> Self {
        if tls.is_none() && client.is_loopback() { Self::Loopback } else { Self::Network }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Network => "__Host-sealward",
            Self::Loopback => "sealward",
        }
    }

    const fn attributes(self) -> &'static str {
        match self {
            Self::Network => "; Path=/; HttpOnly; SameSite=Strict; Secure",
            Self::Loopback => "; Path=/; HttpOnly; SameSite=Strict",
        }
    }

    /// The secret that a request carries.
    pub(crate) fn read(self, headers: &HeaderMap) -> Option<Secret> {
        let lines = headers.get_all(header::COOKIE).iter();
        let mut cookies = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(name, _)| *name == self.name());
        let (_, text) = cookies.next()?;
        // A second cookie with this name was planted by another site.
        cookies.next().is_none().then(|| Secret::parse(text))?
    }

    /// The cookie that stores `secret` until the browser closes.
    pub(crate) fn keep(self, secret: &Secret) -> Option<HeaderValue> {
        let cookie = format!("{}={}{}", self.name(), *secret.text(), self.attributes());
        let mut value = HeaderValue::from_str(&cookie).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The cookie that deletes the secret.
    pub(crate) fn forget(self) -> Option<HeaderValue> {
        HeaderValue::from_str(&format!("{}={}; Max-Age=0", self.name(), self.attributes())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::clock::Entropy;

    fn carrying(line: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_str(line).unwrap())])
    }

    #[test]
    fn a_cookie_requires_this_host_and_tls_over_a_network() {
        let secret = Secret::generate(&Entropy::system());
        let here = "127.0.0.1".parse().unwrap();
        let near = Transport::of(here, None);
        let far = Transport::of("192.0.2.1".parse().unwrap(), None);
        assert_eq!(Transport::of(here, Some(&OverTls)), far);
        let text = |way: Transport| way.keep(&secret).unwrap().to_str().unwrap().to_owned();
        assert!(text(far).starts_with("__Host-sealward="));
        assert!(text(far).ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"));
        assert!(text(near).starts_with("sealward="));
        assert!(text(near).ends_with("; Path=/; HttpOnly; SameSite=Strict"));
    }

    #[test]
    fn a_secret_is_read_among_other_cookies_and_refused_if_duplicated() {
        let way = Transport::Network;
        let secret = Secret::generate(&Entropy::system());
        let pair = format!("__Host-sealward={}", *secret.text());
        let found = |line: &str| way.read(&carrying(line)).map(|read| read.form_token());
        let ours = Some(secret.form_token());
        assert_eq!(found(&format!("a=b; {pair}; c=d")), ours);
        assert_eq!(found(&format!("{pair}; {pair}")), None);
        assert_eq!(found(&pair.replace("__Host-", "")), None);
        assert_eq!(found("__Host-sealward=AAAA"), None);
    }
}
