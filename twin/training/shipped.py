"""Policies by name or path: those that ship with the package, and files."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from twin.errors import InputError
from twin.training.policy import ENDING, Policy


def policy_names() -> tuple[str, ...]:
    """Return the names of the shipped policies."""
    entries = (Path(entry.name) for entry in files("twin.training.policies").iterdir())
    return tuple(sorted(entry.stem for entry in entries if entry.suffix == ENDING))


def policies_of(environment: str) -> tuple[str, ...]:
    """Return the names of the shipped policies for an environment."""
    names = policy_names()
    return tuple(name for name in names if load_policy(name).origin.environment == environment)


def load_policy(name: str | Path, known: Sequence[str] = ()) -> Policy:
    """Return a shipped policy by name, or the one in a file.

    Args:
        name: name or path.
        known: names that the error for an unknown one lists; default: the shipped policies.

    Raises:
        InputError: an unknown name, or a file without a policy.
    """
    if not isinstance(name, (str, Path)):
        raise InputError("policy", f"must be a name or a path, not {name!r}")
    if str(name) in policy_names():
        return Policy.load(Path(str(files("twin.training.policies") / f"{name}{ENDING}")))
    if Path(name).is_file():
        return Policy.load(name)
    names = ", ".join(known or policy_names())
    raise InputError("policy", f"no policy called {str(name)!r} and no such file; known: {names}")


def policy_for(name: str | Path, environment: str, others: Sequence[str] = ()) -> Policy:
    """Return a shipped policy by name, or the one in a file, for an environment.

    Args:
        name: name or path.
        environment: id.
        others: names that the error for an unknown one lists before the shipped policies.

    Raises:
        InputError: as `load_policy`, or a policy for another environment.
    """
    policy = load_policy(name, (*others, *policies_of(environment)))
    if policy.origin.environment != environment:
        raise InputError(
            "policy", f"{name} is for {policy.origin.environment}, not for {environment}"
        )
    return policy
