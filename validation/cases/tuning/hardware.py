"""Steps of the Stewart machine with its drives against the thesis' figures 4.28 and 4.29."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.excitation import axis_path
from twin.analysis.platform import Platform
from twin.analysis.tuning.specification import StepFigures, step_figures
from twin.analysis.tuning.steps import PositionStudy
from twin.basics.arrays import FloatArray
from twin.papers.stewart_thesis.actuator_modes import machine_loop, path_mass
from twin.papers.stewart_thesis.loop_model import LoopModel
from twin.papers.stewart_thesis.response import FREQUENCIES, points_of
from twin.papers.stewart_thesis.velocity_step import (
    MotorResponse,
    heave_leg,
    motor_response,
    with_armature,
)
from twin.validation.published.compared import PrintedValue
from twin.validation.published.papers import THESIS
from twin.validation.results import Curve, Panel, Plot, Statement, Table

VELOCITY_GAIN = 20e3
"""[N s/m] The thesis' gain."""

INTEGRAL_TIME = 3e-3
"""[s] The thesis' integral time."""

STEP_SPEED = 0.02
"""[m/s] Size of the velocity step."""

SAMPLE_TIME = 1e-3
"""[s] Time over which the thesis takes differences of encoder readings."""

ARMATURE_SHARES = (2.0, 1.0, 0.5, 0.03)
"""Armature inertias of the scan, per that of the data sheet."""

GAIN_RATIOS = (0.0, 1.0, 2.0, 3.0)
"""Gains of the scan, per the one in proportion to the mass in heave; zero: the thesis' gain."""

RISE_TOLERANCE = 1e-3
"""[s] Difference of a rise time from the simulated one that counts as "almost the same"."""

SETTLING_BANDS = (0.05, 0.02, 0.01, 0.005)
"""Usual bands about the final value, per step; the last is the thesis', section 4.3.1.1.2."""

POSITION_SETTLING = PrintedValue(f"{THESIS}, section 4.3.2.2", "settling time", "about 2", "s")

BANDWIDTH = PrintedValue(f"{THESIS}, figure 4.30", "bandwidth", "about 220", "Hz")

TANK_BAND = np.arange(0.5, 70.5, 0.5)
"""[Hz] Frequencies of the tank motion in pitch; section 4.3.2.3."""

STEADY_TIME = 25e-3
"""[s] Time after the velocity step from which on the speed counts as steady."""

SETTLING_LIMIT = 20e-3
"""[s] Settling time of the thesis' specification."""


class Scanned(NamedTuple):
    """Velocity steps with one armature and one gain."""

    inertia: float
    """[kg] of the motor, at the leg"""
    gain: float
    """[N s/m]"""
    figures: StepFigures
    """of the motors' speed"""


class HardwareSteps(NamedTuple):
    """Step responses of the machine with its drives."""

    thesis: MotorResponse
    """with the thesis' gains"""
    proportion: MotorResponse
    """with the gain in proportion to what an actuator moves in pitch"""
    gain: float
    """[N s/m] that one"""
    inertia: float
    """[kg] of a motor, at the leg"""
    mass: float
    """[kg] that an actuator moves in heave besides"""
    loops: tuple[LoopModel, LoopModel]
    """linear models in pitch, armature included: thesis' gain, and gain in proportion"""
    digit: float
    """speed of one encoder count in one sample, per step"""
    position: tuple[FloatArray, FloatArray]
    """time [s] and displacement per step, 50 mm upwards"""
    scan: tuple[tuple[Scanned, ...], ...]
    """one row per armature"""
    simulated: StepFigures
    """of the machine without drives, thesis' gains"""


def hardware_steps(
    platform: Platform, hardware: Platform, simulated: tuple[FloatArray, FloatArray]
) -> HardwareSteps:
    """Return the steps of the machine with its drives.

    Args:
        platform: the machine with ideal drives.
        hardware: the same with its drives and encoders.
        simulated: time [s] and speed per step of the first with the thesis' gains.
    """
    leg = hardware.parameters.legs[0]
    assert leg.drive is not None and leg.encoder is not None and leg.drive.turn is not None
    inertia, mass = leg.drive.reflected().inertia, heave_leg(platform).mass
    pitch = path_mass(platform, axis_path(platform, "pitch"))
    gain = VELOCITY_GAIN * (inertia + pitch) / pitch
    loop = machine_loop(platform, inertia + pitch)
    return HardwareSteps(
        motor_response(hardware, VELOCITY_GAIN, INTEGRAL_TIME),
        motor_response(hardware, gain, INTEGRAL_TIME),
        gain,
        inertia,
        mass,
        (loop, loop.changed(velocity_gain=gain)),
        leg.encoder.resolution(leg.drive.turn) / SAMPLE_TIME / STEP_SPEED,
        PositionStudy().response(hardware),
        tuple(tuple(_scanned(hardware, inertia, mass, share)) for share in ARMATURE_SHARES),
        step_figures(*simulated),
    )


def _scanned(hardware: Platform, inertia: float, mass: float, share: float) -> Iterator[Scanned]:
    machine = with_armature(hardware, share)
    for ratio in GAIN_RATIOS:
        gain = VELOCITY_GAIN * (1.0 + share * inertia / mass) * ratio if ratio else VELOCITY_GAIN
        found = motor_response(machine, gain, INTEGRAL_TIME)
        yield Scanned(share * inertia, gain, step_figures(found.time, found.motor))


def matches_figure(steps: HardwareSteps, figures: StepFigures) -> bool:
    """Return whether a step agrees with figure 4.28 of the thesis, within its encoder's counts."""
    return (
        figures.overshoot <= steps.digit
        and abs(figures.rise_time - steps.simulated.rise_time) <= RISE_TOLERANCE
        and figures.settling_time <= SETTLING_LIMIT
    )


def hardware_table(steps: HardwareSteps) -> Table:
    """Return the scan of armature inertia and gain."""

    def cell(one: Scanned) -> str:
        figures = one.figures
        end = figures.settling_time
        text = f"{100.0 * figures.overshoot:.1f} %, {1e3 * figures.rise_time:.1f} ms, " + (
            f"{1e3 * end:.1f} ms" if np.isfinite(end) else "not settled"
        )
        return f"{1e-3 * one.gain:.0f}: {text}" + (
            ", agrees" if matches_figure(steps, figures) else ""
        )

    names = ("thesis' gain", *(f"{ratio:g} times in proportion" for ratio in GAIN_RATIOS[1:]))
    return Table(
        "Armature inertias and gains that agree with figure 4.28",
        ("armature at the leg", *names),
        tuple((f"{row[0].inertia:.0f} kg", *map(cell, row)) for row in steps.scan),
        "Gain [N per mm/s]: overshoot, rise and settling time of the motors' speed, with Ti 3 ms "
        f"and all else as `hardware`; in proportion to the {steps.mass:.1f} kg in heave. A step "
        "agrees if its overshoot is below one count of the encoder in a sample "
        f"({100.0 * steps.digit:.1f} percent), its rise time within "
        f"{1e3 * RISE_TOLERANCE:g} ms of the simulated {1e3 * steps.simulated.rise_time:.1f} ms, "
        f"and its settling time within {1e3 * SETTLING_LIMIT:g} ms.",
    )


def hardware_plots(
    steps: HardwareSteps, simulated: tuple[FloatArray, FloatArray]
) -> tuple[Plot, ...]:
    """Return our velocity steps as in figure 4.28 of the thesis, with both gains and simulated."""
    milliseconds = 1e3 * steps.thesis.time
    return (
        Plot(
            "Velocity step of the machine with its drives",
            "time [ms]",
            Panel(
                "speed of the motors per step",
                Curve("without drives, 20 N per mm/s", 1e3 * simulated[0], simulated[1]),
                Curve("hardware, 20 N per mm/s", milliseconds, steps.thesis.motor),
                Curve(
                    f"hardware, {1e-3 * steps.gain:.0f} N per mm/s",
                    milliseconds,
                    steps.proportion.motor,
                ),
            ),
            caption="Thesis figure 4.28; Ti 3 ms throughout.",
        ),
    )


def hardware_statements(
    steps: HardwareSteps, ideal: tuple[FloatArray, FloatArray]
) -> tuple[Statement, ...]:
    """Return the thesis' statements about its real machine beside our values.

    Args:
        steps: of the machine with its drives.
        ideal: the position step of the machine without.
    """
    band = replace(PositionStudy.specification, settling=SETTLING_BANDS[-1])
    settled = [step_figures(*one, band) for one in (steps.position, ideal)]
    return (
        _gains_and_armature(steps),
        _encoder_bit(steps),
        THESIS["position_step"].judged(
            f"Within the thesis' band of {100.0 * SETTLING_BANDS[-1]:g} percent `hardware` settles "
            f"after {settled[0].settling_time:.2f} s, the model after "
            f"{settled[1].settling_time:.2f} s. With other bands `hardware` settles after "
            f"{_settling(steps.position)}; the model after {_settling(ideal)}. The overshoot is "
            f"{100.0 * settled[0].overshoot:.1f} percent.",
            all(POSITION_SETTLING.holds(one.settling_time) for one in settled),
        ),
    )


def _gains_and_armature(steps: HardwareSteps) -> Statement:
    figures, ours = (step_figures(one.time, one.motor) for one in (steps.thesis, steps.proportion))
    leg = step_figures(steps.proportion.time, steps.proportion.leg)
    points, proportional = (points_of(loop.response(FREQUENCIES)) for loop in steps.loops)
    levels, proportional_levels = (loop.response(TANK_BAND).magnitude for loop in steps.loops)
    amplified = bool((np.diff(levels) > 0.0).all() and levels[0] > 0.0)
    return THESIS["gains_and_armature"].judged(
        f"With these gains and this armature the velocity step overshoots by "
        f"{100.0 * figures.overshoot:.0f} percent, rises in {1e3 * figures.rise_time:.0f} ms and "
        f"is {_settled(figures)}. In pitch the peak is {points.peak:.1f} dB at "
        f"{points.peak_frequency:.0f} Hz, the bandwidth {points.bandwidth:.0f} Hz, and the "
        f"amplification at 70 Hz {levels[-1]:.0f} dB.",
        matches_figure(steps, figures) and BANDWIDTH.holds(points.bandwidth) and amplified,
        f"the data sheet's armature is {steps.inertia:.0f} kg at the leg, "
        f"{steps.inertia / steps.mass:.0f} times the {steps.mass:.1f} kg for which the gains were "
        f"found. {_matching_pairs(steps)} With {1e-3 * steps.gain:.0f} N per mm/s, in proportion "
        f"to the mass that an actuator moves in pitch, the overshoot is "
        f"{100.0 * ours.overshoot:.1f} percent (one count of the encoder in a sample is "
        f"{100.0 * steps.digit:.1f} percent), the rise time {1e3 * ours.rise_time:.1f} ms and the "
        f"settling time {1e3 * ours.settling_time:.1f} ms; simulated are "
        f"{1e3 * steps.simulated.rise_time:.1f} and {1e3 * steps.simulated.settling_time:.1f} ms. "
        f"The bandwidth is then {proportional.bandwidth:.0f} Hz, and the amplification grows from "
        f"{proportional_levels[0]:.2f} dB at 0.5 Hz to {proportional_levels[-1]:.1f} dB at 70 Hz. "
        f"On the transmission the legs overshoot by {100.0 * leg.overshoot:.0f} percent, which the "
        "encoders do not see. The thesis does not print the unit in which its drives take Kp = 20",
    )


def _encoder_bit(steps: HardwareSteps) -> Statement:
    """Return the statement about the speed from differences of encoder readings."""
    response, digit = steps.proportion, steps.digit
    every = round(SAMPLE_TIME / (response.time[1] - response.time[0]))
    # The unit of travel is that of one sample at the commanded speed.
    travel = np.cumsum(np.r_[0.0, 0.5 * (response.motor[1:] + response.motor[:-1])]) / every
    exact = np.diff(travel[::every])
    read = np.diff(digit * np.round(travel[::every] / digit))
    steady = response.time[every::every] >= STEADY_TIME
    ranges = [float(np.ptp(one[steady])) for one in (exact, read)]
    error = float(np.abs(read - exact).max())
    return THESIS["encoder_bit"].judged(
        f"At steady speed the motors' speed varies by {100.0 * ranges[0]:.1f} percent of the step, "
        f"the speed from differences of the encoder by {100.0 * ranges[1]:.1f} percent. The "
        f"differences are wrong by at most {100.0 * error:.1f} percent; one count in a sample of "
        f"{1e3 * SAMPLE_TIME:g} ms is {100.0 * digit:.1f} percent.",
        ranges[0] < 0.5 * digit < ranges[1] and error <= digit,
    )


def _settling(response: tuple[FloatArray, FloatArray]) -> str:
    """Return the settling times of a position step within usual bands, as text."""
    usual = PositionStudy.specification
    times = (
        f"{step_figures(*response, replace(usual, settling=band)).settling_time:.2f} s within "
        f"{100.0 * band:g} percent"
        for band in SETTLING_BANDS
    )
    return ", ".join(times)


def _matching_pairs(steps: HardwareSteps) -> str:
    found = [one for row in steps.scan for one in row if matches_figure(steps, one.figures)]
    if not found:
        return "No armature and gain of the scan agree with the thesis' figure."
    pairs = ", ".join(
        f"{one.inertia:.0f} kg with {1e-3 * one.gain:.0f} N per mm/s" for one in found
    )
    return f"Of the scan in the table only these agree with the thesis' figure: {pairs}."


def _settled(figures: StepFigures) -> str:
    if not np.isfinite(figures.settling_time):
        return "not settled after 50 ms"
    return f"settled after {1e3 * figures.settling_time:.1f} ms"
