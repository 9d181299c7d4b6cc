"""Drives of the hardware configuration on a test bench.

The drive of the first leg in configuration hardware runs alone. All that is expected of it is
worked out from the machine's file, and for stewart from the typed data sheet of its motor, without
the code of the drives. The motor is accelerated, slides at steady speeds and to rest, and shakes a
free leg: both share their momentum, and converge to the exact motion of two masses on a spring as
the engine's step falls. Play leaves a loop between motor and leg. Commands pass delay, converter,
current loop and velocity loop, and stop at limit switches. Brakes hold, legs strike their end
stops, encoders count, and a motor heats until peak effort is over. The drives take their machine
over without a jolt. On cranks a hobby servo and a stepper motor are tried as well. What a drive
does not have, such as play, is left out.
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
from twin.model.motions import REST
from twin.plant.drives import drive_constants, equivalent_inertia, longest_drive_step
from twin.plant.plant import Plant
from twin.validation.case import Case
from twin.validation.cases.closed_loop.case import with_drives
from twin.validation.cases.plant.data_sheet import DriveNumbers, drive_numbers
from twin.validation.cases.plant.electronics import (
    converter_measures,
    fold_back,
    fold_back_measures,
    handover_measure,
    impulse_measure,
    response_to_step,
    windup_measure,
)
from twin.validation.cases.plant.encoders import encoder_measures
from twin.validation.cases.plant.figures import (
    fold_back_plot,
    friction_plot,
    hysteresis_plot,
    response_plot,
)
from twin.validation.cases.plant.limits import (
    brake_measures,
    impact_measures,
    slip_measures,
    switch_measures,
)
from twin.validation.cases.plant.positioning import position_drive_measures
from twin.validation.cases.plant.statements import thesis_statements
from twin.validation.cases.plant.trials import (
    STEP,
    coupling,
    friction_curve,
    hysteresis,
    motor_inertia,
    stopping,
    transmission_error,
)
from twin.validation.measures.equilibrium import rest
from twin.validation.measures.metrics import largest
from twin.validation.results import CaseResult, Entry, Figure, Measure, Quantity


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
    numbers = drive_numbers(machine)
    mass = float(equivalent_inertia(machine)[0] - drive[column.INERTIA])
    measures: list[Entry] = [*_takeover(machine, constants)]
    plots: list[Figure] = []
    units = machine.coordinate_unit, machine.force_unit
    for part in (_coupling, partial(_friction, units=units), partial(_play, unit=units[0])):
        found, figures = part(drive, numbers, mass)
        measures += found
        plots += figures
    response, runs = response_to_step(machine, numbers)
    plots.append(response_plot(runs, leg, machine.force_unit))
    measures += [
        response,
        *impulse_measure(drive, numbers, leg.current_lag),
        *converter_measures(drive, numbers),
        *windup_measure(drive, numbers),
        handover_measure(machine, numbers),
        *slip_measures(drive, numbers),
        *brake_measures(drive, numbers),
        *switch_measures(drive, numbers),
        *impact_measures(drive, numbers),
        *encoder_measures(machine, drive, numbers),
        *position_drive_measures(machine),
    ]
    heated = fold_back(machine, numbers)
    if heated is not None:
        measures += fold_back_measures(heated, numbers)
        plots.append(fold_back_plot(heated, machine))
    statements = thesis_statements(machine) if platform.name == "stewart" else ()
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


def _coupling(
    drive: FloatArray, numbers: DriveNumbers, mass: float
) -> tuple[list[Entry], list[Figure]]:
    if numbers.inertia == 0.0:
        return [], []
    found = coupling(drive, numbers, mass)
    return [
        Measure(
            "inertia of the motor at the leg, from its acceleration: relative error",
            abs(motor_inertia(drive, numbers) / numbers.inertia - 1.0),
            1e-5,
            "two efforts for 1 us on a sliding motor; viscous friction takes 1 us times damping "
            "per inertia of their difference, and that is below 13 1/s",
        ),
        Measure(
            "force of the transmission, pressed from both sides and inside its play, against "
            "stiffness, damping and play: relative error",
            transmission_error(drive, numbers),
            1e-9,
            "a press of 1e-5 m or rad is known to 1e-11 of it, where coordinates are rounded",
        ),
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
    drive: FloatArray, numbers: DriveNumbers, mass: float, units: tuple[str, str]
) -> tuple[list[Entry], list[Figure]]:
    if numbers.friction == 0.0:
        return [], []
    curve = friction_curve(drive, numbers)
    found, expected = stopping(drive, numbers)
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
    ], [friction_plot(curve, numbers, *units)]


def _play(
    drive: FloatArray, numbers: DriveNumbers, mass: float, unit: str
) -> tuple[list[Entry], list[Figure]]:
    if numbers.play == 0.0:
        return [], []
    loop = hysteresis(drive, numbers, mass)
    return [
        Measure(
            "width of the loop of motor and leg against play and what drag presses",
            abs(loop.width / loop.expected - 1.0),
            5e-3,
            f"{1e3 * loop.expected:.4g} m{unit}; readings lie a step apart, a leg's inertia pulls",
        ),
        Measure("force inside the play, per drag", loop.inside, 0.0, "no flank, no force"),
    ], [hysteresis_plot(loop, unit)]
