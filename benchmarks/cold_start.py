"""Processor time from the start of Python to the first step of an environment, on empty caches.

    python benchmarks/cold_start.py --kernels PoseTracking

Each task has a process and a cache of compiled kernels of its own, empty at first. The second
number is that of the same process again, which loads the kernels. Python's byte code is there, as
after an installation. `--kernels` lists what is compiled for a task: kernels with all that they
call, functions by their own time, and the passes of numba.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from functools import partial
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from numba.core import event

TASKS = ("PoseTracking", "MotionCueing", "VibrationIsolation", "BallBalance")
LISTED = 0.005
"""[s] Least time of a line."""


class Times(event.Listener):
    """Listener of numba: processor time of events.

    Attributes:
        outer: name -> time of the events that lie in no other [s].
        own: name -> time of all events, less that of the events inside them [s].
    """

    def __init__(self) -> None:
        self.outer: dict[str, float] = defaultdict(float)
        self.own: dict[str, float] = defaultdict(float)
        self._open: list[list[float]] = []

    def on_start(self, started: Any) -> None:
        """Begin an event, inside those that are open."""
        self._open.append([process_time(), 0.0])

    def on_end(self, ended: Any) -> None:
        """End the innermost event."""
        began, inside = self._open.pop()
        whole = process_time() - began
        name = _name(ended)
        self.own[name] += whole - inside
        if self._open:
            self._open[-1][1] += whole
        else:
            self.outer[name] += whole


def _name(noted: Any) -> str:
    if "dispatcher" in noted.data:
        function = noted.data["dispatcher"].py_func
        return f"{function.__module__}.{function.__qualname__}"
    return str(noted.data["name"]).partition(" [")[0]


def show(title: str, seconds: dict[str, float]) -> None:
    """Print times with their sum, longest first."""
    print(f"\n{title}: {sum(seconds.values()):.2f} s together")
    for name, each in sorted(seconds.items(), key=lambda pair: -pair[1]):
        if each >= LISTED:
            print(f"{each:8.3f}  {name}")


def first_step(task: str, listed: bool) -> None:
    """Print the processor time to the first step of a task; with `listed`, what it compiles."""
    compiled, passes = Times(), Times()
    if listed:
        event.register("numba:compile", compiled)
        event.register("numba:run_pass", passes)
    import gymnasium

    import twin.envs

    assert twin.envs.environment_ids()
    imported = process_time()
    env = gymnasium.make(f"twin/{task}-v0")
    env.reset(seed=0)
    env.step(env.action_space.sample())
    print(f"{task}: {process_time():.1f} s of processor time, {imported:.1f} s of it for imports")
    if listed:
        show("kernels with all that they call", compiled.outer)
        show("functions by themselves", compiled.own)
        show("passes", passes.own)


def main() -> None:
    """Measure the tasks, or list what one compiles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", choices=TASKS)
    parser.add_argument("--here", choices=TASKS, help="the measurement itself, in this process")
    given = parser.parse_args()
    if given.here:
        first_step(given.here, listed=given.kernels is not None)
        return
    for task in (given.kernels,) if given.kernels else TASKS:
        command = [sys.executable, __file__, "--here", task]
        command += ["--kernels", task] if given.kernels else []
        with TemporaryDirectory() as code, TemporaryDirectory() as folder:
            run = partial(subprocess.run, command, check=True)
            python = {"PYTHONPYCACHEPREFIX": code, "PYTHONDONTWRITEBYTECODE": ""}
            with TemporaryDirectory() as other:  # a first process writes the byte code
                run(env={**os.environ, **python, "NUMBA_CACHE_DIR": other}, stdout=DEVNULL)
            for _ in range(1 if given.kernels else 2):
                run(env={**os.environ, **python, "NUMBA_CACHE_DIR": folder})


if __name__ == "__main__":
    main()
