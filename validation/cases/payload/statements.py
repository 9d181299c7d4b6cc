"""Statements of the Stewart thesis about its largest payloads, beside our values."""

from __future__ import annotations

import itertools

import numpy as np

from twin.analysis.payload.criterion import THESIS_CRITERION
from twin.analysis.payload.dynamic import DynamicPayload
from twin.analysis.payload.static import StaticPayload
from twin.analysis.payload.worst_phase import WorstPhase
from twin.analysis.platform import Platform
from twin.validation.published.papers import THESIS
from twin.validation.published.printed import (
    STEWART_DYNAMIC_PAYLOAD,
    STEWART_RETRACTED_HEIGHT,
    STEWART_SPEED_CHECK,
    STEWART_STATIC_PAYLOAD,
)
from twin.validation.results import Statement

PHASES = 20_000
"""Random phases of six axes."""

CURVE_TOLERANCE = 0.01
"""Relative distance of a curve from a limit that counts as close: the width of a drawn line."""


def largest_speed(platform: Platform, *, inverted: bool, height: float | None = None) -> float:
    """Return the largest actuator speed [m/s] of the thesis's sines about a level pose.

    With `inverted` the platform turns as equations (2.2), (2.3) and appendix A.2 have it. The pose
    is mid-stroke, or at a `height` [m].
    """
    criterion = THESIS_CRITERION.backwards() if inverted else THESIS_CRITERION
    pose = platform.home.copy()
    pose[2] = pose[2] if height is None else height
    return float(criterion.actuator_speeds(platform, pose, STEWART_SPEED_CHECK.frequency).max())


def opposed_speeds(platform: Platform) -> list[float]:
    """Return the largest speeds [m/s] with axes in phase or in opposition, all 32 ways, sorted."""
    rows = THESIS_CRITERION.unit_accelerations() @ platform.jacobian(platform.home).T
    signs = np.array([(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=5)])
    omega = 2.0 * np.pi * STEWART_SPEED_CHECK.frequency
    return sorted(np.abs(signs @ rows / omega).max(axis=1).tolist())


def keeping_share(platform: Platform) -> float:
    """Return the share of random phases with which the actuators keep their printed speed."""
    rows = THESIS_CRITERION.unit_accelerations() @ platform.jacobian(platform.home).T
    phases = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, (PHASES, 6))
    omega = 2.0 * np.pi * STEWART_SPEED_CHECK.frequency
    speeds = np.abs(np.exp(1j * phases) @ rows / omega).max(axis=1)
    return float((speeds <= STEWART_SPEED_CHECK.speed).mean())


def published_row(found: WorstPhase) -> int:
    """Return the row of the position at which the thesis's search under shaking stops."""
    apart = np.abs(found.extensions - STEWART_DYNAMIC_PAYLOAD.extensions).max(axis=1)
    return int(apart.argmin())


def static_statement(found: StaticPayload) -> Statement:
    """Return the result of the search at rest beside the printed one."""
    printed, least = STEWART_STATIC_PAYLOAD, found.continuous
    first = () if found.first_failure is None else found.first_failure
    same = (found.passes_kg, found.fails_kg) == (printed.held, printed.refused)
    same = same and bool(np.allclose(first, printed.extensions, rtol=0.0, atol=5e-5))
    return THESIS["static_payload"].judged(
        f"{_steps(found)}. Exactly {found.exact_limit_kg:.2f} kg on the grid and "
        f"{least.limit_kg:.2f} kg anywhere, at ({_numbers(least.position)}) m.",
        same,
    )


def speed_statements(platform: Platform) -> tuple[Statement, Statement]:
    """Return the statements about the largest actuator speed of the performance criterion."""
    limit, retracted = STEWART_SPEED_CHECK.speed, STEWART_RETRACTED_HEIGHT
    low, middle = (
        largest_speed(platform, inverted=True, height=height) for height in (retracted, None)
    )
    right = [largest_speed(platform, inverted=False, height=height) for height in (retracted, None)]
    least = opposed_speeds(platform)
    return (
        THESIS["speed_check"].judged(
            f"With the rotation of (2.3) and A.2 the largest actuator speed is {low:.4f} m/s at "
            f"{retracted:g} m, the height of A.1, and {middle:.4f} m/s in the middle of the "
            "strokes, which the text names.",
            low <= limit and max(limit - low, abs(middle - limit)) <= CURVE_TOLERANCE * limit,
        ),
        THESIS["speed_criterion"].judged(
            "That rotation runs backwards (see the errata). With the right one the largest speeds "
            f"at these heights are {right[0]:.4f} and {right[1]:.4f} m/s.",
            max(right) <= limit,
            "no phases are printed, so all axes are in phase here. With the axes in phase or in "
            f"opposition, the least of all 32 speeds in the middle of the strokes is "
            f"{least[0]:.4f} m/s, above the limit; {100.0 * keeping_share(platform):.0f} percent "
            "of random phases keep the limit",
        ),
    )


def dynamic_statement(shaken: tuple[DynamicPayload, DynamicPayload, WorstPhase]) -> Statement:
    """Return the results of the searches under shaking beside the printed one."""
    forwards, backwards, worst = shaken
    printed = STEWART_DYNAMIC_PAYLOAD
    carried = float(worst.bounds[published_row(worst)])
    return THESIS["dynamic_payload"].judged(
        "; ".join(
            f"{name}: {_steps(found)}"
            for name, found in (
                ("in phase", forwards),
                ("rotations backwards", backwards),
                ("worst phases", worst),
            )
        )
        + f" (exactly {forwards.exact_limit_kg:.1f}, {backwards.exact_limit_kg:.1f} and "
        f"{worst.limit_kg:.1f} kg).",
        forwards.passes_kg == printed.held and carried < printed.refused,
        f"at the printed position and frequency the legs carry {carried:.1f} kg whatever the "
        f"phases, so {printed.refused:g} kg cannot fail there, whether rotations run "
        "forwards or backwards; docs/payload.md lists what else was tried",
    )


def _steps(found: StaticPayload | DynamicPayload | WorstPhase) -> str:
    if found.passes_kg is None or found.fails_kg is None or found.first_failure is None:
        return "no mass tried holds, or every one"
    place = f"({_numbers(found.first_failure)}) m"
    return f"{found.passes_kg:g} kg holds, {found.fails_kg:g} kg fails first at {place}"


def _numbers(values: object) -> str:
    return ", ".join(f"{value:.4g}" for value in np.asarray(values, dtype=np.float64))
