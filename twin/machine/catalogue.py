"""Machines by name or by path."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from twin.errors import InputError, MachineNotFoundError, brief


@lru_cache(maxsize=1)
def assets_folder() -> Path:
    """Return the folder that holds the shipped machines; the one place that resolves it."""
    import twin.assets

    return Path(next(iter(twin.assets.__path__)))


def machine_names() -> tuple[str, ...]:
    """Return the names of the shipped machines, sorted."""
    return tuple(sorted(path.parent.name for path in assets_folder().glob("*/platform.toml")))


def gallery_names() -> tuple[str, ...]:
    """Return the names of the machines of the gallery, sorted."""
    return tuple(sorted(path.stem for path in _gallery_folder().glob("*.toml")))


def parameters_path(machine: str | Path) -> Path:
    """Return the file of a shipped machine or of the gallery, or the given path if it is a file.

    Raises:
        InputError: not a name or path.
        MachineNotFoundError: not a known name and not a file.
    """
    if not isinstance(machine, (str, Path)) or not str(machine) or "\0" in str(machine):
        raise InputError(
            "machine", f"must be a name or the path of a platform.toml, not {brief(machine)}"
        )
    if machine in machine_names():
        return assets_folder() / machine / "platform.toml"
    if machine in gallery_names():
        return _gallery_folder() / f"{machine}.toml"
    try:
        path = Path(machine).expanduser()
        found = path.is_file()
    except (OSError, RuntimeError):
        # A name too long for the file system, or the home folder of a user that does not exist.
        found = False
    if not found:
        raise MachineNotFoundError(str(machine), machine_names(), gallery_names())
    return path


def _gallery_folder() -> Path:
    return assets_folder() / "gallery"
