"""Sealed files: a data key in an envelope, and segments of AES-256-GCM. FILE.md specifies the format."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self, cast

from .codec import read_jwe
from .errors import FileNotAuthentic, MalformedFile
from .models import JWE_MEMBERS, Jwe
from .primitives import AESGCM, HKDF, SHA256, InvalidTag

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SEGMENT = 1 << 20
KEY = 32
SALT = 32
PREFIX = 7
HEADER = 1 + SALT + PREFIX
TAG = 16
MAX_LINE = 16 << 10
LINE = re.compile(
    b"{" + b",".join(b'"%s":"[A-Za-z0-9_-]+"' % name.encode() for name in JWE_MEMBERS) + b"}\n",
)


class Sink(Protocol):
    """Something that takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Takes all bytes."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of a sealed file."""

    line: bytes

    @classmethod
    def of(cls, jwe: Jwe) -> Head:
        """The line of an envelope."""
        members = cast(dict[str, str], jwe)
        text = json.dumps({name: members[name] for name in JWE_MEMBERS}, separators=(",", ":"))
        return cls(text.encode() + b"\n")

    @classmethod
    def read(cls, source: BinaryIO) -> Head:
        """Reads the line. Raises `MalformedFile`."""
        line = source.readline(MAX_LINE)
        if not LINE.fullmatch(line):
            raise MalformedFile("this is not a sealed file")
        return cls(line)

    def jwe(self) -> Jwe:
        """The envelope."""
        return read_jwe(json.loads(self.line))

    def associated_data(self) -> bytes:
        """What binds the segments to the line."""
        return hashlib.sha256(self.line).digest()


class Segments:
    """The cipher of the segments of one file."""

    def __init__(self, head: Head, key: bytes, salt: bytes, prefix: bytes) -> None:
        if len(key) != KEY:
            raise MalformedFile("the envelope contains no key of 32 bytes")
        derived = HKDF(SHA256(), 32, salt, head.associated_data()).derive(key)
        self._cipher = AESGCM(derived)
        self._prefix = prefix
        self._number = 0

    def seal(self, plaintext: bytes, last: bool) -> bytes:
        """The next segment."""
        return self._cipher.encrypt(self._nonce(last), plaintext, None)

    def open(self, segment: bytes, last: bool) -> bytes:
        """The plaintext of the next segment. Raises `FileNotAuthentic`."""
        if len(segment) < TAG or (len(segment) == TAG and self._number > 0):
            raise _not_authentic()
        try:
            return self._cipher.decrypt(self._nonce(last), segment, None)
        except InvalidTag:
            raise _not_authentic() from None

    def _nonce(self, last: bool) -> bytes:
        number, self._number = self._number, self._number + 1
        return self._prefix + struct.pack(">IB", number, last)


def _not_authentic() -> FileNotAuthentic:
    return FileNotAuthentic("the sealed file was truncated, extended or changed; this is final")


class SealedWriter:
    """Encrypts what is written. `close` completes the file; leaving a `with` block by an error does not."""

    def __init__(self, target: Sink, jwe: Jwe, key: bytes) -> None:
        head, salt, prefix = Head.of(jwe), os.urandom(SALT), os.urandom(PREFIX)
        self._target = target
        self._segments = Segments(head, key, salt, prefix)
        self._buffer = bytearray()
        self._room = SEGMENT - HEADER - TAG
        self._closed = False
        target.write(head.line + bytes([HEADER]) + salt + prefix)

    def write(self, data: bytes, /) -> int:
        """Encrypts bytes. The last segment waits for `close`."""
        if self._closed:
            raise ValueError("write to a closed file")
        self._buffer += data
        while len(self._buffer) > self._room:
            self._target.write(self._segments.seal(bytes(self._buffer[: self._room]), last=False))
            del self._buffer[: self._room]
            self._room = SEGMENT - TAG
        return len(data)

    def close(self) -> None:
        """Writes the last segment. Without it, the file cannot be decrypted to its end."""
        if not self._closed:
            self._closed = True
            self._target.write(self._segments.seal(bytes(self._buffer), last=True))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        self._closed = True


class _OpenSegments(io.RawIOBase):
    """The plaintext of a sealed file, after its first line."""

    def __init__(self, source: BinaryIO, head: Head, key: bytes) -> None:
        self._source = source
        header = _read_fully(source, HEADER)
        if len(header) != HEADER or header[0] != HEADER:
            raise MalformedFile("this is not a sealed file")
        self._segments = Segments(head, key, header[1 : 1 + SALT], header[1 + SALT :])
        self._ahead = b""
        self._size = SEGMENT - HEADER
        self._plaintext = memoryview(b"")
        self._done = False

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Reads authentic bytes. Raises `FileNotAuthentic` at a changed segment and at a cut end."""
        while not self._plaintext and not self._done:
            self._open_next()
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._plaintext))
        view[:count] = self._plaintext[:count]
        self._plaintext = self._plaintext[count:]
        return count

    def _open_next(self) -> None:
        data = self._ahead + _read_fully(self._source, self._size + 1 - len(self._ahead))
        segment, self._ahead = data[: self._size], data[self._size :]
        self._done = not self._ahead
        self._plaintext = memoryview(self._segments.open(segment, self._done))
        self._size = SEGMENT


def reader(source: BinaryIO, head: Head, key: bytes) -> io.BufferedReader:
    """A file that reads the plaintext of a sealed file."""
    return io.BufferedReader(_OpenSegments(source, head, key), SEGMENT)


def _read_fully(source: BinaryIO, size: int) -> bytes:
    parts = []
    while size and (part := source.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
