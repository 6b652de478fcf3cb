//! What a record of calls shows of templates and mechanisms: never the bytes of a value.

use cryptoki::mechanism::MechanismType;
use cryptoki::object::{Attribute, AttributeType};
use cryptoki_sys::{CK_ATTRIBUTE, CK_MECHANISM, CK_UNAVAILABLE_INFORMATION};

/// The attributes of a template: switches and numbers with their values, bytes with their length.
pub(super) fn template(attributes: &[Attribute]) -> String {
    listed(attributes.iter().map(attribute))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the values of most attributes are not shown")]
fn attribute(attribute: &Attribute) -> String {
    use Attribute as A;
    let value = match attribute {
        A::Class(class) => class.to_string(),
        A::KeyType(key_type) => key_type.to_string(),
        A::AllowedMechanisms(mechanisms) => listed(mechanisms.iter().map(ToString::to_string)),
        A::ModulusBits(bits) | A::ValueLen(bits) => bits.to_string(),
        A::Token(yes)
        | A::Private(yes)
        | A::Modifiable(yes)
        | A::Sensitive(yes)
        | A::Extractable(yes)
        | A::Encrypt(yes)
        | A::Decrypt(yes)
        | A::Sign(yes)
        | A::SignRecover(yes)
        | A::Verify(yes)
        | A::Wrap(yes)
        | A::Unwrap(yes)
        | A::Derive(yes)
        | A::Encapsulate(yes)
        | A::Decapsulate(yes) => yes.to_string(),
        _ => format!("[{}]", CK_ATTRIBUTE::from(attribute).ulValueLen),
    };
    format!("{}={value}", attribute.attribute_type())
}

/// The attributes that were asked for, and the length or the failure of each. `values` are shown where
/// they are switches or kinds.
pub(super) fn read(requested: &[CK_ATTRIBUTE], values: &[Attribute]) -> String {
    listed(requested.iter().map(|one| {
        let kind = AttributeType::try_from(one.type_);
        let known = kind
            .as_ref()
            .ok()
            .and_then(|kind| values.iter().find(|value| value.attribute_type() == *kind));
        match (kind, known) {
            (_, Some(value)) => attribute(value),
            (Ok(kind), None) if one.ulValueLen == CK_UNAVAILABLE_INFORMATION => {
                format!("{kind}=unavailable")
            }
            (Ok(kind), None) => format!("{kind}[{}]", one.ulValueLen),
            (Err(_), None) => format!("{:#x}[{}]", one.type_, one.ulValueLen),
        }
    }))
}

/// The name of a mechanism and the length of its parameter.
pub(super) fn mechanism(mechanism: &CK_MECHANISM) -> String {
    let number = mechanism.mechanism;
    let name = match MechanismType::try_from(number) {
        Ok(named) => named.to_string(),
        Err(_) => format!("{number:#x}"),
    };
    format!("{name}[{}]", mechanism.ulParameterLen)
}

fn listed(items: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", items.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use cryptoki::object::{KeyType, ObjectClass};

    use super::*;

    #[test]
    fn a_template_shows_no_bytes() {
        let shown = template(&[
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::AES),
            Attribute::Token(true),
            Attribute::Label(b"secret".to_vec()),
            Attribute::Value(b"secret".to_vec()),
        ]);
        let expected = "{CKA_CLASS=CKO_SECRET_KEY CKA_KEY_TYPE=CKK_AES CKA_TOKEN=true \
                        CKA_LABEL=[6] CKA_VALUE=[6]}";
        assert_eq!(shown, expected);
    }
}
