"""A cache of data keys. It is off by default."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock

from .errors import UnexpectedAnswer
from .models import Context, DataKey, Jwe
from .operations import Operations
from .steps import Event, Steps, Wait

MAX_ENTRIES = 1000


@dataclass(frozen=True, slots=True)
class DataKeyCounters:
    """How many keys the cache had, and how many it asked the service for."""

    hits: int
    misses: int


@dataclass(slots=True)
class _Entry:
    key: DataKey
    made: float
    messages: int = 0
    size: int = 0


class DataKeyCache:
    """Reuses data keys: each for `max_age` seconds, `max_messages` messages and `max_bytes` bytes.

    A key for encryption is spent by the first limit that it reaches. Opened keys are kept for `max_age`
    seconds. Concurrent callers that need the same key cause one request.
    """

    def __init__(
        self,
        *,
        max_age: float,
        max_messages: int,
        max_bytes: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.max_age = max_age
        self.max_messages = max_messages
        self.max_bytes = max_bytes
        self._clock = clock
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._pending: dict[Hashable, Event] = {}
        self._hits = self._misses = 0

    @property
    def counters(self) -> DataKeyCounters:
        """What the cache saved so far."""
        with self._lock:
            return DataKeyCounters(self._hits, self._misses)

    def clear(self) -> None:
        """Forgets all keys."""
        with self._lock:
            self._entries.clear()

    def __repr__(self) -> str:
        limits = f"max_age={self.max_age}, max_messages={self.max_messages}, max_bytes={self.max_bytes}"
        return f"DataKeyCache({limits})"

    def get(
        self,
        name: Hashable,
        size: int,
        new_event: Callable[[], Event],
        make: Callable[[], Steps[DataKey]],
        deadline: float | None,
    ) -> Steps[DataKey]:
        """The key of this name, for a message of `size` bytes."""
        while True:
            with self._lock:
                if (key := self._take(name, size)) is not None:
                    self._hits += 1
                    return key
                pending = self._pending.get(name)
                if pending is None:
                    event = self._pending[name] = new_event()
                    self._misses += 1
                    break
            yield Wait(pending, deadline)
        try:
            asked = self._clock()
            key = yield from make()
            with self._lock:
                self._put(name, _Entry(key, asked, 1, size))
            return key
        finally:
            with self._lock:
                del self._pending[name]
            event.set()

    def _take(self, name: Hashable, size: int) -> DataKey | None:
        entry = self._entries.get(name)
        if entry is None:
            return None
        if self._clock() - entry.made >= self.max_age:
            del self._entries[name]
            return None
        if entry.messages >= self.max_messages or entry.size + size > self.max_bytes:
            return None
        entry.messages += 1
        entry.size += size
        self._entries.move_to_end(name)
        return entry.key

    def _put(self, name: Hashable, entry: _Entry) -> None:
        self._entries[name] = entry
        self._entries.move_to_end(name)
        if len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)


class DataKeyOperations(Operations):
    """Data keys, through the cache if the client has one."""

    def __init__(self, cache: DataKeyCache | None, new_event: Callable[[], Event]) -> None:
        super().__init__()
        self.cache = cache
        self.new_event = new_event

    def cached_data_key(
        self,
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        algorithm: str | None = None,
        size: int = 0,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[DataKey]:
        """A data key for a message of `size` bytes, from the cache if it has one."""

        def make() -> Steps[DataKey]:
            return self.data_key(
                policy_number=policy_number,
                context=context,
                algorithm=algorithm,
                request_id=request_id,
                deadline=deadline,
            )

        if self.cache is None:
            return (yield from make())
        name = ("made", policy_number, _text(context), algorithm)
        return (yield from self.cache.get(name, size, self.new_event, make, deadline))

    def open_data_key(
        self,
        jwe: Jwe,
        *,
        policy_number: str | None = None,
        context: Context | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[bytes]:
        """The data key in an envelope, from the cache if it has it."""

        def make() -> Steps[DataKey]:
            opened = yield from self.unprotect(
                jwe, policy_number=policy_number, context=context, request_id=request_id, deadline=deadline
            )
            return DataKey("", jwe, opened.data, opened.request_id)

        if self.cache is None:
            return secret((yield from make()))
        name = ("opened", policy_number, _text(context), _text(jwe))
        return secret((yield from self.cache.get(name, 0, self.new_event, make, deadline)))


def secret(key: DataKey) -> bytes:
    """The key itself. Raises `UnexpectedAnswer` if the service did not send it."""
    if key.key is None:
        raise UnexpectedAnswer("the answer has no key", request_id=key.request_id)
    return key.key


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)
