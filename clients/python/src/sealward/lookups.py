"""What a client looked up, kept for a minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from .steps import Steps

T = TypeVar("T")

MAX_AGE = 60.0
MAX_ENTRIES = 1000


class Lookups(Generic[T]):
    """Results by name, each at most 60 s old."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, T]] = {}

    def get(self, name: str, look_up: Callable[[], Steps[T]]) -> Steps[tuple[T, bool]]:
        """The result, and whether it was just looked up. Failures are not kept."""
        found = self._known.get(name)
        if found is not None and self._clock() - found[0] < MAX_AGE:
            return found[1], False
        asked = self._clock()
        result = yield from look_up()
        if len(self._known) >= MAX_ENTRIES:
            self._known.clear()
        self._known[name] = (asked, result)
        return result, True

    def forget(self, name: str) -> None:
        """Looks the name up again next time."""
        self._known.pop(name, None)
