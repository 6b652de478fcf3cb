//! A private key in memory that replaces the token.

use aws_lc_rs::agreement::{self, UnparsedPublicKey, agree};
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey,
    PrivateDecryptingKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::clock::Entropy;
use formats::envelope::{
    Alg, Curve, Envelope, Family, OaepHash, Opening, Plaintext, PublicKey, Question, Unopenable,
};

pub struct PrivateKey {
    half: Half,
    public: PublicKey,
    pkcs8_pem: String,
    spki_pem: String,
}

enum Half {
    Rsa(OaepPrivateDecryptingKey),
    Ec(agreement::PrivateKey),
}

impl PrivateKey {
    /// An RSA key of the smallest accepted size.
    pub fn rsa() -> Self {
        let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
        let (pkcs8, spki) = (key.as_der().unwrap(), key.public_key().as_der().unwrap());
        Self::new(Half::Rsa(OaepPrivateDecryptingKey::new(key).unwrap()), &pkcs8, &spki)
    }

    /// A key on `curve`.
    pub fn ec(curve: Curve) -> Self {
        let key = agreement::PrivateKey::generate(algorithm(curve)).unwrap();
        let (pkcs8, spki) =
            (key.as_der().unwrap(), key.compute_public_key().unwrap().as_der().unwrap());
        Self::new(Half::Ec(key), &pkcs8, &spki)
    }

    /// One key of each supported type with its algorithms.
    pub fn of_every_kind() -> Vec<(Self, Vec<Alg>)> {
        let fit = |key: Self| {
            let family = key.public.family();
            (key, Alg::ALL.into_iter().filter(|alg| alg.family() == family).collect())
        };
        std::iter::once(Self::rsa()).chain(Curve::ALL.map(Self::ec)).map(fit).collect()
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub fn pkcs8_pem(&self) -> &str {
        &self.pkcs8_pem
    }

    pub fn spki_pem(&self) -> &str {
        &self.spki_pem
    }

    /// The token's result for this question. `None` if the token refuses it.
    pub fn answer(&self, question: Question<'_>) -> Option<Vec<u8>> {
        match (&self.half, question) {
            (Half::Rsa(key), Question::Decrypt { hash, wrapped_key }) => {
                let algorithm = match hash {
                    OaepHash::Sha1 => &OAEP_SHA1_MGF1SHA1,
                    OaepHash::Sha256 => &OAEP_SHA256_MGF1SHA256,
                };
                let mut room = vec![0; key.min_output_size()];
                let opened = key.decrypt(algorithm, wrapped_key, &mut room, None);
                opened.ok().map(|bytes| bytes.to_vec())
            }
            (Half::Ec(key), Question::Agree { peer }) => {
                let peer = UnparsedPublicKey::new(key.algorithm(), peer);
                agree(key, peer, (), |secret| Ok(secret.to_vec())).ok()
            }
            _ => panic!("the question is for another key family"),
        }
    }

    /// Opens an envelope like `/unprotect`.
    pub fn open(&self, envelope: Envelope) -> Result<Plaintext, Unopenable> {
        let opening = self.asked(envelope);
        let answer = self.answer(opening.question());
        opening.open(&Entropy::system(), answer.as_deref(), None)
    }

    /// The question for this key about an envelope of its family.
    pub fn asked(&self, envelope: Envelope) -> Opening {
        envelope.for_key(&Entropy::system(), &self.public).unwrap()
    }

    fn new(half: Half, pkcs8: &Pkcs8V1Der<'_>, spki: &PublicKeyX509Der<'_>) -> Self {
        let public = PublicKey::from_spki(spki.as_ref()).unwrap();
        let expected = match half {
            Half::Rsa(_) => Family::Rsa,
            Half::Ec(_) => Family::Ec,
        };
        assert_eq!(public.family(), expected);
        Self {
            half,
            public,
            pkcs8_pem: pem("PRIVATE KEY", pkcs8.as_ref()),
            spki_pem: pem("PUBLIC KEY", spki.as_ref()),
        }
    }
}

fn algorithm(curve: Curve) -> &'static agreement::Algorithm {
    match curve {
        Curve::P256 => &agreement::ECDH_P256,
        Curve::P384 => &agreement::ECDH_P384,
        Curve::P521 => &agreement::ECDH_P521,
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
