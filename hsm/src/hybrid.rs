//! The keys in a token that form one key: of a hybrid key two, of others one.

use formats::algorithms::PublicParts;

use crate::{KeyClass, KeyRef, NewKey, RecordedKey};

impl KeyRef {
    /// The keys in a token that form this key, in the order of [`Algorithm::parts`](formats::algorithms::Algorithm::parts).
    pub fn parts(&self) -> Vec<Self> {
        let KeyClass::Hybrid(kem) = self.class else {
            return vec![self.clone()];
        };
        let parts = kem.algorithm().parts().into_iter();
        let part = |algorithm| Self { class: KeyClass::Part(algorithm), ..self.clone() };
        parts.map(part).collect()
    }
}

impl NewKey {
    /// The keys in a token that will form this key.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let parts = self.algorithm.parts().into_iter();
        let part = |algorithm| Self { algorithm, ..self.clone() };
        parts.map(part).collect()
    }
}

impl RecordedKey {
    /// The records of the keys in a token that form this key.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let mut public = self.public.iter().flat_map(PublicParts::parts);
        let parts = self.algorithm.parts().into_iter();
        let part = |algorithm| Self { algorithm, purpose: self.purpose, public: public.next() };
        parts.map(part).collect()
    }
}
