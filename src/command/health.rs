//! `sealward health`: whether an instance is ready, for the health check of a container.

use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ureq::Agent;

use super::Failure;
use engine::settings::{Environment, Http, Settings, certificates};
use engine::web_client::{client, client_of_this_machine};

/// The maximum time of the request. Health checks usually have a time limit of their own.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The base URL of the instance. Default: the instance of the settings on this machine.
    #[arg(long)]
    url: Option<String>,
    /// PEM file with the trusted CA certificates, instead of those of the system.
    #[arg(long, value_name = "FILE", requires = "url")]
    ca: Option<PathBuf>,
}

/// Orchestrators reserve other exit codes than 0 and 1.
pub(super) fn run(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> ExitCode {
    match check(config, environment, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::FAILURE
        }
    }
}

fn check(
    config: Option<&Path>,
    environment: &Environment,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let (agent, url) = match &arguments.url {
        Some(url) => (trusting(arguments.ca.as_deref())?, url.clone()),
        None => {
            let settings = Settings::load(config, environment)?;
            let url = own_url(&settings.http).map_err(Failure::Missing)?;
            (client_of_this_machine(PATIENCE), url)
        }
    };
    let url = format!("{}/readyz", url.trim_end_matches('/'));
    let response = agent.get(&url).call();
    let response = response.map_err(|error| Failure::Other(format!("{url}: {error}")))?;
    if response.status() == 200 {
        return Ok(writeln!(io::stdout(), "ready")?);
    }
    let status = response.status().as_u16();
    Err(Failure::Other(format!("{url}: status {status}, not ready")))
}

fn trusting(ca: Option<&Path>) -> Result<Agent, Failure> {
    let authorities = ca.map(|path| {
        let refused = |error| Failure::Other(format!("{} {error}", path.display()));
        certificates(path).map_err(refused)
    });
    Ok(client(authorities.transpose()?.as_deref(), PATIENCE))
}

/// The base URL of the instance with these settings, from this machine.
fn own_url(http: &Http) -> Result<String, &'static str> {
    if let Some(probes) = http.probe_listen {
        return Ok(format!("http://{}", from_here(probes)));
    }
    if http.tls.client_ca.is_some() {
        return Err(
            "http.tls.client_ca requires http.probe_listen for sealward health, which has no client certificate",
        );
    }
    let scheme = if http.tls.certificate.is_some() { "https" } else { "http" };
    Ok(format!("{scheme}://{}", from_here(http.listen)))
}

/// The address at which this machine reaches a listener.
fn from_here(listen: SocketAddr) -> SocketAddr {
    let address = match listen.ip() {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    };
    SocketAddr::new(address, listen.port())
}
