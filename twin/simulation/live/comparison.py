"""A second engine that runs the same input beside a live machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.reference import Reference
from twin.errors import TwinError
from twin.rotations import displaced, displacement
from twin.simulation.live.disturbance import Disturbance
from twin.simulation.live.machine_run import MachineRun, make_engine_for, new_run
from twin.simulation.live.settings import Settings
from twin.simulation.platform import Platform


def exaggerated(
    platform: Platform, first: FloatArray, second: FloatArray, factor: float
) -> FloatArray:
    """Return a pose `(7,)` that differs from the `first` by `factor` times what the `second` does.

    Where that is outside the actuators' limits, the `second` itself.

    Args:
        platform: the machine.
        first: `(7,)` pose.
        second: `(7,)` pose near it.
        factor: 1 gives the `second`.
    """
    if factor == 1.0:
        return second
    moved = displaced(first, factor * displacement(second, first))
    pose: FloatArray = platform.constrain(moved).pose
    return pose if platform.within_limits(pose) else second


LARGEST_GAP = 0.2
"""[m] Loop gap at which it is stopped: far beyond use, so that poor settings can be looked at."""


class Comparison:
    """The machine once more, in another engine or with other constraint settings.

    Attributes:
        run: the second machine.
    """

    def __init__(
        self, first: MachineRun, settings: Settings, reference: Reference, step: int
    ) -> None:
        """Begin where the first machine is.

        Args:
            first: the first machine.
            settings: with a comparison.
            reference: around control period `step`.
            step: control period of the session.

        Raises:
            InputError: the engine does not take the machine.
            MissingDependencyError: its library is not installed.
        """
        assert settings.comparison is not None
        plain = settings.comparison == "mujoco" and settings.comparison_defaults
        self._follows = settings.comparison_input == "forces"
        options: dict[str, Any] = {"engine_defaults": True} if plain else {}
        if settings.comparison != "analytic":
            options["largest_gap"] = LARGEST_GAP
        engine = make_engine_for(
            first.platform,
            settings.comparison,
            settings.fidelity,
            first.loop.controller.period,
            **options,
        )
        try:
            if engine.timestep == first.engine.timestep:
                self.run = first.beside(engine)
            else:
                own = settings.model_copy(update={"engine": settings.comparison})
                self.run = new_run(first.platform, own, reference, step, first.state, engine=engine)
        except TwinError:
            engine.close()
            raise

    def advance(self, disturbance: Disturbance | None, applied: FloatArray) -> None:
        """Advance by one control period, beside a machine on which `applied` `(m, n)` acted."""
        forces = None
        if self._follows:
            rows = np.arange(self.run.ratio) * len(applied) // self.run.ratio
            forces = applied[rows]
        self.run.advance(disturbance, forces)

    def close(self) -> None:
        """Free the engine."""
        self.run.close()
