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

GAIN, TIME = 20e3, 3e-3
"""[N s/m], [s] of the thesis."""

SIZE = 0.02
"""[m/s]"""

SAMPLE = 1e-3
"""[s] over which the thesis takes differences of encoder readings."""

SHARES = (2.0, 1.0, 0.5, 0.03)
"""Of the data sheet's armature inertia, scanned."""

RATIOS = (0.0, 1.0, 2.0, 3.0)
"""Gains scanned, per the one in proportion to the mass in heave; zero: the thesis' gain itself."""

NEAR = 1e-3
"""[s] by which a rise time may differ from the simulated one to be "almost the same"."""

BANDS = (0.05, 0.02, 0.01, 0.005)
"""Usual bands about the final value, per step; the last is the thesis' own, section 4.3.1.1.2."""

POSITION_SETTLING = PrintedValue(f"{THESIS}, section 4.3.2.2", "settling time", "about 2", "s")

BANDWIDTH = PrintedValue(f"{THESIS}, figure 4.30", "bandwidth", "about 220", "Hz")

TANK_BAND = np.arange(0.5, 70.5, 0.5)
"""[Hz] Content of the tank motion in pitch; section 4.3.2.3."""

STEADY_TIME = 25e-3
"""[s] after the velocity step from which on the speed is taken as steady."""

SETTLED = 20e-3
"""[s] of the thesis' specification."""


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
    """in pitch, armature included: with the thesis' gain, and with the one in proportion"""
    digit: float
    """of an encoder in one sample, per step"""
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
    gain = GAIN * (inertia + pitch) / pitch
    loop = machine_loop(platform, inertia + pitch)
    return HardwareSteps(
        motor_response(hardware, GAIN, TIME),
        motor_response(hardware, gain, TIME),
        gain,
        inertia,
        mass,
        (loop, loop.changed(velocity_gain=gain)),
        leg.encoder.resolution(leg.drive.turn) / SAMPLE / SIZE,
        PositionStudy().response(hardware),
        tuple(tuple(_scanned(hardware, inertia, mass, share)) for share in SHARES),
        step_figures(*simulated),
    )


def _scanned(hardware: Platform, inertia: float, mass: float, share: float) -> Iterator[Scanned]:
    machine = with_armature(hardware, share)
    for ratio in RATIOS:
        gain = GAIN * (1.0 + share * inertia / mass) * ratio if ratio else GAIN
        found = motor_response(machine, gain, TIME)
        yield Scanned(share * inertia, gain, step_figures(found.time, found.motor))


def alike(steps: HardwareSteps, figures: StepFigures) -> bool:
    """Return whether a step is as figure 4.28 of the thesis, to the resolution of its encoder."""
    return (
        figures.overshoot <= steps.digit
        and abs(figures.rise_time - steps.simulated.rise_time) <= NEAR
        and figures.settling_time <= SETTLED
    )


def hardware_table(steps: HardwareSteps) -> Table:
    """Return the scan of armature inertia and gain."""

    def cell(one: Scanned) -> str:
        figures = one.figures
        end = figures.settling_time
        text = f"{100.0 * figures.overshoot:.1f} %, {1e3 * figures.rise_time:.1f} ms, " + (
            f"{1e3 * end:.1f} ms" if np.isfinite(end) else "not settled"
        )
        return f"{1e-3 * one.gain:.0f}: {text}" + (", alike" if alike(steps, figures) else "")

    names = ("thesis' gain", *(f"{ratio:g} times in proportion" for ratio in RATIOS[1:]))
    return Table(
        "Which armature and gain give figure 4.28",
        ("armature at the leg", *names),
        tuple((f"{row[0].inertia:.0f} kg", *map(cell, row)) for row in steps.scan),
        "Gain [N per mm/s]: overshoot, rise and settling of the motors' speed, Ti 3 ms, everything "
        f"else as `hardware`; in proportion to the {steps.mass:.1f} kg in heave. Alike: overshoot "
        f"below one count of the encoder in a sample ({100.0 * steps.digit:.1f} percent), rise "
        f"within {1e3 * NEAR:g} ms of the simulated {1e3 * steps.simulated.rise_time:.1f} ms, "
        f"settled within {1e3 * SETTLED:g} ms.",
    )


def hardware_plots(
    steps: HardwareSteps, simulated: tuple[FloatArray, FloatArray]
) -> tuple[Plot, ...]:
    """Return the thesis' figure 4.28, ours beside it what it should show."""
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
    band = replace(PositionStudy.specification, settling=BANDS[-1])
    settled = [step_figures(*one, band) for one in (steps.position, ideal)]
    return (
        _gains_and_armature(steps),
        _encoder_bit(steps),
        THESIS["position_step"].judged(
            f"Within the thesis' band of {100.0 * BANDS[-1]:g} percent `hardware` settles after "
            f"{settled[0].settling_time:.2f} s, the model after {settled[1].settling_time:.2f} s. "
            f"Other bands: `hardware` {_settling(steps.position)}; the model {_settling(ideal)}. "
            f"Overshoot {100.0 * settled[0].overshoot:.1f} percent.",
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
        f"Together they overshoot by {100.0 * figures.overshoot:.0f} percent, rise in "
        f"{1e3 * figures.rise_time:.0f} ms and are {_settled(figures)}. In pitch they have a peak "
        f"of {points.peak:.1f} dB at {points.peak_frequency:.0f} Hz and a bandwidth of "
        f"{points.bandwidth:.0f} Hz; at 70 Hz the motion is {levels[-1]:.0f} dB.",
        alike(steps, figures) and BANDWIDTH.holds(points.bandwidth) and amplified,
        f"the data sheet's armature is {steps.inertia:.0f} kg at the leg, "
        f"{steps.inertia / steps.mass:.0f} times the {steps.mass:.1f} kg for which the gains were "
        f"found. {_alike_pairs(steps)} With {1e-3 * steps.gain:.0f} N per mm/s, which is 20 in "
        f"proportion to what an actuator moves in pitch, the overshoot is "
        f"{100.0 * ours.overshoot:.1f} percent (one count of the encoder in a sample is "
        f"{100.0 * steps.digit:.1f}), rise {1e3 * ours.rise_time:.1f} ms and settling "
        f"{1e3 * ours.settling_time:.1f} ms, where {1e3 * steps.simulated.rise_time:.1f} and "
        f"{1e3 * steps.simulated.settling_time:.1f} ms are simulated; the bandwidth is "
        f"{proportional.bandwidth:.0f} Hz, and the motion is amplified by "
        f"{proportional_levels[0]:.2f} dB at 0.5 Hz and {proportional_levels[-1]:.1f} dB at 70 Hz. "
        f"The legs swing on the transmission by {100.0 * leg.overshoot:.0f} percent, which the "
        "encoders do not see. The thesis does not print in which unit its "
        "drives took Kp = 20",
    )


def _encoder_bit(steps: HardwareSteps) -> Statement:
    """Return the statement about differences of encoder readings, one count uncertain."""
    response, digit = steps.proportion, steps.digit
    every = round(SAMPLE / (response.time[1] - response.time[0]))
    # Travel per step and sample: a steady speed at the setpoint travels one in a sample.
    travel = np.cumsum(np.r_[0.0, 0.5 * (response.motor[1:] + response.motor[:-1])]) / every
    exact = np.diff(travel[::every])
    read = np.diff(digit * np.round(travel[::every] / digit))
    steady = response.time[every::every] >= STEADY_TIME
    swings = [float(np.ptp(one[steady])) for one in (exact, read)]
    off = float(np.abs(read - exact).max())
    return THESIS["encoder_bit"].judged(
        f"The speed of the motors varies by {100.0 * swings[0]:.1f} percent of the step once it is "
        f"steady, the differences of the encoder by {100.0 * swings[1]:.1f}. They are off by "
        f"{100.0 * off:.1f} percent at most: one count in a sample of {1e3 * SAMPLE:g} ms is "
        f"{100.0 * digit:.1f}.",
        swings[0] < 0.5 * digit < swings[1] and off <= digit,
    )


def _settling(response: tuple[FloatArray, FloatArray]) -> str:
    """Return after which times a position step stays within usual bands, as text."""
    usual = PositionStudy.specification
    times = (
        f"{step_figures(*response, replace(usual, settling=band)).settling_time:.2f} s within "
        f"{100.0 * band:g} percent"
        for band in BANDS
    )
    return ", ".join(times)


def _alike_pairs(steps: HardwareSteps) -> str:
    found = [one for row in steps.scan for one in row if alike(steps, one.figures)]
    if not found:
        return "No armature and gain of the scan give what the thesis saw."
    pairs = ", ".join(
        f"{one.inertia:.0f} kg with {1e-3 * one.gain:.0f} N per mm/s" for one in found
    )
    return f"Of the scan in the table only these are as the thesis saw: {pairs}."


def _settled(figures: StepFigures) -> str:
    if not np.isfinite(figures.settling_time):
        return "not settled after 50 ms"
    return f"settled after {1e3 * figures.settling_time:.1f} ms"
