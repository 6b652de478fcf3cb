//! The rule by which a workload identity matches credentials.

mod claims;
mod row;
mod schema;
mod token_rule;

use serde::{Deserialize, Serialize};

use self::claims::{Claims, Exact};
pub use self::token_rule::TokenRule;
use crate::fingerprint::Fingerprint;
use crate::request;
use crate::resource::{FieldInput, Member, RequestBody as _, Value, object};
use crate::spiffe::SpiffeId;
use formats::json::{Text, ValueKind};
use formats::problem::{Code, Problem, Problems};

request! {
    /// The credentials that match an identity: exactly one of `issuer`, `spiffeId` and
    /// `certificateSha256`. With an issuer, all conditions must hold, and at least a subject or a claim is
    /// required.
    pub(super) struct MatchRequest: NewIdentityMatch {
        /// The claim `iss` of the token.
        "Issuer" issuer: Option<Exact> = None;
        /// The claim `sub` of the token.
        "Subject" subject: Option<Exact> = None;
        /// Other claims of the token: an object in JSON with their expected values by their names. A name
        /// that begins with `/` is a JSON Pointer. An array claim matches if it contains the value.
        "Claims" claims: Option<Claims> = None;
        /// The SPIFFE ID in the client certificate. The certificate must have exactly one URI and lead to
        /// a CA of its trust domain in `auth.spiffe`.
        "SPIFFE ID" spiffe_id: Option<SpiffeId> = None;
        /// The SHA-256 of the client certificate. The certificate must chain to a CA in
        /// `http.tls.client_ca`.
        "Certificate SHA-256" certificate_sha256: Option<Fingerprint> = None;
    }
}

/// The credentials that match an identity. Comparison is exact and case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Match {
    /// Tokens of an issuer.
    Token(TokenRule),
    /// Certificates with this SPIFFE ID.
    #[serde(rename_all = "camelCase")]
    Spiffe {
        /// The SPIFFE ID in the client certificate.
        spiffe_id: SpiffeId,
    },
    /// This certificate.
    #[serde(rename_all = "camelCase")]
    Certificate {
        /// The SHA-256 of the client certificate.
        certificate_sha256: Fingerprint,
    },
}

impl Match {
    /// Whether each credential that matches also matches `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Token(rule), Self::Token(other)) => rule.is_within(other),
            (Self::Token(_) | Self::Spiffe { .. } | Self::Certificate { .. }, _) => self == other,
        }
    }

    /// Whether one credential can match both: only another subject, SPIFFE ID or certificate excludes it. A
    /// pinned certificate can have any SPIFFE ID.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Token(rule), Self::Token(other)) => rule.overlaps(other),
            (Self::Spiffe { .. }, Self::Certificate { .. })
            | (Self::Certificate { .. }, Self::Spiffe { .. }) => true,
            (Self::Token(_) | Self::Spiffe { .. } | Self::Certificate { .. }, _) => self == other,
        }
    }
}

impl Value for Match {
    const INPUT: FieldInput = FieldInput::Object(MatchRequest::FIELDS);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        let mut found = Problems::default();
        let read =
            object(text, field, problems, |request: MatchRequest| of_request(request, &mut found));
        if text.kind() == ValueKind::Object {
            problems.note_inside(field, found);
        }
        read
    }
}

/// The one form that the members have. A member that is wrong is already noted.
fn of_request(request: MatchRequest, problems: &mut Problems) -> Option<Match> {
    let MatchRequest { issuer, subject, claims, spiffe_id, certificate_sha256 } = request;
    let forms = [
        ("issuer", is_stated(&issuer)),
        ("spiffeId", is_stated(&spiffe_id)),
        ("certificateSha256", is_stated(&certificate_sha256)),
    ];
    let mut stated = forms.into_iter().filter(|(_, is_stated)| *is_stated);
    let Some((form, _)) = stated.next() else {
        let message = "must be given, unless spiffeId or certificateSha256 is";
        problems.note(Problem::new("issuer", Code::Required, message));
        return None;
    };
    let conditions = [("subject", is_stated(&subject)), ("claims", is_stated(&claims))];
    let conditions = conditions.into_iter().filter(|(_, is_stated)| *is_stated && form != "issuer");
    for (other, _) in stated.chain(conditions) {
        let message = format!("must be left out where {form} is given");
        problems.note(Problem::new(other, Code::Conflict, message));
    }
    if form == "issuer" && !is_stated(&subject) && !is_stated(&claims) {
        let message = "must be given, unless claims are";
        problems.note(Problem::new("subject", Code::Required, message));
    }
    if !problems.is_empty() {
        return None;
    }
    match (issuer, spiffe_id, certificate_sha256) {
        (Member::Given(Some(issuer)), _, _) => Some(Match::Token(TokenRule {
            issuer,
            subject: subject.or_keep(&None),
            claims: claims.or_keep(&None),
        })),
        (_, Member::Given(Some(spiffe_id)), _) => Some(Match::Spiffe { spiffe_id }),
        (_, _, Member::Given(Some(certificate_sha256))) => {
            Some(Match::Certificate { certificate_sha256 })
        }
        (_, _, _) => None,
    }
}

/// Whether a request has the member, right or wrong. `null` is the same as leaving it out.
fn is_stated<T>(member: &Member<Option<T>>) -> bool {
    match member {
        Member::Absent | Member::Given(None) => false,
        Member::Wrong | Member::Given(Some(_)) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINGERPRINT: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";

    fn problems(json: &str) -> Vec<(String, Code)> {
        let mut problems = Problems::default();
        let text = Text::parse(json.as_bytes()).unwrap();
        let read = Match::read(text, "match", &mut problems);
        assert_eq!(read.given().is_some(), problems.is_empty(), "{json}");
        let problems = problems.into_vec().into_iter();
        problems.map(|one| (one.field, one.code)).collect()
    }

    #[test]
    fn a_rule_has_one_form() {
        let pinned = format!(r#"{{"certificateSha256":"{FINGERPRINT}"}}"#);
        for good in [
            r#"{"issuer":"https://a","subject":"b"}"#,
            r#"{"issuer":"https://a","claims":{"/a~1b/c":"d","e":7,"f":true}}"#,
            r#"{"issuer":"https://a","subject":"b","claims":null,"spiffeId":null}"#,
            r#"{"spiffeId":"spiffe://example.org/billing"}"#,
            r#"{"spiffeId":"spiffe://example.org/billing","subject":null}"#,
            &pinned,
        ] {
            assert_eq!(problems(good), [], "{good}");
        }
        let both = format!(
            r#"{{"issuer":"a","subject":"b","spiffeId":"spiffe://a/b","certificateSha256":"{FINGERPRINT}"}}"#
        );
        assert_eq!(
            problems(&both),
            [
                ("match.spiffeId".to_owned(), Code::Conflict),
                ("match.certificateSha256".to_owned(), Code::Conflict)
            ]
        );
        for (wrong, field, code) in [
            ("7", "match", Code::Type),
            ("{}", "match.issuer", Code::Required),
            (r#"{"subject":"b"}"#, "match.issuer", Code::Required),
            (r#"{"issuer":null}"#, "match.issuer", Code::Required),
            (r#"{"issuer":"a"}"#, "match.subject", Code::Required),
            (r#"{"issuer":"a","subject":null}"#, "match.subject", Code::Required),
            (r#"{"issuer":"","subject":"b"}"#, "match.issuer", Code::Length),
            (r#"{"issuer":"a","subject":7}"#, "match.subject", Code::Type),
            (r#"{"issuer":"a","subject":"b","sub":"c"}"#, "match.sub", Code::Unknown),
            (r#"{"spiffeId":"spiffe://a/b","subject":"c"}"#, "match.subject", Code::Conflict),
            (r#"{"spiffeId":"spiffe://a/b","claims":{"c":1}}"#, "match.claims", Code::Conflict),
            (r#"{"spiffeId":"spiffe://a"}"#, "match.spiffeId", Code::Format),
            (r#"{"certificateSha256":"ab"}"#, "match.certificateSha256", Code::Format),
        ] {
            assert_eq!(problems(wrong), [(field.to_owned(), code)], "{wrong}");
        }
    }

    #[test]
    fn claims_are_checked() {
        let wrong = |claims: &str| problems(&format!(r#"{{"issuer":"a","claims":{claims}}}"#));
        for (claims, field, code) in [
            ("{}", "match.claims", Code::Length),
            ("[]", "match.claims", Code::Type),
            (r#"{"b":null}"#, "match.claims.b", Code::Type),
            (r#"{"b":["c"]}"#, "match.claims.b", Code::Type),
            (r#"{"b":""}"#, "match.claims.b", Code::Length),
            (r#"{"/b~":"c"}"#, "match.claims./b~", Code::Format),
            (r#"{"b":1,"b":2}"#, "match.claims.b", Code::Conflict),
            (r#"{"b":1.5}"#, "match.claims.b", Code::Range),
            (r#"{"b":1e3}"#, "match.claims.b", Code::Range),
            (r#"{"b":9007199254740992}"#, "match.claims.b", Code::Range),
        ] {
            assert_eq!(wrong(claims), [(field.to_owned(), code)], "{claims}");
        }
        assert_eq!(wrong(r#"{"b":9007199254740991,"c":-9007199254740991}"#), []);
    }

    #[test]
    fn a_rule_is_within_another_of_its_form() {
        let rule = |json: &str| serde_json::from_str::<Match>(json).unwrap();
        let spiffe = rule(r#"{"spiffeId":"spiffe://a/b"}"#);
        let other = rule(r#"{"spiffeId":"spiffe://a/c"}"#);
        let pinned = rule(&format!(r#"{{"certificateSha256":"{FINGERPRINT}"}}"#));
        let token = rule(r#"{"issuer":"spiffe://a/b","subject":"b"}"#);
        for one in [&spiffe, &other, &pinned, &token] {
            for two in [&spiffe, &other, &pinned, &token] {
                assert_eq!(one.is_within(two), one == two, "{one:?} {two:?}");
            }
        }
    }

    #[test]
    fn rules_overlap_unless_they_name_different_subjects_or_certificates() {
        let rule = |json: &str| serde_json::from_str::<Match>(json).unwrap();
        let token = |members: &str| rule(&format!(r#"{{"issuer":"a",{members}}}"#));
        let pinned = |digits: &str| {
            let digits = FINGERPRINT.replace("0f1e", digits);
            rule(&format!(r#"{{"certificateSha256":"{digits}"}}"#))
        };
        let spiffe = |name: &str| rule(&format!(r#"{{"spiffeId":"spiffe://{name}"}}"#));
        let table = [
            (token(r#""subject":"b""#), token(r#""subject":"b""#), true),
            (token(r#""subject":"b""#), token(r#""subject":"c""#), false),
            (token(r#""subject":"b""#), token(r#""claims":{"d":1}"#), true),
            (token(r#""subject":"b","claims":{"d":1}"#), token(r#""subject":"b""#), true),
            (token(r#""claims":{"d":1}"#), token(r#""claims":{"d":1,"e":2}"#), true),
            (token(r#""claims":{"d":1}"#), token(r#""claims":{"e":2}"#), true),
            // The claim of a token can be an array with both values.
            (token(r#""claims":{"d":1,"e":2}"#), token(r#""claims":{"d":1,"e":3}"#), true),
            (
                token(r#""subject":"b","claims":{"d":1}"#),
                token(r#""subject":"b","claims":{"d":2}"#),
                true,
            ),
            (
                token(r#""subject":"b","claims":{"d":1}"#),
                token(r#""subject":"c","claims":{"d":1}"#),
                false,
            ),
            (token(r#""subject":"b""#), rule(r#"{"issuer":"b","subject":"b"}"#), false),
            (token(r#""subject":"b""#), spiffe("a/b"), false),
            (token(r#""subject":"b""#), pinned("0f1e"), false),
            (spiffe("a/b"), spiffe("a/b"), true),
            (spiffe("a/b"), spiffe("a/c"), false),
            (spiffe("a/b"), spiffe("b/b"), false),
            (spiffe("a/b"), pinned("0f1e"), true),
            (pinned("0f1e"), pinned("0f1e"), true),
            (pinned("0f1e"), pinned("0f1f"), false),
        ];
        for (one, two, expected) in table {
            assert_eq!(one.overlaps(&two), expected, "{one:?} {two:?}");
            assert_eq!(two.overlaps(&one), expected, "{two:?} {one:?}");
        }
    }
}
