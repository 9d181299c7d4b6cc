"""Drives of the hardware configuration on a test bench.

The drive of the first leg in configuration hardware runs alone on a test bench. The expected values
follow from the machine's file, for stewart also from the data sheet of its motor, and never from
the code of the drives. The mechanics are tested for inertia, friction, backlash and the coupling of
motor and leg. The electronics are tested for delay, current loop, converter, velocity loop and
thermal limit. Limit switches, speed limit, brake, end stops and encoders follow, and the takeover
of a machine at rest. Cranks have two more drives, a hobby servo and a stepper motor. What a drive
does not have, such as backlash, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from twin.validation.cases.plant.data_sheet import drive_numbers
from twin.validation.cases.plant.electronics import (
    converter_measures,
    fold_back,
    fold_back_measures,
    handover_measure,
    impulse_measure,
    response_to_step,
    velocity_loop_measures,
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
    breakaway_measures,
    impact_measures,
    switch_measures,
)
from twin.validation.cases.plant.positioning import position_drive_measures
from twin.validation.cases.plant.statements import thesis_statements
from twin.validation.cases.plant.trials import (
    ENGINE_STEP,
    backlash_measures,
    friction_curve,
    friction_measures,
    hysteresis,
    transmission_measures,
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
    constants = drive_constants(machine, ENGINE_STEP)
    drive, leg = constants[0], machine.parameters.legs[0].drive
    assert leg is not None
    numbers = drive_numbers(machine)
    mass = float(equivalent_inertia(machine)[0] - drive[column.INERTIA])
    measures: list[Entry] = [*_takeover(machine, constants)]
    plots: list[Figure] = []
    if numbers.inertia:
        measures += transmission_measures(drive, numbers, mass)
    if numbers.friction:
        curve = friction_curve(drive, numbers)
        measures += friction_measures(drive, numbers, curve)
        plots.append(friction_plot(curve, numbers, machine.coordinate_unit, machine.force_unit))
    if numbers.backlash:
        loop = hysteresis(drive, numbers, mass)
        measures += backlash_measures(loop, machine.coordinate_unit)
        plots.append(hysteresis_plot(loop, machine.coordinate_unit))
    response, runs = response_to_step(machine, numbers)
    plots.append(response_plot(runs, leg, machine.force_unit))
    measures += [
        response,
        *impulse_measure(drive, numbers, leg.current_lag),
        *converter_measures(drive, numbers),
        *velocity_loop_measures(drive, numbers),
        handover_measure(machine, numbers),
        *breakaway_measures(drive, numbers),
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
    """Yield the change of force and the motion when the drives take over the machine at home."""
    engine = make_engine("analytic", machine, ENGINE_STEP, "fast")
    try:
        state = engine.reset(deflection=rest(machine).deflection)
        plant = Plant(machine)
        plant.prepare(ENGINE_STEP)
        plant.start(state, Cascade(machine).loop_gains)
        held = machine.inverse_dynamics(machine.home, REST, REST, deflection=state.deflection)
        first, at = plant.forces(state).copy(), state.lengths
        for _ in range(100):
            state = engine.step(plant.forces(state))
    finally:
        engine.close()
    stroke = machine.maximum_coordinates - machine.minimum_coordinates
    yield Measure(
        "forces at takeover against the holding forces, per largest",
        largest(first - held) / largest(held),
        1e-9,
        "motors start where their transmissions carry the legs; rounding of their coordinates",
    )
    yield Measure(
        "displacement of the actuators 10 ms after takeover, per stroke",
        (np.abs(state.lengths - at) / stroke).max(),
        1e-12,
        "motors, springs and legs start in equilibrium, so that nothing moves; rounding",
    )
    longest = longest_drive_step(machine, constants)
    if np.isfinite(longest):
        note = "beyond it, legs become unstable on transmissions and end stops"
        yield Quantity("longest time step of an engine", longest, note=note, unit="s")
