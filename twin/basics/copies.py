"""Objects that cannot be copied."""

from __future__ import annotations

from typing import Any

from twin.errors import StateError


class NotCopied:
    """An object that holds a connection, a file or a library's memory: each is the only one."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse `copy`, `deepcopy` and `pickle`; raises StateError."""
        raise StateError(f"{type(self).__name__} cannot be copied or pickled; make another one")
