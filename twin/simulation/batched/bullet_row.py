"""One machine of a batched plant in PyBullet: an engine without the records of its guard."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.bullet.engine import WEIGHTS, BulletEngine
from twin.errors import InputError
from twin.model.engine import Fidelity, State
from twin.model.machine_model import MachineModel

MOST_WORLDS = 256
"""In one batch: each is a physics client of its own, which takes 30 MB whatever is in it."""


def check_size(size: int, fidelity: str) -> None:
    """Refuse a batched plant that would take too much memory.

    Raises:
        InputError: more machines than `MOST_WORLDS` allow.
    """
    copies = len(WEIGHTS[cast(Fidelity, fidelity)])
    if size * copies > MOST_WORLDS:
        raise InputError(
            "size",
            f"Bullet takes 30 MB for each world, and fidelity {fidelity!r} {copies} of them for a "
            f"machine: at most {MOST_WORLDS // copies} machines, not {size}; use the engine "
            "'mujoco' or 'analytic' for more",
        )


class BulletRow(BulletEngine):
    """A `BulletEngine` in a batched plant: it returns faults in place of errors and messages."""

    def __init__(self, platform: MachineModel, timestep: float, fidelity: str, ball: Any) -> None:
        """Load the machine; see `BulletEngine`.

        Raises:
            InputError: a machine Bullet refuses, or no physics client is left.
        """
        super().__init__(platform, timestep, cast(Fidelity, fidelity), ball=ball)

    @property
    def broken(self) -> bool:
        """Whether the last step has left no state, but only what a reset clears."""
        return not self._worlds

    def advance(self, forces: FloatArray, wrench: FloatArray, shaking: FloatArray) -> float:
        """Take one step of the engine.

        Args:
            forces: `(n,)` on the legs.
            wrench: `(6,)` on the platform.
            shaking: `(3,)` acceleration of the base [m/s2].

        Returns:
            The largest loop gap [m]; not a number where the state is none.
        """
        if (shaking != self._shaking).any():
            self._shaking[:] = shaking
            self._feel()
        gap, _ = self._advance(forces, wrench)
        self._steps += 1
        if np.isfinite(self._reading).all():
            return gap
        self._free()  # what has gone wrong stays in Bullet's memory
        return np.nan

    def read(self) -> tuple[FloatArray, ...]:
        """Return views of pose, twist, actuator coordinates from home on, rates, and deflection."""
        return tuple(self._reading[part] for part in self._parts[:5])

    def _begin(self, steps: int) -> State:
        self._steps, self._ready = steps, True
        return self._read()
