"""Frequency response of a controlled machine, measured on any engine as one would on the real one.

One direction of the platform, or one actuator, follows a sweep or stepped sines through the closed
loop. Measurement over reference is the response, at the platform (pose, as the engine has it) and
at every actuator that moves (as its encoder measures), as in the thesis' figure 4.30.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.frequency.response import (
    AXES,
    EXCITATION_METHODS,
    LEAD_IN,
    MAX_SPEED_FRACTION,
    MOVING_RATE_FRACTION,
    Excitation,
    FrequencyResponse,
    Path,
    SteppedSine,
    SuitableSpeed,
    SweptSine,
    actuator_path,
    axis_path,
    highest_frequency,
    joined,
    response_figure,
    sine_response,
    suitable_speed,
    sweep_response,
)
from twin.basics.arrays import FloatArray, one_of, positive, quaternion_product
from twin.control.cascade import Cascade, has_encoders, takes_positions
from twin.control.controller import DEFAULT_PERIOD, Controller, Reference, reference_of
from twin.errors import InputError, StateError
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit
from twin.rotations import displaced
from twin.simulation.simulate import Trajectory, simulate

MIN_FREQUENCY = 1.0
"""[Hz] Lowest frequency where none is given."""

MAX_FREQUENCY = 300.0
"""[Hz] Highest frequency where none is given, as in the thesis, whose sines go up to 300 Hz."""

SWEEP_DURATION = 10.0
"""[s] Length of a sweep where none is given."""

WINDOW_LENGTH = 0.5
"""[s] Length of the windows of a sweep's estimate, whose points are then 2 Hz apart."""

STEPPED_SINES = 30
"""Number of stepped sines where no frequencies are given."""

ENGINE_TIMESTEP = 2.5e-4
"""[s] Time step of the engine."""

SWEEP_MARGIN = 1.15
"""Factor by which a sweep begins below and ends above the frequencies that are evaluated."""

MAX_RATE_FRACTION = 0.45
"""Highest frequency of a sweep, relative to the sampling rate."""

MakeController = Callable[[MachineModel, Reference], Controller]


class ExcitationError(StateError):
    """The machine had to be stopped while it was excited (`data`: reason)."""


class MeasuredResponse(NamedTuple):
    """Responses of one run."""

    machine: str
    engine: str
    controller: str
    direction: str
    """an axis of the platform, or "actuator 1" """
    unit: str
    """unit of the speed along it: "m/s" or "rad/s" """
    excitation: Excitation
    platform: FrequencyResponse
    """displacement of the platform per reference, along the direction"""
    actuators: dict[int, FrequencyResponse]
    """number from 1 -> measured coordinate per reference of each moving actuator; true coordinate
    where servos and steppers have no encoders"""
    resting: tuple[int, ...]
    """numbers of actuators slower than `MOVING_RATE_FRACTION` of the fastest one"""
    limit: str = ""
    """limit of the actuators that keeps the default speed below what friction and encoders ask for:
    "speed", "acceleration", "force", "torque", "stroke"; empty for none or a given speed"""


def measure_response(
    platform: MachineModel,
    *,
    axis: str | None = None,
    actuator: int | None = None,
    method: str = "chirp",
    low: float = MIN_FREQUENCY,
    high: float | None = None,
    length: float = SWEEP_DURATION,
    frequencies: Any = None,
    speed: float | None = None,
    controller: MakeController = Cascade,
    engine: str = "analytic",
    fidelity: str = "accurate",
    timestep: float = ENGINE_TIMESTEP,
    progress: bool | None = False,
) -> MeasuredResponse:
    """Return the response of a controlled machine about home.

    Args:
        platform: the machine; its parameters say what plant it has.
        axis: along or about which the platform is moved; either this or `actuator`.
        actuator: number, from 1, of the one that is moved by itself.
        method: "chirp" or "stepped".
        low: lowest frequency [Hz].
        high: highest frequency [Hz], default `MAX_FREQUENCY`, of servos and steppers 0.4 of the
            rate at which they take positions.
        length: of the sweep [s].
        frequencies: of stepped sines `(m,)` [Hz], default `STEPPED_SINES` of them, evenly in
            octaves.
        speed: peak along the path [m/s], [rad/s]; default far within the drives' limits.
        controller: called with machine and reference; default the cascade.
        engine: name.
        fidelity: of the engine.
        timestep: of the engine [s].
        progress: as `twin.simulate`.

    Raises:
        InputError: an argument that cannot be used.
        ExcitationError: the machine had to be stopped.
        SimulationStoppedError: the engine left the range of valid states.
    """
    if (axis is None) == (actuator is None):
        raise InputError("axis, actuator", "give one of the two")
    path = actuator_path(platform, actuator) if axis is None else axis_path(platform, axis)  # type: ignore[arg-type]
    max_frequency = (
        highest_frequency(platform, MAX_FREQUENCY) if high is None else positive(high, "high")
    )
    make = partial(_excitation, method, low, max_frequency, length=length, frequencies=frequencies)
    given_speed = None if speed is None else SuitableSpeed(positive(speed, "speed"), "")
    peak = given_speed or suitable_speed(platform, path, low, max_frequency)
    excitation, reference, path_position = _excite(platform, path, peak.value, speed is None, make)
    driver = controller(platform, reference)
    simulation = simulate(
        platform,
        float(reference.time[-1]),
        controller=driver,
        engine=engine,
        fidelity=fidelity,
        timestep=timestep,
        every=round(DEFAULT_PERIOD / positive(timestep, "timestep")),
        progress=progress,
    )
    _check_finished(simulation)
    moving_actuators = np.abs(path.rates) > MOVING_RATE_FRACTION * np.abs(path.rates).max()
    estimate = partial(_estimated, excitation, low=low, high=max_frequency)
    measured = np.vstack([simulation.signals["measured"], simulation.signals["measured"][-1]])
    if takes_positions(platform) and not has_encoders(platform):
        measured = simulation.lengths
    return MeasuredResponse(
        platform.name,
        simulation.engine,
        driver.name,
        path.name,
        "rad/s" if _is_angle(platform, path) else "m/s",
        excitation,
        estimate(path_position, _along(simulation, path)),
        {
            int(number) + 1: estimate(reference.coordinates[:, number], measured[:, number])
            for number in np.flatnonzero(moving_actuators)
        },
        tuple((np.flatnonzero(~moving_actuators) + 1).tolist()),
        peak.limit,
    )


def _check_finished(run: Trajectory) -> None:
    """Raise ExcitationError where a run ended early."""
    if run.stopped:
        raise ExcitationError(
            f"the machine was stopped while it was excited: {run.stopped}; excite it less, or at "
            "lower frequencies",
            {"reason": run.stopped},
        )


def _excite(
    platform: MachineModel,
    path: Path,
    peak: float,
    adaptable: bool,
    make: Callable[[float], Excitation],
) -> tuple[Excitation, Reference, FloatArray]:
    """Return the excitation of a peak speed, its reference motion and path coordinate.

    An adaptable speed is made smaller where springs in the legs need more than
    `MAX_SPEED_FRACTION`.
    """
    excitation = make(peak)
    reference, path_position = excited_reference(platform, path, excitation)
    speed_fraction = float((np.abs(reference.rates) / actuator_limit(platform, "speed")).max())
    if adaptable and speed_fraction > MAX_SPEED_FRACTION:
        # Springs in series take more speed than the platform, the more the higher the frequency.
        excitation = make(peak * MAX_SPEED_FRACTION / speed_fraction)
        reference, path_position = excited_reference(platform, path, excitation)
    return excitation, reference, path_position


def _excitation(
    method: str, low: float, high: float, peak: float, length: float, frequencies: Any
) -> Excitation:
    if one_of(method, "method", EXCITATION_METHODS) == "chirp":
        if frequencies is not None:
            raise InputError("frequencies", "are of stepped sines; a chirp sweeps all")
        sweep_limit = min(
            SWEEP_MARGIN * positive(high, "high"), max(high, MAX_RATE_FRACTION / DEFAULT_PERIOD)
        )
        return SweptSine(positive(low, "low") / SWEEP_MARGIN, sweep_limit, peak, length)
    if frequencies is None:
        if not positive(low, "low") < positive(high, "high"):
            raise InputError("low, high", "must increase")
        frequencies = np.geomspace(low, high, STEPPED_SINES)
    return SteppedSine(frequencies, peak)


def excited_reference(
    platform: MachineModel, path: Path, excitation: Excitation
) -> tuple[Reference, FloatArray]:
    """Return the reference motion of an excitation along a path, and the path coordinate `(k,)`.

    Raises:
        InputError: an excitation that leads out of reach.
    """
    count = int(np.ceil(excitation.duration / DEFAULT_PERIOD)) + 1
    time = np.asarray(np.arange(count) * DEFAULT_PERIOD, dtype=np.float64)
    samples = excitation.sample(time)
    displacement, twist, acceleration = (np.outer(values, path.twist) for values in samples)
    pose = displaced(platform.home, displacement)
    constrained = platform.constrain(pose, twist, acceleration)
    reference = reference_of(platform, DEFAULT_PERIOD, time, *constrained)
    if not reference.reachable.all():
        raise InputError("speed, low", "the excitation leads out of reach; lower one or raise low")
    return reference, samples[0]


def _is_angle(platform: MachineModel, path: Path) -> bool:
    """Return whether the path coordinate is an angle: about an axis, or of a crank."""
    if path.name in AXES:
        return AXES.index(path.name) > 2
    return platform.coordinate_unit == "rad"


def small_displacements(run: Trajectory, pose: FloatArray) -> FloatArray:
    """Return the platform's displacements `(k, 6)` [m], [rad] from a pose, for small angles."""
    conjugate = pose[3:] * np.array([1.0, -1.0, -1.0, -1.0])
    relative_rotation = quaternion_product(run.pose[:, 3:], np.tile(conjugate, (len(run), 1)))
    # Small angles: twice the vector part of the quaternion.
    angles = 2.0 * relative_rotation[:, 1:] * np.sign(relative_rotation[:, :1])
    return np.hstack([run.pose[:, :3] - pose[:3], angles])


def _along(run: Trajectory, path: Path) -> FloatArray:
    """Return the platform's displacement `(k,)` [m] or [rad] along a path, from the start."""
    displacements = small_displacements(run, run.pose[0])
    if path.name in AXES:
        return displacements[:, AXES.index(path.name)]
    return displacements @ path.twist / float(path.twist @ path.twist)


def _estimated(
    excitation: Excitation, input_signal: FloatArray, received: FloatArray, low: float, high: float
) -> FrequencyResponse:
    if isinstance(excitation, SteppedSine):
        responses = []
        for frequency, start, end in excitation.dwells():
            rows = slice(
                int(np.ceil(start / DEFAULT_PERIOD - 1e-9)),
                int(np.floor(end / DEFAULT_PERIOD + 1e-9)),
            )
            responses.append(
                sine_response(input_signal[rows], received[rows], DEFAULT_PERIOD, frequency)
            )
        return joined(responses)
    first_sample = round(LEAD_IN / DEFAULT_PERIOD) - round(0.5 * WINDOW_LENGTH / DEFAULT_PERIOD)
    return sweep_response(
        input_signal[first_sample:],
        received[first_sample:],
        DEFAULT_PERIOD,
        window=WINDOW_LENGTH,
        low=max(low, 1.0 / WINDOW_LENGTH),
        high=high,
    )


def measured_figure(measured: MeasuredResponse) -> Any:
    """Return a plotly figure of a run: the platform's response and that of its actuators.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    lines = {"platform": measured.platform}
    lines |= {f"actuator {number}": response for number, response in measured.actuators.items()}
    title = f"{measured.machine} on {measured.engine}: {measured.direction}, {measured.controller}"
    return response_figure(lines, title)
