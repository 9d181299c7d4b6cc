"""Drives and encoders around a machine: starts, delays, readings, ideal plants, bad input."""

import numpy as np
import pytest
from closed_loops import run
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from shipped import shipped_content
from tolerance import assert_within, max_abs

import twin
from twin.analysis.platform import Platform
from twin.control.cascade import Cascade
from twin.control.controller import Controller
from twin.engines import make_engine
from twin.engines.base import suitable_timestep
from twin.kernels.plant import columns as column
from twin.machine.file.read import parameters_from
from twin.model.integrate import static_deflection
from twin.plant.plant import Plant
from twin.plant.signals import Command

FIDELITIES = (None, "hardware")
REST = np.zeros(6)


def machine(name, encoder=None, **drive):
    """Return a shipped machine with a drive and an encoder of its own on every leg."""
    content = shipped_content(name)
    content["leg"]["drive"] = {"source": "Test", **drive}
    if encoder is not None:
        content["leg"]["encoder"] = {"source": "Test", **encoder}
    return Platform(parameters_from(content, "platform.toml"))


def at_home(platform, twist=None):
    """Return the state of a machine at home as an engine gives it, springs at rest."""
    engine = make_engine("analytic", platform, 1e-4)
    try:
        return engine.reset(None, twist, quiet(platform))
    finally:
        engine.close()


def quiet(platform):
    """Return where springs in the legs rest, None without them."""
    return (
        static_deflection(platform, platform.home, REST, REST) if platform.n_deflections else None
    )


def started(platform, step=1e-4, twist=None):
    """Return a plant that has taken over its machine at home."""
    plant, state = Plant(platform), at_home(platform, twist)
    controller = Cascade(platform)
    plant.prepare(step)
    plant.start(state, controller.loop_gains)
    return plant, state


class Swinging(Controller):
    """Gives forces that follow the time alone, whatever happens."""

    name = "swinging"

    def start(self, measurement):
        """Nothing to begin."""

    def at(self, time):
        """Return the forces of a time."""
        held = self.platform.inverse_dynamics(self.platform.home, REST, REST)
        phases = np.arange(len(held))
        return np.asarray(held * (1.0 + 0.03 * np.sin(40.0 * time + phases)))

    def update(self, step, measurement):
        """Return the forces of control period `step`."""
        return Command(self.at(measurement.time), "force")


# Start


@pytest.mark.parametrize("configuration", FIDELITIES)
@pytest.mark.parametrize("name", twin.machine_names())
def test_first_forces_are_those_that_hold(name, configuration):
    platform = twin.load(name, configuration)
    plant, state = started(platform)
    held = platform.inverse_dynamics(platform.home, REST, REST, deflection=state.deflection)
    size = max_abs(held) + 1.0
    controller, reading = Cascade(platform), plant.measure(state)
    controller.start(reading)
    plant.command(controller.update(0, reading))
    for _ in range(3):
        assert_within(plant.forces(state), held, 1e-6 * size)


def test_a_moving_machine_is_taken_over_without_a_jolt():
    """Motors start with what friction takes at their speed: they neither slow down nor gain."""
    platform = twin.load("stewart", "hardware")
    twist = [0.0, 0.0, 0.05, 0.0, 0.0, 0.0]
    plant, state = started(platform, 1e-4, twist)
    speed = plant.states[:, column.SPEED]
    assert_array_equal(speed, state.rates)
    plant.forces(state)
    change = plant.states[:, column.SPEED] - speed
    # Without: 284 N and 2045 N s/m on 719 kg for 0.1 ms, 5e-5 m/s.
    assert max_abs(change) < 2e-6


# Delay and lag


def test_a_step_arrives_after_exactly_the_delay(subtests):
    for step in [2.5e-4, 5e-4, 1e-3]:
        with subtests.test(f"{step}"):
            platform = machine("srspm", kind="direct", delay="2 ms", peak="1 kN")
            plant, state = started(platform, step)
            held = plant.forces(state).copy()
            plant.command(Command(np.full(6, 123.0), "force"))
            seen = [plant.forces(state).copy() for _ in range(round(4e-3 / step))]
            late = round(2e-3 / step)
            assert_array_equal(seen[:late], [held] * late)
            assert_array_equal(seen[late:], np.full((len(seen) - late, 6), 123.0))
            assert plant.delay == 2e-3


def test_commands_arrive_in_their_order():
    platform = machine("srspm", kind="direct", delay="3 ms")
    plant, state = started(platform, 1e-3)
    seen = []
    for k in range(8):
        plant.command(Command(np.full(6, float(k)), "force"))
        seen.append(plant.forces(state)[0])
    assert seen[3:] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_feedforward_that_ends_stays_in_the_loop(srspm):
    """As in a safe stop: the controller is gone, its force must not be."""
    plant, state = started(srspm)
    steady = Command(np.zeros(6), feedforward=np.full(6, 50.0))
    plant.command(steady)
    before = plant.forces(state).copy()
    plant.command(Command(np.zeros(6)))
    assert_allclose(plant.forces(state), before, rtol=1e-12, atol=0)
    plant.command(Command(np.zeros(6)))
    assert_allclose(plant.forces(state), before, rtol=1e-12, atol=0)


# The ideal plant


@pytest.mark.parametrize("name", twin.machine_names())
def test_an_ideal_plant_changes_no_bit(name):
    """Forces through controller and plant, and the same forces given directly."""
    platform = twin.load(name)
    assert Plant(platform).ideal
    assert not Plant(twin.load(name, "hardware")).ideal
    step = min(5e-4, suitable_timestep(platform))
    controller = Swinging(platform, period=step)
    found = run(platform, controller, 40 * step, timestep=step)
    forces = np.array([controller.at(time) for time in found.time[:-1]])
    direct = platform.simulate(
        40 * step, forces=forces, timestep=step, fidelity="fast", progress=False,
        deflection=found.deflection[0],
    )  # fmt: skip
    for part in ("pose", "twist", "lengths", "rates", "deflection", "forces"):
        assert_array_equal(getattr(found, part), getattr(direct, part))


@pytest.mark.parametrize("engine", ["analytic", "mujoco", "bullet"])
def test_same_seed_same_bits(engine):
    platform = twin.load("rss", "hardware")
    first, second = (
        run(platform, Cascade(platform), 0.02, plant=Plant(platform, seed=5), engine=engine)
        for _ in range(2)
    )
    for part in ("pose", "twist", "forces"):
        assert_array_equal(getattr(first, part), getattr(second, part))


@pytest.mark.parametrize("name", ["stewart", "rss", "driving_simulator"])
def test_engines_agree_with_real_drives(name):
    """A creeping platform: friction, play and encoders switch at the same instants, mostly."""
    platform = twin.load(name, "hardware")
    twist = np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.0])
    analytic, mujoco = (
        run(platform, Cascade(platform), 0.05, twist=twist, engine=kind, fidelity="accurate")
        for kind in ("analytic", "mujoco")
    )
    moved = max_abs(analytic.lengths - analytic.lengths[0])
    assert_within(mujoco.lengths, analytic.lengths, 1e-2 * moved)


# Readings


def test_readings_and_arrays_of_results_are_the_callers():
    platform = twin.load("stewart", "hardware")
    plant, state = started(platform)
    reading = plant.measure(state)
    kept = [np.array(reading.coordinates), np.array(reading.rates), np.array(reading.forces)]
    for _ in range(5):
        plant.forces(state)
        plant.measure(state)
    for before, now in zip(kept, (reading.coordinates, reading.rates, reading.forces), strict=True):
        assert_array_equal(before, now)
    assert all(len(part) == platform.n_actuators for part in kept)


def test_springs_in_series_are_not_in_the_readings():
    platform = twin.load("compliant_stewart")
    plant, state = Plant(platform), at_home(platform)
    bent = np.array([1e-3] * 6 + [0.2] * 6)
    state = state._replace(deflection=bent)
    plant.prepare(1e-4)
    plant.start(state, Cascade(platform).loop_gains)
    reading = plant.measure(state)
    assert_within(reading.coordinates, state.lengths - 1e-3, 1e-15)
    assert_within(reading.rates, state.rates - 0.2, 1e-15)


def test_cranks_count_in_radians():
    platform = machine("rss", kind="gear", ratio=10.0, encoder={"counts": 1000})
    plant, state = started(platform)
    count = 2.0 * np.pi / 10.0 / 1000
    read = plant.measure(state).coordinates / count
    assert_within(read, np.round(state.lengths / count), 1e-6)


def test_rates_after_a_silence_span_all_of_it():
    platform = machine("stewart", kind="screw", lead="5 mm", encoder={"counts": 5000})
    plant, state = Plant(platform, dropouts=[(2e-3, 5e-3)]), at_home(platform)
    plant.prepare(1e-3)
    plant.start(state, Cascade(platform).loop_gains)
    rates = []
    for k in range(8):
        moved = state._replace(time=k * 1e-3, lengths=state.lengths + 0.1 * k * 1e-3)
        reading = plant.measure(moved)
        assert reading.valid == (not 2 <= k < 5)
        rates.append(reading.rates.copy())
    assert_within(rates[5:], 0.1, 1.01e-3)


# Bad input


def test_dropouts_are_spans(srspm):
    assert_all_refused(
        lambda dropouts: Plant(srspm, dropouts=dropouts),
        [(bad, "dropouts") for bad in (3, "x", [1.0], [(2.0, 1.0)], [(np.nan, 1.0)], [(1.0,)])],
    )


def test_steps_are_above_zero(srspm):
    assert_all_refused(
        Plant(srspm).prepare,
        [(value, "timestep") for value in (0.0, -1e-3, np.nan, np.inf, "fast", None)],
    )


def test_machines_that_no_plant_can_drive_are_refused():
    with refused("platform"):
        Plant("stewart")
    with refused("counts turns of a drive"):
        Plant(machine("stewart", kind="direct", encoder={"counts": 10}))
    content = shipped_content("stewart")
    content["leg"]["encoder"] = {"source": "Test", "counts": 10}
    with refused("counts turns of a drive"):
        Plant(Platform(parameters_from(content, "platform.toml")))
    content = shipped_content("stewart")
    content["leg"]["drive"] = {"source": "Test", "kind": "direct"}
    content["variant"] = [{"source": "Test", "legs": [2], "drive": {"delay": "1 ms"}}]
    with refused("same for all drives"):
        Plant(Platform(parameters_from(content, "platform.toml")))
