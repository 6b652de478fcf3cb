//! Changes of keys, which are those of the management API with its roles and approvals.

use serde_json::{Value, json};

use super::{Answer, view, visible};
use crate::body::{Fields, unquoted};
use crate::errors::Refused;
use crate::key_type;
use crate::route::{Route, Verb};
use crate::state::Transit;
use engine::ids::ServiceId;
use engine::keys::{KeyVersion, Usage};
use engine::management::keys::{self, KeyRules};
use engine::management::{Context, Error, ManageKeys};
use engine::resource::ResourceRequest;
use formats::json::Text;
use formats::material::Algorithm;
use formats::problem::Problems;

/// What clients ask for and keys here never have.
const NEVER: [&str; 4] =
    ["derived", "convergent_encryption", "exportable", "allow_plaintext_backup"];

/// Changes a key of a service.
pub(super) async fn change(
    state: &Transit,
    context: &Context,
    service: ServiceId,
    (route, verb): (Route<'_>, Verb),
    body: Text<'_>,
) -> Result<Answer, Refused> {
    let (Route::Key(name) | Route::Config(name) | Route::Rotate(name) | Route::Import(name)) =
        route
    else {
        return Err(Refused::internal());
    };
    let name = visible(name)?;
    match (route, verb) {
        (Route::Rotate(_), _) => rotate(state, context, service, name).await,
        (Route::Import(_), _) => {
            context.authorize::<ManageKeys>()?;
            Err(Refused::not_found("unsupported path"))
        }
        (Route::Config(_), _) => configure(state, context, service, name, body).await,
        (_, Verb::Delete) => {
            context.authorize::<ManageKeys>()?;
            Err(Refused::invalid("delete the versions at /admin/keys"))
        }
        _ => create(state, context, service, name, body).await,
    }
}

/// Creates a key, unless there is one with the name.
async fn create(
    state: &Transit,
    context: &Context,
    service: ServiceId,
    name: &str,
    body: Text<'_>,
) -> Result<Answer, Refused> {
    context.authorize::<ManageKeys>()?;
    let names = [&NEVER[..], &["type", "key_size", "auto_rotate_period"]].concat();
    let fields = Fields::of(body, &names)?;
    for wish in NEVER {
        if fields.boolean(wish)?.unwrap_or_default() {
            return Err(Refused::invalid(format!(
                "{wish} is not supported: keys stay in the token"
            )));
        }
    }
    let named = fields.filled("type")?;
    let named = named.as_deref().unwrap_or("aes256-gcm96");
    let kind = key_type::algorithm(named);
    let (algorithm, usage) = kind.ok_or_else(|| unknown_type(named))?;
    if !matches!(fields.number("key_size")?, None | Some(0 | 32)) {
        return Err(Refused::invalid("key_size must be 32"));
    }
    let rotation = rotation_days(&fields)?;
    if view::versions(state, service, name).await?.is_none() {
        let first = view::next_version(state, service, name).await?;
        let kind = (algorithm, usage);
        match make(state, context, (service, name), kind, Some(first), rotation).await {
            // Another request has made it.
            Err(Error::Conflict(_)) if view::versions(state, service, name).await?.is_some() => {}
            Err(Error::Invalid(problems)) if is_of_algorithm(&problems) => {
                return Err(unknown_type(named));
            }
            made => made?,
        }
    }
    Ok(Answer::Data(view::key(state, service, name).await?))
}

fn unknown_type(named: &str) -> Refused {
    Refused::invalid(format!("unknown key type {}", unquoted(named)))
}

/// Whether the token generates no keys of this algorithm.
fn is_of_algorithm(problems: &Problems) -> bool {
    problems.as_slice().iter().any(|problem| problem.field == "algorithm")
}

/// Makes the next version of a key. A schedule stays with the version that has it, whose successor is the next
/// version of the name too: one name has one schedule.
async fn rotate(
    state: &Transit,
    context: &Context,
    service: ServiceId,
    name: &str,
) -> Result<Answer, Refused> {
    context.authorize::<ManageKeys>()?;
    let versions = view::versions(state, service, name).await?;
    let versions = versions.ok_or_else(|| Refused::invalid("key not found"))?;
    let newest = versions.keys().next().ok_or_else(Refused::missing)?;
    let kind = (newest.algorithm, newest.usage);
    make(state, context, (service, name), kind, None, None).await?;
    Ok(Answer::Data(view::key(state, service, name).await?))
}

async fn make(
    state: &Transit,
    context: &Context,
    (service, name): (ServiceId, &str),
    (algorithm, usage): (Algorithm, Usage),
    version: Option<KeyVersion>,
    rotation_days: Option<i64>,
) -> Result<(), Error> {
    let request = json!({
        "serviceId": service,
        "name": name,
        "use": usage,
        "algorithm": algorithm,
        "generate": true,
        "rotationDays": rotation_days,
    });
    let request = ResourceRequest::of_json(&request, ResourceRequest::to_create)?;
    let context = context.authorize::<ManageKeys>()?;
    let rules = KeyRules::of(&state.engine.settings);
    let made = match version {
        Some(version) => {
            keys::create_version(&context, &state.vault, rules, request, version).await
        }
        None => keys::create(&context, &state.vault, rules, request).await,
    };
    made.map(|_| ())
}

/// Accepts what a key already has, and changes nothing.
async fn configure(
    state: &Transit,
    context: &Context,
    service: ServiceId,
    name: &str,
    body: Text<'_>,
) -> Result<Answer, Refused> {
    context.authorize::<ManageKeys>()?;
    let now = view::key(state, service, name).await?;
    let numbers = ["min_decryption_version", "min_encryption_version"];
    let booleans = ["deletion_allowed", "exportable", "allow_plaintext_backup"];
    let names = [&numbers[..], &booleans, &["auto_rotate_period"]].concat();
    let fields = Fields::of(body, &names)?;
    let differs = |name: &str, wish: Option<Value>| {
        wish.filter(|wish| now.get(name) != Some(wish)).map(|_| {
            Refused::invalid(format!(
                "{name} cannot be changed here: change the key at /admin/keys"
            ))
        })
    };
    for name in numbers {
        let wish = fields.number(name)?.map(|number| json!(number));
        differs(name, wish).map_or(Ok(()), Err)?;
    }
    for name in booleans {
        let wish = fields.boolean(name)?.map(|truth| json!(truth));
        differs(name, wish).map_or(Ok(()), Err)?;
    }
    let wish = period(&fields)?.map(|seconds| json!(seconds));
    differs("auto_rotate_period", wish).map_or(Ok(()), Err)?;
    Ok(Answer::Nothing)
}

/// The period of rotations in days.
fn rotation_days(fields: &Fields<'_>) -> Result<Option<i64>, Refused> {
    const DAY: i64 = 86_400;
    match period(fields)? {
        None | Some(0) => Ok(None),
        Some(seconds) if seconds > 0 && seconds % DAY == 0 => Ok(Some(seconds / DAY)),
        Some(_) => Err(Refused::invalid("auto_rotate_period must be whole days")),
    }
}

/// The period of rotations in seconds: a number, or numbers with units, such as `720h0m0s`.
fn period(fields: &Fields<'_>) -> Result<Option<i64>, Refused> {
    let Some(text) = fields.scalar("auto_rotate_period")? else { return Ok(None) };
    let seconds = text.parse().ok().or_else(|| in_units(&text));
    match seconds {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(Refused::invalid("auto_rotate_period is not a duration")),
    }
}

fn in_units(text: &str) -> Option<i64> {
    text.split_inclusive(|letter: char| letter.is_ascii_alphabetic()).try_fold(
        0_i64,
        |sum, part| {
            let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
            let seconds = match unit {
                "s" => 1,
                "m" => 60,
                "h" => 3_600,
                "d" => 86_400,
                _ => return None,
            };
            sum.checked_add(number.parse::<u32>().map(i64::from).ok()?.checked_mul(seconds)?)
        },
    )
}
