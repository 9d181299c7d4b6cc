"""TOML files with faults: machines, sweeps, randomisations, mutated by field or by letter."""

from __future__ import annotations

import json
import math
import tempfile
import tomllib
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import numpy as np

import twin
from twin.machine.file.read import LEG_KINDS, template
from twin.machine.machine import parameters_path
from twin.machine.randomisation import as_randomisation
from twin.machine.randomisation.randomisation import RANDOMISATIONS
from twin.sweep import plan, read_sweep

FACTORS = (-1.0, 0.0, 1e-12, 1e-3, 0.5, 2.0, 1e3, 1e12, 1e30, 1e200)
UNITS = ("m", "mm", "kg", "N", "deg", "rad", "furlong", "", "m/s", "rpm", "lbf in", "%")
TEXTS = (
    "",
    "x",
    "ups",
    "1,5 m",
    "nan",
    "\N{SNOWMAN}",
    "1 m",
    "-3 kg",
    "a.b",
    "0",
    "true",
    "z" * 500,
)
NUMBERS = (0, 1, -1, 7, 10**9, 10**40, 0.0, -0.5, 1e-30, 1e300, math.nan, math.inf, -math.inf)

SWEEP = """
machine = "srspm"
configurations = [""]
engines = ["analytic"]
fidelity = "fast"
timestep = 1e-3
controllers = ["cascade", {name = "feedforward", options = {period = 2e-3}}]
motion = {name = "sine", axis = "z", amplitude = 0.01, frequency = 2.0, duration = 0.1}
parameters = {platform = {body = {mass = [1.0, 2.0]}}, gravity = "9:10:3"}
payloads = [5, "occupant:1.8:80", {mass = 3.0, center = [0.0, 0.0, 0.1]}]
seeds = [0, 1]
"""


@lru_cache(maxsize=1)
def machines():
    """Return the texts of all machine files that the package has."""
    shipped = [Path(parameters_path(name)).read_text() for name in twin.machine_names()]
    return (*shipped, *(template("mine", legs) for legs in LEG_KINDS))


@lru_cache(maxsize=1)
def spreads():
    """Return the texts of the spreads, for the machine of the table-top."""
    parameters = twin.load("stewart", "hardware").parameters
    return tuple(written(as_randomisation(name, parameters).as_dict()) for name in RANDOMISATIONS)


def written(content):
    """Return content as TOML, every table on one line."""
    return "".join(f"{json.dumps(str(key))} = {_inline(value)}\n" for key, value in content.items())


def _inline(value):
    if isinstance(value, dict):
        entries = (f"{json.dumps(str(key))} = {_inline(entry)}" for key, entry in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def mutated(text, random):
    """Return a text with one to three faults, of its content or of its letters."""
    if random.random() < 0.15:
        return _other_letters(text, random)
    content = tomllib.loads(text)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _change(content, random)
    return written(content)


def _other_letters(text, random):
    place, end = sorted(random.randrange(len(text)) for _ in range(2))
    return random.choice(
        (
            text[:place],
            text[:place] + text[end:],
            text[:place] + random.choice("[]{}\"'=#\\\n\0.,9-") + text[place:],
            text[:place] + text[place : place + 200] + text[place:],
            text[:place] + "1" * 5000 + text[place:],
            text + "\nextra = " + "[" * 2000 + "]" * 2000,
            text + "\n[" + ".".join(["a"] * 500) + "]\n",
        )
    )


def _change(content, random):
    """Change one entry anywhere inside."""
    places = list(_places(content))
    if not places:  # a fault before has taken all away
        return
    owner, key = random.choice(places)
    old = owner[key]
    number = isinstance(old, int | float) and not isinstance(old, bool)
    if number and random.random() < 0.5:
        owner[key] = old * random.choice(FACTORS)
    elif isinstance(old, str) and random.random() < 0.4:
        owner[key] = f"{random.choice(NUMBERS)} {random.choice(UNITS)}"
    elif isinstance(owner, dict) and random.random() < 0.2:
        owner[random.choice((f"{key}s", "kind", "x", "", "\N{SNOWMAN}", "source"))] = owner.pop(key)
    elif random.random() < 0.25:
        del owner[key]
    elif random.random() < 0.2:
        other, its = random.choice(places)
        if its in other if isinstance(other, dict) else its < len(other):
            owner[key] = deepcopy(other[its])
    else:
        owner[key] = _value(old, random)


def _value(old, random):
    values = [
        random.choice(NUMBERS),
        random.choice(TEXTS),
        random.choice((True, False)),
        [],
        {},
        [old],
        [old] * 3,
        {"a": old},
        [[]],
        [math.nan] * 3,
        [0, 0, 0],
        [1e300] * 3,
        ["x"] * 3,
        {"kind": random.choice(TEXTS)},
        [old] * 20,
    ]
    return deepcopy(random.choice(values))


def _places(owner):
    keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
    found = [(owner, key) for key in keys]
    for key in keys:
        if isinstance(owner[key], dict | list):
            found += _places(owner[key])
    return found


def _used_machine(file, random):
    """Return numbers of the machine that a file describes."""
    platform = twin.load(file)
    home, rest = platform.home, np.zeros(6)
    found = [
        home,
        platform.jacobian(home),
        platform.mass_matrix(home),
        platform.inverse_dynamics(home, rest, rest),
        platform.inverse_kinematics(home),
        platform.energy(home, rest),
        platform.home_coordinates,
    ]
    chance = random.random()
    if chance < 0.1:
        found.append(platform.simulate(0.002, timestep=1e-3, progress=False).pose)
    elif chance < 0.2:
        from twin.engines.mjcf import robot_xml
        from twin.engines.urdf import robot_urdf

        _ = robot_xml(platform), robot_urdf(platform)
    elif chance < 0.3:
        from twin.control import make_controller
        from twin.plant.plant import Plant

        controller = make_controller("cascade", platform)
        found += [controller.loop_gains, Plant(platform).platform.home]
    return found


def _used_sweep(file, _):
    return len(plan(read_sweep(file)))


def _used_spread(file, random):
    parameters = twin.load("stewart", "hardware").parameters
    found = as_randomisation(str(file), parameters)
    generator = np.random.default_rng(random.randrange(100))
    return dict(found.sample(generator, parameters).values)


USES = {
    "machine": (machines, _used_machine),
    "sweep": (lambda: (SWEEP,), _used_sweep),
    "randomisation": (spreads, _used_spread),
}


def file_input(random):
    """Return a description of a bad file and the call that uses it."""
    kind = random.choices(list(USES), (6, 2, 2))[0]
    texts, use = USES[kind]
    text = mutated(random.choice(texts()), random)

    def call():
        with tempfile.TemporaryDirectory(
            dir="/dev/shm" if Path("/dev/shm").is_dir() else None
        ) as folder:
            file = Path(folder) / f"{kind}.toml"
            file.write_text(text, encoding="utf-8", errors="surrogatepass")
            return use(file, random)

    return f"{kind} file", call
