"""Computed torque: the error decays as chosen, the state is found, delays are predicted."""

import numpy as np
import pytest
from refusals import refused
from scipy.spatial.transform import Rotation
from short_runs import RIGID, actuator_error, driven, sine
from tolerance import assert_within

import twin
from twin.control.cascade import Cascade
from twin.control.computed_torque import (
    ComputedTorque,
    InverseDynamicsFeedforward,
    suitable_bandwidth,
)
from twin.kernels import kinematics
from twin.kernels.control.controllers import POSE_FOUND, corrected_acceleration, predict, task_state
from twin.plant.signals import Measurement


def at_rest(platform, coordinates):
    rest = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, rest, rest)
    return Measurement(0.0, coordinates, np.zeros(len(coordinates)), forces)


MODEL_BASED = {ComputedTorque: 1e-4, InverseDynamicsFeedforward: 1e-5}
"""Controllers -> largest error on the ideal plant, as a fraction of the motion."""


@pytest.mark.parametrize("kind", MODEL_BASED)
@pytest.mark.parametrize("name", RIGID)
def test_reference_is_met_on_the_ideal_plant(name, kind):
    platform = twin.load(name)
    controller = kind(platform, sine(platform))
    run = driven(platform, controller)
    assert not run.stopped
    size = float(np.ptp(controller.reference.coordinates, axis=0).max())
    assert actuator_error(run, controller) < MODEL_BASED[kind] * size


@pytest.mark.parametrize("kind", MODEL_BASED)
@pytest.mark.parametrize("name", RIGID)
def test_three_times_better_than_the_cascade_on_hardware(name, kind):
    platform = twin.load(name, "hardware")
    motion = sine(platform)
    errors = []
    for law in (Cascade, kind):
        controller = law(platform, motion)
        run = driven(platform, controller)
        assert not run.stopped
        errors.append(actuator_error(run, controller))
    assert errors[1] < errors[0] / 3.0


def test_error_decays_as_the_oscillator_that_was_chosen(stewart):
    bandwidth, damping = 30.0, 0.5
    controller = ComputedTorque(
        stewart, bandwidth=bandwidth, damping=damping, integral_share=0.0, period=5e-4
    )
    start = stewart.home.copy()
    start[:3] += [0.004, -0.003, 0.005]
    turn = np.array([0.02, -0.01, 0.015])
    start[3:] = Rotation.from_rotvec(turn).as_quat(scalar_first=True)
    run = twin.simulate(
        stewart, 0.3, controller=controller, timestep=5e-4, fidelity="fast", pose=start
    )
    time = run.time
    fast = bandwidth * np.sqrt(1.0 - damping**2)
    decay = np.exp(-damping * bandwidth * time) * (
        np.cos(fast * time) + damping * bandwidth / fast * np.sin(fast * time)
    )
    moved = run.pose[:, :3] - stewart.home[:3]
    expected = decay[:, None] * (start[:3] - stewart.home[:3])
    assert_within(moved, expected, 2e-2 * 0.005)
    angles = Rotation.from_quat(run.pose[:, 3:], scalar_first=True).as_rotvec()
    assert_within(angles, decay[:, None] * turn, 2e-2 * 0.02)


def test_redundant_readings_that_do_not_fit_give_the_nearest_pose():
    platform = twin.load("driving_simulator")
    legs = platform.constants.legs
    work = kinematics.make_work(4, 6 - platform.dof)
    rounded = platform.home_coordinates + 1e-5 * np.array([1.0, -1.0, 1.0, -1.0])
    state = np.concatenate([platform.home, np.zeros(6)])
    assert task_state(legs, rounded, np.zeros(4), state, work) == POSE_FOUND
    assert_within(state[:3], platform.home[:3], 2e-5)


def test_orientation_error_is_a_rotation_vector_in_base_axes():
    rng = np.random.default_rng(3)
    for _ in range(20):
        now, turn = Rotation.random(random_state=rng), Rotation.from_rotvec(rng.normal(size=3))
        pose = np.concatenate([rng.normal(size=3), now.as_quat(scalar_first=True), np.zeros(6)])
        wanted = np.concatenate([np.zeros(3), (turn * now).as_quat(scalar_first=True)])
        wanted[3:] *= rng.choice([-1.0, 1.0])
        error, out = np.empty(6), np.empty(6)
        zero = np.zeros(6)
        corrected_acceleration(pose, wanted, zero, zero, np.ones((6, 2)), zero, error, out)
        assert_within(error[:3], -pose[:3], 1e-14)
        expected = (Rotation.from_quat(wanted[3:], scalar_first=True) * now.inv()).as_rotvec()
        assert_within(error[3:], expected, 1e-12)
        assert_within(out, error, 1e-14)


def test_prediction_moves_a_state_on_as_its_accelerations_do():
    state = np.zeros(13)
    state[3], state[7:] = 1.0, [0.1, 0.0, -0.2, 0.0, 0.0, 0.3]
    spans = np.array([5e-4, 1e-3, 1e-3])
    accelerations = np.array([[1.0, 0, 0, 0, 0, 2.0], [0, 3.0, 0, 0, 0, 0], [0, 0, 5.0, 0, 0, -1]])
    ahead = np.empty(13)
    predict(state, spans, accelerations, ahead)
    place, speed = state[:3].copy(), state[7:10].copy()
    angle, spin = 0.0, 0.3
    for span, acceleration in zip(spans, accelerations, strict=True):
        place += span * speed + 0.5 * span**2 * acceleration[:3]
        angle += span * spin + 0.5 * span**2 * acceleration[5]
        speed, spin = speed + span * acceleration[:3], spin + span * acceleration[5]
    assert_within(ahead[:3], place, 1e-15)
    assert_within(ahead[7:10], speed, 1e-15)
    turn = [np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)]
    assert_within(ahead[3:7], turn, 1e-15)


def test_prediction_is_what_the_delay_needs():
    platform = twin.load("stewart", "hardware")
    motion = sine(platform)
    errors = []
    for prediction in (True, False):
        controller = ComputedTorque(platform, motion, prediction=prediction)
        errors.append(actuator_error(driven(platform, controller), controller))
    assert errors[0] < 0.2 * errors[1]


def test_wrong_model_is_taken_over_by_the_integral(stewart):
    content = stewart.parameters.model_dump()
    content["platform"]["body"]["mass"] *= 0.8
    model = twin.Platform(type(stewart.parameters).model_validate(content))
    controller = ComputedTorque(stewart, model=model, bandwidth=40.0, integral_share=0.2)
    run = driven(stewart, controller, 2.0)
    assert_within(run.lengths[-1], stewart.home_coordinates, 2e-6)


def test_bandwidth_falls_with_delay_and_light_motors():
    ideal, hardware = (
        suitable_bandwidth(twin.load("stewart", name)) for name in (None, "hardware")
    )
    assert ideal == pytest.approx(250.0)
    assert 60.0 < hardware < 120.0
    assert suitable_bandwidth(twin.load("rss", "hardware")) < 10.0


@pytest.mark.parametrize("name", ["compliant_stewart", "micro_hexapod"])
def test_machines_it_does_not_suit_are_refused_with_a_reason(name):
    with refused("springs"):
        ComputedTorque(twin.load(name))


def test_readings_that_belong_to_no_pose_stop_the_controller(stewart):
    controller = ComputedTorque(stewart)
    measurement = at_rest(stewart, stewart.home_coordinates)
    controller.start(measurement)
    lost = measurement._replace(coordinates=stewart.home_coordinates * [1, 9, 1, 0.1, 1, 1])
    with pytest.raises(twin.TwinError, match="pose"):
        for step in range(5):
            controller.update(step, lost)
