"""A model field for Django.

    iban = ProtectedField(table="customers", column="iban")

The setting `SEALWARD_CLIENT` is the dotted name of a function that returns the client; by default, the
environment names the service. Assign a plain value; after the row is loaded, the attribute is a `Sealed`.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string

from .client import Client
from .fields import Field, Sealed

__all__ = ["ProtectedField", "Sealed"]


@lru_cache(maxsize=1)
def client() -> Client:
    """The client of all fields."""
    name = getattr(settings, "SEALWARD_CLIENT", None)
    made: Client = import_string(name)() if name else Client.from_environment()
    return made


class ProtectedField(models.TextField):  # type: ignore[type-arg] # generic only for type checkers
    """A field whose values are protected by Sealward, stored as text. It supports no look-ups but `isnull`."""

    def __init__(self, *args: Any, table: str, column: str, policy_number: str | None = None, **options: Any) -> None:
        self.table, self.protected_column, self.policy_number = table, column, policy_number
        super().__init__(*args, **options)

    @cached_property
    def _protection(self) -> Field:
        return Field(client(), self.table, self.protected_column, self.policy_number)

    def deconstruct(self) -> Any:
        """What a migration states."""
        name, path, args, options = super().deconstruct()
        options |= {"table": self.table, "column": self.protected_column}
        if self.policy_number is not None:
            options["policy_number"] = self.policy_number
        return name, path, args, options

    def from_db_value(self, value: str | None, *_: Any) -> Sealed | None:
        """Wraps a value that is loaded."""
        return None if value is None else self._protection.load(value)

    def to_python(self, value: Any) -> Any:
        """Keeps a value of a form as it is."""
        return value

    def get_prep_value(self, value: Any) -> Any:
        """Keeps the value; `get_db_prep_save` protects it."""
        return value

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:  # noqa: ARG002 # Django names it
        """Protects a value that is written."""
        if value is None or hasattr(value, "as_sql"):
            return value
        return self._protection.seal(value)

    def get_lookup(self, lookup_name: str) -> Any:
        """Only `isnull`: envelopes of equal values differ."""
        return super().get_lookup(lookup_name) if lookup_name == "isnull" else None
