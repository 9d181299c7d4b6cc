"""Machines on springs that the tests of stiffness share: struts, or a stiffness that is given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import twin
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.platform import Platform
from twin.analysis.stiffness import characteristic_scale
from twin.rotations import displaced

Array = NDArray[np.float64]

STIFFNESS = {"ups": 2e5, "rss": 3e4, "strut": None}
"""[N/m], [N m/rad]: soft enough for geometric and weight parts to be seen."""

SPRUNG = [name for name in twin.machine_names() if twin.load(name).parameters.leg.kind in STIFFNESS]
assert {"srspm", "stewart"} <= set(SPRUNG)


class Sprung(NamedTuple):
    """A machine on springs, with an eccentric payload so that no symmetry hides a fault."""

    platform: Platform
    stiffness: float | None
    pose: Array
    """`(5, 7)` about home"""

    @property
    def given(self):
        """The stiffness as an argument."""
        return {"stiffness": self.stiffness}


@pytest.fixture(scope="session", params=SPRUNG)
def sprung(request):
    """Every machine whose stiffness follows from its actuators."""
    machine = twin.load(request.param)
    scale = characteristic_scale(machine)
    center = scale[0] * np.array([0.2, -0.3, 0.4])
    machine = with_payload(machine, Payload(5.0, center, [0.03, 0.04, 0.05]))
    steps = np.random.default_rng(3).uniform(-0.05, 0.05, (5, 6)) * scale
    return Sprung(machine, STIFFNESS[machine.kind], displaced(machine.home, steps))
