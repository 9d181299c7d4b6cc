"""The closed loop on every machine: tracking, determinism, engines, timing, bad input."""

import numpy as np
import pytest
from closed_loops import angles, heave, run
from numpy.testing import assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.control.cascade import Cascade
from twin.control.controller import sample_reference
from twin.motion import SineMotion
from twin.plant.plant import Plant
from twin.simulation.simulate import Trajectory

pytestmark = pytest.mark.quick

FIDELITIES = (None, "hardware")
SLOW = {("stewart", None), ("stewart", "hardware"), ("rss", "hardware")}
"""The thesis begins without feedforward, and heavy cranks have light motors: they lag behind."""


@pytest.mark.parametrize("configuration", FIDELITIES)
@pytest.mark.parametrize("name", twin.machine_names())
def test_every_machine_follows_with_its_own_or_derived_gains(name, configuration):
    platform = twin.load(name, configuration)
    motion = run(platform, Cascade(platform, heave(platform)), 0.5)
    setpoint, measured = motion.signals["setpoint"], motion.signals["measured"]
    assert not motion.stopped
    share = 0.5 if (name, configuration) in SLOW else 0.15
    assert_within(setpoint, measured, share * np.ptp(setpoint))


def test_a_controller_can_be_used_again(stewart):
    controller = Cascade(stewart, heave(stewart, 0.1))
    first, second = (run(stewart, controller, 0.1) for _ in range(2))
    assert_array_equal(first.pose, second.pose)


@pytest.mark.parametrize("configuration", FIDELITIES)
@pytest.mark.parametrize("name", twin.machine_names())
def test_nothing_moves_at_the_start(name, configuration):
    """Motors take over with the forces that hold the machine: it neither drops nor jumps."""
    platform = twin.load(name, configuration)
    still = run(platform, Cascade(platform), 0.05)
    stroke = np.ptp([platform.minimum_coordinates, platform.maximum_coordinates], axis=0)
    moved = np.abs(still.lengths - still.lengths[0]).max(axis=0)
    # Coarse encoders let the loops hunt for a few counts.
    assert (moved < 2e-4 * stroke).all()


def test_signals_have_a_row_per_period_and_survive_a_file(stewart, tmp_path):
    motion = run(stewart, Cascade(stewart, heave(stewart, 0.1)), 0.1)
    rows = len(motion.signals["time"])
    assert rows == 100
    assert {len(values) for values in motion.signals.values()} == {rows}
    again = Trajectory.load(motion.save(tmp_path / "run.npz"))
    assert set(again.signals) == set(motion.signals)
    for name, values in motion.signals.items():
        assert_array_equal(again.signals[name], values)
    assert again.stopped == ""


def test_steps_must_divide_the_period(subtests, stewart):
    for timestep in [3e-4, 2e-3, 7e-4]:
        with subtests.test(f"{timestep}"), refused("control period"):
            stewart.simulate(
                42 * timestep, controller=Cascade(stewart), timestep=timestep, progress=False
            )


def test_parts_that_do_not_fit_are_refused(stewart, srspm):
    simulator = twin.load("driving_simulator")
    for options, field in (
        ({"controller": "cascade"}, "controller"),
        ({"controller": Cascade(simulator)}, "controller"),
        ({"controller": Cascade(stewart), "plant": Plant(srspm)}, "plant"),
        ({"controller": Cascade(stewart), "forces": np.zeros(6)}, "forces"),
        ({"plant": Plant(stewart)}, "plant"),
        ({"wrench": lambda: np.zeros(6)}, "wrench"),
    ):
        with refused(field):
            stewart.simulate(0.01, progress=False, **options)


def test_wrenches_can_follow_the_time(stewart):
    rest = np.zeros(6)
    held = stewart.inverse_dynamics(stewart.home, rest, rest)
    load = np.array([0.0, 0.0, 40.0, 0.0, 0.0, 0.0])
    constant = stewart.simulate(0.02, forces=held, wrench=load, progress=False)
    called = stewart.simulate(0.02, forces=held, wrench=lambda time, state: load, progress=False)
    assert_array_equal(constant.pose, called.pose)
    later = stewart.simulate(
        0.02, forces=held, wrench=lambda time, state: load * (time >= 0.01), progress=False
    )
    assert_within(later.pose[10], stewart.home, 1e-9)
    assert later.pose[-1][2] > stewart.home[2] + 1e-6


@pytest.mark.slow
def test_references_hold_what_actuators_have_to_do(platform):
    """Rates and accelerations of the reference are derivatives of its coordinates."""
    motion = SineMotion(
        platform.home,
        amplitude={"z": 1e-4, "roll": 0.01, "pitch": 0.02},
        frequency=2.0,
        duration=0.5,
        convention=angles(platform),
    )
    fine = sample_reference(platform, motion, 1e-4)
    assert fine.reachable.all()
    scale = max_abs(fine.rates)
    on_the_way = slice(2, -2)  # the last row is at rest
    slope = np.gradient(fine.coordinates, 1e-4, axis=0, edge_order=2)
    assert_within(slope[on_the_way], fine.rates[on_the_way], 1e-6 * scale)
    bend = np.gradient(fine.rates, 1e-4, axis=0, edge_order=2)
    size = max_abs(fine.accelerations)
    assert_within(bend[on_the_way], fine.accelerations[on_the_way], 1e-6 * size)
