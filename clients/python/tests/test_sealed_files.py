"""Sealed files: the published vectors, and files through a client."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from conformance import HERE

from sealward import FileNotAuthentic, MalformedFile, sealed_files
from sealward.sealed_files import Head, SealedWriter, reader

VECTORS = json.loads((HERE / "files/vectors.json").read_text())
KEY = base64.b64decode(VECTORS["dataKey"])
JWE = json.loads(VECTORS["envelope"])
ERRORS = {"malformed": MalformedFile, "notAuthentic": FileNotAuthentic}


def plaintext(vector: Any) -> bytes:
    unit = vector["plaintext"]["repeat"].encode()
    return bytes(islice(cycle(unit), vector["plaintext"]["length"]))


def sealed(vector: Any, monkeypatch: pytest.MonkeyPatch) -> bytes:
    randoms = [base64.b64decode(vector[name]) for name in ("salt", "noncePrefix")]
    with monkeypatch.context() as patch:
        patch.setattr(sealed_files.os, "urandom", lambda _size: randoms.pop(0))
        target = io.BytesIO()
        with SealedWriter(target, JWE, KEY) as writer:
            writer.write(plaintext(vector))
    return target.getvalue()


@pytest.mark.parametrize("vector", VECTORS["files"], ids=lambda vector: vector["name"])
def test_vector_is_written_and_read(vector: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    content = sealed(vector, monkeypatch)
    assert (len(content), hashlib.sha256(content).hexdigest()) == (vector["size"], vector["sha256"])
    source = io.BytesIO(content)
    assert reader(source, Head.read(source), KEY).read() == plaintext(vector)


def edited(content: bytes, edits: list[Any]) -> bytes:
    data = bytearray(content)
    for edit in edits:
        ((kind, change),) = edit.items()
        at = change["at"]
        match kind:
            case "remove":
                del data[at : at + change["length"]]
            case "insert":
                data[at:at] = base64.b64decode(change["base64"])
            case "flip":
                data[at] ^= 1
    return bytes(data)


@pytest.mark.parametrize("vector", VECTORS["broken"], ids=lambda vector: vector["name"])
def test_broken_vector_is_refused(vector: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = next(each for each in VECTORS["files"] if each["name"] == vector["of"])
    source = io.BytesIO(edited(sealed(whole, monkeypatch), vector["edits"]))
    authentic = 0
    with pytest.raises(ERRORS[vector["error"]]):  # noqa: PT012 # the number of bytes before it counts
        opened = reader(source, Head.read(source), KEY).raw
        while part := opened.read(1 << 16):
            authentic += len(part)
    assert authentic == vector["authentic"]


def test_writer_that_is_left_by_an_error_completes_no_file() -> None:
    target = io.BytesIO()
    writer = SealedWriter(target, JWE, KEY)
    writer.write(b"first half")
    writer.__exit__(RuntimeError, RuntimeError(), None)
    writer.close()
    target.seek(0)
    with pytest.raises(FileNotAuthentic):
        reader(target, Head.read(target), KEY).read()


def test_reader_takes_a_source_that_gives_few_bytes(tmp_path: Path) -> None:
    content = os.urandom(3 << 20)
    path = tmp_path / "sealed"
    with path.open("wb") as target, SealedWriter(target, JWE, KEY) as writer:
        for start in range(0, len(content), 99_999):
            writer.write(content[start : start + 99_999])
    with path.open("rb", buffering=7) as source:
        assert reader(source, Head.read(source), KEY).read() == content
