//! `sealward api-key`: creates, lists and revokes API keys without the API, for example the first admin
//! key.

use std::io::{self, Write as _};
use std::path::Path;

use secrecy::ExposeSecret as _;
use serde_json::json;

use super::terminal::in_line;
use super::{Failure, startup};
use engine::auth::{ApiKeyType, Role};
use engine::catalog::Catalog;
use engine::fingerprint::Fingerprint;
use engine::ids::ApiKeyId;
use engine::management::api_keys::{
    ApiKey, ApiKeyFilter, ApiKeyRequest, ApiKeyStatus, Created, operator,
};
use engine::management::{Error, PageRequest, System};
use engine::resource::ResourceRequest;
use engine::settings::Environment;
use formats::clock::{Clock, Entropy};

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create an API key and print it once.
    Create(Create),
    /// List the API keys without their secrets.
    List(ListKeys),
    /// Revoke an API key permanently.
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
struct ListKeys {
    /// Only keys of this type: live, test or admin.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<ApiKeyType>,
    /// Only keys with this status: active, revoked or expired.
    #[arg(long)]
    status: Option<ApiKeyStatus>,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Revoke {
    /// The ID of the key.
    id: ApiKeyId,
}

#[derive(Debug, clap::Args)]
struct Create {
    /// The type: live, test or admin.
    #[arg(long = "type", value_name = "TYPE")]
    kind: ApiKeyType,
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
    /// The SHA-256 of the client certificate that requests with the key need.
    #[arg(long, value_name = "SHA256")]
    certificate_sha256: Option<Fingerprint>,
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
    let settings = startup::prepare_quietly(config, environment)?;
    let database = startup::database(&settings, environment).await?;
    let system = System::new(
        "cli",
        Clock::system(),
        Entropy::system(),
        Catalog::new(),
        database.pool().clone(),
    )
    .with_people_of(settings.admin.oidc.issuer.clone());
    let token = startup::verifying_token(&settings, environment, &database).await?;
    let done = match arguments.action {
        Command::Create(wanted) => create(&system, &wanted).await,
        Command::List(wanted) => list(&system, &wanted).await,
        Command::Revoke(Revoke { id }) => Ok(operator::revoke(&system, id).await?),
    };
    token.close().await;
    done
}

async fn create(system: &System, wanted: &Create) -> Result<(), Failure> {
    let request = request(wanted)?;
    let made = operator::create(system, request).await?;
    Ok(print(&made, wanted.json)?)
}

async fn list(system: &System, wanted: &ListKeys) -> Result<(), Failure> {
    let filter =
        ApiKeyFilter { kind: wanted.kind, status: wanted.status, ..ApiKeyFilter::default() };
    let mut request = PageRequest::default();
    loop {
        let page = operator::list(system, &filter, request);
        let page = page.await?;
        for api_key in &page.items {
            if wanted.json {
                serde_json::to_writer(io::stdout(), api_key).map_err(io::Error::from)?;
                writeln!(io::stdout())?;
            } else {
                print_line(api_key)?;
            }
        }
        request.after = page.next_cursor;
        if request.after.is_none() {
            return Ok(());
        }
    }
}

/// The ID, the type, the status, the hint and the name of a key. One whose row does not count is `invalid`.
fn print_line(api_key: &ApiKey) -> io::Result<()> {
    let kind = api_key.r#type.name();
    let status = match api_key.seal_valid {
        Some(false) => "invalid",
        Some(true) | None => api_key.status.name(),
    };
    let ApiKey { id, hint, name, .. } = api_key;
    writeln!(io::stdout(), "{id}  {kind:<5}  {status:<7}  {hint}  {}", in_line(name))
}

fn request(wanted: &Create) -> Result<ResourceRequest<ApiKeyRequest>, Error> {
    let mut body = json!({
        "name": wanted.name,
        "type": wanted.kind,
        "serviceId": wanted.service,
        "person": wanted.person,
        "policyNumber": wanted.policy,
        "certificateSha256": wanted.certificate_sha256,
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
