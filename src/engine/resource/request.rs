//! The body of a request that creates or changes a resource.
//!
//! Reading checks each member separately. The module of the resource checks rules that depend on other
//! members, on the current resource or on the database.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::openapi::{RefOr, Schema};
use zeroize::Zeroizing;

use super::{Field, Member, Value};
use formats::clock::Timestamp;
use formats::json::{Members, Text, ValueKind};
use formats::problem::{Code, Problem, Problems};

const NOT_NULL: &str = "must not be null";

/// The members of a resource that requests can set.
pub trait RequestBody: Sized {
    /// The members that requests can set.
    const FIELDS: &'static [Field];
    /// The other members of the resource. A request that changes it may state them unchanged.
    const READ_ONLY: &'static [&'static str] = &[];
    /// Further members, which change by themselves. A request may state any value.
    const VOLATILE: &'static [&'static str] = &[];

    /// Reads the members that are there.
    fn read(reader: &mut Reader<'_>) -> Self;
}

/// The request that changes a resource.
pub trait ChangeBody: RequestBody {
    /// The resource.
    type Resource;
}

/// A request as it was sent, and the problems found so far.
#[derive(Debug)]
pub struct ResourceRequest<B> {
    /// The members that could be read.
    pub body: B,
    pub problems: Problems,
    /// Read-only members, which must be those of the resource.
    stated: Vec<(&'static str, Json)>,
    nulls: Nulls,
    reading: Reading,
    /// The body, unless the service itself made the request.
    sent: Option<KeptBody>,
}

/// The bytes of a body, which wipe themselves.
struct KeptBody(Box<dyn AsRef<[u8]> + Send + Sync>);

/// The body of a request, to be read again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentBody {
    reading: Reading,
    text: String,
}

/// How a body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reading {
    Create,
    Update,
    Patch,
    Restore,
}

/// The meaning of `null` for a member that is not nullable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nulls {
    /// The same as leaving it out.
    Absent,
    /// A wrong type: JSON Merge Patch removes the member, and it cannot be removed.
    Wrong,
}

/// Reads the members of an object.
#[derive(Debug)]
pub struct Reader<'a> {
    members: Members<'a>,
    problems: Problems,
    nulls: Nulls,
}

impl<B: RequestBody> ResourceRequest<B> {
    /// Reads the body of a request that creates a resource.
    pub fn to_create(body: Text<'_>) -> Self {
        Self::read(body, Reading::Create)
    }

    /// Reads the body of a request that changes a resource.
    pub fn to_update(body: Text<'_>) -> Self {
        Self::read(body, Reading::Update)
    }

    /// Reads a JSON Merge Patch (RFC 7396) that changes a resource.
    pub fn to_patch(body: Text<'_>) -> Self {
        Self::read(body, Reading::Patch)
    }

    /// Reads the changes of a deleted resource that is restored: a JSON Merge Patch of the members that
    /// requests can set.
    pub fn to_restore(body: Text<'_>) -> Self {
        Self::read(body, Reading::Restore)
    }

    /// Reads a body again.
    pub(crate) fn of_sent(sent: &SentBody) -> Result<Self, Problem> {
        let text = Text::parse(sent.text.as_bytes())
            .map_err(|error| Problem::of_body(Code::Format, error.to_string()))?;
        Ok(Self::read(text, sent.reading).keep(sent.text.clone()))
    }

    /// Keeps the body from which this was read, so that it can be read again. Its bytes must wipe themselves
    /// if they can contain secrets.
    pub fn keep(self, body: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self { sent: Some(KeptBody(Box::new(body))), ..self }
    }

    /// The body, to be read again. It can contain secrets.
    pub fn sent(&self) -> Option<SentBody> {
        let KeptBody(body) = self.sent.as_ref()?;
        let text = str::from_utf8((**body).as_ref()).ok()?;
        Some(SentBody { reading: self.reading, text: text.to_owned() })
    }

    /// Reads a body that the service itself has made, such as of a form.
    pub fn of_json(body: &Json, read: impl FnOnce(Text<'_>) -> Self) -> Result<Self, Problem> {
        let body = Zeroizing::new(body.to_string());
        let text = Text::parse(body.as_bytes())
            .map_err(|error| Problem::of_body(Code::Format, error.to_string()))?;
        Ok(read(text).keep(body))
    }

    fn read(body: Text<'_>, reading: Reading) -> Self {
        let (read_only, nulls) = match reading {
            Reading::Create => (&[][..], Nulls::Absent),
            Reading::Update => (B::READ_ONLY, Nulls::Absent),
            Reading::Patch => (B::READ_ONLY, Nulls::Wrong),
            Reading::Restore => (&[][..], Nulls::Wrong),
        };
        let settable = B::FIELDS.iter().map(|field| field.name);
        let volatile: &[&str] = if read_only.is_empty() { &[] } else { B::VOLATILE };
        let names: Vec<&str> =
            settable.chain(read_only.iter().copied()).chain(volatile.iter().copied()).collect();
        let mut reader = Reader::of(body, &names, nulls);
        let request = B::read(&mut reader);
        let stated = read_only.iter().filter_map(|name| {
            let text = reader.members.get(name)?.as_str();
            Some((*name, serde_json::from_str(text).ok()?))
        });
        Self {
            body: request,
            stated: stated.collect(),
            problems: reader.finish(),
            nulls,
            reading,
            sent: None,
        }
    }

    /// Checks that the read-only members that the request states are those of `resource`.
    pub(crate) fn check_read_only(&mut self, resource: &impl Serialize) {
        let Ok(resource) = serde_json::to_value(resource) else {
            return;
        };
        for (name, stated) in self.stated.drain(..) {
            if resource.get(name).is_some_and(|kept| is_same(kept, &stated)) {
                continue;
            }
            let problem = match (stated, self.nulls) {
                (Json::Null, Nulls::Absent) => continue,
                (Json::Null, Nulls::Wrong) => Problem::new(name, Code::Type, NOT_NULL),
                _ => Problem::new(name, Code::Conflict, "cannot be changed"),
            };
            self.problems.note(problem);
        }
    }
}

/// Whether two values are equal. Clients write the same time in different ways.
fn is_same(kept: &Json, stated: &Json) -> bool {
    let time = |value: &Json| value.as_str()?.parse::<Timestamp>().ok();
    kept == stated || time(kept).is_some_and(|kept| time(stated) == Some(kept))
}

impl<B> From<B> for ResourceRequest<B> {
    fn from(body: B) -> Self {
        Self {
            body,
            problems: Problems::default(),
            stated: Vec::new(),
            nulls: Nulls::Absent,
            reading: Reading::Create,
            sent: None,
        }
    }
}

impl fmt::Debug for KeptBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl SentBody {
    /// The body in JSON.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same body with another member. None if it is not an object.
    pub fn with(&self, name: &str, member: serde_json::Value) -> Option<Self> {
        let mut body: serde_json::Map<_, _> = serde_json::from_str(&self.text).ok()?;
        body.insert(name.to_owned(), member);
        Some(Self { reading: self.reading, text: serde_json::to_string(&body).ok()? })
    }
}

impl<'a> Reader<'a> {
    fn of(text: Text<'a>, names: &[&str], nulls: Nulls) -> Self {
        Self { members: Members::exactly(text, names), problems: Problems::default(), nulls }
    }

    /// Reads a member.
    pub fn member<T: Value>(&mut self, name: &str) -> Member<T> {
        match self.members.get(name) {
            None => Member::Absent,
            Some(text) if T::NULLABLE || text.kind() != ValueKind::Null => {
                T::read(text, name, &mut self.problems)
            }
            Some(_) if self.nulls == Nulls::Absent => Member::Absent,
            Some(_) => {
                self.problems.note(Problem::new(name, Code::Type, NOT_NULL));
                Member::Wrong
            }
        }
    }

    fn finish(self) -> Problems {
        let mut problems = self.members.finish(|| Some(())).err().unwrap_or_default();
        for problem in self.problems.into_vec() {
            problems.note(problem);
        }
        problems
    }
}

/// Reads an object that is itself a member of a request. Its required members must be there; `build`
/// makes the value.
pub fn object<B: RequestBody, T>(
    text: Text<'_>,
    field: &str,
    problems: &mut Problems,
    build: impl FnOnce(B) -> Option<T>,
) -> Member<T> {
    let names: Vec<&str> = B::FIELDS.iter().map(|field| field.name).collect();
    let mut reader = Reader::of(text, &names, Nulls::Absent);
    let body = B::read(&mut reader);
    for field in B::FIELDS.iter().filter(|field| field.required) {
        if reader.members.optional(field.name).is_none() {
            reader.members.note(Problem::required(field.name));
        }
    }
    let found = reader.finish();
    let is_right = found.is_empty();
    problems.note_inside(field, found);
    let value = build(body);
    value.filter(|_| is_right).map_or(Member::Wrong, Member::Given)
}

/// The schema of a request, in which the members are required that the declaration requires.
pub(crate) fn with_required<B: RequestBody>(schema: RefOr<Schema>) -> RefOr<Schema> {
    let RefOr::T(Schema::Object(mut object)) = schema else {
        return schema;
    };
    let required = B::FIELDS.iter().filter(|field| field.required);
    object.required = required.map(|field| field.name.to_owned()).collect();
    RefOr::T(Schema::Object(object))
}
