"""MotionCueing: let the platform's driver perceive a vehicle's manoeuvre inside the workspace.

Arrays that the kernels of motion cueing read and write: the machine, its drivers, episodes.

Its channels say what the numbers of actions and observations mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_vector, positive
from twin.envs.channels import Channel, rescaled
from twin.envs.motion_cueing.manoeuvres import (
    DRIVE,
    DURATION,
    as_manoeuvre,
    fill_driven,
    fill_table,
    random_drive,
)
from twin.envs.task import Start, Task, TaskSettings
from twin.errors import InputError
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.kernels.tasks.motion_cueing.cues import (
    ACCELERATIONS,
    INCREMENTS,
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
from twin.motion.cueing.perception import THRESHOLDS
from twin.motion.cueing.predictive import CANALS, OTOLITHS
from twin.motion.motion import AxisSample
from twin.simulation.scene import Scene

POSE_ACTIONS = {"increments": INCREMENTS, "accelerations": ACCELERATIONS}
"""Kinds of actions on the pose."""

FULL_SPEED = 0.1
"""[s] in which the largest accelerations that can be commanded lead to full speed."""

FORCE = 5.0
"""[m/s2] of a manoeuvre that counts as one, less rest."""

RATE = 0.5
"""[rad/s]"""

OBSERVED = 10.0
"""Thresholds of perception that count as one."""

ACTIONS = {
    "accelerations": ("pose acceleration", "/s2"),
    "increments": ("pose increment", ""),
}
"""Kinds of actions on the pose: name, and what their units end with."""


LEAST, MOST = 1e-3, 10.0
"""Of an intensity; of random drives it is at most 1."""


class MotionCueingSettings(TaskSettings):
    """Settings of motion cueing: manoeuvre, actions, preview."""

    action: Literal["accelerations", "increments", "velocities"] = Field(
        "accelerations",
        description="accelerations or increments of the commanded pose, or speeds of the actuators",
    )
    manoeuvre: Any = Field(
        DRIVE,
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
        largest: of it.
        lowest: of random drives, where it is below the largest.

    Raises:
        InputError: no numbers, or out of range.
    """
    high, low = positive(largest, "intensity"), positive(lowest, "lowest_intensity")
    most = 1.0 if drives else MOST
    if not LEAST <= high <= most:
        raise InputError("intensity", f"must lie from {LEAST:g} to {most:g}")
    if not LEAST <= low <= 1.0:
        raise InputError("lowest_intensity", f"must lie from {LEAST:g} to 1")
    return (min(low, high) if drives else high), high


class Axes(NamedTuple):
    """Axes x, y, z, yaw, pitch, roll of the machine, with their travel."""

    free: Any
    """`(k,)` numbers of those it has"""
    travel: FloatArray
    """`(6,)` [m, rad] to either side; 1 where it has none"""
    speed: FloatArray
    """`(6,)` [m/s, rad/s]; 0 where it has none"""


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

    step = positive(period, "period")
    rows = np.empty((2, MODEL_SIZE))
    for row, model in zip(rows, (OTOLITHS, CANALS), strict=True):
        exact = expm(step * model.with_input())[:2]
        right = exact[:, 3] / step
        left = exact[:, 2] - right
        row[:] = [*exact[:, :2].ravel(), *left, *right, *model.output, model.through]
    return rows


def make_command(
    platform: Platform,
    axes: Axes,
    scales: Scales,
    *,
    mode: int,
    period: float,
    margin: float,
    gain: float,
) -> Command:
    """Return what turns actions into speeds of a machine's actuators.

    Args:
        platform: the machine.
        axes: its own.
        scales: of its actuators.
        mode: a value of `POSE_ACTIONS`.
        period: of control [s].
        margin: share of the actuators' range that commands keep off at either end.
        gain: [1/s] of the correction of position.
    """
    kept = 2.0 * margin * scales.half
    return Command(
        platform.constants.legs,
        platform.home.copy(),
        axes.free,
        mode,
        period,
        axes.speed * period if mode == INCREMENTS else axes.speed / FULL_SPEED,
        axes.speed,
        scales.speed * period,
        scales.speed / FULL_SPEED,
        scales.lower + kept,
        scales.upper - kept,
        gain,
    )


def make_constants(
    platform: Platform,
    axes: Axes,
    scales: Scales,
    size: int,
    *,
    head: FloatArray,
    period: float,
    ahead: list[int],
    on_pose: bool,
) -> Constants:
    """Return the constants of `size` environments; see `Constants`."""
    return Constants(
        perception_models(period),
        head,
        platform.home.copy(),
        axes.free,
        axes.travel,
        THRESHOLDS.copy(),
        period,
        np.tile(scales.lower, (size, 1)),
        np.tile(scales.upper, (size, 1)),
        scales.middle,
        np.array(ahead),
        on_pose,
    )


def make_senses(size: int, length: int) -> Senses:
    """Return empty arrays for `size` environments and manoeuvres of `length` periods."""
    rows = (size, 6)
    return Senses(
        table=np.zeros((size, length, 6)),
        vehicle_states=np.zeros((size, 6, 2)),
        platform_states=np.zeros((size, 6, 2)),
        vehicle=np.zeros(rows),
        platform=np.zeros(rows),
        left=np.zeros(rows),
        right=np.zeros(rows),
        before=np.zeros((size, 7)),
        turning=np.zeros(rows),
        sums=np.zeros((size, 2)),
    )


def make_signals(size: int) -> Signals:
    """Return empty arrays for `size` environments."""
    axes, error = np.zeros((2, size, 6))
    return Signals(axes, error, np.zeros(size), np.zeros(size))


def make_command_state(size: int, actuators: int) -> CommandState:
    """Return empty arrays for `size` environments of machines with so many actuators."""
    return CommandState(*np.zeros((2, size, 6)), *np.zeros((2, size, actuators)))


def action_channel(
    platform: Platform, scales: Scales, machine: Command, settings: MotionCueingSettings
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
    name, end = ACTIONS[settings.action]
    channel = rescaled([_on_axes(name, machine.free, machine.scale, end)], settings.scales)[0]
    machine.scale[machine.free] = channel.scale
    return channel


def observation_channels(
    platform: Platform, scales: Scales, axes: Axes, action: Channel, settings: MotionCueingSettings
) -> tuple[Channel, ...]:
    """Return what the numbers of an observation are, in the order of the kernel."""
    felt, free = OBSERVED * THRESHOLDS, axes.free
    channels = [
        Channel("force perceived in the vehicle", 3, "m/s2", felt[:3]),
        Channel("rotation perceived in the vehicle", 3, "rad/s", felt[3:]),
        Channel("force perceived on the platform", 3, "m/s2", felt[:3]),
        Channel("rotation perceived on the platform", 3, "rad/s", felt[3:]),
    ]
    for k in range(settings.preview + 1):
        channels.append(Channel(f"specific force {k}", 3, "m/s2", FORCE))
        channels.append(Channel(f"angular rate {k}", 3, "rad/s", RATE))
    channels.append(_on_axes("displacement", free, axes.travel))
    channels.append(_on_axes("velocity", free, axes.speed, "/s"))
    if settings.action != "velocities":
        channels.append(_on_axes("commanded displacement", free, axes.travel))
        channels.append(_on_axes("commanded velocity", free, axes.speed, "/s"))
    n, unit = platform.n_actuators, platform.coordinate_unit
    channels.append(Channel("coordinate", n, unit, scales.half))
    channels.append(Channel("last action", action.size, "1", 1.0))
    return tuple(channels)


def _on_axes(name: str, free: Any, scale: FloatArray, end: str = "") -> Channel:
    """Return a channel of the free axes; `end` of the units."""
    parts = (("m", (free < 3).any()), ("rad", (free >= 3).any()))
    unit = ", ".join(f"{each}{end}" for each, there in parts if there)
    return Channel(name, len(free), unit, scale[free])


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
