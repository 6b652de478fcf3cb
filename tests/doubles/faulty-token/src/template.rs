//! The templates among the arguments of a call.

use cryptoki_sys::{
    CK_ATTRIBUTE, CK_ATTRIBUTE_TYPE, CK_BBOOL, CK_FALSE, CK_RV, CK_TRUE, CKA_EXTRACTABLE,
    CKA_SENSITIVE,
};

/// A template of the caller.
pub(crate) struct Template<'a>(&'a mut [CK_ATTRIBUTE]);

impl Template<'_> {
    pub(crate) fn has(&self, attribute: CK_ATTRIBUTE_TYPE) -> bool {
        self.0.iter().any(|one| one.type_ == attribute)
    }
}

/// The templates of a call, with their places among the arguments.
pub(crate) fn all<'a>(
    function: &str,
    arguments: &'a [usize],
) -> impl Iterator<Item = Template<'a>> + use<'a> {
    let places: &[usize] = match function {
        "C_CreateObject" => &[1],
        "C_CopyObject" | "C_GenerateKey" => &[2],
        "C_GenerateKeyPair" => &[2, 4],
        "C_DeriveKey" => &[3],
        "C_UnwrapKey" => &[5],
        _ => &[],
    };
    places.iter().filter_map(|place| {
        let (pointer, length) = (*arguments.get(*place)?, *arguments.get(place + 1)?);
        // SAFETY: PKCS#11 has a template of this length there, which nobody else uses during the call.
        let attributes = (pointer != 0).then(|| unsafe {
            std::slice::from_raw_parts_mut(pointer as *mut CK_ATTRIBUTE, length)
        });
        attributes.map(Template)
    })
}

/// Makes a call whose templates ask for a key that can be read and extracted.
pub(crate) fn loosened(function: &str, arguments: &[usize], call: impl FnOnce() -> CK_RV) -> CK_RV {
    static TRUE: CK_BBOOL = CK_TRUE;
    static FALSE: CK_BBOOL = CK_FALSE;
    let mut changed = Vec::new();
    for template in all(function, arguments) {
        for attribute in template.0.iter_mut() {
            let loose = match attribute.type_ {
                CKA_SENSITIVE => &raw const FALSE,
                CKA_EXTRACTABLE => &raw const TRUE,
                _ => continue,
            };
            let former = std::mem::replace(&mut attribute.pValue, loose.cast_mut().cast());
            changed.push((&raw mut *attribute, former));
        }
    }
    let code = call();
    for (attribute, former) in changed {
        // SAFETY: the caller's template outlives the call.
        unsafe { (*attribute).pValue = former };
    }
    code
}
