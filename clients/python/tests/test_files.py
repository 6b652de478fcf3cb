"""Files and streams through a client, against a real service."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
from pathlib import Path

import anyio
import pytest

from sealward import AsyncClient, Client, DataKeyCache, DecryptionFailed, FileNotAuthentic

WORLD = json.loads(Path(os.environ["SEALWARD_WORLD"]).read_text())
CONTEXT = {"file": "archive.tar"}
MEBIBYTE = 1 << 20

client = Client(WORLD["service"], WORLD["apiKey"])


def test_file_comes_back_with_progress(tmp_path: Path) -> None:
    plain, sealed, back = (tmp_path / name for name in ("plain", "sealed", "back"))
    plain.write_bytes(os.urandom(3 * MEBIBYTE + 5))
    told: list[int] = []
    client.encrypt_file(plain, sealed, context=CONTEXT, progress=told.append)
    client.decrypt_file(sealed, back, context=CONTEXT, progress=told.append)
    assert back.read_bytes() == plain.read_bytes()
    assert told == [MEBIBYTE, 2 * MEBIBYTE, 3 * MEBIBYTE, 3 * MEBIBYTE + 5] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "plain", "sealed"]


def test_asynchronous_client_reads_what_the_other_wrote(tmp_path: Path) -> None:
    plain, sealed, back = (tmp_path / name for name in ("plain", "sealed", "back"))
    plain.write_bytes(b"content")
    client.encrypt_file(plain, sealed)

    async def decrypt() -> None:
        async with AsyncClient(WORLD["service"], WORLD["apiKey"]) as asynchronous:
            await asynchronous.decrypt_file(sealed, back)

    anyio.run(decrypt)
    assert back.read_bytes() == b"content"


def test_file_that_fails_leaves_an_existing_target_alone(tmp_path: Path) -> None:
    plain, sealed, back = (tmp_path / name for name in ("plain", "sealed", "back"))
    plain.write_bytes(os.urandom(2 * MEBIBYTE))
    client.encrypt_file(plain, sealed)
    sealed.write_bytes(sealed.read_bytes()[:-1])
    back.write_bytes(b"old")
    with pytest.raises(FileNotAuthentic):
        client.decrypt_file(sealed, back)
    assert back.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "plain", "sealed"]


def test_file_of_another_context_does_not_open(tmp_path: Path) -> None:
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(b"content")
    client.encrypt_file(plain, sealed, context=CONTEXT)
    with pytest.raises(DecryptionFailed):
        client.decrypt_file(sealed, tmp_path / "back", context={"file": "other"})


def test_streams_need_little_memory() -> None:
    target = io.BytesIO()
    with client.sealed_writer(target) as writer:
        for _ in range(40):
            writer.write(bytes(MEBIBYTE))
    target.seek(0)
    tracemalloc.start()
    opened = client.sealed_reader(target)
    length = sum(len(chunk) for chunk in iter(lambda: opened.read(100_000), b""))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length == 40 * MEBIBYTE
    assert peak < 8 * MEBIBYTE


def test_cache_of_data_keys_saves_calls(tmp_path: Path) -> None:
    cache = DataKeyCache(max_age=300, max_messages=100, max_bytes=1 << 30)
    plain = tmp_path / "plain"
    plain.write_bytes(b"content")
    with Client(WORLD["service"], WORLD["apiKey"], data_key_cache=cache) as caching:
        for number in range(10):
            caching.encrypt_file(plain, tmp_path / f"sealed {number}")
        for number in range(10):
            caching.decrypt_file(tmp_path / f"sealed {number}", tmp_path / "back")
    assert (cache.counters.hits, cache.counters.misses) == (18, 2)
