//! `sealward api-key`: creates API keys without the API, for example the first admin key.

use std::io::{self, Write as _};
use std::path::Path;

use secrecy::ExposeSecret as _;
use serde_json::json;

use super::{Failure, startup};
use crate::auth::{Kind, Role};
use crate::catalog::Catalog;
use crate::clock::{Clock, Entropy};
use crate::management::api_keys::{self, ApiKeyRequest, Created};
use crate::management::{Authorized, Error};
use crate::resource::ResourceRequest;
use crate::settings::Environment;

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Create an API key and print it once.
    Create(Create),
}

#[derive(Debug, clap::Args)]
struct Create {
    /// The type: live, test or admin.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Kind,
    /// The display name.
    #[arg(long)]
    name: String,
    /// The ID of the calling service; required for live and test.
    #[arg(long, value_name = "ID")]
    service: Option<String>,
    /// The number of the bound policy.
    #[arg(long, value_name = "NUMBER")]
    policy: Option<String>,
    /// A role of an admin key: owner, custodian, policy-admin or auditor. Repeat it for several roles.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<Role>,
    /// The person who uses an admin key.
    #[arg(long)]
    person: Option<String>,
    /// The expiry, for example 2027-01-01T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// Print the resource as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: Arguments,
) -> Result<(), Failure> {
    let Action::Create(wanted) = arguments.action;
    let settings = startup::prepare_quietly(config, environment)?;
    let database = startup::database(&settings, environment).await?;
    let context = Authorized::of_system(
        Clock::system(),
        Entropy::system(),
        Catalog::new(),
        database.pool().clone(),
        "cli",
    );
    let request = request(&wanted).map_err(failure)?;
    let made = api_keys::create(&context, request).await.map_err(failure)?;
    Ok(print(&made, wanted.json)?)
}

fn request(wanted: &Create) -> Result<ResourceRequest<ApiKeyRequest>, Error> {
    let mut body = json!({
        "name": wanted.name,
        "type": wanted.kind,
        "serviceId": wanted.service,
        "person": wanted.person,
        "policyNumber": wanted.policy,
        "expiresAt": wanted.expires,
    });
    if !wanted.roles.is_empty()
        && let Some(members) = body.as_object_mut()
    {
        members.insert("roles".to_owned(), json!(wanted.roles));
    }
    Ok(ResourceRequest::of_json(&body, ResourceRequest::to_create)?)
}

fn print(made: &Created, json: bool) -> io::Result<()> {
    let mut out = io::stdout();
    if json {
        serde_json::to_writer_pretty(&mut out, made)?;
        return writeln!(out);
    }
    writeln!(out, "{}", made.secret.expose_secret())
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Invalid(problems) => {
            let lines: Vec<String> = problems
                .as_slice()
                .iter()
                .map(|problem| format!("{}: {}", problem.field, problem.message))
                .collect();
            Failure::Other(lines.join("\n"))
        }
        other @ (Error::Missing(_)
        | Error::Conflict(_)
        | Error::Outdated
        | Error::NotAllowed(_)
        | Error::Forbidden(_)
        | Error::NotAnApprover(_)
        | Error::Proposed(_)
        | Error::Token(_)
        | Error::Unauthenticated
        | Error::BrokenOff
        | Error::Database(_)) => Failure::Other(other.to_string()),
    }
}
