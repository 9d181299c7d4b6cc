"""The cascade on estimates: when the observer helps and when not, bumpless, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from short_runs import RIGID, actuator_error, driven, sine
from tolerance import assert_within, max_abs

import twin
from twin.control.cascade import Cascade
from twin.control.gains import drive_model
from twin.control.observer.cascade import AppliedForce, ObserverCascade, suitable_design
from twin.control.observer.kalman_observer import lumped_mass, observed_mass, thesis_text
from twin.motion import SineMotion
from twin.plant.plant import Plant


@pytest.mark.parametrize("configuration", [None, "hardware"])
@pytest.mark.parametrize("name", RIGID)
def test_every_machine_stays_on_its_reference(name, configuration):
    platform = twin.load(name, configuration)
    controller = ObserverCascade(platform, sine(platform))
    run = driven(platform, controller)
    assert not run.stopped
    size = float(np.ptp(controller.reference.coordinates, axis=0).max())
    # Cranks whose motors are 66 times lighter than the heaviest motion leave slow loops only.
    share = 0.5 if (name, configuration) == ("rss", "hardware") else 0.1
    assert actuator_error(run, controller) < share * size


def test_feedback_alone_closes_the_velocity_loop_at_the_control_period_as_drives_do(stewart):
    motion = sine(stewart)
    start = {"feedforward_start": 0.0, "feedforward_rise": 0.0}
    alone = ObserverCascade(stewart, motion, compensation=False, estimated_speed=False, **start)
    cascade = Cascade(stewart, motion, **start)
    assert_array_equal(alone.velocity_gain, cascade.velocity_gain)
    runs = [
        twin.simulate(
            stewart,
            0.6,
            controller=controller,
            timestep=1e-3,
            fidelity="fast",
            pose=alone.reference.pose[0],
            progress=False,
        )
        for controller in (alone, cascade)
    ]
    # With drives that sample as seldom as the controller both are one law.
    assert_within(runs[0].lengths, runs[1].lengths, 1e-9)


def test_text_of_the_thesis_works_on_the_ideal_plant_and_gains_nothing_distinct(stewart):
    motion = sine(stewart)
    size = float(np.ptp(ObserverCascade(stewart, motion).reference.coordinates, axis=0).max())
    design = thesis_text(lumped_mass(stewart), 3073.0)
    for compensation in (True, False):
        controller = ObserverCascade(
            stewart, motion, design=design, compensation=compensation, feedforward_start=0.0
        )
        assert actuator_error(driven(stewart, controller), controller) < 1e-2 * size


def test_speed_and_disturbance_are_those_of_the_engine(stewart):
    controller = ObserverCascade(stewart, sine(stewart))
    run = driven(stewart, controller)
    signals = run.signals
    rates = run.rates[::2][: len(signals["time"])]
    wrong = signals["estimated_rate"] - rates
    assert max_abs(wrong[100:]) < 0.05 * max_abs(rates)
    # Disturbance = what the force does beyond accelerating the lumped mass: mostly weight.
    rest = np.zeros(6)
    weight = stewart.inverse_dynamics(stewart.home, rest, rest)
    mean = signals["estimated_disturbance"][100:].mean(axis=0)
    assert_allclose(mean, weight, rtol=0.05)


def test_applied_force_is_the_command_delayed_and_lagging():
    drives = drive_model(twin.load("stewart", "hardware"))
    period, small = 1.5e-3, 1e-6
    applied = AppliedForce(drives, period)
    applied.start(np.zeros(6))
    rng = np.random.default_rng(0)
    commands = rng.normal(size=(12, 6))
    effort, mean = np.zeros(6), []
    for k in range(12):
        total = np.zeros(6)
        for j in range(round(period / small)):
            late = k * period + (j + 0.5) * small - drives.delay
            wanted = commands[int(late // period)] if late > 0.0 else np.zeros(6)
            effort = wanted + (effort - wanted) * np.exp(-small / drives.lag)
            total += effort
        mean.append(total * small / period)
    found = [applied.over_period(command) for command in commands]
    assert_within(found, mean, 5e-3)


def test_lumped_mass_is_that_of_the_text_and_not_of_the_code(stewart):
    assert_allclose(lumped_mass(stewart), 11.7 + 97.0 / 6.0, rtol=1e-12)
    with_motors = lumped_mass(twin.load("stewart", "hardware"))
    armature = 4.7e-4 * (2 * np.pi / 5.08e-3) ** 2
    assert_allclose(with_motors, 11.7 + 97 / 6 + armature, rtol=1e-9)
    with refused("rod"):
        lumped_mass(twin.load("rss"))
    assert observed_mass(twin.load("rss"))[0] == pytest.approx(21.26, rel=1e-3)


def test_what_cannot_work_is_refused(stewart):
    with refused("springs"):
        ObserverCascade(twin.load("compliant_stewart"))
    for name in ("rss", "tripod"):
        with refused("same kind and number of legs"):
            ObserverCascade(stewart, model=twin.load(name))
    for options in (
        {"design": suitable_design(stewart, 2e-3)},
        {"design": suitable_design(twin.load("driving_simulator"))},
        {"compensation": 1},
        {"estimated_speed": None},
        {"position_gain": -1.0},
        {"velocity_gain": 0.0},
    ):
        with refused():
            ObserverCascade(stewart, **options)


def test_a_short_silence_is_bridged_by_the_model():
    """The last reading, held for five periods, would be a disturbance of its own."""
    platform = twin.load("stewart", "hardware")
    motion = SineMotion(
        platform.home, amplitude={"z": 0.01}, frequency=1.0, duration=0.4, fade_in=0.1
    )
    runs = [
        twin.simulate(
            platform,
            0.4,
            controller=ObserverCascade(platform, motion),
            plant=Plant(platform, dropouts=dropouts),
            timestep=5e-4,
            fidelity="fast",
            progress=False,
        )
        for dropouts in ((), [(0.3, 0.305)])
    ]
    assert runs[1].stopped == ""
    apart = max_abs(runs[1].lengths - runs[0].lengths)
    assert 0.0 < apart < 1e-4
