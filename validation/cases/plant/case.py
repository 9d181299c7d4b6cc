"""Drives of the hardware configuration on a test bench.

The drive of the first leg in configuration hardware runs alone. Its motor shakes a free leg. Both
share their momentum, and converge to the exact motion of two masses on a spring as the engine's
step falls. Compared are friction at steady speed with its law, the distance to rest, and the width
of the loop that play leaves behind. Commands pass delay, converter and current loop: these are
compared with their closed form. The motor heats until peak effort is over. Last, the drives have to
take their machine over without a jolt. What the drive does not have, such as play, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade
from twin.engines import make_engine
from twin.kernels.plant import columns as column
from twin.machine.hardware.drive import AnyDrive, ScrewDrive
from twin.model.motions import REST
from twin.plant.drives import drive_constants, equivalent_inertia, longest_drive_step
from twin.plant.plant import Plant
from twin.validation.case import Case
from twin.validation.cases.closed_loop.case import with_drives
from twin.validation.cases.plant.electronics import converter_measures, response_of_electronics
from twin.validation.cases.plant.figures import fold_back_plot, friction_plot, hysteresis_plot
from twin.validation.cases.plant.trials import (
    STEP,
    coupling,
    fold_back,
    friction_curve,
    hysteresis,
    stopping,
)
from twin.validation.measures.equilibrium import rest
from twin.validation.measures.metrics import largest
from twin.validation.published.papers import THESIS
from twin.validation.results import CaseResult, Entry, Figure, Measure, Quantity, Statement

INCH, POUND = 0.0254, 4.4482216152605
"""[m], [N]"""

PRINTED = {
    "armature inertia": (0.00416 * POUND * INCH, 4.7e-4, 5e-6, "kg m2"),
    "friction torque": (2.00 * POUND * INCH, 0.23, 5e-3, "N m"),
    "damping constant": (1.23 * POUND * INCH, 0.14, 5e-3, "N m/krpm"),
    "brake torque, dry": (78.0 * POUND * INCH, 8.81, 5e-3, "N m"),
}
"""In lbf in and lbf in s2 as printed beside SI; half the last printed digit."""

RATED_TORQUE, RATED_FORCE = 3.03, 2998.0
"""[N m], [N] of the two-stack GSX30-1002, figure B.1."""


def thesis_statements(drive: AnyDrive, row: FloatArray) -> tuple[Statement, ...]:
    """Return the thesis' statements about its motors beside ours."""
    assert isinstance(drive, ScrewDrive)
    agree = all(abs(inches - si) <= slack for inches, si, slack, _ in PRINTED.values())
    ours = ", ".join(
        f"{name} {inches:.3g} {unit}" for name, (inches, _, _, unit) in PRINTED.items()
    )
    lossless = RATED_TORQUE * drive.ratio
    reflected = (
        f"{row[column.INERTIA]:.1f} kg, {row[column.FRICTION]:.1f} N and "
        f"{row[column.VISCOUS]:.1f} N s/m at the leg"
    )
    top = 3000.0 / 60.0 * drive.lead
    return (
        THESIS["motor_data"].judged(f"From inches and pounds: {ours}. {reflected}.", agree),
        THESIS["motor_speed"].judged(
            f"3000 rpm on the lead make {1e3 * top:.1f} mm/s.", abs(top - 0.254) < 5e-4
        ),
        THESIS["motor_force"].judged(
            f"Without losses {lossless:.0f} N: the rating leaves {RATED_FORCE / lossless:.2f} of "
            "it. 3073 N is taken as what the motor gives at the leg, before its own friction.",
            abs(lossless - RATED_FORCE) < 0.01 * RATED_FORCE,
            "the data sheet's rating holds an efficiency of screw and motor that it does not "
            "state; the drive has dry and viscous friction in its place, no loss in proportion to "
            "the load, and 3073 N is no number of figure B.1",
        ),
        THESIS["pure_delay"].not_given(
            f"All {1e3 * drive.delay:g} ms are a delay of the electronics here; stiction comes on "
            "top as the time an effort needs to reach what breaks the motor away.",
            "the thesis does not separate the two, and prints no numbers of stiction",
        ),
    )


def missing_hardware(platform: Platform) -> str:
    """Return the reason why a machine has no drives to test; empty where it has."""
    if with_drives(platform) is platform:
        return "the catalogue has no configuration hardware of this machine"
    return ""


CASE = Case("plant", __doc__, condition=missing_hardware, cost=0.6)


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    machine = with_drives(platform)
    constants = drive_constants(machine, STEP)
    drive, leg = constants[0], machine.parameters.legs[0].drive
    assert leg is not None
    mass = float(equivalent_inertia(machine)[0] - drive[column.INERTIA])
    measures: list[Entry] = [*_takeover(machine, constants)]
    plots: list[Figure] = []
    units = machine.coordinate_unit, machine.force_unit
    for part in (_coupling, partial(_friction, units=units), partial(_play, unit=units[0])):
        found, figures = part(drive, mass)
        measures += found
        plots += figures
    response, figure = response_of_electronics(machine)
    measures += [response, *converter_measures(drive)]
    plots.append(figure)
    if leg.thermal_time is not None:
        heated = fold_back(drive, leg.thermal_time)
        name = "time until the motor falls back to continuous effort, error of the closed form"
        step = leg.thermal_time / 2000.0
        difference = abs(heated.after - heated.expected)
        reason = f"-T ln(1 - (continuous / peak)^2) = {heated.expected:.4g} s; two steps"
        measures.append(Measure(name, difference, 2.0 * step, reason, unit="s"))
        plots.append(fold_back_plot(heated, machine))
    statements = thesis_statements(leg, drive) if platform.name == "stewart" else ()
    return CASE.result(platform, measures, plots, statements)


def _takeover(machine: Platform, constants: FloatArray) -> Iterator[Entry]:
    """Yield the jolt when the drives take over the machine at home."""
    engine = make_engine("analytic", machine, STEP, "fast")
    try:
        state = engine.reset(deflection=rest(machine).deflection)
        plant = Plant(machine)
        plant.prepare(STEP)
        plant.start(state, Cascade(machine).loop_gains)
        held = machine.inverse_dynamics(machine.home, REST, REST, deflection=state.deflection)
        first, at = plant.forces(state).copy(), state.lengths
        for _ in range(100):
            state = engine.step(plant.forces(state))
    finally:
        engine.close()
    stroke = machine.maximum_coordinates - machine.minimum_coordinates
    yield Measure(
        "first forces against those that hold the machine, per largest",
        np.abs(first - held).max() / np.abs(held).max(),
        1e-9,
        "motors start where their transmissions carry the legs; rounding of their places",
    )
    yield Measure(
        "actuators moved 10 ms after the drives took over, per stroke",
        (np.abs(state.lengths - at) / stroke).max(),
        1e-12,
        "motors, springs and legs start in balance: nothing moves; rounding",
    )
    longest = longest_drive_step(machine, constants)
    if np.isfinite(longest):
        note = "what the motors' transmissions and the end stops allow"
        yield Quantity("longest step of an engine", longest, note=note, unit="s")


def _coupling(drive: FloatArray, mass: float) -> tuple[list[Entry], list[Figure]]:
    if drive[column.INERTIA] == 0.0:
        return [], []
    found = coupling(drive, mass)
    return [
        Measure(
            "change of momentum of motor and leg against the motor's impulse, per impulse",
            found.imbalance,
            1e-13,
            "the leg is given the mean of what the motor felt; rounding of a thousand sums",
        ),
        Measure(
            "order of convergence to two masses on a spring",
            found.orders[-1],
            0.9,
            "first order: damping sees the leg's rate at the start of a step",
            at_least=True,
            at_bound=True,
        ),
        Measure(
            f"rate of the leg after a shake at {1e3 * STEP:g} ms, error per largest rate",
            found.error,
            1e-3,
            "first order: 0.1 ms of a period of 50 ms is 2e-3 of it, half of that on average",
        ),
    ], []


def _friction(
    drive: FloatArray, mass: float, units: tuple[str, str]
) -> tuple[list[Entry], list[Figure]]:
    if drive[column.FRICTION] == 0.0:
        return [], []
    curve = friction_curve(drive)
    found, expected = stopping(drive)
    return [
        Measure(
            "effort at steady speeds against the law of friction",
            largest(curve.found / curve.law - 1.0),
            1e-6,
            "steady: what remains of the start after 0.15 s",
        ),
        Measure(
            "distance of a sliding motor to rest against quadrature",
            abs(found / expected - 1.0),
            1e-3,
            "the last part of a step, in which it stops, is cut off",
        ),
    ], [friction_plot(curve, drive, *units)]


def _play(drive: FloatArray, mass: float, unit: str) -> tuple[list[Entry], list[Figure]]:
    if drive[column.HALF_PLAY] == 0.0:
        return [], []
    loop = hysteresis(drive, mass)
    return [
        Measure(
            "width of the loop of motor and leg against play and what drag presses",
            abs(loop.width / loop.expected - 1.0),
            5e-3,
            f"{1e3 * loop.expected:.4g} m{unit}; readings lie a step apart, a leg's inertia pulls",
        ),
        Measure("force inside the play, per drag", loop.inside, 0.0, "no flank, no force"),
    ], [hysteresis_plot(loop, unit)]
