"""Writes the test vectors of sealed files with Tink, or checks them with and without Tink.

    vectors.py --write    new vectors in vectors.json
    vectors.py --check    rebuild each file without Tink, read it with Tink, and let Tink refuse the broken ones

It needs the packages of requirements.txt. src/formats/envelope/FILE.md specifies the files and the members.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import math
import os
import re
from pathlib import Path
from typing import Any, BinaryIO, cast

import tink  # type: ignore[import-untyped]
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from tink import secret_key_access, streaming_aead
from tink.proto import aes_gcm_hkdf_streaming_pb2, common_pb2, tink_pb2  # type: ignore[import-untyped]

VECTORS = Path(__file__).with_name("vectors.json")
SEGMENT, HEADER, TAG = 1 << 20, 40, 16
FIRST, OTHER = SEGMENT - HEADER - TAG, SEGMENT - TAG
# Divides both, so that a read never spans two segments and never loses bytes of an authentic one.
PART = math.gcd(FIRST, OTHER)
LINE = re.compile(
    rb'\{"protected":"[\w-]+","encrypted_key":"[\w-]+","iv":"[\w-]+","ciphertext":"[\w-]+","tag":"[\w-]+"\}\n', re.ASCII
)
# FILE.md refuses what Tink alone reads: it knows no line, and ignores bytes after a full last segment.
READ_BY_TINK = {
    "a line of 16,385 bytes",
    "a byte after a full segment",
    "a byte after two full segments",
    "an empty last segment",
}
REPEATED = "0123456789 abcdefghijklmnopqrstuvwxyz\n"
LENGTHS = {
    "empty": 0,
    "one byte": 1,
    "short": 1000,
    "first segment full": FIRST,
    "one byte in the second segment": FIRST + 1,
    "two segments full": FIRST + OTHER,
    "three segments": FIRST + OTHER + 1000,
}

Vector = dict[str, Any]


def base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def standard(value: bytes) -> str:
    return base64.b64encode(value).decode()


def new_recipient() -> tuple[rsa.RSAPrivateKey, dict[str, str]]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_numbers()
    numbers = {
        "n": private.public_numbers.n,
        "e": private.public_numbers.e,
        "d": private.d,
        "p": private.p,
        "q": private.q,
        "dp": private.dmp1,
        "dq": private.dmq1,
        "qi": private.iqmp,
    }
    return key, {"kty": "RSA"} | {
        name: base64url(number.to_bytes((number.bit_length() + 7) // 8, "big")) for name, number in numbers.items()
    }


def seal(data_key: bytes, recipient: rsa.RSAPrivateKey) -> str:
    """The envelope of a data key, as FORMAT.md specifies it."""
    header = base64url(b'{"alg":"RSA-OAEP-256","cty":"json","enc":"A256GCM"}')
    content_key, iv = os.urandom(32), os.urandom(12)
    oaep = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)
    sealed = AESGCM(content_key).encrypt(iv, json.dumps(standard(data_key)).encode(), header.encode())
    members = {
        "protected": header,
        "encrypted_key": base64url(recipient.public_key().encrypt(content_key, oaep)),
        "iv": base64url(iv),
        "ciphertext": base64url(sealed[:-TAG]),
        "tag": base64url(sealed[-TAG:]),
    }
    return json.dumps(members, separators=(",", ":"))


def tink_primitive(data_key: bytes) -> streaming_aead.StreamingAead:
    key = aes_gcm_hkdf_streaming_pb2.AesGcmHkdfStreamingKey(
        key_value=data_key,
        params=aes_gcm_hkdf_streaming_pb2.AesGcmHkdfStreamingParams(
            ciphertext_segment_size=SEGMENT, derived_key_size=32, hkdf_hash_type=common_pb2.SHA256
        ),
    )
    keyset = tink_pb2.Keyset(primary_key_id=1)
    entry = keyset.key.add(key_id=1, status=tink_pb2.ENABLED, output_prefix_type=tink_pb2.RAW)
    entry.key_data.type_url = "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey"
    entry.key_data.key_material_type = tink_pb2.KeyData.SYMMETRIC
    entry.key_data.value = key.SerializeToString()
    handle = tink.proto_keyset_format.parse(keyset.SerializeToString(), secret_key_access.TOKEN)
    return cast("streaming_aead.StreamingAead", handle.primitive(streaming_aead.StreamingAead))


class Kept(io.BytesIO):
    """A file whose content remains after Tink has closed it."""

    content = b""

    def close(self) -> None:
        self.content = self.content or self.getvalue()
        super().close()


def encrypt_with_tink(primitive: streaming_aead.StreamingAead, line: bytes, plaintext: bytes) -> bytes:
    target = Kept()
    with primitive.new_encrypting_stream(target, hashlib.sha256(line).digest()) as stream:
        stream.write(plaintext)
    return line + target.content


def decrypt_with_tink(primitive: streaming_aead.StreamingAead, sealed: bytes) -> tuple[bytes, bool]:
    """The authentic bytes, and whether they are complete."""
    end = sealed.find(b"\n") + 1
    source = cast("BinaryIO", io.BytesIO(sealed[end:]))
    read = bytearray()
    with primitive.new_decrypting_stream(source, hashlib.sha256(sealed[:end]).digest()) as stream:
        try:
            while block := stream.read(PART):
                read += block
        except tink.TinkError:
            return bytes(read), False
    return bytes(read), True


def plaintext_of(vector: Vector) -> bytes:
    text, length = vector["plaintext"]["repeat"].encode(), vector["plaintext"]["length"]
    return cast("bytes", (text * (length // len(text) + 1))[:length])


def segment_cipher(data_key: bytes, line: bytes, vector: Vector) -> AESGCM:
    salt = base64.b64decode(vector["salt"])
    return AESGCM(HKDF(hashes.SHA256(), 32, salt, hashlib.sha256(line).digest()).derive(data_key))


def nonce(vector: Vector, index: int, last: bool) -> bytes:
    return base64.b64decode(vector["noncePrefix"]) + index.to_bytes(4, "big") + bytes([last])


def encrypt_without_tink(data_key: bytes, line: bytes, vector: Vector) -> bytes:
    """The file by FILE.md alone."""
    cipher = segment_cipher(data_key, line, vector)
    plaintext = plaintext_of(vector)
    segments = [plaintext[:FIRST]] + [plaintext[at : at + OTHER] for at in range(FIRST, len(plaintext), OTHER)]
    sealed = line + bytes([HEADER]) + base64.b64decode(vector["salt"]) + base64.b64decode(vector["noncePrefix"])
    for index, segment in enumerate(segments):
        sealed += cipher.encrypt(nonce(vector, index, index == len(segments) - 1), segment, None)
    return sealed


def edited(sealed: bytes, edits: list[dict[str, Any]]) -> bytes:
    changed = bytearray(sealed)
    for edit in edits:
        ((kind, what),) = edit.items()
        at = what["at"]
        if kind == "remove":
            del changed[at : at + what["length"]]
        elif kind == "insert":
            changed[at:at] = base64.b64decode(what["base64"])
        else:
            changed[at] ^= 1
    return bytes(changed)


def broken(line: bytes, data_key: bytes, files: dict[str, Vector]) -> list[Vector]:
    begin = len(line)
    second, third = begin + SEGMENT, begin + 2 * SEGMENT
    one, full, two, three = (
        files[name]["size"]
        for name in ("one byte in the second segment", "first segment full", "two segments full", "three segments")
    )

    def insert(at: int, value: bytes) -> dict[str, Any]:
        return {"insert": {"at": at, "base64": standard(value)}}

    def remove(at: int, length: int) -> dict[str, Any]:
        return {"remove": {"at": at, "length": length}}

    def flip(at: int) -> dict[str, Any]:
        return {"flip": {"at": at}}

    last = files["one byte in the second segment"]
    empty = segment_cipher(data_key, line, last).encrypt(nonce(last, 1, True), b"", None)

    other = b"B" if line[-5:-4] == b"A" else b"A"
    cases: list[tuple[str, str, list[dict[str, Any]], str, int]] = [
        ("no line feed", "short", [remove(begin - 1, files["short"]["size"] - begin + 1)], "malformed", 0),
        ("white space in the line", "short", [insert(1, b" ")], "malformed", 0),
        ("carriage return in the line", "short", [insert(begin - 1, b"\r")], "malformed", 0),
        ("a member that is not base64url", "short", [insert(14, b"=")], "malformed", 0),
        ("a sixth member", "short", [insert(begin - 2, b',"aad":"AA"')], "malformed", 0),
        ("a line of 16,385 bytes", "short", [insert(14, b"A" * (16385 - begin))], "malformed", 0),
        ("nothing after the line", "short", [remove(begin, files["short"]["size"] - begin)], "malformed", 0),
        ("a part of the header", "short", [remove(begin + 39, files["short"]["size"] - begin - 39)], "malformed", 0),
        ("another length of the header", "short", [flip(begin)], "malformed", 0),
        ("another envelope", "short", [remove(begin - 5, 1), insert(begin - 5, other)], "notAuthentic", 0),
        ("another salt", "short", [flip(begin + 1)], "notAuthentic", 0),
        ("another nonce prefix", "short", [flip(begin + 33)], "notAuthentic", 0),
        ("no segment", "short", [remove(begin + 40, files["short"]["size"] - begin - 40)], "notAuthentic", 0),
        ("a part of a tag", "empty", [remove(begin + 55, 1)], "notAuthentic", 0),
        ("a changed byte", "short", [flip(begin + 40)], "notAuthentic", 0),
        ("a changed tag", "empty", [flip(begin + 55)], "notAuthentic", 0),
        ("a byte more", "short", [insert(files["short"]["size"], b"\x00")], "notAuthentic", 0),
        ("a changed byte in the first segment", "three segments", [flip(begin + 40)], "notAuthentic", 0),
        ("a changed byte in the second segment", "three segments", [flip(second)], "notAuthentic", FIRST),
        ("a changed byte in the last segment", "three segments", [flip(three - 1)], "notAuthentic", FIRST + OTHER),
        ("without the last segment", "three segments", [remove(third, three - third)], "notAuthentic", FIRST),
        ("without the last two segments", "three segments", [remove(second, three - second)], "notAuthentic", 0),
        ("without the second segment", "three segments", [remove(second, SEGMENT)], "notAuthentic", FIRST),
        ("a second segment cut short", "three segments", [remove(third - 9, three - third + 9)], "notAuthentic", FIRST),
        ("a last segment cut short", "three segments", [remove(three - 1, 1)], "notAuthentic", FIRST + OTHER),
        (
            "a last segment of ten bytes",
            "three segments",
            [remove(third + 10, three - third - 10)],
            "notAuthentic",
            FIRST + OTHER,
        ),
        ("a byte after a full segment", "first segment full", [insert(full, b"\x00")], "notAuthentic", 0),
        ("a byte after two full segments", "two segments full", [insert(two, b"\x00")], "notAuthentic", FIRST),
        ("an empty last segment", last["name"], [remove(one - 17, 17), insert(one - 17, empty)], "notAuthentic", FIRST),
    ]
    return [
        {"name": name, "of": of, "edits": edits, "error": error, "authentic": authentic}
        for name, of, edits, error, authentic in cases
    ]


def write() -> None:
    data_key = os.urandom(32)
    recipient, jwk = new_recipient()
    envelope = seal(data_key, recipient)
    line = envelope.encode() + b"\n"
    primitive = tink_primitive(data_key)
    files = []
    for name, length in LENGTHS.items():
        vector: Vector = {"name": name, "plaintext": {"repeat": REPEATED, "length": length}}
        sealed = encrypt_with_tink(primitive, line, plaintext_of(vector))
        header = sealed[len(line) :][:HEADER]
        vector |= {"salt": standard(header[1:33]), "noncePrefix": standard(header[33:])}
        vector |= {"size": len(sealed), "sha256": hashlib.sha256(sealed).hexdigest()}
        files.append(vector | ({"content": standard(sealed)} if length < FIRST else {}))
    content = {
        "dataKey": standard(data_key),
        "recipient": jwk,
        "envelope": envelope,
        "files": files,
        "broken": broken(line, data_key, {vector["name"]: vector for vector in files}),
    }
    VECTORS.write_text(json.dumps(content, indent=2) + "\n")


def check() -> None:
    vectors = json.loads(VECTORS.read_text())
    data_key, line = base64.b64decode(vectors["dataKey"]), vectors["envelope"].encode() + b"\n"
    primitive = tink_primitive(data_key)
    built = {}
    for vector in vectors["files"]:
        sealed = encrypt_without_tink(data_key, line, vector)
        assert len(sealed) == vector["size"], vector["name"]
        assert hashlib.sha256(sealed).hexdigest() == vector["sha256"], vector["name"]
        assert base64.b64decode(vector.get("content", standard(sealed))) == sealed, vector["name"]
        assert decrypt_with_tink(primitive, sealed) == (plaintext_of(vector), True), vector["name"]
        built[vector["name"]] = vector, sealed
    for case in vectors["broken"]:
        vector, sealed = built[case["of"]]
        changed = edited(sealed, case["edits"])
        if not LINE.fullmatch(changed[: changed.find(b"\n") + 1]):
            assert case["error"] == "malformed", case["name"]
            continue
        if case["name"] in READ_BY_TINK:
            continue
        read, complete = decrypt_with_tink(primitive, changed)
        assert not complete, case["name"]
        # Tink can return a complete segment before it sees that the file ends there.
        assert len(read) >= case["authentic"], (case["name"], len(read))
        assert plaintext_of(vector).startswith(read), case["name"]
    print(f"{len(vectors['files'])} files and {len(vectors['broken'])} broken files agree with Tink")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = arguments.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    streaming_aead.register()
    write() if arguments.parse_args().write else check()
