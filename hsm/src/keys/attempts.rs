//! Making a key with as many optional attributes as its token accepts.

use cryptoki::object::Attribute;

use super::attributes::Optional;
use crate::HsmError;
use crate::session::{Circumstances, RefusedAttributes};

/// The attempts to make one key.
pub(crate) struct Attempts<'a> {
    refused: &'a RefusedAttributes,
    keys: Circumstances,
}

impl<'a> Attempts<'a> {
    pub(crate) fn new(refused: &'a RefusedAttributes, keys: Circumstances) -> Self {
        Self { refused, keys }
    }

    /// Makes a key with as many of these attributes as the token accepts, and remembers which it refuses.
    ///
    /// Some tokens reject an attribute with a code that broken tokens return too. After such a failure the
    /// same attempt is made again, because tokens fail now and then while they write, and then the other
    /// choices. `clean` removes what a failed attempt may have left.
    pub(crate) fn make<T, E>(
        &self,
        optional: Optional,
        failure: impl Fn(&E) -> Option<&HsmError>,
        clean: impl Fn() -> Result<(), E>,
        mut make: impl FnMut(&[Attribute]) -> Result<T, E>,
    ) -> Result<T, E> {
        let refused = self.refused.of(self.keys);
        let mut optional = optional.all();
        optional.retain(|attribute| !refused.contains(&attribute.attribute_type()));
        let is = |error: &E, of: fn(&HsmError) -> bool| failure(error).is_some_and(of);
        let mut choice = (1_usize << optional.len()) - 1;
        let all = choice.count_ones();
        let mut is_repeated = false;
        loop {
            let attributes = chosen(&optional, choice);
            let mut made = make(&attributes);
            if !is_repeated && made.as_ref().is_err_and(|error| is(error, HsmError::is_ambiguous)) {
                is_repeated = true;
                clean()?;
                made = make(&attributes);
            }
            match made {
                Ok(made) => {
                    let left_out = optional.iter().filter(|it| !attributes.contains(it));
                    self.refused.note(self.keys, left_out.map(Attribute::attribute_type));
                    return Ok(made);
                }
                Err(error) if choice > 0 && is(&error, HsmError::rejects_attribute) => {}
                Err(error) if choice > 0 && is(&error, HsmError::may_reject_attribute) => clean()?,
                Err(error) => return Err(error),
            }
            choice -= 1;
            // An ambiguous code names no attribute, so that each is left out once, and then all.
            while is_repeated && choice > 0 && choice.count_ones() + 1 != all {
                choice -= 1;
            }
        }
    }
}

/// The attributes of a choice, which has a bit for each. All of them are the highest number, and those with
/// the first attribute come before those without it.
fn chosen(optional: &[Attribute], choice: usize) -> Vec<Attribute> {
    let places = (0..optional.len()).rev();
    let chosen = optional.iter().zip(places).filter(|(_, place)| choice >> place & 1 == 1);
    chosen.map(|(attribute, _)| attribute.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use cryptoki::context::Function;
    use cryptoki::error::{Error as Pkcs11Error, RvError};
    use cryptoki::mechanism::MechanismType;

    use super::*;
    use crate::session::Origin;
    use crate::{KeyClass, Purpose};
    use formats::algorithms::Algorithm;

    const KEY: Circumstances = Circumstances {
        origin: Origin::Generated,
        algorithm: Algorithm::P256,
        purpose: Purpose::Sign,
        permanent: true,
    };

    fn optional() -> Optional {
        Optional::of(KeyClass::Private, &[MechanismType::ECDSA])
    }

    /// Makes a key in a token that fails with this code if it gets the attribute.
    fn make(
        memory: &RefusedAttributes,
        code: RvError,
        refused: Option<&Attribute>,
    ) -> (Result<Vec<Attribute>, HsmError>, usize) {
        let calls = Cell::new(0);
        let made = Attempts::new(memory, KEY).make(
            optional(),
            |error: &HsmError| Some(error),
            || Ok(()),
            |attributes| {
                calls.set(calls.get() + 1);
                let is_refused = refused.is_none_or(|refused| attributes.contains(refused));
                match is_refused {
                    true => Err(Pkcs11Error::Pkcs11(code, Function::GenerateKeyPair).into()),
                    false => Ok(attributes.to_vec()),
                }
            },
        );
        (made, calls.get())
    }

    #[test]
    fn a_rejected_attribute_costs_no_other_one_and_is_not_sent_again() {
        let all = optional().all();
        assert_eq!(all.len(), 3);
        for code in [RvError::AttributeTypeInvalid, RvError::GeneralError] {
            for refused in &all {
                let memory = RefusedAttributes::default();
                let expected: Vec<_> = all.iter().filter(|it| *it != refused).cloned().collect();
                let (made, _) = make(&memory, code, Some(refused));
                assert_eq!(made.unwrap(), expected);
                let (again, calls) = make(&memory, code, Some(refused));
                assert_eq!((again.unwrap(), calls), (expected, 1));
            }
        }
    }

    #[test]
    fn a_failure_that_passes_costs_no_attribute() {
        let memory = RefusedAttributes::default();
        let (fails, cleaned) = (Cell::new(true), RefCell::new(0));
        let made = Attempts::new(&memory, KEY).make(
            optional(),
            |error: &HsmError| Some(error),
            || {
                *cleaned.borrow_mut() += 1;
                Ok(())
            },
            |attributes| match fails.replace(false) {
                true => {
                    let code = RvError::FunctionFailed;
                    Err(Pkcs11Error::Pkcs11(code, Function::GenerateKeyPair).into())
                }
                false => Ok(attributes.to_vec()),
            },
        );
        assert_eq!(made.unwrap(), optional().all());
        assert_eq!(*cleaned.borrow(), 1);
    }

    #[test]
    fn a_failure_of_the_device_is_not_blamed_on_an_attribute() {
        let (made, calls) = make(&RefusedAttributes::default(), RvError::DeviceError, None);
        made.unwrap_err();
        assert_eq!(calls, 2);
    }
}
