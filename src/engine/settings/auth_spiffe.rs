//! The trust domains of workloads with SPIFFE IDs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spiffe::TrustDomain;

/// A SPIFFE trust domain.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct AuthSpiffe {
    /// The name of the trust domain, for example `example.org`.
    #[schemars(with = "String")]
    pub trust_domain: TrustDomain,
    /// PEM file with the CA certificates of the trust domain. They confirm only SPIFFE IDs of this
    /// trust domain. A changed file is loaded like `http.tls.certificate`.
    pub ca: PathBuf,
}
