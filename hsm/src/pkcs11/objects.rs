//! Calls that create, find, read, change and destroy objects.

use std::ptr;

use cryptoki::context::Function;
use cryptoki::error::RvError;
use cryptoki::object::{Attribute, AttributeType};
use cryptoki_sys::{
    CK_ATTRIBUTE, CK_OBJECT_HANDLE, CK_RV, CK_ULONG, CK_UNAVAILABLE_INFORMATION, CKR_OK,
};

use super::functions::function;
use super::session::{RawSession, length_of};
use super::shape;
use crate::HsmError;

/// The number of an object. It is valid during a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectHandle(pub(super) CK_OBJECT_HANDLE);

/// How many handles one call returns.
const BATCH: usize = 32;

/// The attributes of a call. They point into those from which they are made, and are only read.
pub(super) fn pointers(template: &[Attribute]) -> Vec<CK_ATTRIBUTE> {
    template.iter().map(Into::into).collect()
}

impl RawSession {
    pub(crate) fn create_object(&self, template: &[Attribute]) -> Result<ObjectHandle, HsmError> {
        let create = function!(self.functions, C_CreateObject, CreateObject)?;
        let (mut pointers, mut object) = (pointers(template), 0);
        let length = length_of(&pointers)?;
        let began = self.functions.begin();
        // SAFETY: the template has this length and outlives the call; the last argument has room.
        let code = unsafe { create(self.handle, pointers.as_mut_ptr(), length, &raw mut object) };
        self.functions.end(began, Function::CreateObject, code, || {
            format!("session={} {} -> object={object}", self.handle, shape::template(template))
        })?;
        Ok(ObjectHandle(object))
    }

    pub(crate) fn copy_object(
        &self,
        object: ObjectHandle,
        template: &[Attribute],
    ) -> Result<ObjectHandle, HsmError> {
        let copy = function!(self.functions, C_CopyObject, CopyObject)?;
        let (mut pointers, mut made) = (pointers(template), 0);
        let length = length_of(&pointers)?;
        let began = self.functions.begin();
        // SAFETY: as in `create_object`.
        let code =
            unsafe { copy(self.handle, object.0, pointers.as_mut_ptr(), length, &raw mut made) };
        self.functions.end(began, Function::CopyObject, code, || {
            let changes = shape::template(template);
            format!("session={} object={} {changes} -> object={made}", self.handle, object.0)
        })?;
        Ok(ObjectHandle(made))
    }

    pub(crate) fn destroy_object(&self, object: ObjectHandle) -> Result<(), HsmError> {
        let destroy = function!(self.functions, C_DestroyObject, DestroyObject)?;
        let began = self.functions.begin();
        // SAFETY: it takes any numbers.
        let code = unsafe { destroy(self.handle, object.0) };
        self.functions.end(began, Function::DestroyObject, code, || {
            format!("session={} object={}", self.handle, object.0)
        })
    }

    pub(crate) fn set_attributes(
        &self,
        object: ObjectHandle,
        template: &[Attribute],
    ) -> Result<(), HsmError> {
        let set = function!(self.functions, C_SetAttributeValue, SetAttributeValue)?;
        let mut pointers = pointers(template);
        let length = length_of(&pointers)?;
        let began = self.functions.begin();
        // SAFETY: the template has this length and outlives the call.
        let code = unsafe { set(self.handle, object.0, pointers.as_mut_ptr(), length) };
        self.functions.end(began, Function::SetAttributeValue, code, || {
            format!("session={} object={} {}", self.handle, object.0, shape::template(template))
        })
    }

    /// The objects with these attributes.
    pub(crate) fn find_objects(
        &self,
        template: &[Attribute],
    ) -> Result<Vec<ObjectHandle>, HsmError> {
        let begin = function!(self.functions, C_FindObjectsInit, FindObjectsInit)?;
        let next = function!(self.functions, C_FindObjects, FindObjects)?;
        let end = function!(self.functions, C_FindObjectsFinal, FindObjectsFinal)?;
        let mut pointers = pointers(template);
        let length = length_of(&pointers)?;
        let began = self.functions.begin();
        // SAFETY: the template has this length and outlives the call.
        let code = unsafe { begin(self.handle, pointers.as_mut_ptr(), length) };
        self.functions.end(began, Function::FindObjectsInit, code, || {
            format!("session={} {}", self.handle, shape::template(template))
        })?;

        let mut batch = [0; BATCH];
        let room = length_of(&batch)?;
        let mut found = Vec::new();
        let searched = loop {
            let mut count = 0;
            let began = self.functions.begin();
            // SAFETY: the batch has room for `room` numbers.
            let code = unsafe { next(self.handle, batch.as_mut_ptr(), room, &raw mut count) };
            let shape = || format!("session={} room={room} -> count={count}", self.handle);
            if let Err(error) = self.functions.end(began, Function::FindObjects, code, shape) {
                break Err(error);
            }
            let count = usize::try_from(count).unwrap_or(BATCH);
            found.extend(batch.iter().take(count).map(|object| ObjectHandle(*object)));
            if count == 0 {
                break Ok(());
            }
        };
        let began = self.functions.begin();
        // SAFETY: it takes any number.
        let code = unsafe { end(self.handle) };
        let shape = || format!("session={}", self.handle);
        let ended = self.functions.end(began, Function::FindObjectsFinal, code, shape);
        searched.and(ended).map(|()| found)
    }

    /// The attributes that the object has, of those that are asked for. A value that its type does not allow
    /// counts as missing.
    pub(crate) fn attributes(
        &self,
        object: ObjectHandle,
        wanted: &[AttributeType],
    ) -> Result<Vec<Attribute>, HsmError> {
        // Values of a known length are read at once, others after their length is known.
        let mut values: Vec<Vec<u8>> =
            wanted.iter().map(|kind| vec![0; kind.fixed_size().unwrap_or(0)]).collect();
        let mut first: Vec<CK_ATTRIBUTE> = (wanted.iter().zip(&mut values))
            .map(|(kind, value)| CK_ATTRIBUTE {
                type_: (*kind).into(),
                pValue: match value.as_mut_slice() {
                    [] => ptr::null_mut(),
                    bytes => bytes.as_mut_ptr().cast(),
                },
                ulValueLen: CK_ULONG::try_from(value.len()).unwrap_or_default(),
            })
            .collect();
        self.read(object, &mut first)?;
        let mut second = Vec::new();
        for (one, value) in first.iter().zip(&mut values) {
            if one.pValue.is_null() && one.ulValueLen != CK_UNAVAILABLE_INFORMATION {
                value.resize(usize::try_from(one.ulValueLen).unwrap_or_default(), 0);
                second.push(CK_ATTRIBUTE { pValue: value.as_mut_ptr().cast(), ..*one });
            }
        }
        if !second.is_empty() {
            self.read(object, &mut second)?;
        }
        let mut later = second.into_iter();
        let all = first.into_iter().filter_map(|one| match one.pValue.is_null() {
            true if one.ulValueLen == CK_UNAVAILABLE_INFORMATION => None,
            true => later.next(),
            false => Some(one),
        });
        Ok(all.filter_map(|one| converted(&one)).collect())
    }

    /// One call that reads attributes. Missing and secret ones are marked as unavailable.
    fn read(&self, object: ObjectHandle, template: &mut [CK_ATTRIBUTE]) -> Result<(), HsmError> {
        let get = function!(self.functions, C_GetAttributeValue, GetAttributeValue)?;
        let length = length_of(template)?;
        let rooms: Vec<_> = template.iter().map(|one| one.ulValueLen).collect();
        let began = self.functions.begin();
        // SAFETY: each attribute points to its room, or asks for its length.
        let code: CK_RV = unsafe { get(self.handle, object.0, template.as_mut_ptr(), length) };
        // A value that is longer than its room was not read.
        for (one, room) in template.iter_mut().zip(rooms) {
            if one.ulValueLen > room {
                one.pValue = ptr::null_mut();
            }
        }
        let ended = self.functions.end(began, Function::GetAttributeValue, code, || {
            let values: Vec<_> = match code {
                CKR_OK => template.iter().filter_map(converted).collect(),
                _ => Vec::new(),
            };
            let read = shape::read(template, &values);
            format!("session={} object={} -> {read}", self.handle, object.0)
        });
        match ended {
            Err(error)
                if !matches!(
                    error.code(),
                    Some(
                        RvError::AttributeSensitive
                            | RvError::AttributeTypeInvalid
                            | RvError::BufferTooSmall
                    )
                ) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }
}

/// An attribute whose value was read; none where its type does not allow the value.
fn converted(attribute: &CK_ATTRIBUTE) -> Option<Attribute> {
    let is_read = !attribute.pValue.is_null() && attribute.ulValueLen != CK_UNAVAILABLE_INFORMATION;
    is_read.then(|| Attribute::try_from(*attribute).ok()).flatten()
}
