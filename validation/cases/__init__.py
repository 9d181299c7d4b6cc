"""The validation cases, one module each, in the order of the report."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from twin.basics.arrays import one_of
from twin.validation.case import CaseModule

CASES = (
    "reference",
    "published",
    "payload",
    "workspace",
    "published_runs",
    "projection",
    "driven_motion",
    "thesis_motion",
    "tank_motion",
    "free_fall",
    "rss_free_fall",
    "rss_tasks",
    "simulator_kinematics",
    "simulator_dae",
    "simulator_actuation",
    "compliant_systems",
    "compliant_response",
    "micro_hexapod",
    "formulations",
    "constant_forces",
    "sinusoidal_forces",
    "plant",
    "inertial_sensor",
    "closed_loop",
    "tuning",
    "frequency_response",
    "tracking",
    "motion_cueing",
    "linear_control",
    "active_damping",
    "policies",
    "convergence",
    "constraint_settings",
)
"""Names of all cases; each is a module here with `CASE` and `run`."""


def load_case(name: str) -> CaseModule:
    """Return the module of a case.

    Raises:
        InputError: unknown name; lists the known ones.
    """
    module = import_module(f"{__name__}.{one_of(name, 'case', CASES)}")
    return cast(CaseModule, module)
