"""Values of database fields: stored as envelopes, opened when they are read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .codec import read_jwe
from .errors import InvalidRequest, SealwardError
from .files import FileOperations
from .models import Context, Jwe, UnprotectRequest
from .rawjson import Json
from .steps import Steps

if TYPE_CHECKING:
    from .client import Client


class Sealed:
    """A value of a protected field. `value` opens it once; `open_all` opens many at once."""

    __slots__ = ("_client", "_known", "context", "jwe", "policy_number")

    def __init__(self, client: Client, jwe: Jwe, context: Context, policy_number: str | None) -> None:
        self._client = client
        self._known: list[Json] = []
        self.jwe = jwe
        self.context = context
        self.policy_number = policy_number

    @property
    def value(self) -> Json:
        """The value, opened by the service when it is first read."""
        if not self._known:
            opened = self._client.unprotect(self.jwe, policy_number=self.policy_number, context=self.context)
            self._known = [opened.value]
        return self._known[0]

    @property
    def is_open(self) -> bool:
        """Whether `value` needs no request."""
        return bool(self._known)

    def request(self) -> UnprotectRequest:
        """The request that opens the value."""
        return UnprotectRequest(self.jwe, policy_number=self.policy_number, context=self.context)

    def set_open(self, value: Json) -> None:
        """Keeps the value that the service opened."""
        self._known = [value]

    def text(self) -> str:
        """What the database stores."""
        return json.dumps(self.jwe, separators=(",", ":"))

    def __repr__(self) -> str:
        return f"Sealed(context={self.context!r})"


class Field:
    """A field whose values are bound to its table and its column."""

    def __init__(self, client: Client, table: str, column: str, policy_number: str | None) -> None:
        self.client = client
        self.context = {"table": table, "column": column}
        self.policy_number = policy_number

    def seal(self, value: Json) -> str:
        """What the database stores for a value. A sealed value of this field is stored unchanged."""
        if isinstance(value, Sealed):
            if value.context == self.context:
                return value.text()
            value = value.value
        envelope = self.client.protect(value, policy_number=self.policy_number, context=self.context)
        return json.dumps(envelope.jwe, separators=(",", ":"))

    def load(self, text: str) -> Sealed:
        """The value for what the database stores. Raises `InvalidRequest` if that is not an envelope."""
        try:
            jwe = read_jwe(json.loads(text))
        except (ValueError, RecursionError):
            raise InvalidRequest("the column does not hold an envelope") from None
        return Sealed(self.client, jwe, self.context, self.policy_number)


class FieldOperations(FileOperations):
    """Values of fields."""

    def open_all(
        self,
        values: Iterable[Sealed],
        *,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> Steps[list[Json]]:
        """Opens many values with few requests, and returns them. Raises the first error."""
        sealed = list(values)
        closed = [value for value in sealed if not value.is_open]
        requests = [value.request() for value in closed]
        results = yield from self.unprotect_batch(requests, request_id=request_id, deadline=deadline)
        for value, result in zip(closed, results, strict=True):
            if isinstance(result, SealwardError):
                raise result
            value.set_open(result.value)
        return [value.value for value in sealed]
