"""Sizing of drives: torques of motors against work, energy and the machine with these drives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.analysis.feasibility.actuators import motor_requirement
from twin.design.sizing import DriveTrain, effective_masses, read_drives, size
from twin.motion import SineMotion, StepMotion

pytestmark = pytest.mark.quick

LOSSLESS = DriveTrain("lossless", 0.001, 2.0, 6.0, 400.0, 1e-4, 1.0, 100.0)


def heave(machine):
    return StepMotion(machine.home, displacement={"z": 0.05}, rise=0.5, duration=0.6)


def test_a_motor_without_inertia_and_losses_gives_the_power_of_its_leg(stewart):
    drive = LOSSLESS._replace(inertia=1e-12)
    (found,) = size(stewart, heave(stewart), [drive])
    needed = motor_requirement(stewart, heave(stewart))
    power = found.motor_torque * found.motor_speed
    assert_within(power, needed.power, 1e-6 * max_abs(needed.power))
    fastest = max_abs(needed.rates) / drive.travel
    assert found.speed_share == pytest.approx(fastest / drive.speed)
    assert found.rms_share == pytest.approx(needed.rms_forces.max() * drive.travel / 2.0, rel=1e-6)


def test_rotors_take_and_give_back_their_energy(stewart):
    with_rotor, without = (
        size(stewart, heave(stewart), [LOSSLESS._replace(inertia=inertia)], samples=2001)[0]
        for inertia in (1e-3, 1e-12)
    )
    time = np.linspace(0.0, 0.6, 2001)
    extra = (with_rotor.motor_torque - without.motor_torque) * with_rotor.motor_speed
    stored = np.concatenate([[0.0], np.cumsum(0.5 * (extra[1:] + extra[:-1]).sum(axis=1))])
    stored *= time[1]
    kinetic = 0.5e-3 * (with_rotor.motor_speed**2).sum(axis=1)
    assert_within(stored, kinetic, 1e-3 * kinetic.max())
    assert kinetic[-1] < 1e-9 * kinetic.max()


def test_losses_do_not_help_to_hold(stewart):
    lossy, lossless = (
        size(
            stewart,
            SineMotion(stewart.home, amplitude={"z": 0.0}, frequency=1.0, duration=1.0),
            [LOSSLESS._replace(efficiency=efficiency)],
        )[0]
        for efficiency in (0.5, 1.0)
    )
    assert lossy.rms_share == pytest.approx(2.0 * lossless.rms_share)


def test_losses_make_driving_harder_and_braking_easier(stewart):
    lossy, lossless = (
        size(stewart, heave(stewart), [LOSSLESS._replace(inertia=1e-12, efficiency=efficiency)])[0]
        for efficiency in (0.5, 1.0)
    )
    power = lossless.motor_torque * lossless.motor_speed
    ratio = np.abs(lossy.motor_torque) / np.abs(lossless.motor_torque)
    assert_allclose(ratio[power > 1e-9], 2.0)
    assert_allclose(ratio[power < -1e-9], 0.5)


def test_effective_mass_is_what_an_actuator_accelerates(stewart):
    """A force on one actuator accelerates it by the inverse of the mass matrix there."""
    (masses,) = effective_masses(stewart, stewart.home[None])
    jacobian, matrix = stewart.jacobian(stewart.home), stewart.mass_matrix(stewart.home)
    mobility = jacobian @ np.linalg.solve(matrix, jacobian.T)
    assert_allclose(masses, np.diag(np.linalg.inv(mobility)), rtol=1e-9)


def test_pauses_count_as_holding(stewart):
    """Heat is the square of the torque: that of the motion and that of holding, by their times."""
    motion = heave(stewart)
    running, half, resting = (
        size(stewart, motion, [LOSSLESS], duty=duty)[0] for duty in (1.0, 0.5, 0.0)
    )
    at_rest = stewart.inverse_dynamics(stewart.home, np.zeros(6), np.zeros(6))
    held = max_abs(at_rest) * LOSSLESS.travel / LOSSLESS.rated_torque
    assert resting.rms_share == pytest.approx(held)
    assert resting.rms_share < half.rms_share < running.rms_share
    mean_square = 0.5 * (running.rms_share**2 + resting.rms_share**2)
    assert half.rms_share**2 == pytest.approx(mean_square, rel=1e-6)
    assert half.peak_share == running.peak_share


def test_time_over_the_rated_torque_follows_the_motion(stewart):
    """A motor that just holds its leg is overloaded while the leg accelerates upwards."""
    weak = LOSSLESS._replace(inertia=1e-12, rated_torque=1e-6)
    (always,) = size(stewart, heave(stewart), [weak])
    (never,) = size(stewart, heave(stewart), [weak._replace(rated_torque=1e6)])
    (half,) = size(stewart, heave(stewart), [weak], duty=0.5)
    assert (never.overload, half.overload) == (0.0, 0.5 * always.overload)
    assert always.overload > 0.99


def test_drives_are_ranked_and_read(stewart, tmp_path):
    file = tmp_path / "drives.csv"
    file.write_text(
        "name,lead [mm],rated torque [N m],peak torque [N m],speed [rpm],inertia [kg cm2],"
        "efficiency,price\nslow,2,1,3,3000,0.5,0.9,100\nfine,10,2,6,3000,0.5,0.9,200\n"
        "weak,10,0.1,0.3,3000,0.5,0.9,50\n",
        encoding="utf-8",
    )
    drives = read_drives(file)
    assert drives[0].travel == pytest.approx(0.002 / (2.0 * np.pi))
    assert drives[0].speed == pytest.approx(100.0 * np.pi)
    assert drives[0].inertia == pytest.approx(0.5e-4)
    found = size(stewart, heave(stewart), drives)
    assert found[0].drive.name == "fine"
    shares = [one.share for one in found]
    assert shares == sorted(shares)
    slow = next(one for one in found if one.drive.name == "slow")
    assert slow.share == slow.speed_share > 1.0


def test_wrong_lists_are_refused(stewart, tmp_path):
    with refused("list of DriveTrain"):
        size(stewart, heave(stewart), [])
    with refused("duty"):
        size(stewart, heave(stewart), [LOSSLESS], duty=1.5)
    file = tmp_path / "drives.csv"
    title = (
        "name,ratio,rated torque [N m],peak torque [N m],speed [rpm],inertia [kg m2],"
        "efficiency,price\n"
    )
    file.write_text(title + "a,10,1,2,3000,1e-4,1.2,5\n", encoding="utf-8")
    with refused("efficiency"):
        read_drives(file, cranks=True)
    with refused("lacks the column 'lead .m.'"):
        read_drives(file)


def test_cranks_have_a_ratio():
    machine = twin.load("rss")
    motion = StepMotion(machine.home, displacement={"z": 0.02}, rise=0.5, duration=0.6)
    geared = LOSSLESS._replace(travel=1.0 / 50.0, inertia=1e-12)
    (found,) = size(machine, motion, [geared])
    needed = motor_requirement(machine, motion)
    assert_allclose(found.motor_speed, 50.0 * needed.rates)
