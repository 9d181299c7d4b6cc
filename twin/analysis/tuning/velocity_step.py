"""Velocity steps of the whole machine, and tuning of the velocity loop with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from twin.analysis.tuning.search import Trial
from twin.analysis.tuning.specification import VELOCITY_STEP, StepSpecification
from twin.analysis.tuning.tuning import Gain, Tuning, chosen_gains, instants, no_response, tuned
from twin.basics.arrays import FloatArray, as_flag, positive
from twin.control.controller import Controller
from twin.errors import InputError, SimulationStoppedError
from twin.model.machine_model import MachineModel, as_model
from twin.model.motions import REST
from twin.plant.command import Command
from twin.plant.drives import equivalent_inertia
from twin.plant.measurement import Measurement
from twin.simulation.simulate import simulate

SIZE = 0.02
"""[m/s] or [rad/s] of the thesis' step."""

DURATION = 0.05
"""[s] of a response: well past the settling time."""

TIMESTEP = 1e-4
"""[s] of the engine, in which drives close their velocity loops."""

THESIS_GAINS = (5e3, 30e3)
"""[N s/m] Bounds of the thesis, the first its start too; section 4.3.1.1.2."""

THESIS_TIMES = (1e-3, 8e-3, 5e-3)
"""[s] Bounds and start of the thesis."""

THESIS_MASS = 33.537
"""[kg] that each of its actuators moves in heave at home; scales the bounds to other machines."""


class VelocityStep(Controller):
    """Asks the drives for a constant speed from the first control period on.

    Attributes:
        setpoint: `(n,)` [m/s, rad/s].
    """

    name: ClassVar[str] = "velocity step"

    def __init__(
        self,
        platform: MachineModel,
        setpoint: FloatArray,
        *,
        carried: bool = False,
        velocity_gain: Any = None,
        velocity_time: Any = None,
    ) -> None:
        """Describe the step.

        Args:
            platform: the machine, at home.
            setpoint: `(n,)` [m/s, rad/s].
            carried: whether the drives' integrals carry the weight at the step. Drives start so
                that they do; where they shall not, the weight is taken out again by feedforward.
            velocity_gain: of the velocity loop [N s/m] or [N m s/rad].
            velocity_time: [s].

        Raises:
            InputError: gains that are not above zero.
        """
        super().__init__(platform, velocity_gain=velocity_gain, velocity_time=velocity_time)
        self.setpoint = setpoint
        held = platform.inverse_dynamics(platform.home, REST, REST)
        self._feedforward = None if as_flag(carried, "carried") else -held

    def start(self, measurement: Measurement) -> None:
        """Begin at rest."""

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the speeds."""
        return Command(self.setpoint, feedforward=self._feedforward)


def heave_direction(platform: MachineModel) -> FloatArray:
    """Return the actuators' rates `(n,)` while the platform rises at home, the largest 1.

    Raises:
        InputError: not a machine, or one that cannot rise.
    """
    rising = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    rates = as_model(platform).jacobian(platform.home) @ rising
    largest = float(np.abs(rates).max())
    if not largest > 0.0:
        raise InputError("platform", f"the actuators of {platform.name} do not move in heave")
    return np.asarray(rates / largest)


def velocity_response(
    platform: MachineModel,
    gain: float,
    integral_time: float,
    *,
    engine: str = "analytic",
    size: float = SIZE,
    carried: bool = False,
    fidelity: str = "accurate",
    timestep: float = TIMESTEP,
) -> tuple[FloatArray, FloatArray]:
    """Return time [s] and speed per step `(k,)` of all actuators, the platform moving upwards.

    The platform rests at home; the actuator that moves most is asked for `size`. The speed is that
    of the actuators along what is asked of them.

    Args:
        platform: the machine, with or without drives in its parameters.
        gain: of the velocity loop [N s/m] or [N m s/rad].
        integral_time: [s].
        engine: name.
        size: [m/s] or [rad/s].
        carried: whether the loop's integral carries the weight when the step comes. It did not in
            the thesis, or its response would overshoot more (docs/tuning.md).
        fidelity: of the engine.
        timestep: of the engine [s].

    Raises:
        InputError: an argument that cannot be used.
    """
    direction = heave_direction(as_model(platform))
    speed = positive(size, "size")
    controller = VelocityStep(
        platform,
        speed * direction,
        carried=carried,
        velocity_gain=gain,
        velocity_time=integral_time,
    )
    time = instants(DURATION, timestep)
    try:
        motion = simulate(
            platform,
            DURATION,
            controller=controller,
            engine=engine,
            fidelity=fidelity,
            timestep=timestep,
            progress=False,
        )
    except SimulationStoppedError:
        return time, no_response(time)
    if motion.stopped or len(motion) != len(time):
        return time, no_response(time)
    springs = motion.deflection[:, platform.n_deflections :] if platform.n_deflections else 0.0
    per_step = (motion.rates - springs) @ direction / float(direction @ direction) / speed
    return time, np.asarray(per_step)


def velocity_gains(platform: MachineModel) -> tuple[Gain, Gain]:
    """Return bounds and starts of gain and integral time: those of the thesis, scaled by mass.

    Raises:
        InputError: not a machine.
    """
    scale = float(np.mean(equivalent_inertia(as_model(platform)))) / THESIS_MASS
    low, high = (float(f"{scale * gain:.3g}") for gain in THESIS_GAINS)
    cranks = platform.coordinate_unit == "rad"
    return (
        Gain(
            "crank_velocity_gain" if cranks else "velocity_gain",
            "N m s/rad" if cranks else "N s/m",
            low,
            high,
            low,
        ),
        Gain("velocity_time", "s", *THESIS_TIMES),
    )


def tune_velocity(
    platform: MachineModel,
    *,
    specification: StepSpecification = VELOCITY_STEP,
    engine: str = "analytic",
    size: float = SIZE,
    carried: bool = False,
    fidelity: str = "accurate",
    timestep: float = TIMESTEP,
    start: Any = None,
    low: Any = None,
    high: Any = None,
    margin: float = 0.0,
    iterations: int = 30,
    watch: Callable[[Trial], None] | None = None,
) -> Tuning:
    """Return gain and integral time of the velocity loop whose step response meets bounds.

    Args:
        platform: the machine, with or without drives in its parameters.
        specification: of the response.
        engine: name.
        size: of the step [m/s] or [rad/s].
        carried: whether the loop's integral carries the weight at the step.
        fidelity: of the engine.
        timestep: of the engine [s].
        start: gain [N s/m] or [N m s/rad], integral time [s]; default as the thesis, by mass.
        low: smallest of both.
        high: largest of both.
        margin: by which the bounds shall be kept, per step.
        iterations: at most.
        watch: called with every trial as it is found.

    Raises:
        InputError: an argument that cannot be used, or a start at which the loop is unstable.
    """
    gains = chosen_gains(velocity_gains(platform), low, high, start)
    time = instants(DURATION, timestep)

    def respond(values: FloatArray) -> FloatArray:
        return velocity_response(
            platform,
            float(values[0]),
            float(values[1]),
            engine=engine,
            size=size,
            carried=carried,
            fidelity=fidelity,
            timestep=timestep,
        )[1]

    return tuned(
        platform.name,
        engine,
        "velocity",
        gains,
        specification,
        time,
        respond,
        margin=margin,
        iterations=iterations,
        watch=watch,
    )
