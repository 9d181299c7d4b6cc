"""Stops an engine whose state means nothing any more, and writes a dump that replays the end."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Mapping
from itertools import chain
from math import isfinite
from pathlib import Path
from tempfile import gettempdir, mkstemp
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.files import as_path
from twin.basics.size_limits import read_arrays
from twin.basics.temporary import remove_oldest
from twin.errors import SimulationStoppedError
from twin.model.engine import State
from twin.model.machine_model import MachineModel

LARGEST_GAP = 1e-2
"""Default loop gap [m] that stops an engine: ten times what a bad but usable setting leaves."""

KEPT_STEPS = 100
"""Steps the dump can replay at most."""

KEPT_DUMPS = 20
"""Adopted: newest dumps that stay; of others, those of processes that are gone are removed."""


class Guard:
    """Watches one engine: remembers the last steps and stops on NaN or open loops."""

    def __init__(
        self,
        engine: str,
        platform: MachineModel,
        timestep: float,
        fidelity: str,
        largest_gap: float = LARGEST_GAP,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Watch an engine.

        Args:
            engine: its name.
            platform: the machine.
            timestep: [s].
            fidelity: the engine's fidelity.
            largest_gap: loop gap [m] that stops it.
            options: its further keyword arguments, for the replay; plain numbers, strings, lists.
        """
        self.engine = engine
        self.platform = platform
        self.timestep = timestep
        self.fidelity = fidelity
        self.largest_gap = largest_gap
        self.options = dict(options or {})
        self._saved = b""
        self._steps: deque[tuple[FloatArray, FloatArray, FloatArray]] = deque()

    def start(self, saved: bytes) -> None:
        """Begin a new history at a saved state."""
        self._saved = saved
        self._steps.clear()

    @property
    def wants_saved(self) -> bool:
        """Whether the next `record` needs a saved state, because the history is full."""
        return len(self._steps) >= KEPT_STEPS

    def record(
        self, saved: bytes | None, forces: FloatArray, wrench: FloatArray, shaking: FloatArray
    ) -> None:
        """Remember one step; give the saved state before it when `wants_saved`."""
        if saved is not None:
            self.start(saved)
        self._steps.append((forces.copy(), wrench.copy(), shaking.copy()))

    def check(self, state: State, gap: float, warning: str = "") -> None:
        """Raise when the state is not finite, the loops have opened, or the engine warns.

        Raises:
            SimulationStoppedError: with the reason, the dump's path (None where it could not be
                written) and the last state.
        """
        if warning:
            reason = warning
        elif not all(map(isfinite, chain.from_iterable(map(np.ndarray.tolist, state[1:])))):
            reason = "the state is not finite"
        elif not gap <= self.largest_gap:
            reason = f"the loops have opened by {gap:.3g} m (limit {self.largest_gap:.3g} m)"
        else:
            return
        path: Path | None = None
        try:
            path = self.dump(reason)
            kept = (
                f"The last {len(self._steps)} steps are in {path}; replay them with "
                "twin.engines.guard.replay(path)."
            )
        except OSError as error:
            kept = f"The last steps could not be written to the temporary folder ({error})."
        raise SimulationStoppedError(
            f"{self.engine} stopped at t = {state.time:.6g} s: {reason}. {kept} A smaller time "
            "step, smaller forces or the 'accurate' fidelity usually help.",
            {"reason": reason, "dump": path, "state": state},
        )

    def dump(self, reason: str) -> Path:
        """Write what `replay` needs to a new file in the temporary folder; return its path."""
        remove_oldest(gettempdir(), "twin_*.dump.npz", KEPT_DUMPS)
        handle, name = mkstemp(prefix=f"twin_{self.engine}_{os.getpid()}_", suffix=".dump.npz")
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                engine=self.engine,
                timestep=self.timestep,
                fidelity=self.fidelity,
                options=json.dumps({"largest_gap": self.largest_gap, **self.options}),
                parameters=self.platform.parameters.model_dump_json(exclude={"appearance"}),
                saved=np.frombuffer(self._saved, dtype=np.uint8),
                forces=np.array([step[0] for step in self._steps]),
                wrenches=np.array([step[1] for step in self._steps]),
                shaking=np.array([step[2] for step in self._steps]),
                reason=reason,
            )
        return Path(name)


def replay(path: str | Path) -> list[State]:
    """Return the states of the steps in a dump, up to the one that stopped the engine.

    Raises:
        InputError: not a dump.
    """
    from twin.engines import make_engine
    from twin.errors import InputError
    from twin.machine.machine import MachineParameters

    file = as_path(path)
    try:
        content = read_arrays(file)
        parameters = MachineParameters.model_validate_json(str(content["parameters"]))
        settings = (float(content["timestep"]), str(content["fidelity"]))
        options = dict(json.loads(str(content["options"])))
        name, saved = str(content["engine"]), content["saved"].tobytes()
        names = ("forces", "wrenches", "shaking")
        steps = list(zip(*(content[name] for name in names), strict=True))
    except Exception as error:
        raise InputError("path", f"{path} is not a state dump ({error})") from None
    engine = make_engine(name, MachineModel(parameters), *settings, **options)
    try:
        states = [engine.restore(saved)]
        for forces, wrench, shaking in steps:
            engine.shake(shaking)
            states.append(engine.step(forces, wrench))
    except SimulationStoppedError as stopped:
        states.append(stopped.data["state"])
        if stopped.data["dump"] is not None:
            stopped.data["dump"].unlink(missing_ok=True)
    finally:
        engine.close()
    return states
