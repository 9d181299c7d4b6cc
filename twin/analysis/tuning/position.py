"""Position steps of the whole machine upwards, under its cascade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from twin.analysis.tuning.specification import StepSpecification, position_step
from twin.analysis.tuning.study import StepStudy
from twin.analysis.tuning.tuning import Gain
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.motion import StepMotion

START = 0.01
"""[s] before the step: the loop starts without a jump, so a step at its start would be no step."""

GAINS = (
    Gain("position_gain", "1/s", 0.5, 20.0, 2.0),
    Gain("position_integral", "1/s2", 0.5, 50.0, 2.0),
)
"""Adopted: the thesis decides on 5 and 10 by trial and error and gives no bounds."""


@dataclass(frozen=True, kw_only=True)
class PositionStudy(StepStudy):
    """Position step of the platform by `size` [m] upwards: displacement of the actuators per step.

    The velocity loop inside has the machine's own gains. Size and duration are those of the
    thesis' step, longer than its settling time.
    """

    loop: ClassVar[str] = "position"
    specification: ClassVar[StepSpecification] = position_step()

    size: float = 0.05
    duration: float = 2.5
    timestep: float = 5e-4

    def gains(self, platform: MachineModel) -> tuple[Gain, ...]:
        """Return gain and integral with adopted bounds."""
        return GAINS

    def lasting(self, specification: StepSpecification) -> PositionStudy:
        """Return the study with a duration of 1.25 settling times, in whole steps."""
        steps = max(1, round(1.25 * specification.settling_time / self.timestep))
        return replace(self, duration=steps * self.timestep)

    def response(self, platform: MachineModel, *gains: float) -> tuple[FloatArray, FloatArray]:
        """Return time [s] and displacement per step `(k,)`.

        Args:
            platform: the machine, with or without drives in its parameters.
            gains: of the position loop [1/s], [1/s2]; default the machine's.

        Raises:
            InputError: an argument that cannot be used, or a step that leaves the actuators' range.
        """
        span = len(self.time) - 1
        motion = StepMotion(
            as_model(platform).home,
            displacement={"z": self.size},
            rise=0.0,
            start=START,
            duration=START + span * self.timestep,
        )
        if not platform.within_limits(platform.constrain(motion(motion.duration).pose).pose).all():
            raise InputError("size", f"a step of {self.size:g} m leaves the range of the actuators")
        gain, integral = gains or (None, None)
        controller = Cascade(platform, motion, position_gain=gain, position_integral=integral)
        run = self.simulated(platform, controller, motion.duration)
        if run is None or len(run) <= span:
            return self.no_response()
        step = controller.reference.coordinates[-1] - controller.reference.coordinates[0]
        n = platform.n_deflections
        moved = run.lengths - (run.deflection[:, :n] if n else 0.0)
        away = (moved - moved[0]) @ step / float(step @ step)
        return self.time, np.asarray(away[-span - 1 :])
