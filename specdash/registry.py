"""What is declared: objects of one kind, each made by decorating the function that computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Declared = TypeVar("Declared")
Compute = TypeVar("Compute", bound=Callable[..., Any])


class Registry(Generic[Declared]):
    """The declared objects of a kind, by key.

    Args:
        what: What one is, for messages.
        make: Makes one from ``key``, ``compute`` and what else is declared.
    """

    def __init__(self, what: str, make: Callable[..., Declared]) -> None:
        self._what, self._make = what, make
        self._declared: dict[str, Declared] = {}

    def declare(self, key: str, **declared: object) -> Callable[[Compute], Compute]:
        """Return the decorator that declares a function as ``key``, with the other fields as keywords."""

        def declare(compute: Compute) -> Compute:
            if key in self._declared:
                raise ValueError(f"{self._what} {key} is declared twice")
            self._declared[key] = self._make(key=key, compute=compute, **declared)
            return compute

        return declare

    def get(self, key: str) -> Declared:
        """Return what is declared as ``key``.

        Raises:
            KeyError: Nothing is; the message lists what there is.
        """
        try:
            return self._declared[key]
        except KeyError:
            raise KeyError(f"no {self._what} {key!r}; there are: {', '.join(self._declared)}") from None

    def all(self) -> tuple[Declared, ...]:
        """Return everything declared, in the order of declaration."""
        return tuple(self._declared.values())
