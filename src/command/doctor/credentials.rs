//! The issuers of tokens and the CAs of client certificates.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use engine::auth::issuer;
use engine::client_certificates::expiry;
use engine::settings::{AuthIssuer, Settings, certificates};
use formats::clock::{Clock, Timestamp};

/// How long before their expiry certificates are reported.
const SOON: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The state of one setting, or why it cannot work.
pub(super) struct Checked {
    setting: String,
    state: Result<String, String>,
}

/// Fetches the keys of the issuers, and reads the CA files.
pub(super) async fn check(settings: &Settings) -> Vec<Checked> {
    let (clock, auth) = (Clock::system(), &settings.auth);
    let mut found = Vec::new();
    for (place, wanted) in auth.issuers.iter().enumerate() {
        found.push(Checked {
            setting: format!("auth.issuers[{place}]"),
            state: fetch(&clock, wanted).await,
        });
    }
    let client_ca = settings.http.tls.client_ca.iter();
    let client_ca = client_ca.map(|path| ("http.tls.client_ca".to_owned(), path));
    let domains = auth.spiffe.iter().enumerate();
    let domains = domains.map(|(place, domain)| (format!("auth.spiffe[{place}]"), &domain.ca));
    for (setting, path) in client_ca.chain(domains) {
        let state = read(path, clock.now());
        found.push(Checked { setting, state });
    }
    found
}

/// The first setting that cannot work.
pub(super) fn fault(found: &[Checked]) -> Option<String> {
    let mut faults = found.iter().filter_map(|checked| {
        let reason = checked.state.as_ref().err()?;
        Some(format!("{}: {reason}", checked.setting))
    });
    faults.next()
}

/// For people.
pub(super) fn text(found: &[Checked]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let mut page = String::from("Credentials of workloads\n");
    for Checked { setting, state } in found {
        let (Ok(state) | Err(state)) = state;
        // Writing to a string cannot fail.
        let _ = writeln!(page, "  {setting}: {state}");
    }
    page.push('\n');
    page
}

/// For programs.
pub(super) fn as_json(found: &[Checked]) -> Value {
    let each = found.iter().map(|Checked { setting, state }| match state {
        Ok(state) => json!({ "setting": setting, "state": state }),
        Err(reason) => json!({ "setting": setting, "error": reason }),
    });
    each.collect()
}

async fn fetch(clock: &Clock, wanted: &AuthIssuer) -> Result<String, String> {
    let issuer = issuer(clock, wanted).map_err(|error| error.to_string())?;
    let keys = issuer.keys().probe().await;
    match keys.map_err(|error| error.to_string())? {
        0 => Err(format!("{} publishes no signature key", issuer.name())),
        keys => Ok(format!("signature keys of {}: {keys}", issuer.name())),
    }
}

/// A file can also have certificates that are expired, because CAs are renewed.
fn read(path: &Path, now: Timestamp) -> Result<String, String> {
    let shown = path.display();
    let all = certificates(path).map_err(|error| format!("{shown} {error}"))?;
    let ends = all.iter().filter_map(expiry).max();
    match ends {
        Some(end) if end <= now => Err(format!("{shown} has only expired CAs, the last at {end}")),
        Some(end) if end <= now.plus(SOON) => {
            Ok(format!("warning: all CAs in {shown} expire by {end}; add the next ones"))
        }
        Some(end) => Ok(format!("CAs in {shown}: {}, valid until {end}", all.len())),
        None => Err(format!("{shown} must contain X.509 certificates")),
    }
}
