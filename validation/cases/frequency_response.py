"""Frequency responses against exact and linear models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.linear import (
    SweepSettings,
    SweptResponse,
    measure_compliance,
    measure_transmissibility,
)
from twin.analysis.frequency.measured import MeasuredResponse, measure_response
from twin.analysis.frequency.response import FrequencyResponse, axis_path
from twin.analysis.platform import Platform, load
from twin.papers.stewart_thesis import (
    PRINTED_POINTS,
    PURE_DELAY,
    RESPONSE_FREQUENCIES,
    Candidate,
    explanations,
    lagging_machine,
    machine_loop,
    modelled_response,
    path_mass,
)
from twin.validation.case import (
    CaseResult,
    Curve,
    Entry,
    Measure,
    Panel,
    Plot,
    Statement,
    validation_case,
)
from twin.validation.cases.tuning import PRINTED_BANDWIDTH
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import STEWART_THESIS, PrintedValue

COMPARED_ENGINES = ("analytic", "mujoco")

ENGINE_NAMES = {"analytic": "the reference", "mujoco": "MuJoCo"}
"""Names of the engines in the report."""

MUJOCO_LIMIT = 3e-3
"""Tolerance of the response in MuJoCo, relative to the largest response."""

SHIFT_REASON = "the engine's constraints of finite stiffness shift its resonances"


SINE_FREQUENCIES = {
    "analytic": (40.0, 70.0, 100.0, 140.0, 180.0, 220.0),
    "mujoco": (70.0, 140.0, 220.0),
}
"""[Hz] Frequencies of the sines, fewer for the slower engine."""

ENGINE_TIMESTEP = 1e-4
"""[s] Time step of the engines, in which the drives close their loops."""

FIGURE_SOURCE = f"{STEWART_THESIS}, figure 4.30"

PRINTED_PEAK = PrintedValue(FIGURE_SOURCE, "peak", "7", "dB")

PEAK_FREQUENCY = PrintedValue(FIGURE_SOURCE, "frequency of the peak", "about 150", "Hz")

AT_70 = PrintedValue(FIGURE_SOURCE, "amplification at 70 Hz", "4", "dB")

ELECTRICAL_TIME = 3.3e-3
"""[s] Electrical time constant of the motor with two stacks; figure B.2."""

MIN_DRAWN_LEVEL = -12.0
"""[dB] Lowest level that is drawn: the thesis gives no points far below it."""


class Sweep(NamedTuple):
    """Settings of the swept measurements on a machine with springs."""

    settings: SweepSettings
    """settings that both measurements use"""
    axes: tuple[str, ...]
    """axes along or about which a wrench is swept"""
    wrench: float
    """[N] swept force; a fifth of it in [N m] is the swept moment"""
    shaken_axis: str
    """axis along or about which the base is shaken"""
    acceleration: float
    """[m/s2] acceleration of the base"""
    tolerance: float
    """tolerance on the analytic engine, relative to the largest compliance"""
    reason: str


MACHINE_SWEEPS = {
    "micro_hexapod": Sweep(
        SweepSettings(
            low=50.0,
            high=500.0,
            length=0.5,
            decay=0.4,
        ),
        ("x",),
        10.0,
        "x",
        1.0,
        1e-4,
        "small motions: what is left is the ringing after the record",
    ),
    "compliant_stewart": Sweep(
        SweepSettings(
            low=2.0,
            high=60.0,
            length=1.5,
            holding=(5e5, 5e3),
            decay=2.0,
            timestep=5e-4,
        ),
        ("z", "yaw"),
        1.0,
        "z",
        0.2,
        1e-2,
        "the springs that hold the actuators act in steps of 0.5 ms and half a step late",
    ),
}


def compliance_measures(platform: Platform) -> tuple[list[Entry], Plot]:
    """Return the compliance under a swept wrench against the linear model, and its plot."""
    sweep = MACHINE_SWEEPS[platform.name]
    measures: list[Entry] = []
    panels = []
    for axis in sweep.axes:
        wrench = sweep.wrench * (1.0 if len(axis) == 1 else 0.2)
        measured = {
            engine: measure_compliance(platform, axis, sweep.settings, wrench=wrench, engine=engine)
            for engine in COMPARED_ENGINES
        }
        for engine, result in measured.items():
            error = largest(result.measured - result.linear) / largest(result.linear)
            is_exact = engine == "analytic" or sweep.tolerance >= MUJOCO_LIMIT
            tolerance, reason = (
                (sweep.tolerance, sweep.reason) if is_exact else (MUJOCO_LIMIT, SHIFT_REASON)
            )
            way = "along" if len(axis) == 1 else "in"
            name = f"compliance {way} {axis}, {ENGINE_NAMES[engine]}, against the linear model"
            measures.append(Measure(name, error, tolerance, reason))
        panels.append(_panel(axis, measured))
    holding_text = ", springs holding the actuators." if sweep.settings.holding[0] else "."
    caption = "Linear: from the linearised machine. At rest, without a controller" + holding_text
    title = "Compliance from a swept wrench"
    return measures, Plot(title, "frequency [Hz]", *panels, log_x=True, caption=caption)


def _panel(axis: str, responses: dict[str, SweptResponse]) -> Panel:
    unit = "m/N" if len(axis) == 1 else "rad/(N m)"
    curves = [
        Curve(ENGINE_NAMES[engine], result.frequency, np.abs(result.measured))
        for engine, result in responses.items()
    ]
    reference_result = responses[COMPARED_ENGINES[0]]
    curves.append(
        Curve("linear", reference_result.frequency, np.abs(reference_result.linear), "dash")
    )
    return Panel(f"{axis} per wrench [{unit}]", *curves, log_y=True)


def transmissibility_measure(platform: Platform) -> tuple[Measure, Plot]:
    """Return the transmissibility from a shaken base in MuJoCo against the linear model."""
    sweep = MACHINE_SWEEPS[platform.name]
    axis = sweep.shaken_axis
    result = measure_transmissibility(
        platform, axis, sweep.settings, acceleration=sweep.acceleration
    )
    max_transmissibility = largest(result.linear)
    measure = Measure(
        f"transmissibility along {axis}, MuJoCo, against the linear model",
        largest(result.measured - result.linear) / max_transmissibility,
        MUJOCO_LIMIT,
        f"per largest, {max_transmissibility:.3g}; {SHIFT_REASON}",
    )
    plot = Plot(
        "Transmissibility from a shaken base",
        "frequency [Hz]",
        Panel(
            f"{axis} of the platform per {axis} of the base",
            Curve("MuJoCo", result.frequency, np.abs(result.measured)),
            Curve("linear", result.frequency, np.abs(result.linear), "dash"),
            log_y=True,
        ),
        log_x=True,
        caption="A swept acceleration of the base.",
    )
    return measure, plot


@validation_case(
    machines=("stewart", "micro_hexapod", "compliant_stewart"),
    because="the thesis' own machine, and those with springs in or beside their actuators",
    run_time=4.0,
)
def check_frequency_response(platform: Platform) -> CaseResult:
    """Frequency responses against exact and linear models.

    On stewart, sines in pitch run through the thesis' cascade, in the analytic engine and MuJoCo,
    with a lag in the velocity loop. They are compared with an exact sampled model of the loop
    around the mass that the machine moves in pitch. The case also shows how near single effects
    bring this model to the thesis' figure 4.30. On machines with springs, the compliance from a
    swept wrench on the nonlinear engines is compared with the linearised machine, and in MuJoCo the
    transmissibility from a shaken base.
    """
    if platform.name == "stewart":
        return _closed_loop_result(platform)
    measures, plot = compliance_measures(platform)
    transmissibility, second_plot = transmissibility_measure(platform)
    return check_frequency_response.result(
        platform, [*measures, transmissibility], (plot, second_plot)
    )


def _closed_loop_result(platform: Platform) -> CaseResult:
    """Return the case's result on stewart: sines through its closed loops."""
    path = axis_path(platform, "pitch")
    ideal = machine_loop(platform, path_mass(platform, path), step=ENGINE_TIMESTEP)
    candidates = explanations(platform, load("stewart", "hardware"))
    lag = candidates["lag"].loop.current_lag
    machine = lagging_machine(platform, lag, PURE_DELAY)
    runs = {
        engine: measure_response(
            machine,
            axis="pitch",
            method="stepped",
            frequencies=SINE_FREQUENCIES[engine],
            engine=engine,
            timestep=ENGINE_TIMESTEP,
        )
        for engine in COMPARED_ENGINES
    }
    loop = ideal.changed(current_lag=lag, delay=PURE_DELAY)
    measures: list[Entry] = []
    for engine, measured in runs.items():
        _, modelled = modelled_response(machine, path, loop, measured.platform.frequency)
        error = max(
            largest(response.gain / modelled[leg].gain - 1.0)
            for leg, response in measured.actuators.items()
        )
        measures.append(
            Measure(
                f"actuators' responses in pitch, {engine}, against the exact loop model",
                error,
                3e-3,
                "the machine turns by 0.1 deg at most; the model is linear about home",
            )
        )
    return check_frequency_response.result(
        platform, measures, (_figure(candidates, runs),), _statements(candidates)
    )


def _figure(candidates: dict[str, Candidate], runs: dict[str, MeasuredResponse]) -> Plot:
    lines = [
        _response_curve(candidates[key].name, candidates[key].loop.response(RESPONSE_FREQUENCIES))
        for key in ("pitch", "current", "lag", "lag, difference")
    ]
    for engine, measured in runs.items():
        actuator_response: FrequencyResponse = measured.actuators[1]
        lines.append(_response_curve(f"actuator 1 on {engine}", actuator_response, "markers"))
    printed = Curve(
        "thesis",
        np.array([70.0, PRINTED_POINTS.peak_frequency, PRINTED_POINTS.bandwidth]),
        np.array([PRINTED_POINTS.at_70, PRINTED_POINTS.peak, -3.0]),
        "markers",
    )
    return Plot(
        "Displacement per displacement of the setpoint in pitch",
        "frequency [Hz]",
        Panel("magnitude [dB]", *lines, printed),
        log_x=True,
        caption="Thesis figure 4.30: the three points its text gives. Magnitudes below "
        f"{MIN_DRAWN_LEVEL:g} dB are not drawn.",
    )


def _response_curve(name: str, response: FrequencyResponse, style: str = "line") -> Curve:
    """Return the readable part of a response."""
    visible = response.only(response.magnitude >= MIN_DRAWN_LEVEL)
    return Curve(name, visible.frequency, visible.magnitude, style)


def _statements(candidates: dict[str, Candidate]) -> tuple[Statement, ...]:
    """Return the statements about figure 4.30 and what explains it.

    Judged is the machine as it is; numbers with a fitted lag or delay only explain a difference.
    """
    model_points, lag = candidates["current"].points, candidates["lag"]
    lag_points, difference_points = lag.points, candidates["lag, difference"].points
    viscous_points = candidates["lag, viscous"].points
    delay_points = candidates["lumped delay"].points
    lag_texts = {
        name: f"{1e3 * candidates[name].loop.current_lag:.2f} ms"
        for name in ("lag", "lag, difference", "lag, viscous")
    }
    return (
        STEWART_THESIS["loop_peak"].judged(
            f"{model_points.peak:.1f} dB at {model_points.peak_frequency:.0f} Hz with the thesis' "
            f"gains, the {lag.loop.mass:.1f} kg that an actuator moves in pitch, and the adopted "
            f"current loop of 0.5 ms; {candidates['pitch'].points.peak:.1f} dB without it.",
            PRINTED_PEAK.holds(model_points.peak)
            and PEAK_FREQUENCY.holds(model_points.peak_frequency),
            f"a lag inside the velocity loop of {lag_texts['lag']}, fitted to the height of the "
            f"peak, puts it at {lag_points.peak_frequency:.0f} Hz, but one number fitted to one of "
            "three shows nothing: bandwidth and value at 70 Hz do not follow. Current loop, speed "
            "filter and resolver are not measured",
        ),
        STEWART_THESIS["loop_bandwidth"].judged(
            f"{model_points.bandwidth:.0f} Hz; with a lag of {lag_texts['lag']}, which gives the "
            f"printed peak, {lag_points.bandwidth:.0f} Hz, and with feedforward by difference as "
            f"in the thesis, which needs {lag_texts['lag, difference']} for that peak, "
            f"{difference_points.bandwidth:.0f} Hz.",
            PRINTED_BANDWIDTH.holds(model_points.bandwidth),
            "with the motor's viscous friction, which needs a lag of "
            f"{lag_texts['lag, viscous']} for that peak, it is {viscous_points.bandwidth:.0f} "
            f"Hz, but then the peak is at {viscous_points.peak_frequency:.0f} Hz",
        ),
        STEWART_THESIS["loop_at_70_hz"].judged(
            f"{model_points.at_70:.1f} dB; {lag_points.at_70:.1f} dB with the lag that gives the "
            "printed peak.",
            AT_70.holds(model_points.at_70),
            f"a delay in the loop around the thesis' {candidates['lumped'].loop.mass:.1f} kg gives "
            f"7 dB and {delay_points.at_70:.1f} dB, but its peak at "
            f"{delay_points.peak_frequency:.0f} Hz; the thesis names structural modes about "
            "40 and 70 Hz, which rigid bodies do not have",
        ),
        _second_order(candidates),
        _current_loop(candidates),
    )


def second_order(peak: float, peak_frequency: float) -> tuple[float, float]:
    """Return amplification at 70 Hz [dB] and bandwidth [Hz] of a second-order system.

    The response 1 / |1 - r^2 + 2 i zeta r| with r = f / f_n has its peak
    1 / (2 zeta sqrt(1 - zeta^2)) at r^2 = 1 - 2 zeta^2.

    Args:
        peak: [dB] above zero.
        peak_frequency: [Hz].
    """
    damping_squared = 0.5 * (1.0 - np.sqrt(1.0 - 10.0 ** (-0.1 * peak)))
    peak_ratio_squared = 1.0 - 2.0 * damping_squared
    natural_frequency = peak_frequency / np.sqrt(peak_ratio_squared)
    ratio_squared = (70.0 / natural_frequency) ** 2
    level = -10.0 * np.log10((1.0 - ratio_squared) ** 2 + 4.0 * damping_squared * ratio_squared)
    # |.|^2 = 10^(-0.3): a quadratic equation in r^2.
    return float(level), float(
        natural_frequency
        * np.sqrt(peak_ratio_squared + np.sqrt(peak_ratio_squared**2 + 10.0**0.3 - 1.0))
    )


def _second_order(candidates: dict[str, Candidate]) -> Statement:
    level, bandwidth = second_order(PRINTED_PEAK.value, PEAK_FREQUENCY.value)
    lag_points = candidates["lag"].points
    lag_level, _ = second_order(lag_points.peak, lag_points.peak_frequency)
    return STEWART_THESIS["second_order"].judged(
        f"A second-order system with the printed peak has {level:.1f} dB at 70 Hz and a bandwidth "
        f"of {bandwidth:.0f} Hz; printed are 4 dB and about 220 Hz.",
        AT_70.holds(level) and PRINTED_BANDWIDTH.holds(bandwidth),
        "the loop also has a zero. With the current lag that gives the printed peak it has "
        f"{lag_points.at_70:.1f} dB at 70 Hz, a second-order system of that peak {lag_level:.1f} "
        "dB. The rest up to 4 dB may be the structural mode that the thesis sees; rigid bodies "
        "have none",
    )


def _current_loop(candidates: dict[str, Candidate]) -> Statement:
    """Return the statement about the current loop and the motor's electrical time constant.

    The velocity loop around a mass m with a lag T, T m s^3 + m s^2 + Kp s + Kp / Ti, is stable for
    T < Ti (Routh).
    """
    ideal, lag = candidates["pitch"], candidates["lag"]
    motor_loop = ideal.loop.changed(current_lag=ELECTRICAL_TIME)
    adopted = candidates["current"]
    return STEWART_THESIS["current_loop"].judged(
        f"With a current loop of unity the peak is {ideal.points.peak:.1f} dB, with the adopted "
        f"lag of {1e3 * adopted.loop.current_lag:g} ms {adopted.points.peak:.1f} dB. Without a "
        f"current loop, with the motor's {1e3 * ELECTRICAL_TIME:g} ms, the velocity loop with its "
        f"integral time of {1e3 * motor_loop.velocity_time:g} ms is "
        f"{'stable' if motor_loop.stable else 'unstable'}.",
        PRINTED_PEAK.holds(ideal.points.peak),
        f"the printed peak needs a lag of {1e3 * lag.loop.current_lag:.2f} ms, which also puts it "
        f"at {lag.points.peak_frequency:.0f} Hz: such a current loop is about as slow as the "
        "velocity loop. Filters of the speed may contribute to it",
    )
