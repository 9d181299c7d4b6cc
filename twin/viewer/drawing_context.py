"""Drawing without a display: the OpenGL library that draws into memory, chosen on first use.

MuJoCo itself picks one when it is imported, by the variable MUJOCO_GL, and else one that needs a
display. Here the choice is made when the first picture is asked for; MUJOCO_GL decides if set.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from functools import cache
from importlib import import_module
from typing import Any

from twin.engines.mujoco.model import mujoco
from twin.errors import InputError, MissingDependencyError

BACKENDS = ("egl", "osmesa", "glfw")
"""In the order they are tried: graphics card or Mesa, software alone, a hidden window."""

CHOICE = "MUJOCO_GL"
"""Environment variable with the name of a backend."""

INSTALL = "apt-get install libegl1 libgl1-mesa-dri (EGL), or libosmesa6 (OSMesa)"


def has_display() -> bool:
    """Return whether windows can be opened."""
    return sys.platform != "linux" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


@cache
def context_type() -> Any:
    """Return MuJoCo's class of drawing contexts of the first backend that works.

    Raises:
        InputError: MUJOCO_GL names none.
        MissingDependencyError: none works; says why.
    """
    failures = []
    for backend in _candidates():
        before = set(sys.modules)
        platform = os.environ.get("PYOPENGL_PLATFORM")
        try:
            if backend == "egl":
                _find_device()
            found = import_module(f"mujoco.{backend}").GLContext
            _try(found)
        # Missing libraries, drivers and displays show as errors of many kinds.
        except Exception as error:
            reason = str(error).strip() or type(error).__name__
            failures.append(f"{backend}: {reason.splitlines()[0]}")
            _forget(before, platform)
        else:
            return found
    reasons = "; ".join(failures)
    raise MissingDependencyError("an OpenGL library", f"Drawing ({reasons})", INSTALL)


def _try(context: Any) -> None:
    """Draw nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = context(16, 16)
        trial.make_current()
        try:
            model = mujoco.MjModel.from_xml_string("<mujoco/>")
            mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100).free()
        finally:
            trial.free()


def _find_device() -> None:
    """Raise OSError if EGL finds no device.

    A process that has loaded EGL for all to use cannot change to OSMesa: MuJoCo takes its
    functions from there. So EGL is asked before, by a handle of our own.
    """
    library = ctypes.CDLL("libEGL.so.1")
    library.eglGetProcAddress.restype = ctypes.c_void_p
    address = library.eglGetProcAddress(b"eglQueryDevicesEXT")
    if not address:
        raise OSError("EGL cannot list devices")
    count = ctypes.c_int(0)
    pointer = ctypes.POINTER(ctypes.c_int)
    listing = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, pointer)(address)
    if not listing(0, None, ctypes.byref(count)) or count.value < 1:
        raise OSError("no device, neither a graphics card nor Mesa's software")


def _candidates() -> tuple[str, ...]:
    asked = os.environ.get(CHOICE, "").lower().strip()
    if asked in BACKENDS:
        return (asked,)
    if asked not in ("", "glx", "enable", "enabled", "on", "true", "1"):
        raise InputError(CHOICE, f"the variable must be one of {', '.join(BACKENDS)}, or not set")
    return BACKENDS if has_display() else BACKENDS[:2]


def _forget(before: set[str], platform: str | None) -> None:
    """Undo the import of a backend: PyOpenGL binds itself to the first that it loads."""
    for name in set(sys.modules) - before:
        if name.split(".")[0] == "OpenGL" or name.startswith("mujoco."):
            del sys.modules[name]
    if platform is None:
        os.environ.pop("PYOPENGL_PLATFORM", None)
