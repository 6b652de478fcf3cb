"""Files and streams."""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .data_keys import DataKeyOperations, secret
from .models import Context, DataKey
from .steps import Steps, work

if TYPE_CHECKING:
    from .sealed_files import SealedWriter

Progress = Callable[[int], object]
"""Receives the number of plaintext bytes so far, about once for each mebibyte."""

CHUNK = 1 << 20
ALGORITHM = "AES-256"


class FileOperations(DataKeyOperations):
    """Sealed files. All calls need `sealward[crypto]`. Memory does not grow with the file."""

    def encrypt_file(
        self,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        progress: Progress | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[None]:
        """Encrypts a file. The target appears when it is complete. The deadline covers only the request."""
        size = yield from work(lambda: Path(source).stat().st_size)
        key = yield from self._new_key(policy_number, context, size, request_id, deadline)
        yield from work(partial(_encrypt, Path(source), Path(target), key, progress))

    def decrypt_file(
        self,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        progress: Progress | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[None]:
        """Decrypts a file. The target appears when the last segment is authentic.

        Raises `MalformedFile`, or `FileNotAuthentic` if the file was truncated, extended or changed. It then
        leaves no target.
        """
        from .sealed_files import Head

        head = yield from work(partial(_read_head, Path(source)))
        key = yield from self.open_data_key(
            Head(head).jwe(),
            policy_number=policy_number,
            context=context,
            request_id=request_id,
            deadline=deadline,
        )
        yield from work(partial(_decrypt, Path(source), Path(target), key, progress))

    def sealed_writer(
        self,
        target: BinaryIO,
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        size: int = 0,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[SealedWriter]:
        """A file that encrypts what is written, and writes it to `target`. Close it to complete it.

        `size` is the expected number of bytes, for the limits of the cache of data keys.
        """
        from .sealed_files import SealedWriter

        key = yield from self._new_key(policy_number, context, size, request_id, deadline)
        return SealedWriter(target, key.jwe, secret(key))

    def sealed_reader(
        self,
        source: BinaryIO,
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[io.BufferedReader]:
        """A file that reads the plaintext of a sealed file.

        Each segment is authentic when it is read. A cut end raises `FileNotAuthentic` only at the end, so do
        not act on the content before you have read all of it.
        """
        from .sealed_files import Head, reader

        head = yield from work(partial(Head.read, source))
        key = yield from self.open_data_key(
            head.jwe(), policy_number=policy_number, context=context, request_id=request_id, deadline=deadline
        )
        return reader(source, head, key)

    def _new_key(
        self,
        policy_number: str | None,
        context: Context | None,
        size: int,
        request_id: str | None,
        deadline: float | None,
    ) -> Steps[DataKey]:
        return self.cached_data_key(
            policy_number=policy_number,
            context=context,
            algorithm=ALGORITHM,
            size=size,
            request_id=request_id,
            deadline=deadline,
        )


def _encrypt(source: Path, target: Path, key: DataKey, progress: Progress | None) -> None:
    from .sealed_files import SealedWriter

    with (
        source.open("rb") as plain,
        _replacing(target) as sealed,
        SealedWriter(sealed, key.jwe, secret(key)) as writer,
    ):
        _copy(plain, writer.write, progress)


def _decrypt(source: Path, target: Path, key: bytes, progress: Progress | None) -> None:
    from .sealed_files import Head, reader

    with source.open("rb") as sealed, _replacing(target) as plain:
        _copy(reader(sealed, Head.read(sealed), key), plain.write, progress)


def _read_head(source: Path) -> bytes:
    from .sealed_files import Head

    with source.open("rb") as sealed:
        return Head.read(sealed).line


def _copy(source: BinaryIO, write: Callable[[bytes], object], progress: Progress | None) -> None:
    done = 0
    while chunk := source.read(CHUNK):
        write(chunk)
        done += len(chunk)
        if progress is not None:
            progress(done)


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """A new file beside the target, which replaces the target when it is complete, and else goes away."""
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink()
        raise
