"""Machines and random states that the tests share; every draw is seeded."""

from __future__ import annotations

import one_thread  # noqa: F401
import temporary_files  # noqa: F401

# isort: split
import re
import tempfile
import tomllib
from importlib import import_module
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray
from paths import poses_within_limits
from scales import scale_of
from unsymmetric import content_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.engines import engine_names
from twin.machine.file.read import parameters_from
from twin.machine.machine import parameters_path

QUICK_MACHINES = ("stewart", "driving_simulator")
"""Machines of the quick tier: six legs and six degrees of freedom, four legs and three."""

QUICK_ENGINES = ("analytic",)

STEWART = re.compile(r"\[(.*-)?stewart\b")
"""The machine in the name of a test, beside its other parameters."""

# The same examples in every run; compiling on first use must not count against an example.
settings.register_profile("twin", deadline=None, derandomize=True)
settings.load_profile("twin")

MACHINES = twin.machine_names()
assert len(MACHINES) == 6, "the catalogue is incomplete"

GENERAL = "general"

SCREWS = "upu_without_symmetry"

SLOW_MACHINES = ("srspm", "tripod", SCREWS)
"""Machines that are left to `make slow`: legs as those of stewart, and kinds with few tests."""

STATES = 200


def is_quick(config):
    """Return whether only the quick tier runs: `pytest -m quick`."""
    return str(config.getoption("markexpr")) == "quick"


def pytest_ignore_collect(collection_path, config):
    """Leave out files without tests of the quick tier: importing all of them takes longer."""
    if not is_quick(config) or not collection_path.name.startswith("test_"):
        return None
    return "mark.quick" not in collection_path.read_text(encoding="utf-8") or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what is slow or in a browser; keep two machines and what is fast in the quick tier."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("pages")
        if item.get_closest_marker("every_kind") and not STEWART.search(item.name):
            item.add_marker("slow")
    if not is_quick(config):
        return
    others = {*MACHINES, *engine_names(), GENERAL} - {*QUICK_MACHINES, *QUICK_ENGINES}
    word = re.compile(rf"(?<![a-z_])({'|'.join(sorted(others))})(?![a-z_])")
    kept = [
        item
        for item in items
        if not word.search(item.name.partition("[")[2])
        and not any(map(item.get_closest_marker, ("seconds", "slow", "pages", "gallery")))
    ]
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept
    assert len(items) > 100, "the quick tier has lost its tests"


def read_description(name):
    """Return the content of a machine's platform.toml as it is written there."""
    if name == GENERAL:
        return content_without_symmetry("ups") | {"name": GENERAL}
    if name == SCREWS:
        return content_without_symmetry("upu")
    return tomllib.loads(parameters_path(name).read_text())


class States(NamedTuple):
    """Random states of one machine, one per row, that it can be in."""

    pose: NDArray[np.float64]
    twist: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    forces: NDArray[np.float64]
    wrench: NDArray[np.float64]
    deflection: NDArray[np.float64]


@pytest.fixture(
    scope="session",
    params=[
        *(name for name in (*MACHINES, GENERAL) if name not in SLOW_MACHINES),
        *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_MACHINES),
    ],
)
def platform(request):
    """Every machine of the catalogue, two without symmetry, and one on legs in planes."""
    if request.param in (GENERAL, SCREWS):
        return Platform(parameters_from(read_description(request.param), "platform.toml"))
    return twin.load(request.param)


@pytest.fixture(scope="session")
def description(platform):
    """The machine's platform.toml as it is written, for tests that build their own model."""
    return read_description(platform.name)


@pytest.fixture(scope="session")
def scale(platform):
    """What is long, fast and strong for the machine."""
    return scale_of(platform)


@pytest.fixture(scope="session")
def states(platform, scale):
    """Random states inside the limits, fast enough for all velocity terms to matter."""
    random = np.random.default_rng(20240)
    motion = platform.constrain(
        poses_within_limits(platform, STATES, 20241),
        random.normal(size=(STATES, 6)) * 0.3 * scale.twist,
        random.normal(size=(STATES, 6)) * 0.5 * scale.twist / scale.time,
    )
    k = platform.n_deflections
    return States(
        *motion,
        random.normal(size=(STATES, platform.n_actuators)) * 0.5 * scale.effort,
        random.normal(size=(STATES, 6)) * 0.1 * scale.wrench,
        random.normal(size=(STATES, 2 * k)) * np.repeat([0.005, 0.2], k),
    )


@pytest.fixture(scope="session")
def derivative():
    """Numeric d/dt at t = 0 of a function `(t) -> array`, with an error of order step^6."""

    def differentiate(function, step):
        steps = (step, step / 2, step / 4)
        first = [(function(h) - function(-h)) / (2 * h) for h in steps]
        second = [(4 * fine - coarse) / 3 for coarse, fine in pairwise(first)]
        return np.asarray((16 * second[1] - second[0]) / 15)

    return differentiate


@pytest.fixture
def constants(monkeypatch):
    """Set constants of a module: a bound that takes long to reach is made small for a test."""

    def change(module, **values):
        module = import_module(module) if isinstance(module, str) else module
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)

    return change


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Let dumps and any log file fall into a folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="session")
def srspm():
    """The benchmark machine, for what a paper says about it."""
    return twin.load("srspm")


@pytest.fixture(scope="session")
def stewart():
    """The thesis' machine, for what the thesis says about it."""
    return twin.load("stewart")
