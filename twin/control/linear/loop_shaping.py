"""Loop shaping along a reference: inverse dynamics forward, H-infinity controller on the error."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.controller import PERIOD, Controller
from twin.control.drive_model import drive_model
from twin.control.feedforward_table import feedforward_table
from twin.control.linear.drives import with_drives
from twin.control.linear.linearise import linearise
from twin.control.linear.loop_shaping_design import LoopShapingDesign, loop_shaping, trapezoidal
from twin.control.linear.shaping_weights import ShapingWeights
from twin.control.reference import Reference
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import Command, Measurement


class LoopShaping(Controller):
    """H-infinity loop shaping in the actuators' coordinates; commands forces.

        f = ID(reference) + W K_s (q - q_ref)

    sampled by Tustin's rule. Rates are not used. While the command of an actuator exceeds its
    limit, the controller's state is held.

    Attributes:
        design: the continuous design, at home.
        law: what runs, sampled.
    """

    name: ClassVar[str] = "loop_shaping"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = PERIOD,
        weights: ShapingWeights | None = None,
        design: LoopShapingDesign | None = None,
    ) -> None:
        """Design the controller and compute the forces of the reference.

        Args:
            platform: a rigid machine with as many actuators as degrees of freedom.
            motion: where it shall go; default: stay at home.
            period: of the controller [s].
            weights: of the design.
            design: instead of one for home.

        Raises:
            InputError: not such a machine, or weights that cannot be used.
            SingularPoseError: the reference passes a singular pose.
            MissingDependencyError: python-control is not installed.
        """
        super().__init__(platform, motion, period=period)
        self.design = (
            loop_shaping(with_drives(linearise(platform)), weights) if design is None else design
        )
        self.law = trapezoidal(self.design.controller, self.period)
        self._drives = drive_model(platform)
        self._prepare(self.reference)
        limits = [leg.actuator.effort or np.inf for leg in platform.parameters.legs]
        self._largest = np.array(limits)
        self._state = np.zeros(len(self.law.A))
        self._error = np.zeros(platform.n_actuators)

    def _prepare(self, reference: Reference) -> None:
        self._forward = feedforward_table(self.platform, reference, self._drives).forces
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Begin at rest: the first force is the feedforward's."""
        self._state = np.zeros_like(self._state)

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the forces of control period `step`."""
        row, law = self.reference.row(step), self.law
        self._error = measurement.coordinates - self.reference.coordinates[row]
        force = self._forward[row] + law.C @ self._state + law.D @ self._error
        if (np.abs(force) <= self._largest).all():
            self._state = law.A @ self._state + law.B @ self._error
        return Command(force, "force")

    def signals(self) -> dict[str, FloatArray]:
        """Return the error of the coordinates."""
        return {"error": self._error}
