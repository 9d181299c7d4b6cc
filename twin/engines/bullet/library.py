"""PyBullet, imported without its chatter; the one place that imports the library."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from twin.basics.optional import optional
from twin.basics.temporary import remove_leftovers, temporary_place
from twin.errors import InputError

MEMORY = "/dev/shm"
PREFIX = "platform_twin_bullet_"
"""Of the names of temporary files."""


_STREAMS = RLock()
"""Held while standard output and error lead to the null device: two threads would mix them up."""


@contextmanager
def quiet() -> Iterator[None]:
    """Send what the process prints to the null device: the library talks on import and set-up.

    Threads wait for each other here. What another thread prints meanwhile is lost.
    """
    with _STREAMS:
        library = ctypes.CDLL(None if os.name == "posix" else "msvcrt")
        library.fflush(None)
        null = os.open(os.devnull, os.O_WRONLY)
        kept = {stream: _duplicate(stream) for stream in (1, 2)}
        try:
            for stream in kept:
                os.dup2(null, stream)
            yield
        finally:
            library.fflush(None)
            for stream, copy in kept.items():
                if copy is None:
                    os.close(stream)
                else:
                    os.dup2(copy, stream)
                    os.close(copy)
            os.close(null)


def _duplicate(stream: int) -> int | None:
    try:
        return os.dup(stream)
    except OSError:  # a program without a terminal may have closed it
        return None


with quiet():
    bullet: Any = optional("pybullet")


@contextmanager
def temporary_file(ending: str, content: bytes = b"") -> Iterator[Path]:
    """Lend a file, in memory where there is a place for it: Bullet takes nothing but files."""
    with temporary_place(_folder(), PREFIX, ending) as path:
        path.write_bytes(content)
        yield path


@lru_cache(maxsize=1)
def _folder() -> str:
    """Return the folder of temporary files, once freed of those of killed processes."""
    folder = MEMORY if os.access(MEMORY, os.W_OK) else tempfile.gettempdir()
    remove_leftovers(folder, PREFIX)
    return folder


def load(text: str, client: int, *, fixed: bool) -> int:
    """Return the body of a URDF text in a physics client, its base `fixed` or free.

    Raises:
        InputError: Bullet refuses the machine.
    """
    # Bullet keeps files by name, so that a name used twice would bring back the first machine.
    bullet.setPhysicsEngineParameter(enableFileCaching=0, physicsClientId=client)
    flags = bullet.URDF_USE_INERTIA_FROM_FILE | bullet.URDF_IGNORE_VISUAL_SHAPES
    # Otherwise a cylinder becomes a prism, a millimetre larger on all sides.
    flags |= bullet.URDF_USE_IMPLICIT_CYLINDER
    with temporary_file(".urdf", text.encode()) as path:
        try:
            body = bullet.loadURDF(
                str(path), useFixedBase=fixed, flags=flags, physicsClientId=client
            )
        except bullet.error as error:
            raise InputError("platform", f"Bullet refuses the machine: {error}") from None
    return int(body)


def connect() -> int:
    """Return a new physics client without a window.

    Raises:
        InputError: too many engines are open in this process.
    """
    client = int(bullet.connect(bullet.DIRECT))
    if client < 0:
        raise InputError("engine", "Bullet has no client left; close engines that are not needed")
    return client


def disconnect(client: int) -> None:
    """Free a physics client; one that is already gone is left alone."""
    if bullet.isConnected(client):
        bullet.disconnect(physicsClientId=client)
