"""Calls as steps: a call yields what it needs, and a client of threads or of tasks does it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from .exchange import Part, Request

T = TypeVar("T")


class Event(Protocol):
    """An event of threads or of tasks."""

    def set(self) -> object:
        """Wakes all who wait."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits until another call is finished."""

    event: Any
    deadline: float | None


@dataclass(frozen=True, slots=True)
class Work:
    """Work that reads or writes files."""

    function: Callable[[], Any]


Steps = Generator[Request | Wait | Work, Any, T]
"""A call: it yields steps, is sent their results, and returns its own result."""


def ask(request: Request) -> Steps[Part]:
    """Sends a request and returns its result."""
    return cast(Part, (yield request))


def work(function: Callable[[], T]) -> Steps[T]:
    """Does work and returns its result."""
    return cast(T, (yield Work(function)))
