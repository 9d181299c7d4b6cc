"""LQR along a reference: inverse dynamics forward, state feedback on the error."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.controller import PERIOD, Controller
from twin.control.drive_model import drive_model
from twin.control.feedforward_table import feedforward_table
from twin.control.linear.drives import with_drives
from twin.control.linear.linearise import linearise
from twin.control.linear.regulator import Regulator, RegulatorWeights, regulator
from twin.control.linear.task_errors import TaskErrors
from twin.control.reference import Reference
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import Command, Measurement


class Lqr(Controller):
    """Linear quadratic regulator of a rigid machine with six degrees of freedom; commands forces.

        f = ID(reference) - K (d, v, z),   d = J^-1 (q - q_ref),  v = J^-1 (q' - q'_ref)

    K is designed at one pose, on the machine with the inertia of its drives. The sums z are held
    while the command of an actuator exceeds its limit.

    Attributes:
        design: the regulator.
    """

    name: ClassVar[str] = "lqr"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = PERIOD,
        weights: RegulatorWeights | None = None,
        integral: bool = False,
        design: Regulator | None = None,
    ) -> None:
        """Design the regulator and compute the forces of the reference.

        Args:
            platform: the machine.
            motion: where it shall go; default: stay at home.
            period: of the controller [s].
            weights: what an error and a force cost.
            integral: sum up displacements, so that constant forces leave no error.
            design: a regulator of the same period instead of one for home.

        Raises:
            InputError: not such a machine, or a design of another period.
            SingularPoseError: the reference passes a singular pose.
            MissingDependencyError: python-control is not installed.
        """
        super().__init__(platform, motion, period=period)
        if design is None:
            machine = with_drives(linearise(platform))
            design = regulator(machine, self.period, weights=weights, integral=integral)
        if design.model.period != self.period:
            raise InputError("design", "must have the controller's period")
        self.design = design
        self._drives = drive_model(platform)
        self._prepare(self.reference)
        limits = [leg.actuator.effort or np.inf for leg in platform.parameters.legs]
        self._largest = np.array(limits)
        self._state = np.zeros(design.gain.shape[1])

    def _prepare(self, reference: Reference) -> None:
        errors = TaskErrors(self.platform, reference)
        self._forward = feedforward_table(self.platform, reference, self._drives).forces
        self._errors = errors
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Begin at `measurement`; with integral action the first force is the feedforward's."""
        self._state = np.zeros_like(self._state)
        self._state[:6], self._state[6:12] = self._errors.of(
            self.reference.row(self.first), measurement
        )
        if self.design.integral:
            gain = self.design.gain
            self._state[12:] = np.linalg.solve(gain[:, 12:], -gain[:, :12] @ self._state[:12])

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the forces of control period `step`."""
        row = self.reference.row(step)
        state = self._state
        state[:6], state[6:12] = self._errors.of(row, measurement)
        force = self._forward[row] - self.design.gain @ state
        if self.design.integral and (np.abs(force) <= self._largest).all():
            state[12:] += self.period * state[:6]
        return Command(force, "force")

    def signals(self) -> dict[str, FloatArray]:
        """Return the state that is fed back."""
        return {"error": self._state.copy()}
