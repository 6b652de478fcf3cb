//! The vocabulary of keys as values of PKCS#11 attributes.

use cryptoki::object::{KeyType, MlDsaParameterSetType, MlKemParameterSetType, ParameterSetType};

use formats::algorithms::{Algorithm, Curve, Family, MlDsa, MlKem};

/// `CKA_KEY_TYPE` of keys of `algorithm`; of a hybrid key that of its first part.
pub(crate) fn key_type(algorithm: Algorithm) -> KeyType {
    match algorithm.family() {
        Family::Rsa => KeyType::RSA,
        Family::Ec => KeyType::EC,
        Family::Ed25519 => KeyType::EC_EDWARDS,
        Family::MlDsa => KeyType::ML_DSA,
        Family::MlKem768 | Family::MlKem1024 | Family::P256MlKem768 => KeyType::ML_KEM,
        Family::Aes => KeyType::AES,
        Family::Hmac => KeyType::GENERIC_SECRET,
    }
}

/// `CKA_PARAMETER_SET` of an ML-DSA key.
pub(crate) fn ml_dsa_parameters(set: MlDsa) -> ParameterSetType {
    match set {
        MlDsa::MlDsa44 => MlDsaParameterSetType::ML_DSA_44,
        MlDsa::MlDsa65 => MlDsaParameterSetType::ML_DSA_65,
        MlDsa::MlDsa87 => MlDsaParameterSetType::ML_DSA_87,
    }
    .into()
}

/// `CKA_PARAMETER_SET` of an ML-KEM key.
pub(crate) fn ml_kem_parameters(set: MlKem) -> ParameterSetType {
    match set {
        MlKem::MlKem768 => MlKemParameterSetType::ML_KEM_768,
        MlKem::MlKem1024 => MlKemParameterSetType::ML_KEM_1024,
    }
    .into()
}

/// `CKA_EC_PARAMS`: DER of the object identifier of the curve.
pub(crate) const fn ec_params(curve: Curve) -> &'static [u8] {
    match curve {
        Curve::P256 => &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
        Curve::P384 => &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22],
        Curve::P521 => &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23],
    }
}

pub(crate) fn ml_dsa_of(parameters: ParameterSetType) -> Option<MlDsa> {
    let mut all = MlDsa::ALL.into_iter();
    all.find(|set| ml_dsa_parameters(*set) == parameters)
}

pub(crate) fn ml_kem_of(parameters: ParameterSetType) -> Option<MlKem> {
    let mut all = MlKem::ALL.into_iter();
    all.find(|set| ml_kem_parameters(*set) == parameters)
}

pub(crate) fn curve_of(params: &[u8]) -> Option<Curve> {
    let mut all = Curve::ALL.into_iter();
    all.find(|curve| ec_params(*curve) == params)
}
