"""Every controller on every machine and engine: it holds the machine, or says why it cannot."""

from itertools import product

import numpy as np
import pytest
from closed_loops import heave, run
from package_walk import ROOT
from refusals import refused

import twin
from twin.control import controller_names, make_controller
from twin.engines import engine_names

pytestmark = pytest.mark.quick

SPRINGS = {"compliant_stewart", "micro_hexapod"}
RIGID = {"stewart", "srspm", "rss", "driving_simulator"}
FITTING = {
    "cascade": RIGID | SPRINGS,
    "observer": RIGID,
    "feedforward": RIGID | {"micro_hexapod"},
    "computed_torque": RIGID,
    "lqr": (RIGID | {"micro_hexapod"}) - {"driving_simulator"},
    "loop_shaping": (RIGID | {"micro_hexapod"}) - {"driving_simulator"},
    "ilqr": RIGID,
    "iff": SPRINGS,
    "dvf": SPRINGS,
    "hac_lac": SPRINGS,
}
"""Machines that a controller is for."""

PLANNED = ("ilqr",)
"""Computed torque where nothing limits the machine: their kernels run with drives, and in
`predictive`."""

PAIRS = [(name, machine) for name, machines in FITTING.items() for machine in sorted(machines)]
UNPLANNED = [pair for pair in PAIRS if pair[0] not in PLANNED]
REFUSED = [
    (name, machine)
    for name, machines in FITTING.items()
    for machine in sorted((RIGID | SPRINGS) - machines)
]
assert REFUSED

MOVED = {None: 1e-12, "hardware": 0.02}
"""Largest way of a leg in parts of its stroke while it shall stay: nothing jumps at the start.

Encoders sit on the motors: what transmissions wind up under the weight is an error that only models
of the drives know.
"""


def test_the_table_is_complete():
    assert set(FITTING) == set(controller_names())
    assert set(twin.machine_names()) == RIGID | SPRINGS


def test_the_readme_says_how_many_pairs_fit():
    count = len(PAIRS) + len(REFUSED)
    assert f"{len(PAIRS)} of {count} pairs" in (ROOT / "README.md").read_text()


def assert_held(name, machine, configuration, duration, engine="analytic"):
    """Assert that the machine stays at home."""
    platform = twin.load(machine, configuration)
    controller = make_controller(name, platform)
    still = run(platform, controller, duration, engine=engine)
    assert still.stopped == ""
    stroke = platform.maximum_coordinates - platform.minimum_coordinates
    assert (
        np.abs(still.lengths - still.lengths[0]).max(axis=0) < MOVED[configuration] * stroke
    ).all()


@pytest.mark.parametrize(("name", "machine"), UNPLANNED)
def test_ideal_machines_stay_from_the_first_command_on(name, machine):
    assert_held(name, machine, None, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine"), PAIRS)
def test_machines_with_drives_are_held(name, machine):
    assert_held(name, machine, "hardware", 0.1)


OTHERS = [name for name in engine_names() if name != "analytic"]

SPREAD = [(*pair, OTHERS[k % len(OTHERS)]) for k, pair in enumerate(PAIRS)]
"""Each controller, and each machine, with every engine: a controller sees states, not engines."""
assert {(name, engine) for name, _, engine in SPREAD} == set(product(FITTING, OTHERS))
assert {(machine, engine) for _, machine, engine in SPREAD} == set(product(RIGID | SPRINGS, OTHERS))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine", "engine"), SPREAD)
def test_other_engines_are_held(name, machine, engine):
    assert_held(name, machine, "hardware", 0.02, engine)


def test_others_are_refused_with_a_reason(subtests):
    for name, machine in REFUSED:
        with subtests.test(f"{name}"):
            with refused() as caught:
                make_controller(name, twin.load(machine))
            assert len(str(caught.value)) > 20


@pytest.mark.parametrize(("name", "machine"), UNPLANNED)
def test_motions_are_followed(name, machine):
    """With drives: the error at the end of a rise and fall is small against it."""
    platform = twin.load(machine, "hardware")
    motion = heave(platform, 0.6)
    held = run(platform, make_controller(name, platform, motion), 0.6)
    assert held.stopped == ""
    error = np.abs(held.signals["setpoint"] - held.signals["measured"])
    assert error.max() < 0.6 * np.ptp(held.signals["setpoint"])
