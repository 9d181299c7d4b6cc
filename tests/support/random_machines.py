"""Valid machines at random: any size, kind of legs, number of legs, layout and ratio of masses.

The same seed gives the same machine. Joints are on two circles, somewhat off them; home has an
attitude of its own. A draw that cannot be a machine (legs too close to singular at home) is drawn
again.
"""

from pathlib import Path

import numpy as np

from twin.analysis.platform import Platform
from twin.errors import TwinError
from twin.machine.file.read import parameters_from

KINDS = ("ups", "strut", "rss", "viscoelastic", "pillar")

SHARES_WITH_LIMITS = {"ups": 0.5, "strut": 0.5, "pillar": 0.5, "rss": 1.0, "viscoelastic": 0.0}
"""Shares of machines whose file has limits of speed and force, by kind: motors on cranks have them,
and legs that yield swing on their springs faster than a slow actuator may move."""

WORST_CONDITION = 30.0
"""Condition number at home above which a machine is drawn again."""

MAX_DRAWS = 100
"""Draws for one seed."""

SOURCE = "drawn at random"


def random_machine(seed, massless=False):
    """Return a valid machine; its kind of legs goes round with the seed.

    Args:
        seed: of the draw.
        massless: whether its legs weigh nothing.
    """
    generator = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    for _ in range(MAX_DRAWS):
        content = _content(kind, massless, generator)
        try:
            platform = Platform(
                parameters_from({"name": f"random_{seed}"} | content, Path("x.toml"))
            )
        except TwinError:
            continue
        if platform.condition_number(platform.home) < WORST_CONDITION:
            return platform
    raise AssertionError(f"seed {seed}: no machine in {MAX_DRAWS} draws")


def _content(kind, massless, generator):
    """Return what a platform.toml would hold, in SI units."""
    size = 10.0 ** generator.uniform(-1.3, 0.5)
    density = 10.0 ** generator.uniform(1.7, 2.7)
    mass = density * size**3
    share = 0.0 if massless else 10.0 ** generator.uniform(-5.0, -0.5)
    if kind == "pillar":
        base, top, home = _plate(size, generator)
    else:
        base, top, home = _circles(size, generator)
    radius = float(np.linalg.norm(top, axis=1).mean())
    stroke = generator.uniform(0.15, 0.4)
    leg = _leg(kind, _lengths(base, top, home), share * mass, stroke, generator)
    leg |= _springs(kind, mass / len(top), generator)
    if generator.uniform() < SHARES_WITH_LIMITS[kind]:
        lever = leg.get("crank_length", 1.0)
        effort = "torque" if kind == "rss" else "force"
        leg["actuator"] |= {effort: 20.0 * (1.0 + 6.0 * share) * mass * lever}
        span = leg["actuator"]["maximum"] - leg["actuator"]["minimum"]
        leg["actuator"] |= {"speed": span / generator.uniform(0.3, 3.0)}
    body = {
        "source": SOURCE,
        "mass": mass,
        "center_of_mass": (generator.uniform(-0.1, 0.1, 3) * size).tolist(),
        "inertia": _tensor(mass * radius**2, generator),
    }
    return {
        "title": "random",
        "source": SOURCE,
        "gravity": 9.81,
        "base": {"source": SOURCE, "joints": _points(base)},
        "platform": {"source": SOURCE, "joints": _points(top), "body": body},
        "home": {"source": SOURCE, "position": home.tolist()},
        "leg": leg,
    }


def _points(points):
    return {"source": SOURCE, "layout": "points", "coordinates": points.tolist()}


def _tensor(scale, generator):
    """Return a tensor [kg m2] that is that of points about their centre, axes tilted."""
    points = generator.normal(size=(6, 3))
    tensor = (points**2).sum() * np.eye(3) - points.T @ points
    return np.asarray(scale * tensor / np.trace(tensor)).tolist()


def _circles(size, generator):
    """Return base joints, platform joints and home of six, seven or eight straight legs."""
    count = int(generator.choice([6, 6, 6, 7, 8]))
    middles = 2.0 * np.pi / count * np.arange(count)
    half = np.pi / count
    near, far = generator.uniform(0.1, 0.4, 2) * half
    sides = np.where(np.arange(count) % 2, 1.0, -1.0)
    radii = size * np.array([1.0, generator.uniform(0.4, 0.9)])
    angles = np.stack([middles - sides * (half - near), middles + sides * (half - far)])
    points = radii[:, None, None] * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], -1)
    points += generator.normal(size=points.shape) * 0.02 * size
    height = generator.uniform(0.7, 1.6) * size
    return points[0], points[1], np.array([0.0, 0.0, height])


def _plate(size, generator):
    """Return feet, corners and home of three or four pillars below a level plate."""
    count = int(generator.choice([3, 4]))
    angles = 2.0 * np.pi / count * (np.arange(count) + generator.uniform(-0.1, 0.1, count))
    corners = size * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], -1)
    height = generator.uniform(0.3, 1.0) * size
    return corners.copy(), corners, np.array([0.0, 0.0, height])


def _lengths(base, top, home):
    """Return the distances `(n,)` [m] of base and platform joints at home."""
    return np.asarray(np.linalg.norm(top + home - base, axis=1))


def _leg(kind, lengths, mass, stroke, generator):
    """Return the table of legs whose parts weigh `mass` [kg] and whose stroke is a share."""
    low, high = (1.0 - 0.5 * stroke) * lengths.min(), (1.0 + 0.5 * stroke) * lengths.max()
    leg = {"source": SOURCE, "kind": kind}
    leg["actuator"] = {"source": SOURCE, "minimum": low, "maximum": high}
    length = float(lengths.mean())
    if kind in ("ups", "strut"):
        leg["first_axis"] = "horizontal"
        for name, sign in (("housing", 1.0), ("rod", -1.0)):
            part = mass * generator.uniform(0.3, 1.0)
            leg[name] = _body(part, sign * generator.uniform(0.2, 0.4) * length, length)
    if kind == "viscoelastic":
        leg |= _chain(low, mass)
    if kind == "rss":
        _crank(leg, length, mass, generator)
    if kind == "pillar":
        leg |= {"fixed_foot": 1, "upper_mass": mass, "foot_mass": 0.2 * mass}
    return leg


def _body(mass, center, length):
    """Return a slender body along the leg, `center` [m] from its joint."""
    across = mass * length**2 / 30.0
    inertia = [across, across, 0.02 * across]
    return {
        "source": SOURCE,
        "kind": "rigid",
        "mass": mass,
        "center_of_mass": [0.0, 0.0, center],
        "inertia": inertia,
    }


def _chain(shortest, mass):
    """Return lengths and masses of a leg that yields, all but the mass between its springs."""
    parts = shortest * np.array([0.2, 0.25, 0.2, 0.3])
    names = ("spring_length", "housing_length", "follower_start", "follower_length")
    lengths = dict(zip(names, parts.tolist(), strict=True))
    masses = {"spring_mass": 0.2 * mass, "follower_mass": 0.5 * mass}
    return {"first_axis": "horizontal"} | lengths | masses


def _springs(kind, carried, generator):
    """Return stiffness and damping of legs that carry so much [kg] each, where they yield."""
    rate = 10.0 ** generator.uniform(2.0, 3.0)
    if kind == "strut":
        spring = {"stiffness": carried * rate**2, "damping": 0.05 * carried * rate}
        return {"axial": {"source": SOURCE} | spring}
    if kind == "viscoelastic":
        rate *= 0.3
        spring = {"stiffness": carried * rate**2, "damping": 1.0 * carried * rate}
        return {"housing_mass": carried * 10.0 ** generator.uniform(-2.0, -0.5)} | spring
    return {}


def _crank(leg, length, mass, generator):
    """Make a leg a crank and a rod."""
    crank = generator.uniform(0.2, 0.5) * length
    rod = generator.uniform(0.85, 1.05) * length
    leg |= {
        "axis": "tangential",
        "branch": str(generator.choice(["outward", "inward"])),
        "crank_length": crank,
        "rod_length": rod,
        "crank": _body(mass, 0.5 * crank, crank),
        "rod": {"source": SOURCE, "mass": 0.5 * mass},
    }
    leg["actuator"] = {"source": SOURCE, "minimum": -1.0, "maximum": 2.5}
