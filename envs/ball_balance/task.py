"""The task of `BallBalance`: bring a ball to its target on the platform and keep it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_vector, not_negative, read_only
from twin.control.gains import suitable_position_loop
from twin.envs.ball_balance.settings import BallBalanceSettings
from twin.envs.channels import Channel, rescaled
from twin.envs.task import Start, Task, TaskSettings, read_settings
from twin.errors import InputError
from twin.kernels.bundle import Bundle
from twin.kernels.machine_code import SameTypes
from twin.kernels.tasks.ball_balance.arrays import Balls, Increments, Limits, Signals, Targets
from twin.kernels.tasks.ball_balance.task import evaluate, pose_command
from twin.kernels.tasks.increments import ActionLaw
from twin.model.ball.ball import Ball, as_ball
from twin.model.ball.position import as_start
from twin.model.evaluation import without_compiling

TARGETS = 16
"""Drawn for an episode; then they come again."""

FINE = 0.02
"""Of the plate's radius: scale of the distance in the reward."""

QUICK = 0.5
"""Plate radii in a second: scale of speeds."""


SMALLEST_NEED = 1e-6
"""Share of the largest entry of the Jacobian below which a column says that nothing can move so."""


class BallBalance(Task):
    """Bring a ball to its target and keep it there."""

    title: ClassVar[str] = "ball balance"
    usual_machine: ClassVar[str] = "stewart"
    settings_type: ClassVar[type[TaskSettings]] = BallBalanceSettings
    terms: ClassVar[Mapping[str, float]] = {
        "closeness": 1.0,
        "calmness": 0.1,
        "smoothness": 0.02,
        "loss": 10.0,
    }
    reasons: ClassVar[tuple[str, ...]] = ("", "engine", "ball", "limit")
    names: ClassVar[tuple[str, ...]] = ("target_radius", "start_radius", "start_speed")

    kernel = staticmethod(evaluate)

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
        self.actions = rescaled([self._action_channel()], settings.scales)
        self.observations = self._observation_channels()
        self._make_arrays()
        self._allocate()
        self._group(self._targets, self._limits, self._signals, self._balls, self._increments)
        legs, measured = platform.constants.legs, self.batch.measured
        self._fill: Any = SameTypes(pose_command)
        self._filled = Bundle(self._law, legs, self._increments, measured, self.drive_commands)

    def _batch_options(self) -> dict[str, Any]:
        return {"mode": "velocity", "ball": self.ball}

    def _action_channel(self) -> Channel:
        """Return the channels of an action; set the limits of increments."""
        platform, scales, settings = self.platform, self.scales, self.settings
        share, unit = settings.action_scale, platform.coordinate_unit
        if not self._moves_pose:
            self._axes = np.empty(0, dtype=np.int64)
            self._bounds = np.empty(0)
            velocity = read_only(share * scales.speed)
            return Channel("actuator velocity", platform.n_actuators, f"{unit}/s", velocity)
        tilts = settings.action == "tilt"
        actuated = np.array([3, 4] if tilts else range(6), dtype=np.int64)
        with without_compiling():
            needed = np.abs(platform.jacobian(platform.home))
        free = needed.max(axis=0) > SMALLEST_NEED * needed.max()
        if tilts and not free[actuated].all():
            raise InputError("action", f"{platform.name} does not tilt; use 'velocities'")
        self._axes = actuated[free[actuated]]
        needed = needed[:, self._axes]
        needed = np.maximum(needed, 1e-3 * needed.max(axis=0))
        home = platform.home_coordinates
        room = np.minimum(scales.upper - home, home - scales.lower)
        way = settings.tilt * (room[:, None] / needed).min(axis=0)
        way[self._axes >= 3] = np.minimum(way[self._axes >= 3], settings.largest_tilt)
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
        self._targets = Targets(
            np.zeros((size, TARGETS, 2)), np.zeros((size, 3)), np.zeros((size, 4))
        )
        self._increments = Increments(
            self._axes,
            np.zeros((size, len(self._axes))),
            np.zeros((size, n)),
            np.array(self.platform.home),
            np.zeros(n),
            np.zeros(6),
            np.zeros(13),
        )
        self._balls = Balls(batch.ball, batch.ball_lost, np.zeros(6))
        self._signals = Signals(*(np.zeros((size, 2)) for _ in Signals._fields))
        self.signals = {**self._signals._asdict(), **self._plant_signals()}
        self._limits = Limits(
            batch.period,
            settings.hold,
            FINE * radius,
            2.0 * radius,
            QUICK * radius,
            settings.overtravel,
        )
        gain = suitable_position_loop(self.platform, 1e-3)[0]
        scale = np.asarray(self.actions[0].scale)
        self._law = ActionLaw(scale, self._bounds, gain, batch.period, False)

    def begin(
        self,
        index: int,
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
        drawn = {
            name: not_negative(options.get(name, getattr(settings, name)), name)
            for name in self.names
        }
        if not drawn.keys().isdisjoint(options):
            read_settings(type(settings), drawn)
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
        self._targets.centers[index], self._targets.circles[index] = centers, circle
        self._increments.offset[index] = 0.0
        self._increments.setpoint[index] = self.platform.home_coordinates
        return Start(ball=start)

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` from actions."""
        if not self._moves_pose:
            np.multiply(actions, self._law.scale, out=self.drive_commands)
            return
        self._fill(actions, self._filled)


def _within(generator: np.random.Generator, radius: float, count: int) -> FloatArray:
    """Return places `(count, 2)`, evenly spread over a disc."""
    angle = generator.uniform(0.0, 2.0 * np.pi, count)
    away = radius * np.sqrt(generator.uniform(0.0, 1.0, count))
    return np.stack([away * np.cos(angle), away * np.sin(angle)], axis=1)
