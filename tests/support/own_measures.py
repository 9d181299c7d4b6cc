"""Measures of a user's own, for sweeps in tests; workers import them by name."""

import os
import signal
import time
from pathlib import Path

MORTAL, DEADLY = 150.0, 200.0
"""Masses [kg] above which the worker dies the first time, and every time."""

FOLDER = "OWN_MEASURES"
"""Environment variable: where to note what was begun and finished."""


def mass(trajectory, platform):
    """Return the platform's mass and the worker's process."""
    return {"mass": platform.parameters.platform.body.mass, "process": os.getpid()}


def deadly(trajectory, platform):
    """Note begin and end in the folder; kill the worker under a heavy platform."""
    found = mass(trajectory, platform)
    folder = Path(os.environ[FOLDER])
    name = f"{found['mass']:g}"
    first = not list(folder.glob(f"begun-{name}-*"))
    (folder / f"begun-{name}-{time.monotonic_ns()}").touch()
    if found["mass"] > DEADLY or (found["mass"] > MORTAL and first):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)
    (folder / f"ended-{name}-{time.monotonic_ns()}").touch()
    return found


def held(trajectory, platform):
    """Note the beginning; under more than 2 kg, wait until the folder has a file `open`."""
    found = mass(trajectory, platform)
    folder = Path(os.environ[FOLDER])
    (folder / f"begun-{found['mass']:g}-{time.monotonic_ns()}").touch()
    while found["mass"] > 2.0 and not (folder / "open").exists():
        time.sleep(0.02)
    return found


def wrong(trajectory, platform):
    """Return what is no measure."""
    return ["position"]


def taken(trajectory, platform):
    """Return a name that the sweep has itself."""
    return {"position_rms": 0.0}


def broken(trajectory, platform):
    """Raise what the package does not."""
    raise ZeroDivisionError("a user's fault")
