"""Motors much lighter than the machine: how fast the loops may be behind a stiff transmission."""

import numpy as np
import pytest
from own_machines import own_machine

import twin
from twin.analysis.platform import Platform, load
from twin.analysis.tracking import TrackingErrors, tracking_remark
from twin.cli.closed_loop import closed_loop
from twin.control.cascade import Cascade
from twin.control.gains import (
    burden,
    derived_velocity_loop,
    limiting_mass,
    loop_lag,
    suitable_position_loop,
)
from twin.machine import MachineParameters
from twin.motion import SineMotion
from twin.plant.drives import mobility

pytestmark = pytest.mark.quick

LIGHT = """extends = "weak.toml"
configuration = "hardware"
source = "adopted"
[leg.drive]
armature_inertia = {armature}
"""


def light(armature, folder):
    """Return a hexapod with generic drives whose motors have an `armature` [kg m2]."""
    strong = own_machine("weak", folder)
    strong.write_text(strong.read_text().replace("force = 235.0", "force = 2000.0"))
    file = folder / "light.toml"
    file.write_text(LIGHT.format(armature=armature), encoding="utf-8")
    return load(file, "hardware")


def swing(machine):
    """Return a sine of 20 mm at 1 Hz along x that begins at rest."""
    sizes = {"amplitude": {"x": 0.02}, "frequency": 1.0}
    return SineMotion(machine.home, duration=3.0, fade_in=0.5, **sizes)


def grows(gain, motor, load, coupling, lag):
    """Return whether a motor's speed grows under -gain times its own speed `lag` [s] before."""
    step, (stiffness, damping) = lag / 400.0, coupling
    delayed, sizes = np.zeros(400), []
    speed, rate, gap = 1.0, 0.0, 0.0
    for k in range(400 * 60):
        effort, delayed[k % 400] = -gain * delayed[k % 400], speed
        force = stiffness * gap + damping * (speed - rate)
        speed += step * (effort - force) / motor
        rate += step * force / load
        gap += step * (speed - rate)
        sizes.append(abs(speed))
    return max(sizes[-4000:]) > max(sizes[8000:12000])


def test_the_limit_of_the_loops_is_that_of_motor_transmission_and_load(subtests, tmp_path):
    """Independent of frequencies: two masses, stepped through time behind a dead time."""
    for armature in [1e-6, 3e-6, 7e-6]:
        with subtests.test(f"{armature}"):
            machine = light(armature, tmp_path)
            lag, drive = loop_lag(machine, 1e-3), machine.parameters.legs[0].drive
            assert drive is not None
            motor = drive.reflected()
            limit = 0.5 * np.pi * limiting_mass(machine, lag) / lag
            loads = 1.0 / np.linalg.eigvalsh(mobility(machine))
            coupling = motor.stiffness, motor.damping
            assert not any(grows(0.97 * limit, motor.inertia, m, coupling, lag) for m in loads)
            assert any(grows(1.03 * limit, motor.inertia, m, coupling, lag) for m in loads)


def test_gains_do_not_collapse_with_the_motors(tmp_path):
    """Motors a thousand times lighter make the loops slower by less than five times."""
    found = {}
    for armature in (1e-3, 1e-6):
        machine = light(armature, tmp_path)
        gain = float(derived_velocity_loop(machine, 1e-3)[0][0])
        found[armature] = machine, gain, suitable_position_loop(machine, 1e-3)[0]
    (_, _, fast), (machine, gain, slow) = found.values()
    assert slow > 0.2 * fast
    assert gain > 8.0 * burden(machine).lightest / loop_lag(machine, 1e-3)


def test_light_motors_are_tracked(subtests, tmp_path):
    for armature in [1e-6, 7e-6, 1e-4]:
        with subtests.test(f"{armature}"):
            machine = light(armature, tmp_path)
            motion = swing(machine)
            run = closed_loop(
                machine, Cascade(machine, motion), 3.0, engine="analytic", fidelity="accurate"
            )
            assert not run.stopped
            assert TrackingErrors(run).root_mean_square()[0] < 1e-3
            assert tracking_remark(machine, run) == ""


def test_slow_loops_are_said(tmp_path):
    machine = light(7e-6, tmp_path)
    motion = swing(machine)
    slow = Cascade(machine, motion, velocity_gain=1000.0, velocity_time=0.2, position_gain=2.0)
    run = closed_loop(machine, slow, 3.0, engine="analytic", fidelity="accurate")
    remark = tracking_remark(machine, run)
    assert "times what the lag of 1.75 ms explains" in remark
    assert "[control]" in remark


def light_legs():
    """Return `compliant_stewart` with little mass between its actuators and stiffer springs."""
    content = twin.load("compliant_stewart").parameters.model_dump()
    content["leg"] |= {
        "housing_mass": 0.5,
        "spring_mass": 0.05,
        "follower_mass": 1.0,
        "stiffness": 5e5,
        "damping": 2e3,
    }
    return Platform(MachineParameters.model_validate(content))


def test_loops_before_stiff_springs_hold_the_platform():
    """Loops for 0.5 kg alone left home at 12/s and ran beyond the actuators' speed."""
    machine = light_legs()

    def push(time, state):
        return np.array([5.0, 3.0, 0.0, 0.0, 0.0, 0.5]) * (time < 0.05)

    run = machine.simulate(
        0.6, controller=Cascade(machine), timestep=5e-5, wrench=push, fidelity="fast"
    )
    assert not run.stopped
    off = np.abs(run.lengths - machine.home_coordinates).max(axis=1)
    late = run.time > 0.3
    assert off[late].max() < off[~late].max()


def test_stiff_springs_take_the_platform_along():
    """Without a spring that yields, the heaviest motion is that of the whole machine."""
    machine = light_legs()
    jacobian = machine.jacobian(machine.home)
    whole = jacobian @ np.linalg.solve(machine.mass_matrix(machine.home), jacobian.T)
    moved = burden(machine)
    assert moved.heaviest == pytest.approx(1.0 / np.linalg.eigvalsh(whole)[0])
    assert moved.lightest < 0.5 + 0.05
    soft = burden(twin.load("compliant_stewart"))
    assert soft.heaviest < 9.0


@pytest.mark.parametrize("name", ["stewart", "compliant_stewart", "driving_simulator"])
def test_motors_that_carry_most_of_the_mass_are_felt_alone(name):
    machine = twin.load(name, configuration="hardware")
    own = burden(machine).lightest
    assert limiting_mass(machine, loop_lag(machine, 1e-3)) == pytest.approx(own, rel=0.25)
