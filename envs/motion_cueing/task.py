"""MotionCueing: let the platform's driver perceive a vehicle's manoeuvre inside the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_vector
from twin.envs.motion_cueing.arrays import (
    POSE_ACTIONS,
    action_channel,
    machine_axes,
    make_command,
    make_command_state,
    make_constants,
    make_senses,
    make_signals,
    observation_channels,
)
from twin.envs.motion_cueing.manoeuvres import (
    DURATION,
    as_manoeuvre,
    fill_driven,
    fill_table,
    random_drive,
)
from twin.envs.motion_cueing.settings import MotionCueingSettings, intensity_bounds
from twin.envs.task import Start, Task, TaskSettings
from twin.errors import InputError
from twin.kernels.bundle import Bundle
from twin.kernels.machine_code import SameTypes
from twin.kernels.tasks.motion_cueing.command import (
    INCREMENTS,
    begin_commands,
    fill_pose_command,
    fill_speed_command,
)
from twin.kernels.tasks.motion_cueing.task import evaluate
from twin.motion.axes import AxisSample
from twin.motion.cueing import default_head
from twin.motion.cueing.platform_axes import motion_of_axes
from twin.simulation.scene import Scene


class MotionCueing(Task):
    """Manoeuvres, perception and commands of all machines.

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

    kernel = staticmethod(evaluate)

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
        self._prepare(round(seconds / period) + 1)

    def _prepare(self, length: int) -> None:
        """Make the arrays of manoeuvres of so many periods and of what they are perceived as."""
        size, settings = self.size, self.settings
        self.senses, self._signals = make_senses(size, length), make_signals(size)
        spacing = settings.preview_spacing
        self._constants = make_constants(
            self.platform,
            self.axes,
            self.scales,
            size,
            head=self.head,
            period=self.batch.period,
            ahead=[spacing * k for k in range(settings.preview + 1)],
            on_pose=settings.action in POSE_ACTIONS,
        )
        self._state = make_command_state(size, self.platform.n_actuators)
        self.commands = self._state.axes
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
            **self._plant_signals(),
        }
        pose_actions = settings.action in POSE_ACTIONS
        self._command: Any = SameTypes(fill_pose_command if pose_actions else fill_speed_command)
        self._commanded = Bundle(
            self.machine, self._state, self.batch.measured, self.drive_commands
        )
        self._group(self._constants, self.senses, self._signals, self._state)

    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw the manoeuvre of a machine.

        Args:
            index: of the machine.
            generator: of everything random.
            platform: the machine.
            options: `manoeuvre` and what `names` lists, instead of those of the settings.

        Raises:
            InputError: an unknown option, no manoeuvre or one too long, intensity out of range.
        """
        self._check_options(options, "manoeuvre")
        manoeuvre = as_manoeuvre(options["manoeuvre"]) if "manoeuvre" in options else self.manoeuvre
        values = [options.get(name, getattr(self.settings, name)) for name in self.names]
        low, high = intensity_bounds(manoeuvre is None, *values)
        share = float(generator.uniform(low, high)) if high > low else low
        table = self.senses.table[index]
        if manoeuvre is None:
            fill_driven(random_drive(generator, share), self.batch.period, table)
        elif manoeuvre.duration > (len(table) - 0.5) * self.batch.period:
            raise InputError("manoeuvre", "is longer than that of the settings; give it to `make`")
        else:
            fill_table(manoeuvre.scaled(share), self.batch.period, table)
        self.intensity[index] = share
        self._constants.low[index] = platform.minimum_coordinates
        self._constants.high[index] = platform.maximum_coordinates
        return Start()

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` from actions on the pose or on the actuators."""
        self._command(actions, self._commanded)

    def evaluate(self, indices: Any, actions: FloatArray | None = None) -> None:
        """Fill observation, reward, termination and signals as all tasks do."""
        if actions is None and self.steps[indices[0]] == 0:
            begin_commands(self.machine, indices, self._state, self.batch.measured)
        super().evaluate(indices, actions)

    def scene(self, index: int) -> Scene:
        """Return the scene of a machine, with the commanded pose as a ghost."""
        scene = super().scene(index)
        if self.settings.action not in POSE_ACTIONS:
            return scene
        still = np.zeros((1, 6))
        axes = AxisSample(self.commands[index : index + 1], still, still)
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
