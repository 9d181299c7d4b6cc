"""The model that runs beside a machine: its drives and mechanism, corrected by readings."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.drive_model import drive_model
from twin.control.gains import transmission_ratio
from twin.control.observer.cascade import SWINGING, suitable_design
from twin.control.observer.design import ObserverDesign
from twin.control.observer.kalman_observer import steady_gains
from twin.control.positions import has_encoders
from twin.errors import InputError
from twin.kernels.kinematics.jacobian import jacobian_batch
from twin.kernels.plant import columns as column
from twin.model.machine_model import MachineModel
from twin.plant.signals import Mode
from twin.rotations import displaced
from twin.simulation.batched import make_batched_plant

LONGEST_SILENCE = 100
"""Missing periods over which the model goes on alone; then it starts anew at the next reading."""


class ShadowModel:
    """One machine with its drives in the analytic engine, and a Kalman correction per leg.

    An innovation corrects place and speed of a motor, and a force `disturbance` that the model
    does not know of.

    Attributes:
        machine: as the model knows it.
        period: between two samples [s].
        spread: `(k, n)` standard deviations of innovations 1..k periods after a reading [m, rad].
        disturbance: `(n,)` force against each actuator that the model does not explain [N, N m].
        coordinates: `(n,)` that exact encoders would read [m, rad]; all these are views.
        rates: `(n,)` theirs.
        pose: `(7,)`.
        twist: `(6,)`.
        acceleration: `(6,)` mean over the last step of the engine.
        forces: `(n,)` on the legs [N, N m].
        efforts: `(n,)` of the motors [N, N m].
    """

    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    coordinates: FloatArray
    rates: FloatArray
    forces: FloatArray
    efforts: FloatArray

    def __init__(self, machine: MachineModel, period: float, mode: Mode) -> None:
        """Prepare the model; `start` puts it beside the machine.

        Raises:
            InputError: drives without inertia or without encoders, commands of a mode that the
                drives do not take, or a machine that the analytic engine cannot step in this
                period.
            StateError: the observer of this machine has no steady gains.
        """
        self._inertia = drive_model(machine).inertia
        if not (self._inertia > 0.0).all():
            raise InputError(
                "machine",
                f"{machine.name} has drives without inertia, which an observer of motors cannot "
                "correct; give the drives their inertia, or choose a configuration with drives",
            )
        if not has_encoders(machine):
            raise InputError(
                "leg.encoder",
                f"{machine.name} has legs without encoders: from how far a reading jumps is a "
                "fault follows from the encoder's step; give [leg.encoder] its counts a turn (and "
                "[leg.drive] the scale_period of a direct drive), or choose another configuration",
            )
        self.machine, self.period = machine, period
        stroke = machine.maximum_coordinates - machine.minimum_coordinates
        self._stroke = float(stroke.max())
        self._plant = make_batched_plant("analytic", machine, 1, period, mode=mode)
        design = suitable_design(machine, period)
        steady = steady_gains(design)
        self._gain = steady.gain[0]
        self.spread = innovation_spread(design, steady.covariance[0], LONGEST_SILENCE)
        self.disturbance = np.zeros(machine.n_actuators)
        self._jacobian = np.zeros((1, machine.n_actuators, 6))
        self._looped = mode == "velocity"
        self._together = transmission_ratio(machine) > SWINGING
        self._link()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy: its arrays are views of the plant's."""
        self.__dict__.update(state)
        self._link()

    def _link(self) -> None:
        """Take the rows of the plant's arrays that are those of this machine."""
        plant, states = self._plant, self._plant.drives.states[0]
        self._states = states
        self.pose, self.twist, self.acceleration = (
            plant.pose[0],
            plant.twist[0],
            plant.acceleration[0],
        )
        self._legs, self._leg_rates = plant.coordinates[0], plant.rates[0]
        self.forces, self.efforts = plant.forces[0], plant.effort[0]
        self.coordinates = states[:, column.POSITION]
        self.rates = states[:, column.SPEED]

    def start(self, coordinates: FloatArray, rates: FloatArray) -> None:
        """Put the model at measured coordinates and rates `(n,)`, held by its motors.

        Raises:
            ForwardKinematicsError: no pose has these coordinates.
        """
        windup = np.zeros_like(coordinates)
        for _ in range(3):  # from the second time on with what transmissions and springs yield
            # Readings of redundant actuators contradict each other: the pose is the nearest one.
            pose = self.machine.forward_kinematics(coordinates - windup, tolerance=self._stroke)
            twist = np.linalg.pinv(self.machine.jacobian(pose)) @ rates
            motion = self.machine.constrain(pose, twist)
            self._plant.reset([0], pose=motion.pose[None], twist=motion.twist[None])
            windup = self.coordinates - self.machine.inverse_kinematics(motion.pose)
        self._states[:, column.POSITION] = coordinates
        self.disturbance[:] = 0.0

    def advance(self, command: FloatArray, feedforward: FloatArray | None) -> bool:
        """Advance by one period under a command `(n,)`; return False where the model cannot."""
        plant, added = self._plant, None if feedforward is None else feedforward[None]
        if self._looped:
            plant.advance(command[None], feedforward=added)
        else:
            speed = self._states[:, column.SPEED]
            half = 0.5 * self.period * self.disturbance / self._inertia
            speed -= half
            plant.advance(command[None], feedforward=added)
            speed -= half
        return not plant.failed[0]

    def correct(self, innovation: FloatArray) -> None:
        """Take over innovations `(n,)`: what was measured less `coordinates`.

        Where drives close velocity loops, the disturbance acts through their integrals: a kick of
        the speed would be seen by the loops, and summed up. The loop of the real drive has
        integrated the real speed, whose sum is the place. The gains are those of a motor and its
        load as one mass: where the load is the larger part, it is corrected with its motor.
        """
        place, speed, force = (self._gain * innovation[:, None]).T
        self.disturbance += force
        states = self._states
        states[:, column.POSITION] += place
        states[:, column.SPEED] += speed
        if self._looped:
            states[:, column.INTEGRAL] -= self._plant.drives.gains[0, :, 1] * place + force
            states[:, column.EFFORT] -= force
        if self._together:  # a light motor alone could not take its load along
            found = np.linalg.lstsq(self.jacobian(), np.stack([place, speed], axis=1), rcond=None)
            moved = found[0]
            self.pose[:] = displaced(self.pose, moved[:, 0])
            self.twist += moved[:, 1]
            self._legs += place
            self._leg_rates += speed

    def jacobian(self) -> FloatArray:
        """Return the Jacobian `(n, 6)` at the present pose; the next call overwrites it."""
        jacobian_batch(self.machine.constants.legs, self._plant.pose, self._jacobian)
        found: FloatArray = self._jacobian[0]
        return found


def innovation_spread(design: ObserverDesign, covariance: FloatArray, count: int) -> FloatArray:
    """Return standard deviations `(count, n)` of innovations 1.. periods after a reading.

    Args:
        design: of the observer.
        covariance: `(n, 3, 3)` of its state after a reading.
        count: number of periods.
    """
    transition, rows = design.model.transition, []
    for _ in range(count):
        covariance = transition @ covariance @ np.swapaxes(transition, 1, 2) + design.process
        rows.append(np.sqrt(covariance[:, 0, 0] + design.measurement))
    return np.array(rows)
