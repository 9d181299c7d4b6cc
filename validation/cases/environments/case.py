"""Physics of the environments."""

from __future__ import annotations

from collections.abc import Iterator

from twin.analysis.platform import Platform
from twin.validation.case import validation_case
from twin.validation.results import CaseResult, Entry

MACHINE_TASKS = {
    "stewart": ("car", "tracking", "cueing", "ball", "shaking"),
    "compliant_stewart": ("shaking",),
    "driving_simulator": ("tracking", "cueing", "ball"),
}
"""Parts of the case by machine."""


@validation_case(
    machines=("stewart", "compliant_stewart", "driving_simulator"),
    because="the machines of the shipped environments and policies",
)
def check_environments(platform: Platform) -> CaseResult:
    """Physics of the environments.

    Each of the four environments runs short episodes, and equations that know nothing of its code
    are solved along them. A car in the frame of the road gives what its driver feels. Newton's and
    Euler's laws with rolling as a constraint move the ball, in the environment and in three
    engines. A rigid body in a room at rest shows what a shaking base does. Simulations of the inner
    ear, sums of sines and work balances check the rest. Observations and rewards are computed again
    from the poses and the formulae of the documentation.
    """
    return check_environments.result(platform, _measures(platform))


def _measures(platform: Platform) -> Iterator[Entry]:
    from twin.validation.cases.environments.ball import ball_measures
    from twin.validation.cases.environments.cueing import car_measures, cueing_measures
    from twin.validation.cases.environments.shaking import shaking_measures
    from twin.validation.cases.environments.tracking import tracking_measures

    parts = {
        "car": car_measures,
        "tracking": tracking_measures,
        "cueing": cueing_measures,
        "ball": ball_measures,
        "shaking": shaking_measures,
    }
    for name in MACHINE_TASKS[platform.name]:
        yield from parts[name](platform)
