"""Machines made from the Stewart simulator: with more legs, and with joints elsewhere."""

import numpy as np

import twin
from twin.analysis.platform import Platform
from twin.machine import MachineParameters

EXTRA = {
    "base": [[0.1, 0.02, -0.01], [-0.2, 0.3, 0.0]],
    "platform": [[0.05, 0.2, 0.0], [0.1, -0.3, 0.02]],
}
"""[m] base and platform joints of a seventh and an eighth leg."""


def redundant_machine(legs):
    """Return the Stewart simulator with seven or eight legs."""
    stewart = twin.load("stewart").parameters
    content = stewart.model_dump()
    content["name"] = f"stewart_on_{legs}"
    for table, added in EXTRA.items():
        points = np.vstack(
            [getattr(stewart, table).joints.points, np.reshape(added[: legs - 6], (-1, 3))]
        )
        content[table]["joints"] = {"source": "Test", "coordinates": points.tolist()}
    content["leg"]["actuator"] |= {"minimum": 0.8, "maximum": 1.15}
    return Platform(MachineParameters.model_validate(content))


PUBLISHED_BASE = [
    *([0.3054001, 0.1111565, 0.0], [-0.0564357, 0.3200625, 0.0], [-0.2489644, 0.208906, 0.0]),
    *([-0.2489644, -0.208906, 0.0], [-0.0564357, -0.3200625, 0.0], [0.3054001, -0.1111565, 0.0]),
]
PUBLISHED_TOP = [
    *([0.0921597, 0.0844488, 0.0], [0.027055, 0.122037, 0.0], [-0.1192146, 0.0375882, 0.0]),
    *([-0.1192146, -0.0375882, 0.0], [0.027055, -0.122037, 0.0], [0.0921597, -0.0844488, 0.0]),
]
"""[m] nominal joints of a machine tool: Nategh and Agheli, Int. J. of Machine Tools and
Manufacture 49, 2009, table 1."""


def machine_on(base, top, height, limits):
    """Return the Stewart simulator with joints `(n, 3)` [m] elsewhere, and other limits [m]."""
    content = twin.load("stewart").parameters.model_dump()
    for table, points in (("base", base), ("platform", top)):
        content[table]["joints"] = {"source": "Test", "coordinates": np.array(points).tolist()}
    content["home"] |= {"position": [0.0, 0.0, height]}
    content["leg"]["actuator"] |= {"minimum": limits[0], "maximum": limits[1]}
    content["leg"]["first_axis"] = [1.0, 0.3, 0.2]  # no leg lies along it at home
    return Platform(MachineParameters.model_validate(content))


def machine_tool():
    """Return the machine of `PUBLISHED_BASE`, whose legs reach from 0.6 to 1.1 m."""
    return machine_on(PUBLISHED_BASE, PUBLISHED_TOP, 0.8, (0.6, 1.1))
