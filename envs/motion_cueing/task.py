"""MotionCueing: let the platform's driver perceive a vehicle's manoeuvre inside the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.envs.channels import channel_scales
from twin.envs.motion_cueing.arrays import (
    POSE_ACTIONS,
    Results,
    machine_axes,
    make_command,
    make_frame,
    make_senses,
    make_signals,
)
from twin.envs.motion_cueing.channels import action_channel, observation_channels
from twin.envs.motion_cueing.manoeuvres import DURATION, as_manoeuvre, fill_table, random_drive
from twin.envs.motion_cueing.perception import perception_models
from twin.envs.motion_cueing.settings import MotionCueingSettings, intensity_bounds
from twin.envs.task import Start, Task, TaskSettings
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.command import (
    INCREMENTS,
    begin_commands,
    command_rows,
    speed_rows,
)
from twin.kernels.tasks.motion_cueing.task import look_rows
from twin.motion.axes import AxisSample
from twin.motion.cueing import default_head
from twin.motion.cueing.platform_axes import motion_of_axes
from twin.simulation.platform import Platform
from twin.simulation.scene import Scene


class MotionCueing(Task):
    """Manoeuvres, perception and commands of all rows.

    Attributes:
        head: `(3,)` [m] of the platform's driver from the reference point, platform axes.
        axes: what the machine has along x, y, z, yaw, pitch, roll.
        machine: what turns actions into the actuators' speeds.
        commands: `(N, 6)` commanded axes about home.
        senses: manoeuvres, and what both drivers sense.
    """

    title: ClassVar[str] = "motion cueing"
    usual_machine: ClassVar[str] = "stewart"
    settings_type: ClassVar[type[TaskSettings]] = MotionCueingSettings
    terms: ClassVar[Mapping[str, float]] = {
        "force": 1.0,
        "rotation": 1.0,
        "false_cue": 0.5,
        "neutral": 0.02,
        "smoothness": 0.05,
        "end": 100.0,
    }
    reasons: ClassVar[tuple[str, ...]] = ("", "engine", "limit")
    names: ClassVar[tuple[str, ...]] = ("intensity", "lowest_intensity")

    settings: MotionCueingSettings

    def __init__(
        self, platform: Platform, settings: MotionCueingSettings, engine: str, size: int
    ) -> None:
        """Make batch and arrays.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        super().__init__(platform, settings, engine, size)
        self._check(platform, settings)
        period = self.batch.period
        head = default_head(platform) if settings.head is None else settings.head
        self.head = as_vector(head, "head", 3)
        self.axes = machine_axes(platform)
        self.machine = make_command(
            platform,
            self.axes,
            self.scales,
            mode=POSE_ACTIONS.get(settings.action, INCREMENTS),
            period=period,
            margin=settings.margin,
            gain=settings.gain,
        )
        action = action_channel(platform, self.scales, self.machine, settings)
        self.actions = (action,)
        self.observations = observation_channels(platform, self.scales, self.axes, action, settings)
        self._allocate()
        self.manoeuvre = as_manoeuvre(settings.manoeuvre)
        seconds = DURATION if self.manoeuvre is None else max(DURATION, self.manoeuvre.duration)
        self._ahead = [0, *(settings.preview_spacing * (k + 1) for k in range(settings.preview))]
        self._prepare(round(seconds / period) + 1)

    def _prepare(self, length: int) -> None:
        """Make the arrays of manoeuvres of so many periods and of what they are perceived as."""
        size, n = self.size, self.platform.n_actuators
        self.models = perception_models(self.batch.period)
        self.senses, self._signals = make_senses(size, length), make_signals(size)
        self.frame = make_frame(
            self.platform,
            self.axes,
            self.scales,
            size,
            head=self.head,
            period=self.batch.period,
            ahead=self._ahead,
            scale=channel_scales(self.observations),
            weights=self.weights,
        )
        self._results = Results(self.term, self.reward, self.reason, self.observation)
        self._before = np.zeros_like(self.last_action)
        on_pose = self.settings.action in POSE_ACTIONS
        self.commands, self._rates = np.zeros((2, size, 6))
        nothing = np.zeros((size, 0))
        self._seen = (self.commands, self._rates) if on_pose else (nothing, nothing)
        self._offsets, self._targets = np.zeros((2, size, n))
        self.intensity = np.ones(size)
        self.signals = {
            "perceived_vehicle": self.senses.vehicle,
            "perceived_platform": self.senses.platform,
            "perceived_error": self._signals.error,
            "felt": self.senses.right,
            "axes": self._signals.axes,
            "command": self.commands,
            "score": self._signals.score,
            "false_cues": self._signals.false_cues,
            "intensity": self.intensity,
            "pose": self.batch.pose,
            "twist": self.batch.twist,
            "forces": self.batch.forces,
            "loop_gap": self.batch.gap,
        }

    def begin(
        self,
        row: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw the manoeuvre of a row.

        Args:
            row: which.
            generator: of everything random.
            platform: the row's machine.
            options: `manoeuvre` and what `names` lists, instead of those of the settings.

        Raises:
            InputError: an unknown option, no manoeuvre or one too long, intensity out of range.
        """
        known = ("manoeuvre", *self.names)
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise InputError(unknown[0], f"no option of reset; it takes {', '.join(known)}")
        manoeuvre = as_manoeuvre(options["manoeuvre"]) if "manoeuvre" in options else self.manoeuvre
        values = [options.get(name, getattr(self.settings, name)) for name in self.names]
        low, high = intensity_bounds(manoeuvre is None, *values)
        share = float(generator.uniform(low, high)) if high > low else low
        table = self.senses.table[row]
        if manoeuvre is None:
            manoeuvre = random_drive(generator, share).manoeuvre
        elif manoeuvre.duration > (len(table) - 0.5) * self.batch.period:
            raise InputError("manoeuvre", "is longer than that of the settings; give it to `make`")
        else:
            manoeuvre = manoeuvre.scaled(share)
        fill_table(manoeuvre, self.batch.period, table)
        self.intensity[row] = share
        self.frame.low[row] = platform.minimum_coordinates
        self.frame.high[row] = platform.maximum_coordinates
        return Start()

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` from actions on the pose or on the actuators."""
        self._before[:] = self.last_action
        if self.settings.action in POSE_ACTIONS:
            command_rows(
                self.machine, actions, self.commands, self._rates, self._offsets, self._targets,
                self.batch.measured, self.drive_commands,
            )  # fmt: skip
        else:
            speed_rows(self.machine, actions, self.batch.measured, self.drive_commands)

    def look(self, rows: Any) -> None:
        """Fill observation, terms, reward, reason and signals of `rows` from the batched plant."""
        batch = self.batch
        if self.steps[rows[0]] == 0:
            begin_commands(
                self.machine, rows, self.commands, self._rates, self._offsets, self._targets,
                batch.measured,
            )  # fmt: skip
        look_rows(
            rows, self.steps, self.models, self.senses, self._signals, self.frame, self._results,
            (batch.pose, batch.twist, batch.coordinates, batch.measured, batch.failed),
            self._seen, (self.last_action, self._before),
        )  # fmt: skip

    def scene(self, row: int) -> Scene:
        """Return what a picture of a row shows: the commanded pose as a ghost."""
        scene = super().scene(row)
        if self.settings.action not in POSE_ACTIONS:
            return scene
        still = np.zeros((1, 6))
        axes = AxisSample(self.commands[row : row + 1], still, still)
        return scene._replace(ghost=motion_of_axes(self.platform, axes).pose[0])

    def _check(self, platform: Platform, settings: Any) -> None:
        if settings.action == "velocities" and platform.n_actuators > platform.dof:
            raise InputError(
                "action",
                f"the {platform.n_actuators} actuators of {platform.name} have {platform.dof} "
                "degrees of freedom and no speeds of their own; use increments or accelerations",
            )
        intensity_bounds(
            as_manoeuvre(settings.manoeuvre) is None, settings.intensity, settings.lowest_intensity
        )
