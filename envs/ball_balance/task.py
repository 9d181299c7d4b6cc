"""The task of `BallBalance`: bring a ball to its target on the platform and keep it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, read_only
from twin.control.gains import suitable_position_loop
from twin.envs.ball_balance.settings import BallBalanceSettings
from twin.envs.channels import Channel, channel_scales
from twin.envs.task import Start, Task, TaskSettings
from twin.errors import InputError
from twin.kernels.tasks.ball_balance.task import look, pose_command
from twin.model.ball.ball import Ball, as_ball
from twin.model.ball.places import as_start
from twin.simulation.platform import Platform

TARGETS = 16
"""Drawn for an episode; then they come again."""

FINE = 0.02
"""Of the plate's radius: scale of the distance in the reward."""

QUICK = 0.5
"""Plate radii in a second: scale of speeds."""


SMALLEST_NEED = 1e-6
"""Share of the largest entry of the Jacobian below which a column says that nothing can move so."""


class Aims(NamedTuple):
    """Where the balls shall be, in plate axes."""

    centers: FloatArray
    """`(N, k, 2)` one after the other [m]"""
    circles: FloatArray
    """`(N, 3)` about them: radius [m], rate [rad/s], phase [rad]"""
    now: FloatArray
    """`(N, 4)` place [m] and velocity [m/s]"""


class Paths(NamedTuple):
    """Where increments have led."""

    offset: FloatArray
    """`(N, a)` displacement from home [m, rad]; `(N, 0)` where actions are speeds"""
    held: FloatArray
    """`(N, n)` coordinates commanded for now"""
    wanted: FloatArray
    """`(N, n)` work, as the following"""
    work: FloatArray
    """`(13,)`"""
    moved: FloatArray
    """`(6,)`"""
    seen: FloatArray
    """`(6,)`"""


class Signals(NamedTuple):
    """What `info` shows, in physical units and plate axes."""

    ball_position: FloatArray
    """`(N, 2)` [m]"""
    ball_velocity: FloatArray
    """`(N, 2)` [m/s] against the plate"""
    target: FloatArray
    """`(N, 2)` [m]"""
    target_error: FloatArray
    """`(N, 2)` target less ball [m]"""
    slope: FloatArray
    """`(N, 2)` how far the plate's x and y axes point down"""
    tilt_rate: FloatArray
    """`(N, 2)` of roll and pitch [rad/s]"""


class BallBalance(Task):
    """Bring a ball to its target and keep it there."""

    title: ClassVar[str] = "ball balance"
    usual_machine: ClassVar[str] = "stewart"
    settings_type: ClassVar[type[TaskSettings]] = BallBalanceSettings
    terms: ClassVar[Mapping[str, float]] = {
        "nearness": 1.0,
        "calmness": 0.1,
        "evenness": 0.02,
        "loss": 10.0,
    }
    reasons: ClassVar[tuple[str, ...]] = ("", "engine", "ball", "limit")
    names: ClassVar[tuple[str, ...]] = ("target_radius", "start_radius", "start_speed")

    settings: BallBalanceSettings

    def __init__(
        self, platform: Platform, settings: BallBalanceSettings, engine: str, size: int
    ) -> None:
        """Prepare spaces and arrays.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        given = True if settings.ball is None else settings.ball
        ball = as_ball(given, platform.parameters)
        assert ball is not None
        self.ball: Ball = ball
        self._moves_pose = settings.action != "velocities"
        super().__init__(platform, settings, engine, size)
        self.actions = (self._action_channel(),)
        self.observations = self._observation_channels()
        self._allocate()
        self._sizes = channel_scales(self.observations)
        self._make_arrays()

    def _batch_options(self) -> dict[str, Any]:
        return {"mode": "velocity", "ball": self.ball}

    def _action_channel(self) -> Channel:
        """Return what the numbers of an action are; take note of how far increments may lead."""
        platform, scales, settings = self.platform, self.scales, self.settings
        share, unit = settings.action_scale, platform.coordinate_unit
        if not self._moves_pose:
            self._places = np.empty(0, dtype=np.int64)
            self._bounds = np.empty(0)
            velocity = read_only(share * scales.speed)
            return Channel("actuator velocity", platform.n_actuators, f"{unit}/s", velocity)
        tilts = settings.action == "tilt"
        asked = np.array([3, 4] if tilts else range(6), dtype=np.int64)
        needed = np.abs(platform.jacobian(platform.home))
        free = needed.max(axis=0) > SMALLEST_NEED * needed.max()
        if tilts and not free[asked].all():
            raise InputError("action", f"{platform.name} does not tilt; use 'velocities'")
        self._places = asked[free[asked]]
        needed = needed[:, self._places]
        needed = np.maximum(needed, 1e-3 * needed.max(axis=0))
        home = platform.home_coordinates
        room = np.minimum(scales.upper - home, home - scales.lower)
        way = settings.tilt * (room[:, None] / needed).min(axis=0)
        way[self._places >= 3] = np.minimum(way[self._places >= 3], settings.largest_tilt)
        self._bounds = way
        fastest = share * (scales.speed[:, None] / needed).min(axis=0)
        step = read_only(fastest * self.batch.period)
        if tilts:
            return Channel("tilt increment", 2, "rad", step)
        return Channel("pose increment", len(step), "m, rad", step)

    def _observation_channels(self) -> tuple[Channel, ...]:
        n, scales, unit = self.platform.n_actuators, self.scales, self.platform.coordinate_unit
        radius, action = self.ball.plate_radius, self.actions[0]
        tilt = self.settings.largest_tilt
        command: tuple[Channel, ...] = ()
        if self._moves_pose:
            command = (Channel("displacement", action.size, action.unit, read_only(self._bounds)),)
        return (
            Channel("target error", 2, "m", 0.5 * radius),
            Channel("ball position", 2, "m", radius),
            Channel("ball velocity", 2, "m/s", QUICK * radius),
            Channel("target velocity", 2, "m/s", QUICK * radius),
            Channel("slope", 2, "1", tilt),
            Channel("tilt rate", 2, "rad/s", 5.0 * tilt),
            Channel("coordinate", n, unit, scales.half),
            Channel("rate", n, f"{unit}/s", scales.speed),
            *command,
            Channel("last action", action.size, "1", 1.0),
        )

    def _make_arrays(self) -> None:
        size, n, radius = self.size, self.platform.n_actuators, self.ball.plate_radius
        batch, settings = self.batch, self.settings
        self._aims = Aims(np.zeros((size, TARGETS, 2)), np.zeros((size, 3)), np.zeros((size, 4)))
        self._paths = Paths(
            np.zeros((size, len(self._places))),
            np.zeros((size, n)),
            np.zeros((size, n)),
            np.zeros(13),
            np.zeros(6),
            np.zeros(6),
        )
        self._signals = Signals(*(np.zeros((size, 2)) for _ in Signals._fields))
        self.signals = {
            **self._signals._asdict(),
            "pose": batch.pose,
            "twist": batch.twist,
            "forces": batch.forces,
            "loop_gap": batch.gap,
        }
        self._limits = np.array(
            [
                FINE * radius,
                2.0 * radius,
                QUICK * radius,
                settings.overtravel,
                batch.period,
                settings.hold,
            ]
        )
        scales = self.scales
        self._most = tuple(np.array(part) for part in (scales.lower, scales.upper, scales.middle))
        self._before = np.zeros_like(self.last_action)
        self._gain = suitable_position_loop(self.platform, 1e-3)[0]

    def begin(
        self,
        row: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw targets and the ball's start; options: `target`, `ball`, and what `names` lists.

        Raises:
            InputError: an option that cannot be used.
        """
        self._check_options(options, "target", "ball")
        settings, reach = self.settings, self.ball.plate_radius
        drawn = {name: float(options.get(name, getattr(settings, name))) for name in self.names}
        centers = _within(generator, drawn["target_radius"] * reach, TARGETS)
        circle = np.array([0.0, 2.0 * np.pi / settings.lap, generator.uniform(0.0, 2.0 * np.pi)])
        if settings.target == "circle":
            circle[0] = drawn["target_radius"] * reach * generator.uniform(0.5, 1.0)
            circle[1] *= generator.choice([-1.0, 1.0])
            centers[:] = 0.0
        place = _within(generator, drawn["start_radius"] * reach, 1)[0]
        velocity = _within(generator, drawn["start_speed"] * reach, 1)[0]
        start = np.concatenate([place, velocity])
        if options.get("target") is not None:
            centers[:], circle[0] = as_vector(options["target"], "target", 2), 0.0
        if options.get("ball") is not None:
            start = as_vector(as_start(options["ball"], self.ball), "ball", 4)
        self._aims.centers[row], self._aims.circles[row] = centers, circle
        self._before[row] = 0.0
        self._paths.offset[row] = 0.0
        self._paths.held[row] = self.platform.home_coordinates
        return Start(ball=start)

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` from actions."""
        scale = self.actions[0].scale
        if not self._moves_pose:
            np.multiply(actions, scale, out=self.drive_commands)
            return
        pose_command(
            self.platform.constants.legs, self.platform.home, self._places, actions, scale,
            self._bounds, self._gain, self.batch.period, self.batch.measured, self._paths,
            self.drive_commands,
        )  # fmt: skip

    def look(self, rows: Any) -> None:
        """Fill observation, terms, reward, reason and signals of `rows` `(m,)`."""
        batch = self.batch
        look(
            rows, self.steps, batch.machines, batch.ball, batch.ball_lost, self._aims, self._paths,
            self._sizes, self._most, self._limits, self.weights, self.last_action, self._before,
            self.observation, self.term, self.reward, self.reason, self._signals,
        )  # fmt: skip


def _within(generator: np.random.Generator, radius: float, count: int) -> FloatArray:
    """Return places `(count, 2)`, evenly spread over a disc."""
    angle = generator.uniform(0.0, 2.0 * np.pi, count)
    away = radius * np.sqrt(generator.uniform(0.0, 1.0, count))
    return np.stack([away * np.cos(angle), away * np.sin(angle)], axis=1)
