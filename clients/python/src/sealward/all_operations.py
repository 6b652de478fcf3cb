"""All calls of both clients."""

from __future__ import annotations

from .fields import FieldOperations
from .local import LocalOperations


class AllOperations(FieldOperations, LocalOperations):
    """All calls."""
