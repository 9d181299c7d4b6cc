"""Actions of `PoseTracking`: what their numbers mean, and the commands they become."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_position_loop
from twin.envs.channels import Channel
from twin.envs.pose_tracking.settings import PoseTrackingSettings
from twin.envs.scales import Scales
from twin.kernels.tasks.pose_tracking.arrays import Tables
from twin.kernels.tasks.pose_tracking.task import pose_command, velocity_command
from twin.model.conditioning import characteristic_length
from twin.motion.displacement import displacement
from twin.simulation.batched.batched_plant import BatchedPlant

SHARE = 0.2
"""Of speed, effort or travel that an action of 1 means on top of the motion."""

CONTROLLER_PERIOD = 1e-3
"""[s] Period that the position loop's gain is derived for, as those of `twin.control`."""


class TrackingActions:
    """Commands of a batched plant from actions.

    Attributes:
        channel: what the numbers of an action are.
    """

    def __init__(self, settings: PoseTrackingSettings, batch: BatchedPlant, scales: Scales) -> None:
        """Scale the actions to a machine."""
        self._settings, self._batch, self._scales = settings, batch, scales
        platform = batch.platform
        self._residual = settings.residual
        share = settings.action_scale or (SHARE if settings.residual else 1.0)
        n, unit = platform.n_actuators, platform.coordinate_unit
        self._radius = characteristic_length(platform.platform_joints)
        self.reach = float(scales.half.max()) * (1.0 if unit == "m" else self._radius)
        if settings.action == "velocities":
            self.channel = Channel("actuator velocity", n, f"{unit}/s", share * scales.speed)
        elif settings.action == "forces":
            force = platform.force_unit
            self.channel = Channel("actuator force", n, force, share * scales.effort)
        else:
            way = share * float(scales.half.min()) * batch.period
            way *= 1.0 if unit == "m" else self._radius
            steps = np.array([way] * 3 + [way / self._radius] * 3)
            self.channel = Channel("pose increment", 6, "m, rad", steps)
        self._offset = np.zeros((batch.size, 6))
        self._held = np.zeros((batch.size, 3, n))
        self._home = (np.array(platform.home), np.array(platform.home_coordinates))
        self._gain = suitable_position_loop(platform, CONTROLLER_PERIOD)[0]
        if settings.action == "velocities" and settings.position_gain is not None:
            self._gain = settings.position_gain
        self._bounds = np.array([self.reach] * 3 + [self.reach / self._radius] * 3)

    def begin(self, row: int, pose: FloatArray, coordinates: FloatArray) -> None:
        """Begin an episode of a row at `pose` `(7,)`, its actuators at `coordinates` `(n,)`."""
        self._offset[row] = 0.0 if self._residual else displacement(pose, self._home[0])
        self._held[row, 0] = coordinates

    def fill(
        self, actions: FloatArray, steps: Any, tables: Tables, drive_commands: FloatArray
    ) -> None:
        """Fill `drive_commands` (N, n) from actions `(N, a)` in control period `steps` (N,)."""
        last, period = tables.pose.shape[1] - 1, self._batch.period
        scale, kind = np.asarray(self.channel.scale), self._settings.action
        if kind == "velocities":
            velocity_command(
                actions, scale, self._residual, self._gain, period, steps, last,
                tables.coordinates, self._batch.measured, drive_commands,
            )  # fmt: skip
        elif kind == "forces":
            np.multiply(actions, scale, out=drive_commands)
            if self._residual:
                drive_commands += self._scales.holding
        else:
            legs = self._batch.platform.constants.legs
            pose_command(
                legs, self._home, actions, scale, self._bounds, self._residual, self._gain, period,
                steps, last, tables, self._batch.measured, self._offset, self._held, drive_commands,
            )  # fmt: skip
