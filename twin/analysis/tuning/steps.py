"""Steps by which loops are tuned: velocity steps of all actuators, position steps of the machine.

In both the platform moves upwards; position steps run under the machine's cascade.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from twin.analysis.tuning.tuning import (
    POSITION_STEP,
    VELOCITY_STEP,
    Gain,
    StepSpecification,
    StepStudy,
    velocity_gain,
)
from twin.basics.arrays import FloatArray, as_flag
from twin.charts.panels import round_below
from twin.control.cascade import Cascade
from twin.control.controller import Controller
from twin.errors import InputError
from twin.model.machine_base import ZERO_VECTOR
from twin.model.machine_model import MachineModel, as_model
from twin.motion import StepMotion
from twin.plant.drives import actuator_limit, equivalent_inertia
from twin.plant.signals import Command, Measurement
from twin.simulation.simulate import Trajectory

THESIS_GAINS = (5e3, 30e3)
"""[N s/m] Bounds of the thesis, the first its start too; section 4.3.1.1.2."""

THESIS_TIMES = (1e-3, 8e-3, 5e-3)
"""[s] Bounds and start of the thesis."""

THESIS_MASS = 33.537
"""[kg] Mass that each of its actuators moves in heave at home; scales the bounds to other
machines."""


SPEED_FRACTION = 0.08
"""Velocity step as a fraction of the speed limit: 0.02 m/s on the thesis' machine."""

STROKE_RATE = 0.15
"""[1/s] Velocity step in strokes per second where there is no speed limit."""

WEIGHT_SPEED_FRACTION = 0.5
"""Fraction of the speed limit that the weight alone may add to the speed before the integral
carries it."""

STROKE_FRACTION = 0.2
"""Largest position step of an actuator as a fraction of its stroke. With the three limits below it
is the thesis' step on its machine, 0.05 m."""

STROKE_FRACTION_WITHOUT_SPEED_LIMIT = 0.025
"""Largest position step as a fraction of the stroke where there is no speed limit."""

STEP_TIME = 0.2
"""[s] Longest time that an actuator needs for the position step at its speed limit."""

END_DISTANCE_FRACTION = 0.8
"""Largest position step as a fraction of the travel from home to the actuator's end."""


class VelocityStep(Controller):
    """Constant commanded speed from the first control period on.

    Attributes:
        speed: `(n,)` [m/s, rad/s].
    """

    name = "velocity step"

    def __init__(
        self, platform: MachineModel, speed: FloatArray, *, carried: bool = False, **gains: Any
    ) -> None:
        """Describe the step.

        Args:
            platform: the machine, at home.
            speed: `(n,)` [m/s, rad/s].
            carried: whether the drives' integrals carry the weight at the step. Drives start so
                that they do; otherwise a feedforward takes the weight out again.
            gains: `velocity_gain` [N s/m] or [N m s/rad], `velocity_time` [s].

        Raises:
            InputError: gains that are not above zero.
        """
        super().__init__(platform, **gains)
        self.speed = speed
        holding_forces = platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR)
        self._feedforward = None if as_flag(carried, "carried") else -holding_forces

    def start(self, measurement: Measurement) -> None:
        """Reset to rest."""

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the commanded speeds `(n,)` [m/s, rad/s]."""
        return Command(self.speed, feedforward=self._feedforward)


@dataclass(frozen=True, kw_only=True)
class VelocityStudy(StepStudy):
    """Velocity step from rest at home: speed of all actuators along the commanded one, per step.

    The command of the actuator that moves most is `size` [m/s] or [rad/s], default a round number
    below 8 % of its speed limit, or without one 0.15 strokes per second.
    """

    loop = "velocity"
    specification = VELOCITY_STEP

    duration: float = 0.05
    timestep: float = 1e-4
    carried: bool = False
    """whether the loop's integral carries the weight when the step comes. It did not in the thesis,
    or its response would overshoot more (docs/reproductions.md)"""

    def gains(self, platform: MachineModel) -> tuple[Gain, ...]:
        """Return gain and integral time with the bounds of the thesis, scaled by mass.

        Gains are higher where the weight would drive an actuator beyond its speed limit.

        Raises:
            InputError: not a machine.
        """
        inertia_ratio = float(np.mean(equivalent_inertia(as_model(platform)))) / THESIS_MASS
        holding_forces = np.abs(platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR))
        required_gain = holding_forces / (WEIGHT_SPEED_FRACTION * actuator_limit(platform, "speed"))
        inertia_ratio = max(inertia_ratio, float(required_gain.max()) / THESIS_GAINS[0])
        low, high = (float(f"{inertia_ratio * gain:.3g}") for gain in THESIS_GAINS)
        gain = Gain(*velocity_gain(platform), low, high, low)
        return gain, Gain("velocity_time", "s", *THESIS_TIMES)

    def step_size(self, platform: MachineModel) -> float:
        """Return the speed [m/s] or [rad/s] of the actuator that moves most."""
        if self.size is not None:
            return self.size
        stroke = as_model(platform).stroke
        speed_limit = actuator_limit(platform, "speed")
        speeds = np.where(
            np.isfinite(speed_limit), SPEED_FRACTION * speed_limit, STROKE_RATE * stroke
        )
        return round_below(float(speeds.min()))

    def response(self, platform: MachineModel, *gains: float) -> tuple[FloatArray, FloatArray]:
        """Return time [s] and speed per step `(k,)` under a gain [N s/m] and integral time [s].

        Raises:
            InputError: not a machine, one that cannot rise, or gains that are not above zero.
        """
        direction, size = heave_direction(platform), self.step_size(platform)
        gain, time = gains
        settings = {"velocity_gain": gain, "velocity_time": time}
        controller = VelocityStep(platform, size * direction, carried=self.carried, **settings)
        simulation = self.simulated(platform, controller, self.duration)
        if simulation is None:
            return self.no_response()
        speed_along = leg_speeds(platform, simulation) @ direction / float(direction @ direction)
        return self.time, speed_along / size


def leg_speeds(platform: MachineModel, run: Trajectory) -> FloatArray:
    """Return the rates `(k, n)` of the actuators without those of springs in the legs."""
    n = platform.n_deflections
    return run.rates - (run.deflection[:, n:] if n else 0.0)


def heave_direction(platform: MachineModel) -> FloatArray:
    """Return the actuators' rates `(n,)` while the platform rises at home, the largest 1.

    Raises:
        InputError: not a machine, or one that cannot rise.
    """
    # Column 2 of the Jacobian: actuator rates per heave velocity.
    rates = as_model(platform).jacobian(platform.home)[:, 2]
    max_rate = float(np.abs(rates).max())
    if not max_rate > 0.0:
        raise InputError("platform", f"the actuators of {platform.name} do not move in heave")
    return rates / max_rate


LEAD_TIME = 0.01
"""[s] Time before the step: the loop starts without a jump, so a step at its start would be no
step."""

POSITION_GAINS = (
    Gain("position_gain", "1/s", 0.5, 20.0, 2.0),
    Gain("position_integral", "1/s2", 0.5, 50.0, 2.0),
)
"""Gains of the position loop with their bounds. Engineering choice: the thesis decides on 5 and 10
by trial and error and gives no bounds.
"""


@dataclass(frozen=True, kw_only=True)
class PositionStudy(StepStudy):
    """Position step of the platform by `size` [m] upwards: displacement of the actuators per step.

    The velocity loop inside has the machine's own gains. The duration is that of the thesis' step,
    longer than its settling time.
    """

    loop = "position"
    specification = POSITION_STEP

    duration: float = 2.5
    timestep: float = 5e-4

    def gains(self, platform: MachineModel) -> tuple[Gain, ...]:
        """Return the position gain and integral with their bounds (`POSITION_GAINS`)."""
        return POSITION_GAINS

    def lasting(self, specification: StepSpecification) -> PositionStudy:
        """Return the study with a duration of 1.25 settling times, in whole steps."""
        steps = max(1, round(1.25 * specification.settling_time / self.timestep))
        return replace(self, duration=steps * self.timestep)

    def step_size(self, platform: MachineModel) -> float:
        """Return the rise [m] of the platform."""
        if self.size is not None:
            return self.size
        # Column 2 of the Jacobian: actuator rates per heave velocity.
        rates = np.abs(as_model(platform).jacobian(platform.home)[:, 2])
        speed = actuator_limit(platform, "speed")
        fraction = np.where(
            np.isfinite(speed), STROKE_FRACTION, STROKE_FRACTION_WITHOUT_SPEED_LIMIT
        )
        free_travel = END_DISTANCE_FRACTION * (
            platform.maximum_coordinates - platform.home_coordinates
        )
        step_sizes = np.minimum(
            np.minimum(fraction * platform.stroke, STEP_TIME * speed), free_travel
        )
        return round_below(float((step_sizes / np.maximum(rates, 1e-9 * rates.max())).min()))

    def response(self, platform: MachineModel, *gains: float) -> tuple[FloatArray, FloatArray]:
        """Return time [s] and displacement per step `(k,)`.

        Args:
            platform: the machine, with or without drives in its parameters.
            gains: of the position loop [1/s], [1/s2]; default the machine's.

        Raises:
            InputError: an argument that cannot be used, or a step that leaves the actuators' range.
        """
        n_steps, size = len(self.time) - 1, self.step_size(platform)
        motion = StepMotion(
            as_model(platform).home,
            displacement={"z": size},
            rise=0.0,
            start=LEAD_TIME,
            duration=LEAD_TIME + n_steps * self.timestep,
        )
        if not platform.within_limits(platform.constrain(motion(motion.duration).pose).pose).all():
            raise InputError("size", f"a step of {size:g} m leaves the range of the actuators")
        gain, integral = gains or (None, None)
        controller = Cascade(platform, motion, position_gain=gain, position_integral=integral)
        simulation = self.simulated(platform, controller, motion.duration)
        if simulation is None:
            return self.no_response()
        step = controller.reference.coordinates[-1] - controller.reference.coordinates[0]
        n = platform.n_deflections
        actuator_lengths = simulation.lengths - (simulation.deflection[:, :n] if n else 0.0)
        relative_response = (actuator_lengths - actuator_lengths[0]) @ step / float(step @ step)
        return self.time, relative_response[-n_steps - 1 :]
