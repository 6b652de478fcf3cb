//! `sealward protect`, `sealward unprotect` and `sealward rewrap`: one payload, from a file or standard input.

use std::path::{Path, PathBuf};

use sealward_client::{Envelope, Payload, Sealed, Target};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::Failure;
use super::key::invalid;
use super::service::{ScopeArguments, ServiceAccess, context, member, print, read, read_text};

#[derive(Debug, clap::Args)]
pub(super) struct Protect {
    #[command(flatten)]
    service: ServiceAccess,
    #[command(flatten)]
    scope: ScopeArguments,
    /// Protect the bytes of the input. Otherwise the input is one JSON value.
    #[arg(long)]
    raw: bool,
    /// The payload. `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct Unprotect {
    #[command(flatten)]
    service: ServiceAccess,
    #[command(flatten)]
    scope: ScopeArguments,
    /// Write the bytes that protect --raw protected. Otherwise the output is one JSON value.
    #[arg(long)]
    raw: bool,
    /// The envelope, or a complete response of the API. `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct Rewrap {
    #[command(flatten)]
    service: ServiceAccess,
    #[command(flatten)]
    scope: ScopeArguments,
    #[command(flatten)]
    target: TargetArguments,
    /// The envelope, or a complete response of the API. `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

/// The policy and the context of new envelopes.
#[derive(Debug, clap::Args)]
pub(super) struct TargetArguments {
    /// The number of the policy of the new envelope. Default: the same policy, with its newest key.
    #[arg(long, value_name = "NUMBER")]
    to_policy: Option<String>,
    /// A member of the context of the new envelope. Default: the same context.
    #[arg(long, value_name = "NAME=VALUE", value_parser = member)]
    to_context: Vec<(String, String)>,
}

impl TargetArguments {
    pub(super) fn target(&self) -> Target {
        let target = match &self.to_policy {
            Some(number) => Target::new().policy(number),
            None => Target::new(),
        };
        match context(&self.to_context) {
            Some(context) => target.context(context),
            None => target,
        }
    }
}

pub(super) async fn protect(arguments: &Protect) -> Result<(), Failure> {
    let client = arguments.service.client()?;
    let payload = match arguments.raw {
        true => Payload::bytes(&read(&arguments.input)?),
        false => Payload::raw(read_text(&arguments.input)?.trim())
            .map_err(|error| invalid(&arguments.input, error))?,
    };
    let made = client.protect(&payload, &arguments.scope.scope()).await?;
    print(format!("{}\n", made.envelope).as_bytes())
}

pub(super) async fn unprotect(arguments: &Unprotect) -> Result<(), Failure> {
    let client = arguments.service.client()?;
    let sealed = Input::read(&arguments.input)?;
    let opened = client.unprotect(sealed.as_sealed(), &arguments.scope.scope()).await?;
    if arguments.raw {
        let bytes = opened.payload.to_bytes().map_err(|_| {
            Failure::Other("the payload was not protected with --raw: it is no base64".to_owned())
        })?;
        return print(&bytes);
    }
    print(Zeroizing::new(format!("{}\n", opened.payload.text())).as_bytes())
}

pub(super) async fn rewrap(arguments: &Rewrap) -> Result<(), Failure> {
    let client = arguments.service.client()?;
    let sealed = Input::read(&arguments.input)?;
    let (scope, target) = (arguments.scope.scope(), arguments.target.target());
    let made = client.rewrap(sealed.as_sealed(), &scope, &target).await?;
    print(format!("{}\n", made.envelope).as_bytes())
}

/// An envelope in one of its forms.
enum Input {
    Envelope(Box<Envelope>),
    Legacy(String),
}

/// A response that contains an envelope.
#[derive(serde::Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    jwe: &'a RawValue,
}

impl Input {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text = read_text(path)?;
        let text = text.trim();
        if !text.starts_with('{') {
            return Ok(Self::Legacy(text.to_owned()));
        }
        let response: Option<Response<'_>> = serde_json::from_str(text).ok();
        let envelope = response.map_or(text, |response| response.jwe.get()).parse();
        envelope.map(|it| Self::Envelope(Box::new(it))).map_err(|error| invalid(path, error))
    }

    fn as_sealed(&self) -> Sealed<'_> {
        match self {
            Self::Envelope(envelope) => Sealed::Envelope(envelope),
            Self::Legacy(text) => Sealed::Legacy(text),
        }
    }
}
