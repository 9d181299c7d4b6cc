"""Effects of free terms in closed form, and the patterns that they leave in errors."""

import numpy as np
import pytest
from recorded_motion import nominal
from scipy.integrate import solve_ivp
from tolerance import assert_within, max_abs

from twin.identification.parameters import nominal_array, select
from twin.identification.prediction.optimise import Search, Solution
from twin.identification.prediction.problem import PredictionProblem
from twin.identification.prediction.recording import recording_of
from twin.identification.prediction.terms import FreeTerms, RecordedMotion
from twin.identification.result.diagnosis import find_patterns
from twin.kernels.plant import columns as column
from twin.motion.profiles import MultiSineMotion
from twin.plant.drives import drive_constants
from twin.validation.rig import Conditions, record

pytestmark = pytest.mark.quick


DRIVES = drive_constants(nominal(), 5e-4)[None]
TIMES = np.arange(4001) * 1e-3


def recorded_motion(shift, acceleration):
    """Return a motion along x about home."""
    machine = nominal()
    pose = np.tile(machine.home, (len(TIMES), 1))
    pose[:, 0] += shift
    twist, bent = np.zeros((len(TIMES), 6)), np.zeros((len(TIMES), 6))
    bent[:, 0] = acceleration
    return RecordedMotion(
        TIMES, pose, twist, bent, 100.0 * np.ones((len(TIMES), 6)), np.zeros((len(TIMES), 6))
    )


def test_a_cable_pulls_at_its_point():
    machine, shift = nominal(), 0.01 * np.sin(TIMES)
    parameters = select(machine, "cable")
    paths = [each.path for each in parameters]
    values = dict.fromkeys(paths, 0.0) | {"term.cable.force.2": -20.0, "term.cable.point.0": 0.3}
    values["term.cable.stiffness"] = 2000.0
    terms = FreeTerms(machine, parameters, recorded_motion(shift, 0.0 * shift))
    wrench = terms.effects(np.array([[values[path] for path in paths]]), DRIVES).wrench[0]
    assert wrench[:, 0] == pytest.approx(-2000.0 * shift)
    assert wrench[:, 2] == pytest.approx(-20.0)
    assert wrench[:, 4] == pytest.approx(0.3 * 20.0)


def test_what_swings_on_a_turning_platform_pulls_as_its_mass_is_accelerated():
    """The part at b = p + u e + h n has the force m (g - b'') there, in the plane of x and z.

    The unit vectors e and n turn by the pitch; u follows from the part of b'' - g along e.
    """
    machine, mass, hertz, damping = nominal(), 10.0, 1.0, 0.05
    w, wave, turn = 2.0 * np.pi * hertz, 2.0 * np.pi * 0.7, 0.3
    x, height = machine.parameters.platform.body.center_of_mass[::2]
    gravity = np.array([0.0, machine.parameters.gravity])

    def state(t, u, rate):
        """Return e, and the acceleration of the part less gravity without that of u."""
        angle, spin = turn * (1.0 - np.cos(wave * t)), turn * wave * np.sin(wave * t)
        bend = turn * wave**2 * np.cos(wave * t)
        e, n = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        slid = np.array([0.05 * wave**2 * np.sin(wave * t), 0.0])
        coriolis = -2.0 * rate * spin * n
        centripetal = -(spin**2) * ((x + u) * e + height * n)
        return e, slid + coriolis + centripetal + bend * (height * e - (x + u) * n) + gravity

    def slope(t, y):
        e, rest = state(t, *y)
        return [y[1], -rest @ e - 2.0 * damping * w * y[1] - w**2 * y[0]]

    swing = solve_ivp(slope, (0.0, 4.0), [0.0, 0.0], t_eval=TIMES, rtol=1e-9, atol=1e-12).y.T
    angle = turn * (1.0 - np.cos(wave * TIMES))
    motion = recorded_motion(0.0 * TIMES, 0.05 * wave**2 * np.sin(wave * TIMES))
    motion.pose[:, 3:] = 0.0
    motion.pose[:, 3], motion.pose[:, 5] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    motion.twist[:, 4] = turn * wave * np.sin(wave * TIMES)
    motion.acceleration[:, 4] = turn * wave**2 * np.cos(wave * TIMES)
    terms = FreeTerms(machine, select(machine, "pendulum"), motion)
    wrench = terms.effects(np.array([[mass, hertz, damping]]), DRIVES).wrench[0]
    for k in range(0, len(TIMES), 500):
        expected = np.zeros(3)
        for sign, (u, rate) in ((1.0, swing[k]), (-1.0, (0.0, 0.0))):
            e, rest = state(TIMES[k], u, rate)
            n = np.array([-e[1], e[0]])
            own = slope(TIMES[k], swing[k])[1] if sign > 0.0 else 0.0
            force, arm = -mass * (rest + own * e), (x + u) * e + height * n
            expected += sign * np.array([*force, arm[1] * force[0] - arm[0] * force[1]])
        assert wrench[k, [0, 2, 4]] == pytest.approx(expected, abs=0.05), "three iterations"
    assert max_abs(swing[:, 0]) > 0.1


def swaying(conditions):
    """Return the log of a machine of the rig on sines of all axes."""
    machine = nominal()
    motion = MultiSineMotion(
        machine.home,
        frequencies=[0.5, 1.1, 2.3],
        amplitude={"x": 0.01, "y": 0.01, "z": 5e-3, "roll": 0.02, "pitch": 0.02, "yaw": 0.02},
        duration=8.0,
        phases="random",
        fade_in=0.5,
        fade_out=0.5,
    )
    return record(machine, motion, conditions)


@pytest.mark.slow
def test_the_scan_finds_the_frequency_of_a_swing_far_from_the_start():
    machine = nominal()
    log = swaying(Conditions(swinging_mass=15.0, swinging_frequency=1.6))
    parameters = select(machine, "platform.body.mass, pendulum")
    search = Search(
        [PredictionProblem(machine, recording_of(log, machine), parameters)], False, lambda: None
    )
    found = search.values(search.scan_swing(search.scan_swing(np.zeros(4), 3.0), 1.1))
    assert found[2] == pytest.approx(1.6, rel=0.02)
    assert found[1] == pytest.approx(15.0, rel=0.1)


def test_constants_of_motors_have_a_mean_of_one_and_friction_a_mean_factor():
    machine = nominal()
    parameters = select(machine, "motor_constants, friction_drift, load_friction")
    still = recorded_motion(0.0 * TIMES, 0.0 * TIMES)
    values = nominal_array(parameters)
    values[0], values[-3:] = 1.05, (0.4, -0.2, 0.1)
    effects = FreeTerms(machine, parameters, still).effects(values[None], DRIVES)
    assert effects.motor_constants.mean() == pytest.approx(1.0)
    assert effects.motor_constants[0, 0] == pytest.approx(1.05)
    assert_within(effects.friction_factor.mean(), 1.0, 1e-3)
    assert np.diff(effects.friction_factor[0, [0, -1]])[0] == pytest.approx(0.4)
    drives = np.ones((1, 6, 80))
    effects.change_drives(drives, np.ones((1, 6, 80)), np.array([0]), np.array([0]))
    assert drives.max() == pytest.approx(effects.friction_factor[0, 0] + 10.0)


def test_bristles_bend_before_a_motor_slides():
    """Away from rest the friction F of a motor is F (1 - exp(-x / s)), as LuGre's is."""
    machine, way = nominal(), 2e-5 * TIMES
    motor = np.tile(way[:, None], (1, 6))
    parameters = select(machine, "lugre")
    drives = DRIVES.copy()
    drives[:, :, column.BREAKAWAY] = drives[:, :, column.FRICTION]
    motion = recorded_motion(0.0 * TIMES, 0.0 * TIMES)._replace(motor=motor)
    force = FreeTerms(machine, parameters, motion).effects(np.array([[1e-5, 0.0]]), drives)
    expected = drives[0, 0, column.FRICTION] * (1.0 - np.exp(-0.5 * (way[1:] + way[:-1]) / 1e-5))
    assert force.bristle_force[0, :, 0] == pytest.approx(expected, rel=1e-3, abs=0.01)
    drives[:, :, [column.FRICTION, column.BREAKAWAY]] = 0.0
    free = FreeTerms(machine, parameters, motion).effects(np.array([[1e-5, 0.0]]), drives)
    assert not free.bristle_force.any(), "without friction there are no bristles"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conditions", "group"),
    [
        (Conditions(), ""),
        (Conditions(cable_stiffness=3000.0, cable_force=(20.0, 0.0, 0.0)), "cable"),
        (Conditions(motor_constants=(1.03, 0.97, 1.0, 0.98, 1.02, 1.0)), "motor_constants"),
        (Conditions(warming_drop=0.3, warming_time=4.0), "friction_drift"),
        (Conditions(load_friction=0.1), "load_friction"),
        (Conditions(swinging_mass=15.0), "pendulum"),
        (Conditions(friction_law="lugre"), "lugre"),
        (Conditions(lead_errors=(2e-3, -2e-3, 1e-3, 0.0, -1e-3, 0.0)), "leads"),
    ],
    ids=["clean", "cable", "motors", "warming", "load", "swing", "lugre", "leads"],
)
def test_patterns_are_named(conditions, group):
    """With the true numbers, what is left is what the rig has beside them."""
    machine = nominal()
    log = swaying(conditions)
    parameters = select(machine, "platform.body.mass, leg.drive.friction_torque")
    problem = PredictionProblem(machine, recording_of(log, machine), parameters)
    exact = Solution(nominal_array(parameters), [], [], 0.0, np.zeros(2), 8)
    found = find_patterns([problem], exact)
    assert [each.group for each in found[:1]] == ([group] if group else [])
