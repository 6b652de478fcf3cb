//! Keys from other libraries.

use aws_lc_rs::encoding::{AsBigEndian, AsDer, EcPrivateKeyBin, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING,
    ECDSA_P521_SHA512_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
};
use formats::algorithms::PublicParts;
use formats::algorithms::{Algorithm, Curve};
use hsm::KeyMaterial;

/// A key: the bytes to wrap, the public key and the key material.
pub(crate) struct Foreign {
    pub(crate) bytes: Vec<u8>,
    pub(crate) public: Option<PublicParts>,
    pub(crate) material: Option<KeyMaterial>,
}

pub(crate) fn foreign(algorithm: Algorithm) -> Foreign {
    match algorithm {
        Algorithm::Rsa2048 => rsa(KeySize::Rsa2048),
        Algorithm::Rsa3072 => rsa(KeySize::Rsa3072),
        Algorithm::Rsa4096 => rsa(KeySize::Rsa4096),
        Algorithm::P256 => ec(Curve::P256),
        Algorithm::P384 => ec(Curve::P384),
        Algorithm::P521 => ec(Curve::P521),
        Algorithm::Ed25519 => {
            let pair = Ed25519KeyPair::generate().unwrap();
            let point = pair.public_key().as_ref().to_vec();
            let seed = pair.seed().unwrap().as_be_bytes().unwrap();
            Foreign {
                bytes: pair.to_pkcs8v1().unwrap().as_ref().to_vec(),
                public: Some(PublicParts::Ed25519 { point: point.clone() }),
                material: Some(KeyMaterial::Ed25519 { seed: seed.as_ref().to_vec().into(), point }),
            }
        }
        Algorithm::Aes128 => secret(16),
        Algorithm::Aes256 | Algorithm::HmacSha256 => secret(32),
        Algorithm::MlDsa44
        | Algorithm::MlDsa65
        | Algorithm::MlDsa87
        | Algorithm::MlKem768
        | Algorithm::MlKem1024
        | Algorithm::P256MlKem768 => {
            panic!("tokens import no {algorithm} keys")
        }
    }
}

fn rsa(size: KeySize) -> Foreign {
    let pair = RsaKeyPair::generate(size).unwrap();
    let public = pair.public_key();
    let pkcs8 = AsDer::<Pkcs8V1Der<'_>>::as_der(&pair).unwrap();
    Foreign {
        bytes: pkcs8.as_ref().to_vec(),
        public: Some(PublicParts::Rsa {
            modulus: public.modulus().big_endian_without_leading_zero().to_vec(),
            exponent: public.exponent().big_endian_without_leading_zero().to_vec(),
        }),
        material: None,
    }
}

fn ec(curve: Curve) -> Foreign {
    let pair = EcdsaKeyPair::generate(match curve {
        Curve::P256 => &ECDSA_P256_SHA256_FIXED_SIGNING,
        Curve::P384 => &ECDSA_P384_SHA384_FIXED_SIGNING,
        Curve::P521 => &ECDSA_P521_SHA512_FIXED_SIGNING,
    })
    .unwrap();
    let point = pair.public_key().as_ref().to_vec();
    let scalar: EcPrivateKeyBin<'_> = pair.private_key().as_be_bytes().unwrap();
    Foreign {
        bytes: pair.to_pkcs8v1().unwrap().as_ref().to_vec(),
        public: Some(PublicParts::Ec { curve, point: point.clone() }),
        material: Some(KeyMaterial::Ec { scalar: scalar.as_ref().to_vec().into(), point }),
    }
}

fn secret(length: usize) -> Foreign {
    let mut bytes = vec![0; length];
    aws_lc_rs::rand::fill(&mut bytes).unwrap();
    Foreign { material: Some(KeyMaterial::Secret(bytes.clone().into())), bytes, public: None }
}
