//! The formats of C2SP: the examples of its documents, and texts that differ from the formats.

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};

use crate::tlog::*;

/// The example of the document `signed-note`.
const KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const NOTE: &str = "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

#[test]
fn the_published_note_is_signed_by_the_published_key() {
    let key: VerifierKey = KEY.parse().unwrap();
    let note: Note = NOTE.parse().unwrap();
    assert_eq!(key.to_string(), KEY);
    assert_eq!(note.to_string(), NOTE);
    assert_eq!(key.id(), 0x530d_903a);
    assert_eq!(note.text(), "This is an example message.\n");
    assert!(note.is_signed_by(&key));
    let changed: Note = NOTE.replace("example message", "Example message").parse().unwrap();
    assert!(!changed.is_signed_by(&key));
}

#[test]
fn a_note_with_one_invalid_signature_of_the_key_is_not_signed() {
    let key: VerifierKey = KEY.parse().unwrap();
    let note: Note = NOTE.parse().unwrap();
    let mut forged = note.signatures()[0].clone();
    forged.bytes[0] ^= 1;
    let signatures = vec![note.signatures()[0].clone(), forged];
    let note = Note::new(note.text().to_owned(), signatures).unwrap();
    assert!(!note.is_signed_by(&key));
}

#[test]
fn other_texts_are_not_notes() {
    for (text, expected) in [
        ("", InvalidNote::Format),
        ("text\n", InvalidNote::Format),
        ("text\n\n", InvalidNote::Format),
        ("text\n\n— name AAAAAA==", InvalidNote::Format),
        ("text\n\n- name AAAAAA==\n", InvalidNote::Format),
        ("text\n\n— name AAA=\n", InvalidNote::Format),
        ("text\n\n— na+me AAAAAA==\n", InvalidNote::Format),
        ("te\txt\n\n— name AAAAAA==\n", InvalidNote::Characters),
    ] {
        assert_eq!(text.parse::<Note>(), Err(expected), "{text:?}");
    }
    let many = format!("text\n\n{}", "— name AAAAAA==\n".repeat(65));
    assert_eq!(many.parse::<Note>(), Err(InvalidNote::Signatures));
}

#[test]
fn other_texts_are_not_keys() {
    for (text, expected) in [
        ("example.com/foo", InvalidKey::Format),
        ("example.com/foo+530d903a+", InvalidKey::Format),
        (&KEY.replace("530d903a", "530d903b"), InvalidKey::Id),
        (&KEY.replace("530d903a", "530D903A"), InvalidKey::Id),
        (&KEY.replace("foo", "f oo"), InvalidKey::Name),
        ("name+00000000+AwAA", InvalidKey::Kind),
    ] {
        assert_eq!(text.parse::<VerifierKey>(), Err(expected), "{text}");
    }
}

#[test]
fn checkpoints_are_opened_with_the_key_of_their_log() {
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let public = pair.public_key().as_ref();
    let key = VerifierKey::new("example.com/log", SignatureKind::Ed25519, public).unwrap();
    let signed = |origin: &str| {
        let checkpoint = Checkpoint {
            origin: origin.to_owned(),
            size: 20_852_163,
            root: Hash::of_leaf(b"root"),
        };
        let text = checkpoint.to_string();
        let signature = Signature {
            name: key.name().to_owned(),
            key_id: key.id(),
            bytes: pair.sign(text.as_bytes()).as_ref().to_vec(),
        };
        let note = Note::new(text, vec![signature]).unwrap();
        (checkpoint, note.to_string())
    };
    let (checkpoint, note) = signed("example.com/log");
    assert_eq!(Checkpoint::open(&note, &key), Ok(checkpoint));
    let (_, foreign) = signed("example.com/other");
    assert_eq!(Checkpoint::open(&foreign, &key), Err(InvalidCheckpoint::Origin));
    let other = VerifierKey::new("example.com/log", SignatureKind::Ed25519, &[9; 32]).unwrap();
    assert_eq!(Checkpoint::open(&note, &other), Err(InvalidCheckpoint::Signature));
    let grown = note.replace("20852163", "20852164");
    assert_eq!(Checkpoint::open(&grown, &key), Err(InvalidCheckpoint::Signature));
    assert_eq!(Checkpoint::open("text", &key), Err(InvalidCheckpoint::Note));
}

#[test]
fn checkpoints_have_one_text() {
    let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
    let text = format!("example.com/log\n7\n{root}\n");
    assert_eq!(text.parse::<Checkpoint>().unwrap().to_string(), text);
    format!("{text}an extension\n").parse::<Checkpoint>().unwrap();
    for wrong in [
        format!("example.com/log\n07\n{root}\n"),
        format!("example.com/log\n+7\n{root}\n"),
        format!("\n7\n{root}\n"),
        format!("example.com/log\n7\n{root}"),
        format!("example.com/log\n7\n{root}\n\n"),
        format!("example.com/log\n7\n{}\n", root.trim_end_matches('=')),
        "example.com/log\n7\n".to_owned(),
    ] {
        assert!(wrong.parse::<Checkpoint>().is_err(), "{wrong:?}");
    }
}

#[test]
fn ecdsa_keys_verify_notes() {
    let random = SystemRandom::new();
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap();
    let public: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
    let key = VerifierKey::new("log", SignatureKind::EcdsaP256, public.as_ref()).unwrap();
    let read: VerifierKey = key.to_string().parse().unwrap();
    assert_eq!(read, key);
    let signature = pair.sign(&random, b"text\n").unwrap();
    assert!(key.verifies("text\n", signature.as_ref()));
    assert!(!key.verifies("other\n", signature.as_ref()));
}

#[test]
fn tiles_have_one_path() {
    for (path, content, index, width) in [
        ("tile/0/x001/x234/067", TileContent::Hashes(0), 1_234_067, 256),
        ("tile/0/000.p/1", TileContent::Hashes(0), 0, 1),
        ("tile/63/999", TileContent::Hashes(63), 999, 256),
        ("tile/1/x001/000.p/255", TileContent::Hashes(1), 1_000, 255),
        ("tile/entries/x001/234.p/8", TileContent::Entries, 1_234, 8),
    ] {
        let tile = Tile { content, index, width };
        assert_eq!(tile.to_string(), path);
        assert_eq!(path.parse(), Ok(tile));
    }
    for wrong in [
        "tile/0/0",
        "tile/0/0000",
        "tile/00/000",
        "tile/64/000",
        "tile/-1/000",
        "tile/0/x000/001",
        "tile/0/001/001",
        "tile/0/x001",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/000.p/+1",
        "tile/0/000.p/1/2",
        "tile/0/000/",
        "tile/0/",
        "tile/0",
        "tile/0/x999/x999/x999/x999/x999/x999/x999/999",
        "0/000",
    ] {
        assert_eq!(wrong.parse::<Tile>(), Err(InvalidPath), "{wrong}");
    }
}

#[test]
fn tiles_belong_to_trees_that_are_large_enough() {
    let width = |level, index, size| {
        Tile::in_tree(TileContent::Hashes(level), index, size).map(|tile| tile.width)
    };
    assert_eq!(width(0, 273, 70_000), Some(112));
    assert_eq!(width(0, 272, 70_000), Some(256));
    assert_eq!(width(0, 274, 70_000), None);
    assert_eq!(width(1, 1, 70_000), Some(17));
    assert_eq!(width(2, 0, 70_000), Some(1));
    assert_eq!(width(3, 0, 70_000), None);
    assert_eq!(width(63, 0, u64::MAX), None);
    assert_eq!(width(0, 1, 256), None);
    let partial: Tile = "tile/0/273.p/100".parse().unwrap();
    assert!(partial.is_in(70_000) && !partial.is_in(69_900));
}

#[test]
fn bundles_hold_entries_of_up_to_65535_bytes() {
    let mut bundle = Vec::new();
    let longest = vec![7; 65_535];
    assert!(append_entry(&mut bundle, b"one"));
    assert!(append_entry(&mut bundle, b""));
    assert!(append_entry(&mut bundle, &longest));
    assert!(!append_entry(&mut bundle, &vec![7; 65_536]));
    assert_eq!(bundle[..7], *b"\0\x03one\0\0");
    let entries: [&[u8]; 3] = [b"one", b"", &longest];
    assert_eq!(entries_of_bundle(&bundle).unwrap(), entries);
    for end in [1, 2, 4, bundle.len() - 1] {
        assert_eq!(entries_of_bundle(&bundle[..end]), Err(InvalidBundle));
    }
}

#[test]
fn proofs_have_the_published_format() {
    let proof = ProofText {
        index: 73_894,
        inclusion: vec![Hash::of_leaf(b"one"), Hash::of_leaf(b"two")],
        checkpoint: NOTE.to_owned(),
    };
    let text = proof.to_string();
    assert_eq!(
        text,
        format!(
            "c2sp.org/tlog-proof@v1\nindex 73894\n{}\n{}\n\n{NOTE}",
            proof.inclusion[0], proof.inclusion[1]
        )
    );
    assert_eq!(text.parse(), Ok(proof.clone()));
    let extra = text.replace("@v1\n", "@v1\nextra AAAA\n");
    assert_eq!(extra.parse(), Ok(proof));
    for wrong in [
        text.replace("@v1", "@v2"),
        text.replace("index 73894", "index 073894"),
        text.replace("index", "Index"),
        text.replace('=', ""),
        "c2sp.org/tlog-proof@v1\n\n".to_owned(),
    ] {
        assert!(wrong.parse::<ProofText>().is_err(), "{wrong}");
    }
    let alone = ProofText { index: 0, inclusion: Vec::new(), checkpoint: NOTE.to_owned() };
    assert_eq!(alone.to_string().parse(), Ok(alone));
}

fn cosignature(pair: &Ed25519KeyPair, key: &VerifierKey, time: u64, text: &str) -> Signature {
    let signed = format!("cosignature/v1\ntime {time}\n{text}");
    Signature {
        name: key.name().to_owned(),
        key_id: key.id(),
        bytes: [&time.to_be_bytes(), pair.sign(signed.as_bytes()).as_ref()].concat(),
    }
}

#[test]
fn cosignatures_cover_the_checkpoint_and_the_time() {
    let pair = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap();
    let public = pair.public_key().as_ref();
    let key = VerifierKey::new("witness.example/w", SignatureKind::Cosignature, public).unwrap();
    assert_eq!(key.to_string().parse(), Ok(key.clone()));
    let as_log = VerifierKey::new("witness.example/w", SignatureKind::Ed25519, public).unwrap();
    assert_ne!(as_log.id(), key.id());

    let text = "example.com/log\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
    let signature = cosignature(&pair, &key, 1_679_315_147, text);
    assert_eq!(signature.cosigned_at(), Some(1_679_315_147));
    let note = Note::new(text.to_owned(), vec![signature.clone()]).unwrap();
    assert!(note.is_signed_by(&key));
    assert_eq!(note.signature_by(&key), Some(&signature));
    assert!(!note.is_signed_by(&as_log));

    let mut later = signature.clone();
    later.bytes[7] ^= 1;
    let other = text.replace("log\n1", "log\n2");
    let late = cosignature(&pair, &key, 1 << 63, text);
    for (text, signature) in [(text, later), (other.as_str(), signature.clone()), (text, late)] {
        let note = Note::new(text.to_owned(), vec![signature]).unwrap();
        assert!(!note.is_signed_by(&key), "{note}");
    }
    let both = note.clone().with(signature).unwrap();
    assert!(both.is_signed_by(&key));
    assert_eq!(both.signatures().len(), 2);
}

/// The structure `cosigned_message` of C2SP `tlog-cosignature`.
#[test]
fn cosignatures_with_ml_dsa_cover_the_names_the_time_and_the_tree() {
    let checkpoint =
        Checkpoint { origin: "example.com/log".to_owned(), size: 258, root: Hash::of_leaf(b"x") };
    let expected = [
        b"subtree/v1\n\0".as_slice(),
        b"\x11witness.example/w",
        &[0, 0, 0, 0, 0x64, 0x18, 0x50, 0xcb],
        b"\x0fexample.com/log",
        &[0; 8],
        &[0, 0, 0, 0, 0, 0, 1, 2],
        checkpoint.root.as_bytes(),
    ];
    let message = cosigned_message("witness.example/w", 0x6418_50cb, &checkpoint);
    assert_eq!(message, Some(expected.concat()));
    for name in ["", &"x".repeat(256)] {
        assert_eq!(cosigned_message(name, 1, &checkpoint), None);
    }
    let public = vec![7; 1_312];
    let kind = SignatureKind::MlDsaCosignature;
    let key = VerifierKey::new("witness.example/w", kind, &public).unwrap();
    assert_eq!(key.to_string().parse(), Ok(key.clone()));
    assert!(!key.verifies(&checkpoint.to_string(), &[0; 8 + 2_420]));
}
