"""Errors raised on purpose: one root, children that are also the fitting builtin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class TwinError(Exception):
    """Root of all errors raised by the package."""


class InputError(TwinError, ValueError):
    """An argument has the wrong shape, type, unit or value.

    Attributes:
        field: name of the offending argument, with an index where one entry is meant.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.field, self.message)


class ParameterError(TwinError, ValueError):
    """A platform.toml cannot be used.

    Attributes:
        file: the file that was read.
        problems: pairs (field path, what is wrong and what to do).
    """

    def __init__(self, file: str | Path, problems: Sequence[tuple[str, str]]) -> None:
        lines = "\n".join(f"  {field}: {message}" for field, message in problems)
        super().__init__(f"{file}:\n{lines}")
        self.file = Path(file)
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.file, self.problems)


class MachineNotFoundError(TwinError, FileNotFoundError):
    """No machine of that name is in the catalogue and no such file exists.

    Attributes:
        name: what was asked for.
        known: names in the catalogue.
    """

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(
            f"no machine called {name!r} and no such file; known machines: {', '.join(known)}. "
            "Give one of these names or the path of a platform.toml."
        )
        self.name = name
        self.known = tuple(known)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.name, self.known)


class MissingDependencyError(TwinError, ImportError):
    """An optional library is needed for this call and is not installed.

    Attributes:
        library: the library that is missing.
    """

    def __init__(self, library: str, purpose: str, install: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed. Run: {install}")
        self.library = library
        self.purpose = purpose
        self.install = install

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.library, self.purpose, self.install)


class StateError(TwinError, RuntimeError):
    """A computation stopped; `data` holds what is needed to look into it or to replay it."""

    def __init__(self, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = dict(data or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.message, self.data)


class ForwardKinematicsError(StateError):
    """No pose has the given coordinates (`data`: index, residual, iterations, pose, lengths)."""


class SingularPoseError(StateError):
    """The pose is singular for the question asked (`data`: index, pose)."""


class UnreachablePoseError(StateError):
    """A leg is too short or too long for the pose (`data`: index, pose, legs from 1)."""


class IntegrationError(StateError):
    """The integrator stopped before the end (`data`: reason, time, pose, twist, step)."""


class SimulationStoppedError(StateError):
    """An engine left the range where its answer means anything (`data`: reason, dump, state)."""


class ControlError(StateError):
    """A controller cannot go on; a closed loop then stops its machine safely and keeps the reason.

    `data` is what the controller adds.
    """


class ClosedEngineError(StateError):
    """An engine was used after `close` or before `reset`."""
