"""A column type for SQLAlchemy.

    iban: Mapped[Sealed] = mapped_column(Protected(client, table="customers", column="iban"))

Assign a plain value; after the row is loaded, the attribute is a `Sealed`. A row that is written costs one
request for each protected column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Text
from sqlalchemy.types import TypeDecorator

from .fields import Field, Sealed

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

    from .client import Client

__all__ = ["Protected", "Sealed"]


class Protected(TypeDecorator[Any]):
    """A column whose values are protected by Sealward, stored as text."""

    impl = Text
    cache_ok = False

    def __init__(self, client: Client, *, table: str, column: str, policy_number: str | None = None) -> None:
        super().__init__()
        self._field = Field(client, table, column, policy_number)

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Protects a value that is written."""
        return None if value is None else self._field.seal(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Sealed | None:  # noqa: ARG002
        """Wraps a value that is loaded."""
        return None if value is None else self._field.load(value)
