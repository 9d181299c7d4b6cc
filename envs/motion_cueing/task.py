"""MotionCueing: let the platform's driver perceive a vehicle's manoeuvre inside the workspace.

Here are the settings, the channels of actions and observations, the arrays that its kernels read
and write, the task, and its environments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_vector, positive
from twin.envs.channels import Channel, rescaled
from twin.envs.environment import PlatformEnv
from twin.envs.motion_cueing.manoeuvres import (
    DRIVE_DURATION,
    DRIVE_NAME,
    as_manoeuvre,
    fill_driven,
    fill_table,
    random_drive,
)
from twin.envs.task import Start, Task, TaskSettings
from twin.envs.vector import PlatformVectorEnv
from twin.errors import InputError
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.kernels.tasks.motion_cueing.cues import (
    ACCELERATION_ACTIONS,
    INCREMENT_ACTIONS,
    MODEL_SIZE,
    Command,
    CommandState,
    Constants,
    Senses,
    Signals,
    begin_commands,
    fill_pose_command,
    fill_speed_command,
)
from twin.kernels.tasks.motion_cueing.task import evaluate
from twin.kernels.tasks.task import Scales
from twin.motion.cueing import default_head
from twin.motion.cueing.algorithm import machine_ranges, motion_of_axes
from twin.motion.cueing.perception import PERCEPTION_THRESHOLDS
from twin.motion.cueing.predictive import CANAL_PERCEIVER, OTOLITH_PERCEIVER
from twin.motion.motion import AxisSample
from twin.simulation.simulate import Scene

POSE_ACTIONS = {"increments": INCREMENT_ACTIONS, "accelerations": ACCELERATION_ACTIONS}
"""Options for actions on the pose, with their modes in the kernel."""

TIME_TO_FULL_SPEED = 0.1
"""[s] Time in which the largest acceleration that can be commanded leads to full speed."""

FORCE_SCALE = 5.0
"""[m/s2] Scale of the manoeuvre's specific force, less that at rest, in the observation."""

RATE_SCALE = 0.5
"""[rad/s] Scale of the manoeuvre's angular rate in the observation."""

THRESHOLD_SCALE = 10.0
"""Scale of perceived motion in the observation, in thresholds of perception."""

ACTION_KINDS = {
    "accelerations": ("pose acceleration", "/s2"),
    "increments": ("pose increment", ""),
}
"""Kinds of actions on the pose: name of the channel, and the ending of its units."""


MIN_INTENSITY, MAX_INTENSITY = 1e-3, 10.0
"""Bounds of an intensity; that of random drives is at most 1."""


class MotionCueingSettings(TaskSettings):
    """Settings of motion cueing: manoeuvre, actions, preview."""

    action: Literal["accelerations", "increments", "velocities"] = Field(
        "accelerations",
        description="accelerations or increments of the commanded pose, or speeds of the actuators",
    )
    manoeuvre: Any = Field(
        DRIVE_NAME,
        description="'drive' for random drives, a manoeuvre's name, the path of a CSV file, or a "
        "`Manoeuvre`",
    )
    intensity: float = Field(
        1.0,
        ge=1e-3,
        le=10.0,
        description="factor of the manoeuvre's departure from rest; for random drives the largest, "
        "at most 1",
    )
    lowest_intensity: float = Field(
        0.4, ge=1e-3, le=1.0, description="of random drives, where it is below `intensity`"
    )
    head: Any = Field(
        None,
        description="[m] the driver's head from the reference point, platform axes; default "
        "`twin.motion.cueing.default_head`",
    )
    preview: int = Field(0, ge=0, le=50, description="further samples of the manoeuvre observed")
    preview_spacing: int = Field(
        10, ge=1, le=100, description="control periods between these samples"
    )
    margin: float = Field(
        0.02,
        ge=0.0,
        lt=0.4,
        description="share of the actuators' range that commands keep off at either end",
    )
    gain: float = Field(
        10.0,
        ge=0.0,
        le=100.0,
        description="[1/s] by which the speeds correct what the actuators are off the command",
    )


def intensity_bounds(drives: bool, largest: Any, lowest: Any) -> tuple[float, float]:
    """Return the bounds between which the intensity of an episode is drawn.

    Args:
        drives: whether manoeuvres are random drives; others have the largest.
        largest: largest intensity.
        lowest: lowest intensity of random drives, where it is below the largest.

    Raises:
        InputError: no numbers, or out of range.
    """
    high_intensity = positive(largest, "intensity")
    low_intensity = positive(lowest, "lowest_intensity")
    max_allowed = 1.0 if drives else MAX_INTENSITY
    if not MIN_INTENSITY <= high_intensity <= max_allowed:
        raise InputError("intensity", f"must lie from {MIN_INTENSITY:g} to {max_allowed:g}")
    if not MIN_INTENSITY <= low_intensity <= 1.0:
        raise InputError("lowest_intensity", f"must lie from {MIN_INTENSITY:g} to 1")
    return (min(low_intensity, high_intensity) if drives else high_intensity), high_intensity


class Axes(NamedTuple):
    """Axes x, y, z, yaw, pitch, roll of the machine, with their travel and speed."""

    free: Any
    """`(k,)` indices of the axes along which the machine can move"""
    travel: FloatArray
    """`(6,)` [m, rad] travel from home to either side; 1 where the machine cannot move"""
    speed: FloatArray
    """`(6,)` [m/s, rad/s] largest speed; 0 where the machine cannot move"""


def machine_axes(platform: Platform) -> Axes:
    """Return the axes of a machine; without a limit of speed, all the travel in 1 / (2 pi) s.

    Raises:
        InputError: a machine that hardly moves cannot cue.
    """
    ranges = machine_ranges(platform)
    if not (ranges.free & (ranges.travel > 0.0)).any() or not (ranges.travel[ranges.free]).all():
        raise InputError("platform", f"{platform.name} moves less than 5 mm or 5 mrad: no cueing")
    speed = np.where(np.isfinite(ranges.speed), ranges.speed, 2.0 * np.pi * ranges.travel)
    travel = np.where(ranges.free, ranges.travel, 1.0)
    return Axes(np.flatnonzero(ranges.free), travel, np.where(ranges.free, speed, 0.0))


def perception_models(period: float) -> FloatArray:
    """Return otoliths and canals `(2, MODEL_SIZE)` over one period, for `sense`.

    With an input u that runs in a straight line from u_0 to u_1 the state x' = A x + B u after
    the period T is exactly x_1 = E x + F u_0 + G (u_1 - u_0) / T, where (E, F, G) are the upper
    rows of the exponential of T (A, B, 0; 0, 0, 1; 0, 0, 0): the first-order hold that
    `twin.motion.cueing.perceived` uses.

    Args:
        period: [s].

    Raises:
        InputError: period not above zero.
    """
    from scipy.linalg import expm

    checked_period = positive(period, "period")
    models = np.empty((2, MODEL_SIZE))
    for model_row, perceiver in zip(models, (OTOLITH_PERCEIVER, CANAL_PERCEIVER), strict=True):
        transition = expm(checked_period * perceiver.with_input())[:2]
        # Columns 2 and 3 of the exponential are the effects of the input and of its derivative.
        end_gain = transition[:, 3] / checked_period
        start_gain = transition[:, 2] - end_gain
        model_row[:] = [
            *transition[:, :2].ravel(),
            *start_gain,
            *end_gain,
            *perceiver.output,
            perceiver.feedthrough,
        ]
    return models


def action_channel(
    platform: Platform, scales: Scales, command_constants: Command, settings: MotionCueingSettings
) -> Channel:
    """Return the channel of an action.

    Raises:
        InputError: other scales for speeds of the actuators, which take all of their speed.
    """
    if settings.action == "velocities":
        unit = f"{platform.coordinate_unit}/s"
        speed = Channel("actuator velocity", platform.n_actuators, unit, scales.speed)
        if not np.allclose(rescaled([speed], settings.scales)[0].scale, speed.scale, rtol=1e-6):
            raise InputError("scales", f"{speed.name} is the whole speed of the actuators")
        return speed
    name, unit_suffix = ACTION_KINDS[settings.action]
    channel = rescaled(
        [_axis_channel(name, command_constants.free, command_constants.scale, unit_suffix)],
        settings.scales,
    )[0]
    command_constants.scale[command_constants.free] = channel.scale
    return channel


def observation_channels(
    platform: Platform, scales: Scales, axes: Axes, action: Channel, settings: MotionCueingSettings
) -> tuple[Channel, ...]:
    """Return the channels of an observation, in the order of the kernel."""
    perception_scale, free = THRESHOLD_SCALE * PERCEPTION_THRESHOLDS, axes.free
    channels = [
        Channel("force perceived in the vehicle", 3, "m/s2", perception_scale[:3]),
        Channel("rotation perceived in the vehicle", 3, "rad/s", perception_scale[3:]),
        Channel("force perceived on the platform", 3, "m/s2", perception_scale[:3]),
        Channel("rotation perceived on the platform", 3, "rad/s", perception_scale[3:]),
    ]
    for k in range(settings.preview + 1):
        channels.append(Channel(f"specific force {k}", 3, "m/s2", FORCE_SCALE))
        channels.append(Channel(f"angular rate {k}", 3, "rad/s", RATE_SCALE))
    channels.append(_axis_channel("displacement", free, axes.travel))
    channels.append(_axis_channel("velocity", free, axes.speed, "/s"))
    if settings.action != "velocities":
        channels.append(_axis_channel("commanded displacement", free, axes.travel))
        channels.append(_axis_channel("commanded velocity", free, axes.speed, "/s"))
    coordinate = Channel("coordinate", platform.n_actuators, platform.coordinate_unit, scales.half)
    return (*channels, coordinate, Channel("last action", action.size, "1", 1.0))


def _axis_channel(name: str, free: Any, scale: FloatArray, unit_ending: str = "") -> Channel:
    """Return a channel of the machine's free axes; `unit_ending` is the ending of its units."""
    unit_parts = (("m", (free < 3).any()), ("rad", (free >= 3).any()))
    unit = ", ".join(
        f"{unit_part}{unit_ending}" for unit_part, is_present in unit_parts if is_present
    )
    return Channel(name, len(free), unit, scale[free])


class MotionCueing(Task):
    """Manoeuvres, perception and commands of all machines.

    Attributes:
        head: `(3,)` [m] of the platform's driver from the reference point, platform axes.
        axes: axes along which the machine can move, with their travel and speed.
        command_constants: with which actions are turned into actuator speeds.
        commands: `(N, 6)` commanded axes about home.
        senses: manoeuvres, and what both drivers sense.
    """

    title = "motion cueing"
    default_machine = "stewart"
    settings_type = MotionCueingSettings
    terms: ClassVar[Mapping[str, float]] = {
        "force": 1.0,
        "rotation": 1.0,
        "false_cue": 0.5,
        "neutral": 0.02,
        "smoothness": 0.05,
        "end": 100.0,
    }
    termination_reasons = ("", "engine", "limit")
    varied_settings: ClassVar[tuple[str, ...]] = ("intensity", "lowest_intensity")

    kernel = staticmethod(evaluate)

    settings: MotionCueingSettings

    def __init__(
        self, platform: Platform, settings: MotionCueingSettings, engine: str, size: int
    ) -> None:
        """Make the batched plant, the channels and the arrays of the task.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        super().__init__(platform, settings, engine, size)
        self._check(platform, settings)
        period = self.batch.period
        head = default_head(platform) if settings.head is None else settings.head
        self.head = as_vector(head, "head", 3)
        self.axes = machine_axes(platform)
        scales, speed = self.scales, self.axes.speed
        # Actions on the actuators' speeds have no mode: their kernel does not read it.
        mode = POSE_ACTIONS.get(settings.action, INCREMENT_ACTIONS)
        range_margin = 2.0 * settings.margin * scales.half
        self.command_constants = Command(
            legs=platform.constants.legs,
            home=platform.home.copy(),
            free=self.axes.free,
            mode=mode,
            period=period,
            scale=speed * period if mode == INCREMENT_ACTIONS else speed / TIME_TO_FULL_SPEED,
            speed=speed,
            max_travel=scales.speed * period,
            max_deceleration=scales.speed / TIME_TO_FULL_SPEED,
            low=scales.lower + range_margin,
            high=scales.upper - range_margin,
            gain=settings.gain,
        )
        action = action_channel(platform, self.scales, self.command_constants, settings)
        self.actions = (action,)
        self.observations = observation_channels(platform, self.scales, self.axes, action, settings)
        self.allocate()
        self.manoeuvre = as_manoeuvre(settings.manoeuvre)
        longest_duration = (
            DRIVE_DURATION
            if self.manoeuvre is None
            else max(DRIVE_DURATION, self.manoeuvre.duration)
        )
        self._prepare(round(longest_duration / period) + 1)

    def _prepare(self, length: int) -> None:
        """Make the arrays of manoeuvres of `length` periods and of their perception."""
        size, settings = self.size, self.settings
        vehicle, platform, begin, end, last_twist = np.zeros((5, size, 6))
        self.senses = Senses(
            table=np.zeros((size, length, 6)),
            vehicle_states=np.zeros((size, 6, 2)),
            platform_states=np.zeros((size, 6, 2)),
            vehicle=vehicle,
            platform=platform,
            begin=begin,
            end=end,
            last_head=np.zeros((size, 7)),
            last_twist=last_twist,
            sums=np.zeros((size, 2)),
        )
        self._signals = Signals(*np.zeros((2, size, 6)), *np.zeros((2, size)))
        pose_actions = settings.action in POSE_ACTIONS
        self._constants = Constants(
            perception_models(self.batch.period),
            self.head,
            self.platform.home.copy(),
            self.axes.free,
            self.axes.travel,
            PERCEPTION_THRESHOLDS.copy(),
            self.batch.period,
            np.tile(self.scales.lower, (size, 1)),
            np.tile(self.scales.upper, (size, 1)),
            self.scales.middle,
            settings.preview_spacing * np.arange(settings.preview + 1),
            pose_actions,
        )
        n = self.platform.n_actuators
        self.state = CommandState(*np.zeros((2, size, 6)), *np.zeros((2, size, n)))
        self.commands = self.state.axes
        self.intensity = np.ones(size)
        self.signals = {
            "perceived_vehicle": self.senses.vehicle,
            "perceived_platform": self.senses.platform,
            "perceived_error": self._signals.error,
            "felt": self.senses.end,
            "axes": self._signals.axes,
            "command": self.commands,
            "score": self._signals.score,
            "false_cues": self._signals.false_cues,
            "intensity": self.intensity,
            **self._plant_signals(),
        }
        self._command: Any = SameTypes(fill_pose_command if pose_actions else fill_speed_command)
        self._command_bundle = Bundle(
            self.command_constants, self.state, self.batch.measured, self.drive_commands
        )
        self._group(self._constants, self.senses, self._signals, self.state)

    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw the manoeuvre of a machine.

        Args:
            index: index of the machine.
            generator: random generator of everything that is drawn.
            platform: the machine.
            options: `manoeuvre` and what `varied_settings` lists, instead of those of the settings.

        Raises:
            InputError: an unknown option, no manoeuvre or one too long, intensity out of range.
        """
        self._check_options(options, "manoeuvre")
        manoeuvre = as_manoeuvre(options["manoeuvre"]) if "manoeuvre" in options else self.manoeuvre
        values = [options.get(name, getattr(self.settings, name)) for name in self.varied_settings]
        low_intensity, high_intensity = intensity_bounds(manoeuvre is None, *values)
        intensity = (
            float(generator.uniform(low_intensity, high_intensity))
            if high_intensity > low_intensity
            else low_intensity
        )
        table = self.senses.table[index]
        if manoeuvre is None:
            fill_driven(random_drive(generator, intensity), self.batch.period, table)
        elif manoeuvre.duration > (len(table) - 0.5) * self.batch.period:
            raise InputError("manoeuvre", "is longer than that of the settings; give it to `make`")
        else:
            fill_table(manoeuvre.scaled(intensity), self.batch.period, table)
        self.intensity[index] = intensity
        self._constants.low[index] = platform.minimum_coordinates
        self._constants.high[index] = platform.maximum_coordinates
        return Start()

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` from actions on the pose or on the actuators."""
        self._command(actions, self._command_bundle)

    def evaluate(self, indices: Any, actions: FloatArray | None = None) -> None:
        """Fill observation, reward, termination and signals as all tasks do."""
        if actions is None and self.steps[indices[0]] == 0:
            begin_commands(self.command_constants, indices, self.state, self.batch.measured)
        super().evaluate(indices, actions)

    def scene(self, index: int) -> Scene:
        """Return the scene of a machine, with the commanded pose as a ghost."""
        scene = super().scene(index)
        if self.settings.action not in POSE_ACTIONS:
            return scene
        zero_motion = np.zeros((1, 6))
        axes = AxisSample(self.commands[index : index + 1], zero_motion, zero_motion)
        return scene._replace(ghost=motion_of_axes(self.platform, axes).pose[0])

    def _check(self, platform: Platform, settings: Any) -> None:
        """Refuse actions that the machine cannot have, and intensities out of order."""
        if settings.action == "velocities" and platform.n_actuators > platform.dof:
            raise InputError(
                "action",
                f"the {platform.n_actuators} actuators of {platform.name} have {platform.dof} "
                "degrees of freedom and no speeds of their own; use increments or accelerations",
            )
        intensity_bounds(
            as_manoeuvre(settings.manoeuvre) is None, settings.intensity, settings.lowest_intensity
        )


class MotionCueingEnv(PlatformEnv):
    """Let the platform's driver perceive the manoeuvre of a vehicle, inside the workspace.

    The machine starts at rest at home, the manoeuvre begins at once. Perception is modelled
    as in `twin.motion.cueing`: otoliths and canals of both drivers, integrated exactly for inputs
    that are linear within a period. The platform's driver senses the specific force in the
    platform's axes, with the head's acceleration averaged over each period, so that short
    accelerations between two samples are not missed. Numbers of the tables are those
    of the default machine `stewart`; those of others are in `env.unwrapped.task.actions` and
    `.observations`. Axes are in the order x, y, z, yaw, pitch, roll, those that the machine has:
    `driving_simulator` has z, pitch, roll.

    Actions, each from -1 to 1:

    | option `action` | name | size | unit | 1 means |
    | --- | --- | --- | --- | --- |
    | accelerations | pose acceleration | 6 | m/s2, rad/s2 | 5.57, 5.7, 2.85, 13, 6.75, 6.64 |
    | increments | pose increment | 6 | m, rad | 0.00557, 0.0057, 0.00285, 0.013, 0.00675, 0.00664 |
    | velocities | actuator velocity | 6 | m/s | 0.254 |

    Actions on the pose move a command: 1 is full speed along the axis alone within 0.1 s, or full
    speed. The command keeps the actuators' speeds and stops softly before the ends of their
    travel. Its coordinates are turned into speeds of the actuators, with a correction by `gain`.
    Machines with more actuators than degrees of freedom take no speeds of the actuators.

    Observations, each the physical value divided by the scale, clipped to ±10:

    | name | size | unit | scale |
    | --- | --- | --- | --- |
    | force perceived in the vehicle | 3 | m/s2 | 1.7, 1.7, 2.8 |
    | rotation perceived in the vehicle | 3 | rad/s | 0.5236, 0.6283, 0.4538 |
    | force perceived on the platform | 3 | m/s2 | 1.7, 1.7, 2.8 |
    | rotation perceived on the platform | 3 | rad/s | 0.5236, 0.6283, 0.4538 |
    | specific force 0 | 3 | m/s2 | 5 |
    | angular rate 0 | 3 | rad/s | 0.5 |
    | displacement | 6 | m, rad | 0.215, 0.215, 0.125, 0.51, 0.3, 0.295 |
    | velocity | 6 | m/s, rad/s | 0.5574, 0.57, 0.2854, 1.296, 0.6747, 0.6638 |
    | commanded displacement | 6 | m, rad | 0.215, 0.215, 0.125, 0.51, 0.3, 0.295 |
    | commanded velocity | 6 | m/s, rad/s | 0.5574, 0.57, 0.2854, 1.296, 0.6747, 0.6638 |
    | coordinate | 6 | m | 0.115 |
    | last action | 6 | 1 | 1 |

    Specific force is less that at rest. With `preview` n, specific force and angular rate k follow
    for k up to n, k times `preview_spacing` periods ahead. Displacements are from home, velocities
    in base axes, coordinates measured from the middle of the travel. With actions on the
    actuators nothing is commanded.

    Reward terms:

    | name | weight | range | what |
    | --- | --- | --- | --- |
    | force | 1 | -inf to 0 | minus the mean square error of perceived force in ten thresholds |
    | rotation | 1 | -inf to 0 | the same of perceived rotation |
    | false_cue | 0.5 | -inf to 0 | the same of what is felt and should not be |
    | neutral | 0.02 | -inf to 0 | minus the mean square displacement in parts of the travel |
    | smoothness | 0.05 | -1 to 0 | minus the mean square of half the change of the action |
    | end | 100 | -1 to 0 | -1 when the episode ends before its time |

    With `score`, the error so far in thresholds as in `PerceivedError.total`, the means of force
    and rotation over an episode add up to -2 (score / 10)^2.

    Ends:

    | reason | when |
    | --- | --- |
    | engine | the engine had to give up: singular, loops open |
    | limit | an actuator is outside its range |

    Truncated after 1200 steps (`max_episode_steps`), the 12 s of random drives and manoeuvres.
    A manoeuvre that ends before holds its last values.

    Info, beside `reward_terms`, `termination` and, after a reset, `randomised`:

    | name | size | unit | what |
    | --- | --- | --- | --- |
    | perceived_vehicle | 6 | m/s2, rad/s | force and rotation perceived in the vehicle |
    | perceived_platform | 6 | m/s2, rad/s | the same on the platform |
    | perceived_error | 6 | m/s2, rad/s | platform less vehicle |
    | felt | 6 | m/s2, rad/s | specific force less that at rest and angular rate of the platform |
    | axes | 6 | m, rad | displacement from home |
    | command | 6 | m, rad | commanded displacement |
    | score | 1 | 1 | error so far, in thresholds of perception |
    | false_cues | 1 | 1 | the part of it that should not be felt |
    | intensity | 1 | 1 | of the manoeuvre |
    | pose | 7 | m, 1 | the platform's position and quaternion in the base frame |
    | twist | 6 | m/s, rad/s | its velocity and angular velocity, base axes |
    | forces | 6 | N | of the actuators on the legs, at the last engine step |
    | loop_gap | 1 | m | how far the loops are open |

    Options:

    | name | default |
    | --- | --- |
    | period | 0.01 |
    | timestep | None |
    | fidelity | None |
    | limits | True |
    | weights | {} |
    | scales | {} |
    | observation_noise | 0.0 |
    | observation_delay | 0.0 |
    | action_noise | 0.0 |
    | action_delay | 0.0 |
    | episode_duration | None |
    | info | True |
    | action | accelerations |
    | manoeuvre | drive |
    | intensity | 1.0 |
    | lowest_intensity | 0.4 |
    | head | None |
    | preview | 0 |
    | preview_spacing | 10 |
    | margin | 0.02 |
    | gain | 10.0 |

    What they mean is in `MotionCueingSettings`. `reset(options={"manoeuvre": ...})`, and the same
    of "intensity", are for one episode. A randomisation may also vary `task.intensity` and
    `task.lowest_intensity`.

    Versions: v0, the first.
    """

    task_type = MotionCueing
    task: MotionCueing


class MotionCueingVectorEnv(PlatformVectorEnv):
    """Vector environment of `MotionCueingEnv`: the same spaces, rewards, ends and options."""

    task_type = MotionCueing
    task: MotionCueing
