"""Largest payloads of the Stewart thesis."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from twin.analysis.payload.body import scaled_payload
from twin.analysis.payload.dynamic import DynamicPayload, dynamic_payload, phase_bounds
from twin.analysis.payload.static import (
    THESIS_CRITERION,
    StaticPayload,
    VibrationTest,
    static_payload,
)
from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.model.machine_base import ZERO_VECTOR
from twin.validation.case import (
    CaseResult,
    Entry,
    Measure,
    Statement,
    validation_case,
)
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import (
    STEWART_DYNAMIC_PAYLOAD,
    STEWART_RETRACTED_HEIGHT,
    STEWART_SPEED_FREQUENCY,
    STEWART_SPEED_LIMIT,
    STEWART_STATIC_PAYLOAD,
    STEWART_THESIS,
)

PHASE_DRAWS = 20_000
"""Number of random draws of the phases of six axes."""

CURVE_TOLERANCE = 0.01
"""Relative distance of a curve from a limit that counts as close: the width of a drawn line."""


RANDOM_POSITIONS = 5000
"""Number of random positions of the actuators."""

END_FRACTION = 0.7
"""Fraction of legs that are placed at an end of their range."""

CARRIED_MASSES = (100.0, 1000.0)
"""[kg] Two payloads from whose thrusts the limit is extrapolated."""


def largest_speed(platform: Platform, *, inverted: bool, height: float | None = None) -> float:
    """Return the largest actuator speed [m/s] of the thesis's sines about a level pose.

    With `inverted` the platform turns as equations (2.2), (2.3) and appendix A.2 have it. The pose
    is mid-stroke, or at a `height` [m].
    """
    criterion = THESIS_CRITERION.backwards() if inverted else THESIS_CRITERION
    pose = platform.home.copy()
    pose[2] = pose[2] if height is None else height
    return float(criterion.actuator_speeds(platform, pose, STEWART_SPEED_FREQUENCY).max())


def opposed_speeds(platform: Platform) -> list[float]:
    """Return the largest speeds [m/s] with axes in phase or in opposition, all 32 ways, sorted."""
    # The first axis has one sign in the first half of them.
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=6))[:32])
    return sorted(_largest_speeds(platform, signs).tolist())


def _largest_speeds(platform: Platform, amplitudes: FloatArray) -> FloatArray:
    """Return the largest actuator speeds `(k,)` [m/s] for complex amplitudes of axes `(k, 6)`."""
    rate_rows = THESIS_CRITERION.unit_accelerations() @ platform.jacobian(platform.home).T
    omega = 2.0 * np.pi * STEWART_SPEED_FREQUENCY
    return np.asarray(np.abs(amplitudes @ rate_rows / omega).max(axis=1))


def kept_speed_fraction(platform: Platform) -> float:
    """Return the fraction of random phases with which the actuators keep their printed speed."""
    phases = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, (PHASE_DRAWS, 6))
    return float((_largest_speeds(platform, np.exp(1j * phases)) <= STEWART_SPEED_LIMIT).mean())


def carried_in_any_phase(platform: Platform, dynamic_payload: DynamicPayload) -> float:
    """Return the payload [kg] that small motions allow at the position where the thesis stops."""
    distance = np.abs(dynamic_payload.extensions - STEWART_DYNAMIC_PAYLOAD.extensions).max(axis=1)
    pose = dynamic_payload.poses[[distance.argmin()]]
    bounds, _ = phase_bounds(VibrationTest(platform), THESIS_CRITERION, pose)
    return float(bounds[0])


def static_statement(study: StaticPayload) -> Statement:
    """Return the result of the search at rest and the printed one."""
    printed = STEWART_STATIC_PAYLOAD
    failing_extensions = () if study.first_failure is None else study.first_failure
    agrees = (study.passes_kg, study.fails_kg) == (printed.held_mass, printed.refused_mass)
    agrees = agrees and bool(
        np.allclose(failing_extensions, printed.extensions, rtol=0.0, atol=5e-5)
    )
    return STEWART_THESIS["static_payload"].judged(
        f"{_steps(study)}. Exactly {study.exact_limit_kg:.2f} kg, at "
        f"({_numbers(study.exact_position)}) m.",
        agrees,
    )


def speed_statements(platform: Platform) -> tuple[Statement, Statement]:
    """Return the statements about the largest actuator speed of the performance criterion."""
    limit, retracted = STEWART_SPEED_LIMIT, STEWART_RETRACTED_HEIGHT
    retracted_speed, middle_speed = (
        largest_speed(platform, inverted=True, height=height) for height in (retracted, None)
    )
    correct_speeds = [
        largest_speed(platform, inverted=False, height=height) for height in (retracted, None)
    ]
    phase_speeds = opposed_speeds(platform)
    return (
        STEWART_THESIS["speed_check"].judged(
            "With the rotation of (2.3) and A.2 the largest actuator speed is "
            f"{retracted_speed:.4f} m/s at {retracted:g} m, the height of A.1, and "
            f"{middle_speed:.4f} m/s in the middle of the strokes, which the text names.",
            retracted_speed <= limit
            and max(limit - retracted_speed, abs(middle_speed - limit)) <= CURVE_TOLERANCE * limit,
        ),
        STEWART_THESIS["speed_criterion"].judged(
            "That rotation runs backwards (see the errata). With the right one the largest speeds "
            f"at these heights are {correct_speeds[0]:.4f} and {correct_speeds[1]:.4f} m/s.",
            max(correct_speeds) <= limit,
            "no phases are printed, so all axes are in phase here. With the axes in phase or in "
            f"opposition, the least of all 32 speeds in the middle of the strokes is "
            f"{phase_speeds[0]:.4f} m/s, above the limit; "
            f"{100.0 * kept_speed_fraction(platform):.0f} percent of random phases keep the limit",
        ),
    )


def dynamic_statement(
    platform: Platform, forwards: DynamicPayload, backwards: DynamicPayload
) -> Statement:
    """Return the results of the searches under shaking and the printed one."""
    printed, carried_mass = STEWART_DYNAMIC_PAYLOAD, carried_in_any_phase(platform, forwards)
    return STEWART_THESIS["dynamic_payload"].judged(
        f"in phase: {_steps(forwards)}; rotations backwards: {_steps(backwards)} (exactly "
        f"{forwards.exact_limit_kg:.1f} and {backwards.exact_limit_kg:.1f} kg).",
        forwards.passes_kg == printed.held_mass and carried_mass < printed.refused_mass,
        f"at the printed position and frequency the legs carry {carried_mass:.1f} kg whatever the "
        f"phases, so {printed.refused_mass:g} kg cannot fail there, whether rotations run "
        "forwards or backwards; docs/reproductions.md lists what else was tried",
    )


def _steps(study: StaticPayload | DynamicPayload) -> str:
    if study.passes_kg is None or study.fails_kg is None or study.first_failure is None:
        return "no mass tried holds, or every one"
    position_text = f"({_numbers(study.first_failure)}) m"
    return f"{study.passes_kg:g} kg holds, {study.fails_kg:g} kg fails first at {position_text}"


def _numbers(values: object) -> str:
    return ", ".join(f"{value:.4g}" for value in np.asarray(values, dtype=np.float64))


@validation_case(
    machines=("stewart",),
    because="the thesis gives these numbers for its own machine; `twin payload` takes others",
    run_time=3.0,
)
def check_payload(platform: Platform) -> CaseResult:
    """Largest payloads of the Stewart thesis.

    The case repeats the searches of thesis 4.2 over actuator positions. The first finds the largest
    payload at rest, with the very position at which the search stops. The second finds the largest
    payload while all axes shake at 2 to 70 Hz. Axes are in phase, or rotations run backwards as in
    (2.3). Masses are exact: forces are affine in the payload's mass.
    """
    at_rest = static_payload(platform, limit=STEWART_STATIC_PAYLOAD.thrust)
    forwards = dynamic_payload(platform)
    backwards = dynamic_payload(platform, THESIS_CRITERION.backwards())
    statements = (
        static_statement(at_rest),
        *speed_statements(platform),
        dynamic_statement(platform, forwards, backwards),
    )
    return check_payload.result(platform, tuple(_static(platform, at_rest)), statements=statements)


def _static(platform: Platform, study: StaticPayload) -> Iterator[Entry]:
    printed = STEWART_STATIC_PAYLOAD
    loaded_machine = scaled_payload(platform, printed.refused_mass)
    thrusts = loaded_machine.inverse_dynamics(study.poses, ZERO_VECTOR, ZERO_VECTOR)
    yield Measure(
        "static thrusts affine in the payload's mass, against a machine that carries it",
        largest(thrusts - study.forces.of(printed.refused_mass)) / printed.thrust,
        1e-12,
        "rounding of a difference over some ten times the shipped payload",
    )
    yield Measure(
        f"exact static limit against the least of {RANDOM_POSITIONS} random positions",
        abs(study.exact_limit_kg - drawn_limit(platform, printed.thrust)),
        1e-6,
        "seven of ten legs drawn are at an end of their range: every corner is among them; "
        "rounding of machines that carry 100 and 1000 kg",
        "kg",
    )


def drawn_limit(platform: Platform, thrust: float) -> float:
    """Return the largest payload [kg] that all of many random positions hold with a thrust [N]."""
    rng = np.random.default_rng(421)
    fractions = rng.uniform(size=(RANDOM_POSITIONS, platform.n_actuators))
    fractions = np.where(
        rng.uniform(size=fractions.shape) < END_FRACTION, np.round(fractions), fractions
    )
    poses = platform.forward_kinematics(platform.minimum_coordinates + fractions * platform.stroke)
    light_thrusts, heavy_thrusts = (
        scaled_payload(platform, mass).inverse_dynamics(poses, ZERO_VECTOR, ZERO_VECTOR)
        for mass in CARRIED_MASSES
    )
    thrust_per_mass = (heavy_thrusts - light_thrusts) / (CARRIED_MASSES[1] - CARRIED_MASSES[0])
    limits = (
        CARRIED_MASSES[0] + (np.copysign(thrust, thrust_per_mass) - light_thrusts) / thrust_per_mass
    )
    return float(limits.min())
