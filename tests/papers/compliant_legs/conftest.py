"""Machines with viscoelastic legs and random states of them; every draw is seeded."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from twin.machine.file.read import read_parameters
from twin.machine.machine import parameters_path
from twin.papers.compliant_legs.machine import LEG_FIELDS, from_parameters

STATES = 20


class CompliantStates(NamedTuple):
    """Random states of one machine, one per row."""

    pose: NDArray[np.float64]
    twist: NDArray[np.float64]
    deflection: NDArray[np.float64]
    forces: NDArray[np.float64]
    wrench: NDArray[np.float64]


@pytest.fixture(scope="session")
def shipped():
    """The machine of the catalogue."""
    return from_parameters(read_parameters(parameters_path("compliant_stewart")))


@pytest.fixture(scope="session")
def unequal(shipped):
    """Six legs no two of which are alike, and a platform without symmetry."""
    random = np.random.default_rng(3)

    def varied(values):
        return values * random.uniform(0.8, 1.2, values.shape)

    return replace(
        shipped,
        base_joints=shipped.base_joints + random.uniform(-0.05, 0.05, (6, 3)),
        platform_joints=shipped.platform_joints + random.uniform(-0.05, 0.05, (6, 3)),
        platform_center=np.array([0.06, -0.04, 0.15]),
        platform_inertia=np.array([[3.0, 0.4, -0.2], [0.4, 2.0, 0.3], [-0.2, 0.3, 4.0]]),
        **{name: varied(getattr(shipped, name)) for name in LEG_FIELDS},
    )


@pytest.fixture(scope="session")
def seven(unequal):
    """One leg more than degrees of freedom, upright under the middle of the platform."""
    values = {
        name: np.append(getattr(unequal, name), getattr(unequal, name)[0]) for name in LEG_FIELDS
    }
    below = np.array([[0.02, 0.01, -0.1]])
    return replace(
        unequal,
        base_joints=np.vstack([unequal.base_joints, below]),
        platform_joints=np.vstack([unequal.platform_joints, [[0.02, 0.01, 0.0]]]),
        **values,
    )


@pytest.fixture(scope="session", params=["shipped", "unequal", "seven"])
def machine(request):
    """Each of the three."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def compliant_states(machine):
    """Random states around home, fast enough for all velocity terms to matter."""
    random = np.random.default_rng(5)
    n = machine.n_legs
    turn = Rotation.from_rotvec(random.uniform(-0.2, 0.2, (STATES, 3)))
    place = machine.home[:3] + random.uniform(-0.08, 0.08, (STATES, 3))
    return CompliantStates(
        np.hstack([place, turn.as_quat(scalar_first=True)]),
        random.normal(size=(STATES, 6)),
        np.hstack([random.normal(size=(STATES, n)) * 0.02, random.normal(size=(STATES, n)) * 0.3]),
        random.normal(size=(STATES, n)) * 300.0,
        random.normal(size=(STATES, 6)) * 100.0,
    )
