//! What administrators decide about a service, from proposal to decision.

use std::num::NonZeroU32;

use utoipa::ToSchema;

use super::Service;
use crate::auth::{RateLimit, Tier};
use crate::management::{Draft, Error, Member, Proposal, Reader, check};
use crate::problem::{Code, Problem, Problems};

/// The members of a service that clients may set.
#[derive(Clone, Debug, Default, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Service)]
pub struct ServiceDraft {
    /// 1 to 100 characters, unique.
    #[schema(value_type = String, min_length = 1, max_length = 100)]
    pub name: Member<String>,
    /// Up to 1,000 characters.
    #[schema(value_type = Option<String>, max_length = 1000)]
    pub description: Member<Option<String>>,
    /// `standard`, `professional` or `enterprise`.
    #[schema(value_type = Tier, required = false)]
    pub tier: Member<String>,
    /// For `enterprise` only.
    #[schema(value_type = Option<RateLimitDraft>)]
    pub rate_limit: Member<Option<RateLimitDraft>>,
    /// Whether its public keys are published.
    #[schema(value_type = bool, required = false)]
    pub publish_keys: Member<bool>,
}

/// The members of a rate limit.
#[derive(Clone, Debug, Default, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewRateLimit)]
pub struct RateLimitDraft {
    /// At least 1.
    #[schema(value_type = i32, minimum = 1)]
    pub requests_per_second: Member<i64>,
    /// At least 1.
    #[schema(value_type = i32, minimum = 1)]
    pub burst: Member<i64>,
}

impl Draft for ServiceDraft {
    const MEMBERS: &'static [&'static str] =
        &["name", "description", "tier", "rateLimit", "publishKeys"];
    const READ_ONLY: &'static [&'static str] = &["id", "createdAt", "updatedAt"];
    const VOLATILE: &'static [&'static str] = &["updatedAt"];

    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            name: reader.string("name"),
            description: reader.nullable_string("description"),
            tier: reader.string("tier"),
            rate_limit: reader.nullable_object(
                "rateLimit",
                &["requestsPerSecond", "burst"],
                |reader| RateLimitDraft {
                    requests_per_second: reader.number("requestsPerSecond"),
                    burst: reader.number("burst"),
                },
            ),
            publish_keys: reader.boolean("publishKeys"),
        }
    }
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) tier: Tier,
    pub(super) rate_limit: RateLimit,
    pub(super) publish_keys: bool,
}

impl Terms {
    /// Those of a service of which nothing is decided. Its name has to be.
    fn blank() -> Self {
        Self {
            name: String::new(),
            description: None,
            tier: Tier::default(),
            rate_limit: Tier::default().rate_limit_with(None),
            publish_keys: false,
        }
    }
}

pub(super) fn of_new(proposal: Proposal<ServiceDraft>) -> Result<Terms, Error> {
    decide(None, proposal)
}

pub(super) fn of_changed(
    before: &Service,
    mut proposal: Proposal<ServiceDraft>,
) -> Result<Terms, Error> {
    proposal.check_read_only(before);
    decide(Some(before), proposal)
}

fn decide(before: Option<&Service>, proposal: Proposal<ServiceDraft>) -> Result<Terms, Error> {
    let mut terms = before.map_or_else(Terms::blank, Service::terms);
    let (mut problems, draft) = (proposal.problems, proposal.draft);
    let found = &mut problems;
    if before.is_none() {
        check::require(found, [("name", draft.name.is_absent())]);
    }
    check::set(found, &mut terms.name, draft.name, check::name);
    check::set(
        found,
        &mut terms.description,
        draft.description,
        check::description,
    );
    let mut tier = (!matches!(draft.tier, Member::Wrong)).then_some(terms.tier);
    check::set(found, &mut tier, draft.tier, |found, name| {
        Some(check::one_of(
            found,
            "tier",
            &name,
            &Tier::ALL.map(Tier::name),
        ))
    });
    let given = match draft.rate_limit {
        Member::Wrong => None,
        Member::Absent | Member::Given(None) => Some(None),
        Member::Given(Some(draft)) => limit(found, draft).map(Some),
    };
    // Which limit is right cannot be told where the tier is wrong.
    if let (Some(tier), Some(given)) = (tier, given) {
        terms.tier = tier;
        let limit = rate_limit(found, before, tier, given);
        terms.rate_limit = limit.unwrap_or(terms.rate_limit);
    }
    check::set(
        found,
        &mut terms.publish_keys,
        draft.publish_keys,
        |_, publish| Some(publish),
    );
    if problems.is_empty() {
        Ok(terms)
    } else {
        Err(problems.into())
    }
}

/// The tier sets the limit, save for the highest, which needs one of its own. A limit that merely
/// repeats what the service shows is no contradiction: that is what get, edit, put sends.
fn rate_limit(
    problems: &mut Problems,
    before: Option<&Service>,
    tier: Tier,
    given: Option<RateLimit>,
) -> Option<RateLimit> {
    const FIELD: &str = "rateLimit";
    let Some(of_tier) = tier.rate_limit() else {
        let limit = given.or(before.and_then(Service::agreed));
        if limit.is_none() {
            problems.note(Problem::new(
                FIELD,
                Code::Required,
                "the tier enterprise needs a rate limit",
            ));
        }
        return limit;
    };
    let shown = before.map(|service| service.rate_limit);
    if given.is_some() && given != Some(of_tier) && given != shown {
        problems.note(Problem::new(
            FIELD,
            Code::Conflict,
            "the tier sets the rate limit; only enterprise has one of its own",
        ));
        return None;
    }
    Some(of_tier)
}

fn limit(problems: &mut Problems, draft: RateLimitDraft) -> Option<RateLimit> {
    let mut number = |name: &str, member: Member<i64>| {
        let field = format!("rateLimit.{name}");
        check::require(problems, [(field.as_str(), member.is_absent())]);
        let Member::Given(number) = member else {
            return None;
        };
        let number = i32::try_from(number).ok();
        let number = number.and_then(|number| u32::try_from(number).ok());
        let positive = number.and_then(NonZeroU32::new);
        if positive.is_none() {
            let message = "this must be 1 to 2147483647";
            problems.note(Problem::new(field, Code::Range, message));
        }
        positive
    };
    let requests_per_second = number("requestsPerSecond", draft.requests_per_second);
    let burst = number("burst", draft.burst);
    Some(RateLimit {
        requests_per_second: requests_per_second?,
        burst: burst?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Text;

    fn problems_of(body: &str) -> Vec<(String, Code)> {
        let body = Text::parse(body.as_bytes()).unwrap();
        match of_new(Proposal::to_create(body)) {
            Ok(_) => Vec::new(),
            Err(Error::Invalid(problems)) => problems
                .into_vec()
                .into_iter()
                .map(|problem| (problem.field, problem.code))
                .collect(),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn everything_wrong_is_told_at_once() {
        let body = r#"{
            "name": "", "description": 5, "tier": "gold", "publishKeys": "yes", "colour": "red",
            "rateLimit": {"burst": 0, "speed": 1}
        }"#;
        let expected = [
            ("colour", Code::Unknown),
            ("description", Code::Type),
            ("rateLimit.speed", Code::Unknown),
            ("publishKeys", Code::Type),
            ("name", Code::Length),
            ("tier", Code::Unsupported),
            ("rateLimit.requestsPerSecond", Code::Required),
            ("rateLimit.burst", Code::Range),
        ];
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(field, code)| (field.to_owned(), code))
            .collect();
        assert_eq!(problems_of(body), expected);
    }

    #[test]
    fn only_enterprise_has_a_limit_of_its_own() {
        let with = |tier, limit| {
            problems_of(&format!(
                r#"{{"name": "n", "tier": "{tier}", "rateLimit": {limit}}}"#
            ))
        };
        let own = r#"{"requestsPerSecond": 7, "burst": 9}"#;
        let of_standard = r#"{"requestsPerSecond": 100, "burst": 200}"#;
        let found = |code| vec![("rateLimit".to_owned(), code)];
        assert_eq!(with("enterprise", own), []);
        assert_eq!(with("enterprise", "null"), found(Code::Required));
        assert_eq!(with("standard", own), found(Code::Conflict));
        assert_eq!(with("standard", of_standard), []);
        assert_eq!(with("professional", "null"), []);
    }
}
