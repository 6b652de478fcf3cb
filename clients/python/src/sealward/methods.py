"""Methods of a client that look like the calls they perform."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def like(operation: Callable[..., Any]) -> Callable[[F], F]:
    """Gives a method the name, the documentation and the parameters of a call."""

    def decorate(method: F) -> F:
        method.__name__ = operation.__name__
        method.__qualname__ = f"{method.__qualname__.split('.')[0]}.{operation.__name__}"
        method.__doc__ = operation.__doc__
        signature = inspect.signature(operation)
        result = str(signature.return_annotation).removeprefix("Steps[").removesuffix("]")
        method.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
        return method

    return decorate
