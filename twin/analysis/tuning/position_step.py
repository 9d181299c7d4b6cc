"""Position steps of the whole machine, and tuning of the position loop with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twin.analysis.tuning.search import Trial
from twin.analysis.tuning.specification import StepSpecification, position_step
from twin.analysis.tuning.tuning import Gain, Tuning, chosen_gains, instants, no_response, tuned
from twin.basics.arrays import FloatArray, positive
from twin.control.cascade import Cascade
from twin.errors import InputError, SimulationStoppedError
from twin.model.machine_model import MachineModel, as_model
from twin.motion import StepMotion
from twin.simulation.simulate import simulate

SIZE = 0.05
"""[m] of the thesis' step of the platform, upwards."""

START = 0.01
"""[s] before the step: the loop starts without a jump, so a step at its start would be no step."""

DURATION = 2.5
"""[s] of a response: past the settling time of the thesis."""

TIMESTEP = 5e-4
"""[s] of the engine."""

SETTLING = position_step()

GAINS = (
    Gain("position_gain", "1/s", 0.5, 20.0, 2.0),
    Gain("position_integral", "1/s2", 0.5, 50.0, 2.0),
)
"""Adopted: the thesis decides on 5 and 10 by trial and error and gives no bounds."""


def position_response(
    platform: MachineModel,
    gain: float | None = None,
    integral: float | None = None,
    *,
    engine: str = "analytic",
    size: float = SIZE,
    duration: float = DURATION,
    fidelity: str = "accurate",
    timestep: float = TIMESTEP,
) -> tuple[FloatArray, FloatArray]:
    """Return time [s] and displacement per step `(k,)` of the actuators, the platform stepping up.

    Args:
        platform: the machine, with or without drives in its parameters.
        gain: of the position loop [1/s], default the machine's.
        integral: of the position loop [1/s2], default the machine's.
        engine: name.
        size: [m] upwards.
        duration: [s] after the step.
        fidelity: of the engine.
        timestep: of the engine [s].

    Raises:
        InputError: an argument that cannot be used, or a step that leaves the actuators' range.
    """
    home = as_model(platform).home
    span = round(positive(duration, "duration") / timestep)
    time = instants(span * timestep, timestep)
    motion = StepMotion(
        home,
        displacement={"z": positive(size, "size")},
        rise=0.0,
        start=START,
        duration=START + span * timestep,
    )
    if not platform.within_limits(platform.constrain(motion(motion.duration).pose).pose).all():
        raise InputError("size", f"a step of {size:g} m leaves the range of the actuators")
    controller = Cascade(platform, motion, position_gain=gain, position_integral=integral)
    try:
        run = simulate(
            platform,
            motion.duration,
            controller=controller,
            engine=engine,
            fidelity=fidelity,
            timestep=timestep,
            progress=False,
        )
    except SimulationStoppedError:
        return time, no_response(time)
    if run.stopped or len(run) <= span:
        return time, no_response(time)
    setpoint = controller.reference.coordinates[-1] - controller.reference.coordinates[0]
    springs = run.deflection[:, : platform.n_deflections] if platform.n_deflections else 0.0
    moved = run.lengths - springs
    away = (moved - moved[0]) @ setpoint / float(setpoint @ setpoint)
    return time, np.asarray(away[-span - 1 :])


def tune_position(
    platform: MachineModel,
    *,
    specification: StepSpecification = SETTLING,
    engine: str = "analytic",
    size: float = SIZE,
    fidelity: str = "accurate",
    timestep: float = TIMESTEP,
    start: Any = None,
    low: Any = None,
    high: Any = None,
    margin: float = 0.0,
    iterations: int = 30,
    watch: Callable[[Trial], None] | None = None,
) -> Tuning:
    """Return gain and integral of the position loop whose step response meets bounds.

    The velocity loop inside has the machine's own gains.

    Args:
        platform: the machine, with or without drives in its parameters.
        specification: of the response.
        engine: name.
        size: of the step [m], upwards.
        fidelity: of the engine.
        timestep: of the engine [s].
        start: gain [1/s] and integral [1/s2].
        low: smallest of both.
        high: largest of both.
        margin: by which the bounds shall be kept, per step.
        iterations: at most.
        watch: called with every trial as it is found.

    Raises:
        InputError: an argument that cannot be used, or a start at which the loop is unstable.
    """
    gains = chosen_gains(GAINS, low, high, start)
    duration = 1.25 * specification.settling_time
    duration = max(1, round(duration / timestep)) * timestep
    time = instants(duration, timestep)

    def respond(values: FloatArray) -> FloatArray:
        return position_response(
            platform,
            float(values[0]),
            float(values[1]),
            engine=engine,
            size=size,
            duration=duration,
            fidelity=fidelity,
            timestep=timestep,
        )[1]

    return tuned(
        platform.name,
        engine,
        "position",
        gains,
        specification,
        time,
        respond,
        margin=margin,
        iterations=iterations,
        watch=watch,
    )
