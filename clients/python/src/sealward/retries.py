"""How often and how long a client repeats a request."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from .errors import ConnectionFailed, DeadlineExceeded
from .exchange import Answer

FIRST_WAIT = 0.1
REPEATED = (429, 502, 503, 504)


@dataclass(frozen=True)
class Retries:
    """The limits of all calls of a client."""

    deadline: float = 30.0
    max_attempts: int = 3
    max_retry_after: float = 10.0
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random

    def begin(self, seconds: float | None) -> Attempts:
        """The attempts of one call, with one deadline for all its requests."""
        return Attempts(self, self.clock() + (self.deadline if seconds is None else seconds))


@dataclass
class Attempts:
    """The attempts of one request."""

    retries: Retries
    end: float
    made: int = 0

    def next_request(self) -> Attempts:
        """The attempts of the next request of the call."""
        return Attempts(self.retries, self.end)

    def remaining(self) -> float:
        """The seconds until the deadline. Raises `DeadlineExceeded`."""
        left = self.end - self.retries.clock()
        if left <= 0:
            raise deadline_exceeded()
        return left

    def wait_after(self, outcome: Answer | ConnectionFailed) -> float | None:
        """The seconds until the next attempt, or `None` if the outcome is final."""
        self.made += 1
        if self.made >= self.retries.max_attempts:
            return None
        if isinstance(outcome, Answer) and outcome.status not in REPEATED:
            return None
        if outcome.retry_after is None:
            wait = FIRST_WAIT * 2 ** (self.made - 1) * self.retries.jitter()
        else:
            wait = min(outcome.retry_after, self.retries.max_retry_after)
        return wait if wait < self.end - self.retries.clock() else None


def deadline_exceeded() -> DeadlineExceeded:
    """The error of a call whose deadline passed."""
    return DeadlineExceeded("the deadline passed before an answer arrived")
