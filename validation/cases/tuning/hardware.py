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
from twin.papers.stewart_thesis.actuator_modes import path_mass
from twin.papers.stewart_thesis.velocity_step import (
    MotorResponse,
    heave_leg,
    motor_response,
    with_armature,
)
from twin.validation.published.papers import THESIS
from twin.validation.results import Curve, Entry, Panel, Plot, Quantity, Statement, Table

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
"""Usual bands about the final value, per step; the last is that of the thesis' velocity loop."""

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
    return HardwareSteps(
        motor_response(hardware, GAIN, TIME),
        motor_response(hardware, gain, TIME),
        gain,
        inertia,
        mass,
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


def hardware_measures(steps: HardwareSteps) -> Iterator[Entry]:
    """Yield the measures of the machine with its drives."""
    thesis = step_figures(steps.thesis.time, steps.thesis.motor)
    leg = step_figures(steps.thesis.time, steps.thesis.leg)
    yield Quantity(
        "hardware, velocity step, 20 N per mm/s and 3 ms: overshoot of the motors",
        thesis.overshoot,
        note=f"of the legs {100.0 * leg.overshoot:.0f} percent; rise "
        f"{1e3 * thesis.rise_time:.1f} ms, {_settled(thesis)}; the thesis' real machine: none",
    )
    ours = step_figures(steps.proportion.time, steps.proportion.motor)
    leg = step_figures(steps.proportion.time, steps.proportion.leg)
    yield Quantity(
        f"hardware, velocity step, {1e-3 * steps.gain:.0f} N per mm/s and 3 ms: overshoot of the "
        "motors",
        ours.overshoot,
        note=f"one count of the encoder in a sample of 1 ms is {100.0 * steps.digit:.1f} "
        f"percent; the thesis' real machine: none; rise {1e3 * ours.rise_time:.1f} ms, "
        f"{_settled(ours)}; the legs swing on the transmission by {100.0 * leg.overshoot:.0f} "
        "percent, which the encoders do not see",
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
    """Return the thesis' statements on figures 4.28 and 4.29 beside our values.

    Args:
        steps: of the machine with its drives.
        ideal: the position step of the machine without.
    """
    figures = step_figures(steps.thesis.time, steps.thesis.motor)
    ours = step_figures(steps.proportion.time, steps.proportion.motor)
    overshoot = step_figures(*steps.position, PositionStudy.specification).overshoot
    light = steps.scan[-1][0]
    return (
        THESIS["velocity_step"].judged(
            f"With these gains `hardware` overshoots by {100.0 * figures.overshoot:.0f} percent, "
            f"rises in {1e3 * figures.rise_time:.0f} ms and is {_settled(figures)}. The 2 ms are "
            "put in.",
            alike(steps, figures),
            f"the data sheet's armature is {steps.inertia:.0f} kg at the leg, "
            f"{steps.inertia / steps.mass:.0f} times the {steps.mass:.1f} kg for which the gains "
            f"were found. {_alike_pairs(steps)} With {1e-3 * steps.gain:.0f} N per mm/s, which is "
            "20 in proportion to what an actuator moves in pitch and also gives figure 4.30, the "
            f"overshoot is {100.0 * ours.overshoot:.1f} percent (one count of the encoder in a "
            f"sample is {100.0 * steps.digit:.1f}), rise {1e3 * ours.rise_time:.1f} and "
            f"settling {1e3 * ours.settling_time:.1f} ms; simulated "
            f"{1e3 * steps.simulated.rise_time:.1f} and "
            f"{1e3 * steps.simulated.settling_time:.1f} ms. The rise is then that of the peak "
            "force, which is adopted. At 20 N per mm/s no armature scanned does it "
            f"({light.inertia:.0f} kg: {100.0 * light.figures.overshoot:.0f} percent). The thesis "
            "does not print in which unit its real drives took Kp = 20",
        ),
        THESIS["position_step"].not_given(
            "On `hardware` "
            + _settling(steps.position)
            + "; without drives "
            + _settling(ideal)
            + f"; overshoot {100.0 * overshoot:.1f} percent.",
            "no band about the final value is printed, and the time depends on it; nor what a "
            "small difference is",
        ),
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
