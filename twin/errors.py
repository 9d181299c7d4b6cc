"""Errors raised on purpose: one root, children that are also the fitting builtin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from reprlib import Repr
from typing import Any

MAX_LISTED = 10
"""Entries of a list that a message names; of more it gives the number."""

MAX_MESSAGE_LENGTH = 2000
"""Characters of a message, beyond which it is cut."""

_SHORT = Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxarray = MAX_LISTED
_SHORT.maxstring = _SHORT.maxother = 200
_SHORT.maxlevel = 3


def brief(value: Any) -> str:
    """Return a value as a message shows it: ten entries of a long list, and their number."""
    try:
        text = _SHORT.repr(value)
    except Exception:  # an integer of 5,000 digits, an object whose own description fails
        return f"a value of type {type(value).__name__}"
    more = isinstance(value, list | tuple | dict | set | frozenset) and len(value) > MAX_LISTED
    return f"{text} ({len(value)} entries)" if more else text


def listed(names: Iterable[Any], separator: str = ", ") -> str:
    """Return names one after the other; of more than ten the first ten and the number of others."""
    texts = [str(name) for name in names]
    more = [f"and {len(texts) - MAX_LISTED} more"] if len(texts) > MAX_LISTED else []
    return separator.join(texts[:MAX_LISTED] + more)


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= MAX_MESSAGE_LENGTH
        else f"{text[:MAX_MESSAGE_LENGTH]}... ({len(text)} characters)"
    )


class TwinError(Exception):
    """Root of all errors raised by the package."""


class TwinWarning(UserWarning):
    """A run does something that its input does not say; it is said once."""


class InputError(TwinError, ValueError):
    """An argument has the wrong shape, type, unit or value.

    Attributes:
        field: name of the offending argument, with an index where one entry is meant.
    """

    def __init__(self, field: str, message: str) -> None:
        self.field = _cut(field)
        self.message = _cut(message)
        super().__init__(f"{self.field}: {self.message}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.field, self.message)


class UnknownOptionError(InputError, TypeError):
    """An environment does not take a keyword argument; a TypeError, as functions raise it."""

    def __init__(self, field: str, message: str = "") -> None:
        # `gymnasium.make` raises a TypeError again, with its whole text and an addition alone.
        text = f"{field}: {message}" if message else field
        name, _, rest = text.partition(" was raised from the environment")[0].partition(": ")
        super().__init__(name, rest)


class ParameterError(TwinError, ValueError):
    """A platform.toml cannot be used.

    Attributes:
        file: the file that was read.
        problems: pairs (field path, what is wrong and what to do).
    """

    def __init__(self, file: str | Path, problems: Sequence[tuple[str, str]]) -> None:
        lines = (f"  {_cut(field)}: {_cut(message)}" for field, message in problems[:MAX_LISTED])
        more = [f"  and {len(problems) - MAX_LISTED} more"] if len(problems) > MAX_LISTED else []
        super().__init__("\n".join([f"{file}:", *lines, *more]))
        self.file = Path(file)
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.file, self.problems)


class MachineNotFoundError(TwinError, FileNotFoundError):
    """No machine of that name is in the catalogue and no such file exists.

    Attributes:
        name: what was asked for.
        known: names of the shipped machines.
        gallery: names of the machines of the gallery.
    """

    def __init__(self, name: str, known: Sequence[str], gallery: Sequence[str] = ()) -> None:
        close = get_close_matches(name[:100], (*known, *gallery), 1)
        more = f"; gallery: {', '.join(gallery)}" if gallery else ""
        advice = (
            f"did you mean {close[0]!r}? `twin list` names all machines"
            if close
            else f"known machines: {', '.join(known)}{more}. "
            "Give one of these names or the path of a platform.toml"
        )
        super().__init__(f"no machine called {_cut(name)!r} and no such file; {advice}.")
        self.name = name
        self.known = tuple(known)
        self.gallery = tuple(gallery)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.name, self.known, self.gallery)


class MissingDependencyError(TwinError, ImportError):
    """An optional library is needed for this call, and is not installed or cannot be imported.

    Attributes:
        library: the library that is missing.
        purpose: what needs it.
        install: command that installs it.
        cause: why it cannot be imported; empty where it is not installed.
    """

    def __init__(self, library: str, purpose: str, install: str, cause: str = "") -> None:
        state = f"is installed but fails when imported ({cause})" if cause else "is not installed"
        super().__init__(f"{purpose} needs {library}, which {state}. Run: {install}")
        self.library = library
        self.purpose = purpose
        self.install = install
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.library, self.purpose, self.install, self.cause)


class StateError(TwinError, RuntimeError):
    """A valid call could not be carried out; `data` holds what is needed to look into it."""

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


class ImpossibleDesignError(StateError):
    """No machine meets all demands (`data`: missed, in_the_way: names of demands)."""


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
