"""Policies by name or path: those that ship with the package, and files."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from twin.errors import InputError
from twin.training.policy import ENDING, Policy


def policy_names() -> tuple[str, ...]:
    """Return the names of the shipped policies."""
    folder = files("twin.training.policies")
    return tuple(
        sorted(
            entry.name.removesuffix(ENDING)
            for entry in folder.iterdir()
            if entry.name.endswith(ENDING)
        )
    )


def load_policy(name: str | Path) -> Policy:
    """Return a shipped policy by name, or the one in a file.

    Raises:
        InputError: neither, or a file that is no policy.
    """
    if not isinstance(name, (str, Path)):
        raise InputError("policy", f"must be a name or a path, not {name!r}")
    if str(name) in policy_names():
        return Policy.load(Path(str(files("twin.training.policies") / f"{name}{ENDING}")))
    if Path(name).is_file():
        return Policy.load(name)
    raise InputError(
        "policy", f"no policy called {str(name)!r} and no such file; known: {_known()}"
    )


def _known() -> str:
    return ", ".join(policy_names()) or "none"
