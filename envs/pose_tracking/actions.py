"""Actions of `PoseTracking`: their channel, and the commands they become.

The module also makes, lengthens and fills its references, which are arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_position_loop
from twin.control.reference import Reference as SampledReference
from twin.envs.channels import Channel, rescaled
from twin.envs.pose_tracking.settings import PoseTrackingSettings
from twin.kernels.bundle import Bundle
from twin.kernels.machine_code import SameTypes
from twin.kernels.tasks.arrays import Scales
from twin.kernels.tasks.increments import ActionLaw
from twin.kernels.tasks.pose_tracking.arrays import Increments, Reference
from twin.kernels.tasks.pose_tracking.task import fill_velocity_command, pose_command
from twin.model.constraints import characteristic_length
from twin.rotations import displacement
from twin.simulation.batched.batched_plant import BatchedPlant

SHARE = 0.2
"""Of speed, effort or travel that an action of 1 means on top of the motion."""

LEAST_GAIN = 1.0
"""[1/s] Gain of the position loop that the spread of coordinates counts with where it is less."""

CONTROLLER_PERIOD = 1e-3
"""[s] Period that the position loop's gain is derived for, as those of `twin.control`."""


class TrackingActions:
    """Commands of a batched plant from actions.

    Attributes:
        channel: of the numbers of an action.
        reach: length taken for half the travel [m].
        spread: deviation of the coordinates from the reference under random actions, 0 where they
            are not speeds on top of it [m, rad].
        law: meaning of the actions.
    """

    def __init__(self, settings: PoseTrackingSettings, batch: BatchedPlant, scales: Scales) -> None:
        """Scale the actions to a machine."""
        self._settings, self._batch, self._scales = settings, batch, scales
        platform = batch.platform
        share = settings.action_scale or (SHARE if settings.residual else 1.0)
        n, unit = platform.n_actuators, platform.coordinate_unit
        self._radius = characteristic_length(platform.platform_joints)
        self.reach = float(scales.half.max()) * (1.0 if unit == "m" else self._radius)
        if settings.action == "velocities":
            channel = Channel("actuator velocity", n, f"{unit}/s", share * scales.speed)
        elif settings.action == "forces":
            force = platform.force_unit
            channel = Channel("actuator force", n, force, share * scales.effort)
        else:
            way = share * float(scales.half.min()) * batch.period
            way *= 1.0 if unit == "m" else self._radius
            steps = np.array([way] * 3 + [way / self._radius] * 3)
            channel = Channel("pose increment", 6, "m, rad", steps)
        self.channel = rescaled([channel], settings.scales)[0]
        self._increments = Increments(
            np.zeros((batch.size, 6)),
            np.zeros((batch.size, n)),
            np.array(platform.home),
            np.array(platform.home_coordinates),
            np.zeros(n),
            np.zeros(n),
            np.zeros(13),
        )
        gain = suitable_position_loop(platform, CONTROLLER_PERIOD)[0]
        if settings.action == "velocities" and settings.position_gain is not None:
            gain = settings.position_gain
        bounds = np.array([self.reach] * 3 + [self.reach / self._radius] * 3)
        scale = np.asarray(self.channel.scale)
        # Uniform actions have a variance of 1/3; the loop forgets their sum at its gain.
        added = settings.residual and settings.action == "velocities"
        forgotten = 6.0 * max(gain, LEAST_GAIN) / batch.period
        self.spread = scale / np.sqrt(forgotten) if added else np.zeros(n)
        self._velocities, self._poses = SameTypes(fill_velocity_command), SameTypes(pose_command)
        self._bound: FloatArray | None = None
        self._bundle: Bundle
        self.law = ActionLaw(scale, bounds, gain, batch.period, settings.residual)

    def begin(self, index: int, pose: FloatArray, coordinates: FloatArray) -> None:
        """Begin an episode of a machine at `pose` `(7,)`, its actuators at `coordinates` `(n,)`."""
        increments = self._increments
        start = 0.0 if self.law.residual else displacement(pose, increments.home)
        increments.offset[index], increments.setpoint[index] = start, coordinates

    def fill(
        self, actions: FloatArray, steps: Any, reference: Reference, drive_commands: FloatArray
    ) -> None:
        """Fill `drive_commands` (N, n) from actions `(N, a)` in control period `steps` (N,)."""
        law, kind, measured = self.law, self._settings.action, self._batch.measured
        if kind == "velocities":
            coordinates = reference.coordinates
            if self._bound is not coordinates:
                self._bound = coordinates
                self._bundle = Bundle(steps, law, coordinates, measured, drive_commands)
            self._velocities(actions, self._bundle)
        elif kind == "forces":
            np.multiply(actions, law.scale, out=drive_commands)
            if law.residual:
                drive_commands += self._scales.holding
        else:
            legs = self._batch.platform.constants.legs
            self._poses(
                actions, steps, law, legs, reference, self._increments, measured, drive_commands
            )


def make_reference(size: int, length: int, actuators: int) -> Reference:
    """Return empty references of `size` environments and `length` control instants."""
    shape = (size, length, actuators)
    return Reference(np.zeros((size, length, 7)), np.zeros(shape), np.zeros(shape))


def lengthened(reference: Reference, length: int) -> Reference:
    """Return references of `length` control instants, more than before, at rest on their ends."""
    more = length - reference.pose.shape[1]
    pose, coordinates = (
        np.concatenate([part, np.repeat(part[:, -1:], more, axis=1)], axis=1)
        for part in (reference.pose, reference.coordinates)
    )
    still = np.zeros((len(pose), more, coordinates.shape[2]))
    return Reference(pose, coordinates, np.concatenate([reference.rates, still], axis=1))


def fill_reference(reference: Reference, index: int, given: SampledReference) -> None:
    """Put a reference into an environment; where it is shorter, it rests on its last pose."""
    count = min(len(given.time), reference.pose.shape[1])
    reference.pose[index, :count] = given.pose[:count]
    reference.pose[index, count:] = given.pose[count - 1]
    reference.coordinates[index, :count] = given.coordinates[:count]
    reference.coordinates[index, count:] = given.coordinates[count - 1]
    reference.rates[index, :count], reference.rates[index, count:] = given.rates[:count], 0.0
