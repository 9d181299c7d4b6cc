"""Kinematics, actuation and forced motion of the driving simulator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.errors import MissingDependencyError
from twin.papers.driving_simulator.dae.lagrange import home_inertia
from twin.papers.driving_simulator.exact import (
    DrivenLengths,
    ExactModel,
    SlidingFriction,
    sinusoidal_inputs,
)
from twin.papers.driving_simulator.kinematics import (
    ExactKinematics,
    PlateModel,
    SmallAngleKinematics,
)
from twin.papers.driving_simulator.studies import (
    Released,
    driven_motion,
    exact_forces,
    internal_forces,
    released,
    small_angle_ranges,
    worst_small_angle_errors,
)
from twin.simulation.simulate import simulate
from twin.validation.case import CaseResult, Entry, Measure, Statement, validation_case
from twin.validation.cases.driving_simulator.engines import (
    DEGREES_PER_RADIAN,
    LINE_WIDTH,
    MACHINE_REASON,
    MOTION_RANGES,
    SIGMOID_INPUTS,
    SINE_INPUTS,
    accelerations_of,
    coordinates_of,
    kinematics_statements,
    paper_inputs,
    paper_machine,
    printed_difference,
    rates_of,
    round_trip_error,
    states_along,
)
from twin.validation.cases.driving_simulator.pilot import pilot_measures, pilot_statements
from twin.validation.measures.comparison import ENGINE_LABELS, missing
from twin.validation.measures.sampling import (
    RandomStates,
    fitted_order,
    largest,
    random_states,
    relative_error,
)
from twin.validation.published.printed import SIMULATOR_PAPER, Comparison, compared

STATE_COUNT = 200
"""Number of random poses at which the kinematics are compared."""

ROUNDING_REASON = "rounding of some ten operations on lengths below a metre"


@validation_case(machines=("driving_simulator",), because=MACHINE_REASON)
def check_simulator_kinematics(platform: Platform) -> CaseResult:
    """Kinematics of the driving simulator.

    The paper's closed forms for small angles are evaluated as printed and compared with ours.
    Direct and inverse kinematics are compared in both models, and the exact closed forms with the
    machine's own kinematics. Motion ranges are compared with the printed ones. Over the whole
    workspace the small-angle model is compared with the exact one, in millimetres: the paper calls
    this model verified.
    """
    plate = PlateModel.from_parameters(platform.parameters)
    poses = random_states(platform, STATE_COUNT).pose
    worst_errors = worst_small_angle_errors(plate)
    ranges = _ranges(plate)
    measures = [
        *(comparison.measure for comparison in ranges),
        *_consistency(plate, coordinates_of(poses)),
        *_machine(platform, plate, poses),
        *pilot_measures(plate),
    ]
    statements = (
        *(comparison.statement for comparison in ranges),
        *kinematics_statements(plate, worst_errors),
        *pilot_statements(platform, plate),
    )
    return check_simulator_kinematics.result(platform, measures, statements=statements)


def _ranges(plate: PlateModel) -> tuple[Comparison, ...]:
    heave, roll, pitch = small_angle_ranges(plate)
    computed = (1e3 * heave, DEGREES_PER_RADIAN * roll, DEGREES_PER_RADIAN * pitch)
    return tuple(compared(*pair) for pair in zip(MOTION_RANGES, computed, strict=True))


def _consistency(plate: PlateModel, coordinates: FloatArray) -> Iterator[Entry]:
    yield Measure(
        f"small-angle forms against the printed ones, {len(coordinates)} poses",
        printed_difference(plate, coordinates),
        1e-14,
        ROUNDING_REASON,
        "m",
    )
    for name, model in (
        ("small-angle", SmallAngleKinematics(plate)),
        ("exact", ExactKinematics(plate)),
    ):
        yield Measure(
            f"{name}: direct kinematics of inverse kinematics",
            round_trip_error(model, coordinates),
            1e-14,
            ROUNDING_REASON,
            "m, rad",
        )


def _machine(platform: Platform, plate: PlateModel, poses: FloatArray) -> Iterator[Entry]:
    closed_form = ExactKinematics(plate).inverse(coordinates_of(poses))
    for name, computed, expected in (
        ("lengths", closed_form.lengths, platform.inverse_kinematics(poses)),
        ("place of the plate", closed_form.center, poses[:, :3]),
    ):
        yield Measure(
            f"exact closed forms against the machine's kinematics: {name}",
            largest(computed - expected),
            1e-12,
            "two derivations; rounding and the angles taken out of a quaternion",
            "m",
        )
    yield Measure(
        "lengths front right - front left + rear left - rear right",
        largest(platform.inverse_kinematics(poses) @ [1.0, -1.0, 1.0, -1.0]),
        1e-14,
        "zero at every pose: a plane rectangle; also without small angles",
        "m",
    )


ACTUATION_STATE_COUNT = 200
"""Number of random states at which the equations are compared."""

TOLERANCE_REASON = "two derivations of the same equations; rounding leaves 1e-13"

EXCESS_FORCE = 100.0
"""[N] Excess of the force of one actuator."""

RUN_DURATION = 10.0
"""[s] Duration of the runs with friction."""


@validation_case(machines=("driving_simulator",), because=MACHINE_REASON)
def check_simulator_actuation(platform: Platform) -> CaseResult:
    """Exact model, redundant actuation and friction of the driving simulator.

    Equations of motion in heave, roll and pitch are derived with sympy from the energies. They are
    compared with the machine's own dynamics at random states, with and without friction under the
    feet. Four actuators drive three degrees of freedom: forces in the pattern (1, -1, 1, -1) move
    nothing. Last come the forces that friction under the feet adds along the paper's sines, viscous
    as in configuration hardware.
    """
    plate = PlateModel.from_parameters(platform.parameters)
    states = random_states(platform, ACTUATION_STATE_COUNT)
    with_friction = load(platform.name, configuration="hardware")
    viscous = SlidingFriction.from_legs(with_friction.parameters.legs)
    assert viscous is not None
    measures = [
        *against_kernels("", platform, states),
        *against_kernels(", with friction", with_friction, states),
        *_redundancy(platform, states),
    ]
    return check_simulator_actuation.result(
        platform, measures, statements=(_friction_statement(plate, viscous),)
    )


def against_kernels(model_note: str, platform: Platform, states: RandomStates) -> Iterator[Entry]:
    """Yield the exact model's distance from a machine's dynamics; `model_note` ends the names."""
    pose, twist, acceleration, _ = states
    model = ExactModel.from_parameters(platform.parameters)
    q, v = coordinates_of(pose), rates_of(pose, twist)
    a = accelerations_of(pose, twist, acceleration)
    forces = platform.inverse_dynamics(pose, twist, acceleration)
    machine_accelerations = platform.forward_dynamics(pose, twist, forces)
    for name, computed, expected in (
        (
            "accelerations",
            model.acceleration(q, v, model.accelerations(q, v, forces)),
            machine_accelerations,
        ),
        ("smallest forces", model.forces(q, v, a), forces),
        (
            "energies",
            np.stack(model.energy(q, v), axis=1),
            np.stack(platform.energy(pose, twist), axis=1),
        ),
    ):
        yield Measure(
            f"exact model against the machine's dynamics{model_note}: {name}",
            relative_error(computed, expected).max(),
            1e-10,
            TOLERANCE_REASON,
        )


def _redundancy(platform: Platform, states: RandomStates) -> Iterator[Entry]:
    pose, twist, acceleration, _ = states
    forces = platform.inverse_dynamics(pose, twist, acceleration)
    yield Measure(
        "internal part of the forces that inverse dynamics gives, per largest force",
        largest(internal_forces(forces)) / largest(forces),
        1e-12,
        "they are the smallest ones: no part of them twists the plate",
    )
    forces_with_excess = forces + EXCESS_FORCE * np.array([1.0, -1.0, 1.0, -1.0])
    accelerations = platform.forward_dynamics(pose, twist, forces_with_excess)
    yield Measure(
        f"accelerations that {EXCESS_FORCE:g} N in the pattern (1, -1, 1, -1) change",
        relative_error(accelerations, acceleration).max(),
        1e-10,
        "the four lengths are tied by one equation; rounding",
    )


def _friction_statement(plate: PlateModel, friction: SlidingFriction) -> Statement:
    motion = driven_motion(plate, sinusoidal_inputs(plate), np.linspace(0.0, RUN_DURATION, 1001))
    states = [part.coordinates for part in motion]
    added = ExactModel(plate, friction).forces(*states) - ExactModel(plate).forces(*states)
    return SIMULATOR_PAPER["foot_friction"].not_given(
        f"Friction (viscous, {friction.viscous:g} N s/m) adds at most "
        f"{largest(added):.2g} N; positions are prescribed and do not change at all.",
        "the coefficient is not printed; the one used is adopted",
    )


RUN_DURATIONS = {SINE_INPUTS: 1.0, SIGMOID_INPUTS: 1.5}
"""[s] Durations of the runs. A plate under constant forces is unstable: its tilt grows by a factor
e in 0.3 s, so that longer runs show nothing new."""

ENGINE_TIMESTEP = 1e-3
"""[s] Time step of the engines, over which forces are constant."""

INPUT_FRACTIONS = (1.0, 0.5, 0.25)
"""Fractions of the paper's inputs that are compared."""

POSE_TOLERANCES = {
    "analytic": (2e-7, "forces held over 1 ms at their middle value; a tilt error grows 150-fold"),
    "bullet": (2e-7, "as the reference; the extrapolated steps add 1e-9"),
    "mujoco": (5e-6, "springs at the feet give way by 1e-7 m, less as they come to rest; likewise"),
}
"""Largest distance [m], [rad] from the prescribed motion, by engine."""


@validation_case(machines=("driving_simulator",), because=MACHINE_REASON, run_time=3.0)
def check_simulator_forced(platform: Platform) -> CaseResult:
    """Driving simulator: actuator forces as inputs.

    Prescribed lengths give the motion for any masses; prescribed forces do not. The forces that the
    exact model needs for the paper's sines and sigmoids drive three pillars. The fourth follows,
    and nothing corrects the motion. The forces drive our reference, MuJoCo and PyBullet, which must
    return to the prescribed lengths. They also drive the paper's Lagrangian with its index reduced.
    It runs once as printed (with the errata that its own solutions demand), and once with the two
    terms that its energies leave out. The error from those terms is derived beside it, and inputs
    of a half and a quarter show the order.
    """
    machine = paper_machine(platform)
    plate = PlateModel.from_parameters(machine.parameters)
    measures: list[Entry] = []
    full_inputs = {}
    for name, inputs in paper_inputs(plate).items():
        # The paper's plate has no feet.
        responses = [
            released(replace(plate, foot_mass=0.0), inputs.scaled(fraction), RUN_DURATIONS[name])
            for fraction in INPUT_FRACTIONS
        ]
        measures += [*_engines(machine, plate, inputs, name), *_models(name, responses)]
        full_inputs[name] = responses[0]
    return check_simulator_forced.result(
        platform, measures, statements=(_statement(plate, full_inputs),)
    )


def _engines(
    machine: Platform, plate: PlateModel, inputs: DrivenLengths, name: str
) -> Iterator[Entry]:
    """Yield the errors of all engines under forces that are constant in each step."""
    steps = round(RUN_DURATIONS[name] / ENGINE_TIMESTEP)
    forces = exact_forces(plate, inputs, (np.arange(float(steps)) + 0.5) * ENGINE_TIMESTEP)
    initial = states_along(plate, inputs, np.zeros(1))
    for engine, (tolerance, reason) in POSE_TOLERANCES.items():
        label = ENGINE_LABELS.get(engine, "reference")
        try:
            trajectory = simulate(
                machine,
                RUN_DURATIONS[name],
                pose=initial.pose[0],
                twist=initial.twist[0],
                forces=forces,
                engine=engine,
                timestep=ENGINE_TIMESTEP,
                progress=False,
            )
        except MissingDependencyError as error:
            yield missing(label, error)
            continue
        expected = driven_motion(plate, inputs, trajectory.time).value.coordinates
        yield Measure(
            f"{name}, {label}: under forces alone, off the motion they belong to",
            largest(coordinates_of(trajectory.pose) - expected),
            tolerance,
            reason,
            "m, rad",
        )


def _models(name: str, responses: list[Released]) -> Iterator[Entry]:
    """Yield the errors of both models, whose responses are in the order of `INPUT_FRACTIONS`."""
    full_response = responses[0]
    yield Measure(
        f"{name}: drift of the constraints under forces",
        max(full_response.printed.drift, full_response.complete.drift),
        1e-12,
        "linear constraints, whose second derivative is zero at every evaluation: rounding",
        "m",
    )
    # Columns are heave, roll, pitch; the two terms missing in the printed model turn the plate.
    printed_errors = [largest(response.printed_error[:, 1:]) for response in responses]
    complete_errors = [largest(response.complete_error) for response in responses]
    relative_errors = [
        largest(response.printed_error[:, 1:] - response.derived) / largest(response.derived)
        for response in responses
    ]

    def order(errors: list[float]) -> float:
        return fitted_order(np.array(INPUT_FRACTIONS), np.array(errors)).order

    yield Measure(
        f"{name}: printed model, tilt off the exact one, against the two missing terms, relative",
        relative_errors[-1],
        0.05,
        "derived to first order, so the rest falls with the inputs, here "
        f"{INPUT_FRACTIONS[-1]:g} of them: "
        f"{', '.join(f'{response:.2g}' for response in relative_errors)} at "
        f"{', '.join(map(str, INPUT_FRACTIONS))}",
    )
    yield Measure(
        f"{name}: printed model's tilt against the two missing terms, order in the size of the "
        "inputs",
        order(relative_errors),
        0.8,
        "first order at least: what is left over is of second order, per first",
        at_least=True,
        at_bound=True,
    )
    yield Measure(
        f"{name}: printed model, order of its error in the size of the inputs, off 1 by",
        abs(order(printed_errors) - 1.0),
        0.1,
        "the missing terms are of the first order; terms of the second order remain",
    )
    yield Measure(
        f"{name}: completed energies, order of their error in the size of the inputs",
        order(complete_errors),
        1.9,
        "the small-angle approximation leaves errors of the second order",
        at_least=True,
        at_bound=True,
    )
    yield Measure(
        f"{name}: printed model's error per that of the completed energies",
        printed_errors[0] / complete_errors[0],
        50.0,
        "one over the largest angle, some 0.02 rad: the ratio of first to second order",
        at_least=True,
    )


def _statement(plate: PlateModel, released_motions: dict[str, Released]) -> Statement:
    angles, line_fractions = [], []
    for name, response in released_motions.items():
        largest_tilt_error = largest(response.printed_error[:, 1:])
        line_fractions.append(largest_tilt_error / np.ptp(response.exact[:, 1:], axis=0).max())
        angles.append(
            f"{np.degrees(largest_tilt_error):.1f} deg after {RUN_DURATIONS[name]:g} s of the "
            f"{name}"
        )
    inertia = home_inertia(plate)
    moments = ", ".join(
        f"{name} {printed:.1f} in place of {exact:.1f} kg m2"
        for name, printed, exact in zip(
            ("roll", "pitch"), inertia.printed[1:], inertia.exact[1:], strict=True
        )
    )
    return SIMULATOR_PAPER["accuracy"].judged(
        "Prescribed lengths give the same motion for any masses. Under the forces that these "
        f"lengths take, the printed model is off by {', '.join(angles)}.",
        max(line_fractions) < LINE_WIDTH,
        "identical movement confirms the constraints alone. The energies leave out that a plate "
        f"on pillars moves sideways and comes down as it tilts: {moments}, and no moment of its "
        "weight",
    )
