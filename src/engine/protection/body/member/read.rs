//! How members are read.

use std::borrow::Cow;
use std::marker::PhantomData;

use utoipa::ToSchema;

use super::{Base64, ReadMember, Reference};
use crate::closed_set::ClosedSet;
use formats::binary::{bytes_to_judge, from_base64};
use formats::envelope::{Context, Envelope};
use formats::json::{Members, Text};
use formats::problem::{Code, Problem};

impl<'a, T: ReadMember<'a>> ReadMember<'a> for Option<T> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        match members.optional(name) {
            None => Some(None),
            Some(_) => T::read(members, name).map(Some),
        }
    }
}

impl<'a> ReadMember<'a> for Text<'a> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        members.required(name)
    }
}

impl<'a> ReadMember<'a> for Cow<'a, str> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        members.required_string(name)
    }
}

impl<'a, T: ToSchema> ReadMember<'a> for Reference<'a, T> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let name = members.required_string(name)?;
        Some(Self(name, PhantomData))
    }
}

impl<'a, T: ClosedSet + ToSchema> ReadMember<'a> for T {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        members.one_of(name)
    }
}

impl<'a> ReadMember<'a> for bool {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        match members.required(name)?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                members.note(Problem::new(name, Code::Type, "must be true or false"));
                None
            }
        }
    }
}

impl<'a> ReadMember<'a> for Base64<Vec<u8>> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let text = members.required_string(name)?;
        let bytes = bytes_to_judge(from_base64(&text));
        if bytes.is_err() {
            members.note(Problem::new(name, Code::Format, "must be base64"));
        }
        bytes.ok().map(Self)
    }
}

impl<'a> ReadMember<'a> for Envelope {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let text = members.required(name)?;
        let envelope = Self::parse(text);
        envelope.map_err(|problems| members.note_inside(name, problems)).ok()
    }
}

impl<'a> ReadMember<'a> for Context {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let text = members.required(name)?;
        let context = Self::parse(text);
        context.map_err(|problems| members.note_inside(name, problems)).ok()
    }
}
