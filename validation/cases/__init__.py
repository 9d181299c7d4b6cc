"""The validation cases: functions `check_<name>` of the modules listed here."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from twin.basics.arrays import one_of
from twin.validation.case import Case

CASES = {
    "feasibility": "workspace",
    "reference": "general.random_states",
    "machine_data": "machine_data.case",
    "published": "thesis",
    "payload": "payload",
    "workspace": "workspace",
    "published_runs": "published_runs",
    "projection": "general.random_states",
    "driven_motion": "general.motions",
    "thesis_motion": "thesis",
    "tank_motion": "thesis",
    "free_fall": "general.motions",
    "rss_free_fall": "rss",
    "rss_tasks": "rss",
    "rss_torque_profile": "rss",
    "simulator_kinematics": "driving_simulator.kinematics",
    "simulator_dae": "driving_simulator.dae",
    "simulator_engines": "driving_simulator.engines",
    "simulator_forced": "driving_simulator.kinematics",
    "simulator_actuation": "driving_simulator.kinematics",
    "compliant_systems": "compliant_legs",
    "compliant_response": "compliant_legs",
    "micro_hexapod": "micro_hexapod",
    "formulations": "formulations.case",
    "formulation_matrices": "formulations.matrices",
    "constant_forces": "general.motions",
    "sinusoidal_forces": "general.motions",
    "plant": "plant.case",
    "inertial_sensor": "inertial_sensor.case",
    "closed_loop": "closed_loop",
    "tuning": "tuning",
    "frequency_response": "frequency_response",
    "tracking": "tracking",
    "identification": "identification",
    "motion_cueing": "motion_cueing",
    "linear_control": "linear_control",
    "active_damping": "active_damping",
    "environments": "environments.case",
    "policies": "policies",
    "convergence": "general.convergence",
    "constraint_settings": "general.convergence",
}
"""Modules of all cases by the case's name, in the order of the report."""


def load_case(name: str) -> Case:
    """Return a case; only its module is imported.

    Raises:
        InputError: unknown name; the message lists the known ones.
    """
    module = CASES[one_of(name, "case", tuple(CASES))]
    return cast(Case, getattr(import_module(f"{__name__}.{module}"), f"check_{name}"))
